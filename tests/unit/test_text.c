/* SPDX-License-Identifier: MIT */
/* test_text.c - any bytes as valid UTF-8 and back; nothing that steers a terminal */
#include <setjmp.h>
#include <stdarg.h>

#include "core/base.h"
#include "core/text.h"
#include <cmocka.h>

static void expect_escaped(const char *bytes, size_t len, const char *expected)
{
	struct buf text = BUF_INIT, back = BUF_INIT;

	text_escape(bytes, len, &text);
	assert_string_equal(text.data, expected);
	text_unescape(text.data, text.len, &back);
	assert_int_equal(back.len, len);
	assert_memory_equal(back.data, bytes, len);
	buf_release(&text);
	buf_release(&back);
}

#define EXPECT_ESCAPED(bytes, expected) expect_escaped(bytes, sizeof(bytes) - 1, expected)

static void escaping_loses_nothing(void **state UNUSED)
{
	EXPECT_ESCAPED("", "");
	EXPECT_ESCAPED("plain", "plain");
	EXPECT_ESCAPED("a\xff\xfe" "b", "a\\xff\\xfe" "b");
	EXPECT_ESCAPED("back\\slash", "back\\\\slash");
	EXPECT_ESCAPED("\\xff", "\\\\xff");
	EXPECT_ESCAPED("\\\xff", "\\\\\\xff");
	EXPECT_ESCAPED("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	EXPECT_ESCAPED("cut \xe2\x82", "cut \\xe2\\x82");
	EXPECT_ESCAPED("\xc0\xaf overlong", "\\xc0\\xaf overlong");
	EXPECT_ESCAPED("\xed\xa0\x80 surrogate", "\\xed\\xa0\\x80 surrogate");
	EXPECT_ESCAPED("\xf4\x90\x80\x80 too large", "\\xf4\\x90\\x80\\x80 too large");
	EXPECT_ESCAPED("line\nfeed", "line\nfeed");
}

static void every_pair_of_bytes_comes_back(void **state UNUSED)
{
	struct buf text = BUF_INIT, back = BUF_INIT;
	char bytes[3];

	for (unsigned i = 0; i < 0x10000; i++) {
		memcpy(bytes, (char[]){(char)(i >> 8), (char)i, '\\'}, 3);
		buf_clear(&text);
		buf_clear(&back);
		text_escape(bytes, 3, &text);
		assert_true(text_is_utf8(text.data, text.len));
		text_unescape(text.data, text.len, &back);
		assert_int_equal(back.len, 3);
		assert_memory_equal(back.data, bytes, 3);
	}
	buf_release(&text);
	buf_release(&back);
}

static void what_is_no_escape_stays(void **state UNUSED)
{
	static const char text[] = "\\n \\x4g \\x41 \\xFF \\x8 \\";
	struct buf back = BUF_INIT;

	text_unescape(text, strlen(text), &back);
	assert_string_equal(back.data, text);
	buf_release(&back);
}

static void sequences_are_strict(void **state UNUSED)
{
	assert_int_equal(text_sequence("", 0), 0);
	assert_int_equal(text_sequence("a", 1), 1);
	assert_int_equal(text_sequence("\xc3\xbc", 2), 2);
	assert_int_equal(text_sequence("\xe2\x82\xac", 3), 3);
	assert_int_equal(text_sequence("\xf0\x9f\x98\x80", 4), 4);
	assert_int_equal(text_sequence("\xf0\x9f\x98\x80", 3), 0);
	assert_int_equal(text_sequence("\x80", 1), 0);
	assert_int_equal(text_sequence("\xc1\x81", 2), 0);
	assert_int_equal(text_sequence("\xe0\x9f\xbf", 3), 0);
	assert_int_equal(text_sequence("\xf5\x80\x80\x80", 4), 0);
}

static void expect_printable(const char *bytes, const char *expected)
{
	struct buf text = BUF_INIT;

	text_printable(bytes, strlen(bytes), &text);
	assert_string_equal(text.data, expected);
	buf_release(&text);
}

static void nothing_steers_a_terminal(void **state UNUSED)
{
	expect_printable("\033[2J\033]0;title\a", "\\x1b[2J\\x1b]0;title\\x07");
	expect_printable("a\tb\r\n\x7f", "a\\x09b\\x0d\\x0a\\x7f");
	expect_printable("\xc2\x9b" "31m", "\\xc2\\x9b" "31m");         /* CSI in one character */
	expect_printable("\xe2\x80\xae" "gpj", "\\xe2\\x80\\xae" "gpj"); /* right to left */
	expect_printable("\xe2\x80\xa8", "\\xe2\\x80\\xa8");             /* line separator */
	expect_printable("\x9b\xff", "\\x9b\\xff");
	expect_printable("C:\\x \xe2\x82\xac", "C:\\x \xe2\x82\xac");
}

static void cuts_between_characters(void **state UNUSED)
{
	static const char s[] = "a\xe2\x82\xac" "b\xff" "c"; /* a, euro, b, stray byte, c */
	size_t len = strlen(s);

	assert_int_equal(text_cut(s, len, 0), 0);
	assert_int_equal(text_cut(s, len, 3), 1);
	assert_int_equal(text_cut(s, len, 4), 4);
	assert_int_equal(text_cut(s, len, 100), len);
	assert_int_equal(text_width(s, len), 5);
	assert_int_equal(text_fit(s, len, 2), 4);
	assert_int_equal(text_fit(s, len, 4), 6);
	assert_int_equal(text_fit(s, len, 9), len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escaping_loses_nothing),
		cmocka_unit_test(every_pair_of_bytes_comes_back),
		cmocka_unit_test(what_is_no_escape_stays),
		cmocka_unit_test(sequences_are_strict),
		cmocka_unit_test(nothing_steers_a_terminal),
		cmocka_unit_test(cuts_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
