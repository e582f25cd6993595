/* SPDX-License-Identifier: MIT */
/* test_intern.c - equal bytes have one id, different ones never share it */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/base.h"
#include "core/intern.h"
#include <cmocka.h>

static void the_same_bytes_have_one_id(void **state UNUSED)
{
	struct intern t;

	intern_init(&t);
	assert_int_equal(intern_add(&t, "main", 4), 0);
	assert_int_equal(intern_add(&t, "malloc", 6), 1);
	assert_int_equal(intern_add(&t, "main(int)", 4), 0);
	assert_int_equal(intern_count(&t), 2);
	assert_string_equal(intern_text(&t, 0), "main");
	assert_int_equal(intern_len(&t, 1), 6);
	intern_release(&t);
	assert_int_equal(intern_count(&t), 0);
	assert_int_equal(intern_add(&t, "again", 5), 0);
	intern_release(&t);
}

static void any_bytes_are_a_text(void **state UNUSED)
{
	struct intern t;

	intern_init(&t);
	assert_int_equal(intern_add(&t, NULL, 0), 0);
	assert_int_equal(intern_add(&t, "", 0), 0);
	assert_int_equal(intern_add(&t, "\0", 1), 1);
	assert_int_equal(intern_add(&t, "\0\0", 2), 2);
	assert_int_equal(intern_add(&t, "a\0b", 3), 3);
	assert_int_equal(intern_add(&t, "a\0c", 3), 4);
	assert_memory_equal(intern_text(&t, 3), "a\0b", 4);
	assert_string_equal(intern_text(&t, 0), "");
	intern_release(&t);
}

/* Every length around the hash's steps of eight bytes, and every byte counts. */
static void every_byte_counts(void **state UNUSED)
{
	struct intern t;
	char text[40];
	uint32_t count = 0;

	intern_init(&t);
	for (size_t len = 1; len <= sizeof(text); len++) {
		memset(text, 'x', sizeof(text));
		assert_int_equal(intern_add(&t, text, len), count++);
		for (size_t i = 0; i < len; i++) {
			text[i] = 'y';
			assert_int_equal(intern_add(&t, text, len), count++);
			text[i] = 'x';
		}
	}
	intern_release(&t);
}

static void texts_stay_where_they_are(void **state UNUSED)
{
	enum { COUNT = 50000 };
	const char **at = xcalloc(COUNT, sizeof(*at));
	struct intern t;
	char text[64];

	intern_init(&t);
	for (uint32_t i = 0; i < COUNT; i++) {
		int len = snprintf(text, sizeof(text), "namespace::function_%u(int)", i * 7);

		assert_int_equal(intern_add(&t, text, (size_t)len), i);
		at[i] = intern_text(&t, i);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		int len = snprintf(text, sizeof(text), "namespace::function_%u(int)", i * 7);

		assert_int_equal(intern_add(&t, text, (size_t)len), i);
		assert_ptr_equal(intern_text(&t, i), at[i]);
		assert_string_equal(at[i], text);
	}
	intern_release(&t);
	free(at);
}

static void long_texts_fit(void **state UNUSED)
{
	enum { LEN = 3 << 20 };
	char *text = xmalloc(LEN);
	struct intern t;

	memset(text, 'l', LEN);
	intern_init(&t);
	assert_int_equal(intern_add(&t, "short", 5), 0);
	assert_int_equal(intern_add(&t, text, LEN), 1);
	assert_int_equal(intern_add(&t, text, LEN - 1), 2);
	assert_int_equal(intern_add(&t, "after", 5), 3);
	assert_int_equal(intern_add(&t, text, LEN), 1);
	assert_int_equal(strlen(intern_text(&t, 1)), LEN);
	assert_string_equal(intern_text(&t, 3), "after");
	intern_release(&t);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_bytes_have_one_id),
		cmocka_unit_test(any_bytes_are_a_text),
		cmocka_unit_test(every_byte_counts),
		cmocka_unit_test(texts_stay_where_they_are),
		cmocka_unit_test(long_texts_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
