/* SPDX-License-Identifier: MIT */
/* test_json.c - reading JSON strictly, with errors that say where; writing it exactly */
#include <setjmp.h>
#include <stdarg.h>

#include "core/base.h"
#include "core/json.h"
#include "core/text.h"
#include <cmocka.h>

static struct json_doc parsed(const char *text)
{
	struct json_doc doc;

	assert_int_equal(json_parse(&doc, "f.json", text, strlen(text)), 0);
	return doc;
}

/* Compares the recorded error and forgets it. */
static void expect_error(int rc, const char *expected)
{
	assert_int_equal(rc, -EINVAL);
	assert_string_equal(error_text(), expected);
	error_clear();
}

static void expect_refused(const char *text, size_t len, const char *start)
{
	struct json_doc doc;

	assert_int_equal(json_parse(&doc, "f.json", text, len), -EINVAL);
	if (!str_starts(error_text(), start))
		fail_msg("%s instead of %s", error_text(), start);
	error_clear();
}

#define EXPECT_REFUSED(text, start) expect_refused(text, sizeof(text) - 1, start)

static void syntax_errors_name_the_place(void **state UNUSED)
{
	EXPECT_REFUSED("", "f.json: is empty");
	EXPECT_REFUSED("{\n  \"a\": 1,\n  \"b\": x\n}", "f.json:3:8: ");
	EXPECT_REFUSED("[1, 2", "f.json:1:");
	EXPECT_REFUSED("[1,]", "f.json:1:");
	EXPECT_REFUSED("{\"a\" 1}", "f.json:1:6: ");
	EXPECT_REFUSED("[1] 2", "f.json:1:5: ");
	EXPECT_REFUSED("[01]", "f.json:1:");
	EXPECT_REFUSED("[NaN]", "f.json:1:2: ");
	EXPECT_REFUSED("[1] // no", "f.json:1:5: ");
	EXPECT_REFUSED("\xef\xbb\xbf[1]", "f.json:1:1: ");
	EXPECT_REFUSED("[\"\xff\"]", "f.json:1:");
	EXPECT_REFUSED("[\"\xed\xa0\x80\"]", "f.json:1:");
	EXPECT_REFUSED("[\"\\ud800\"]", "f.json:1:");
	EXPECT_REFUSED("[\"a\nb\"]", "f.json:1:");
	EXPECT_REFUSED("[\"a\0b\"]", "f.json:1:");
	EXPECT_REFUSED("\0", "f.json:1:1: ");
}

static void depth_is_limited(void **state UNUSED)
{
	struct json_doc doc;
	char text[2 * 129 + 1];

	memset(text, '[', 129);
	memset(text + 129, ']', 129);
	expect_refused(text, 258, "f.json:1:129: more than 128 levels deep");
	assert_int_equal(json_parse(&doc, "f.json", text + 1, 256), 0);
	json_release(&doc);
	doc = parsed("[\"[[[[\\\"[[[[\", {\"{\": \"\\\\\"}]"); /* brackets in strings do not count */
	json_release(&doc);
}

static void integers_are_exact(void **state UNUSED)
{
	struct json_doc doc = parsed("{\"max\": 18446744073709551615, \"min\": -9223372036854775808,"
		" \"more\": 18446744073709551616, \"half\": 0.5, \"one\": 1}");
	uint64_t u;
	int64_t i;

	assert_int_equal(json_get_u64(&doc, doc.root, "max", &u), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(json_get_i64(&doc, doc.root, "min", &i), 0);
	assert_true(i == INT64_MIN);
	assert_int_equal(json_get_i64(&doc, doc.root, "one", &i), 0);
	assert_true(i == 1);
	expect_error(json_get_i64(&doc, doc.root, "max", &i), "f.json: max: is too large");
	expect_error(json_get_u64(&doc, doc.root, "min", &u), "f.json: min: must not be negative");
	expect_error(json_get_u64(&doc, doc.root, "more", &u), "f.json: more: expected a whole "
		"number, found a fraction or a very large number");
	expect_error(json_get_i64(&doc, doc.root, "half", &i), "f.json: half: expected a whole "
		"number, found a fraction or a very large number");
	json_release(&doc);
}

static void texts_are_decoded(void **state UNUSED)
{
	struct json_doc doc = parsed("[\"\\ud83d\\ude00\\u00e9\\n\", \"a\\u0000b\", \"\"]");
	struct json_iter it = json_iter(doc.root);
	const struct json_value *v = json_next(&it);
	const char *text;
	size_t len;

	assert_int_equal(json_as_text(&doc, v, &text), 0);
	assert_string_equal(text, "\xf0\x9f\x98\x80\xc3\xa9\n");
	v = json_next(&it);
	expect_error(json_as_text(&doc, v, &text), "f.json: [1]: has a NUL character inside");
	assert_int_equal(json_as_string(&doc, v, &text, &len), 0);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "a\0b", 3);
	assert_int_equal(json_as_text(&doc, json_next(&it), &text), 0);
	assert_string_equal(text, "");
	assert_null(json_next(&it));
	json_release(&doc);
}

static void errors_name_the_path(void **state UNUSED)
{
	struct json_doc doc = parsed("{\"list\": [1, {}, {\"deep\": {\"x\": [[], [true, \"\"]]}}],"
		" \"\\u001b[2J\": null, \"bool\": true}");
	const struct json_value *list, *v;
	struct json_iter it;
	const char *text;
	bool yes;

	assert_int_equal(json_get_array(&doc, doc.root, "list", &list), 0);
	assert_int_equal(json_length(list), 3);
	it = json_iter(list);
	expect_error(json_as_text(&doc, json_next(&it), &text),
		"f.json: list[0]: expected text, found a whole number");
	v = json_next(&it);
	expect_error(json_get(&doc, v, "key", &v), "f.json: list[1].key: is missing");
	assert_int_equal(json_get_object(&doc, json_next(&it), "deep", &v), 0);
	assert_null(json_next(&it));
	assert_int_equal(json_get_array(&doc, v, "x", &v), 0);
	it = json_iter(v);
	expect_error(json_as_object(&doc, json_next(&it)),
		"f.json: list[2].deep.x[0]: expected an object, found an array");
	it = json_iter(json_next(&it));
	assert_int_equal(json_as_bool(&doc, json_next(&it), &yes), 0);
	assert_true(yes);
	expect_error(json_fail(&doc, json_next(&it), "must be %d", 7),
		"f.json: list[2].deep.x[1][1]: must be 7");
	expect_error(json_get_text(&doc, doc.root, "\033[2J", &text),
		"f.json: \\x1b[2J: expected text, found null");
	expect_error(json_get_array(&doc, doc.root, "bool", &v),
		"f.json: bool: expected an array, found true or false");
	expect_error(json_as_array(&doc, doc.root), "f.json: expected an array, found an object");
	json_release(&doc);
}

static void keys_are_looked_up_exactly(void **state UNUSED)
{
	struct json_doc doc = parsed("{\"a\": 1, \"b\": [], \"a\": 2, \"c\\u0000\": 3, \"z\": 0,"
		" \"z\": 0}");
	const struct json_value *v;
	uint64_t n;

	expect_error(json_get_u64(&doc, doc.root, "a", &n), "f.json: a: is given twice");
	assert_int_equal(json_find(&doc, doc.root, "c", &v), 0);
	assert_null(v);
	assert_int_equal(json_get(&doc, doc.root, "b", &v), 0);
	expect_error(json_find(&doc, v, "x", &v), "f.json: b: expected an object, found an array");
	json_release(&doc);
}

static void objects_are_walked_in_order(void **state UNUSED)
{
	struct json_doc doc = parsed("{\"one\": [1, 2], \"two\": {}, \"three\": null}");
	struct json_iter it = json_iter(doc.root);

	assert_true(json_is_array(json_next(&it)));
	assert_string_equal(it.key, "one");
	assert_true(json_is_object(json_next(&it)));
	assert_string_equal(it.key, "two");
	assert_true(json_is_null(json_next(&it)));
	assert_string_equal(it.key, "three");
	assert_null(json_next(&it));
	json_release(&doc);

	doc = parsed("7");
	assert_int_equal(json_length(doc.root), 0);
	it = json_iter(doc.root);
	assert_null(json_next(&it));
	json_release(&doc);
}

static void write_sample(struct json_writer *w)
{
	json_begin_object(w, NULL);
	json_put_u64(w, "z", UINT64_MAX);
	json_put_i64(w, "a", INT64_MIN);
	json_begin_array(w, "list");
	json_put_bool(w, NULL, true);
	json_put_null(w, NULL);
	json_begin_object(w, NULL);
	json_end(w);
	json_begin_array(w, NULL);
	json_end(w);
	json_end(w);
	json_put_text(w, "text", "\"\\/\n\x1f\x7f \xc3\xbc");
	json_put_text(w, "bad", "\xff\\");
	json_put_text(w, "none", NULL);
	json_put_bytes(w, "bytes", "a\xff\\\0", 4);
	json_end(w);
}

static void writing_is_exact(void **state UNUSED)
{
	struct json_writer *w = json_writer_new();
	struct buf out = BUF_INIT;

	write_sample(w);
	json_writer_finish(w, JSON_PRETTY, &out);
	assert_string_equal(out.data,
		"{\n"
		"  \"z\": 18446744073709551615,\n"
		"  \"a\": -9223372036854775808,\n"
		"  \"list\": [\n"
		"    true,\n"
		"    null,\n"
		"    {},\n"
		"    []\n"
		"  ],\n"
		"  \"text\": \"\\\"\\\\/\\n\\u001F\x7f \xc3\xbc\",\n"
		"  \"bad\": \"\\\\xff\\\\\\\\\",\n"
		"  \"none\": null,\n"
		"  \"bytes\": \"a\\\\xff\\\\\\\\\\u0000\"\n"
		"}\n");
	buf_release(&out);

	w = json_writer_new();
	json_begin_array(w, NULL);
	json_put_u64(w, NULL, 1);
	json_begin_object(w, NULL);
	json_put_text(w, "k", "v");
	json_end(w);
	json_end(w);
	json_writer_finish(w, JSON_ONE_LINE, &out);
	assert_string_equal(out.data, "[1,{\"k\":\"v\"}]");
	buf_release(&out);
}

/* Whatever text.h calls valid the library must take, and the other way round. */
static void both_agree_on_utf8(void **state UNUSED)
{
	struct json_doc doc;
	char text[8];
	int rc;

	for (unsigned i = 0; i < 0x10000; i++) {
		size_t tail = i % 3; /* also sequences of three and four bytes */

		memcpy(text, "\"", 1);
		memcpy(text + 1, (char[]){(char)(i >> 8 | 0x80), (char)i}, 2);
		memset(text + 3, 0x80, tail);
		text[3 + tail] = '"';
		if (strchr("\"\\", text[2]) || (unsigned char)text[2] < 0x20)
			continue;
		rc = json_parse(&doc, "f", text, 4 + tail);
		assert_int_equal(rc == 0, text_is_utf8(text + 1, 2 + tail));
		error_clear();
		json_release(&doc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(syntax_errors_name_the_place),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(texts_are_decoded),
		cmocka_unit_test(errors_name_the_path),
		cmocka_unit_test(keys_are_looked_up_exactly),
		cmocka_unit_test(objects_are_walked_in_order),
		cmocka_unit_test(writing_is_exact),
		cmocka_unit_test(both_agree_on_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
