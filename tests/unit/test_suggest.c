/* SPDX-License-Identifier: MIT */
/* test_suggest.c - names near a mistyped word */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* error.h has one, too */

#include "core/base.h"
#include "core/suggest.h"

static void test_distance(void **state UNUSED)
{
	char longer[100];

	assert_int_equal(edit_distance("", ""), 0);
	assert_int_equal(edit_distance("", "abc"), 3);
	assert_int_equal(edit_distance("abc", ""), 3);
	assert_int_equal(edit_distance("exec", "exec"), 0);
	assert_int_equal(edit_distance("exec", "exce"), 1); /* swapped */
	assert_int_equal(edit_distance("exec", "xec"), 1);
	assert_int_equal(edit_distance("exec", "exxec"), 1);
	assert_int_equal(edit_distance("exec", "exek"), 1);
	assert_int_equal(edit_distance("kitten", "sitting"), 3);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_true(edit_distance(longer, "a") > 2);
	longer[63] = '\0';
	assert_int_equal(edit_distance(longer, longer), 0);
}

static void check(const char *word, const char *const *names, const char *expected)
{
	struct suggest near = suggest_for(word);
	struct buf text = BUF_INIT;

	for (; *names; names++)
		suggest_add(&near, *names);
	suggest_text(&near, ", ", "--", &text);
	assert_string_equal(text.data ? text.data : "", expected);
	buf_release(&text);
}

static void test_nearest(void **state UNUSED)
{
	static const char *const names[] = {"exec", "exec-harness", "run", "show", "x", NULL};

	check("exce", names, ", did you mean '--exec'?");
	check("exe", names, ", did you mean '--exec' or '--exec-harness'?");
	check("exec-harnes", names, ", did you mean '--exec-harness' or '--exec'?");
	check("rnu", names, ", did you mean '--run'?");
	check("shwo", names, ", did you mean '--show'?");
	check("zzzz", names, "");
	check("", names, "");
	check("y", names, ""); /* any one-letter name would be one edit away */
}

static void test_order_and_bound(void **state UNUSED)
{
	static const char *const names[] = {"moderate", "modes", "node", "moody", "mode", NULL};

	check("mode", names, ", did you mean '--mode', '--modes' or '--node'?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_order_and_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
