/* SPDX-License-Identifier: MIT */
/* test_project_words.c - the `exec` of codspeed.yml as words */
#include <setjmp.h>
#include <stdarg.h>

#include "applets/runner/project/words.h"
#include "core/base.h"
#include "core/buf.h"
#include <cmocka.h>

/* The words, each in < >. */
static void expect_words(const char *text, const char *expected)
{
	struct strvec words = STRVEC_INIT;
	struct buf line = BUF_INIT;
	size_t at;

	buf_addstr(&line, "");
	if (words_split(&words, text, &at))
		fail_msg("%s: refused: %s", text, error_text());
	for (size_t i = 0; i < words.len; i++)
		buf_printf(&line, "<%s>", words.items[i]);
	assert_string_equal(line.data, expected);
	buf_release(&line);
	strvec_release(&words);
}

static void expect_refused(const char *text, size_t expected, const char *reason)
{
	struct strvec words = STRVEC_INIT;
	size_t at;

	if (words_split(&words, text, &at) != -EINVAL)
		fail_msg("%s: accepted", text);
	if (at != expected || !strstr(error_text(), reason))
		fail_msg("%s: at %zu: %s", text, at, error_text());
	error_clear();
	strvec_release(&words);
}

static void upstreams_examples(void **state UNUSED)
{
	expect_words("ls -al /x", "<ls><-al></x>");
	expect_words("sh -c \"echo 'a b' | wc\"", "<sh><-c><echo 'a b' | wc>");
	expect_words("a\\ b \"c\\d\" 'e\\f'", "<a b><c\\d><e\\f>");
	expect_words("a # b", "<a>");
	expect_words("\"\"", "<>");
	expect_words("''", "<>");
}

static void quotes_as_in_posix(void **state UNUSED)
{
	expect_words("\"./my prog\" 'x y'", "<./my prog><x y>");
	expect_words("a'b'\"c\"d", "<abcd>");
	expect_words("a#b '#c'", "<a#b><#c>");
	expect_words("\"a\\\"b\\$c\\`d\\\\e\\\nf\"", "<a\"b$c`d\\ef>");
	expect_words("a\\\nb", "<ab>");
	expect_words("a\\", "<a\\>");
	expect_words("a\n\tb\r\n  c\n", "<a><b><c>");
	expect_words("awk '{print $1; x > 2}' \"$HOME ~\"", "<awk><{print $1; x > 2}><$HOME ~>");
	expect_words("grep a$ x=y a~ *.c [ab] a^b", "<grep><a$><x=y><a~><*.c><[ab]><a^b>");
	expect_words("grep \\~ \\$HOME \\| \\<", "<grep><~><$HOME><|><<>");
	expect_words("", "");
	expect_words("  # only a note", "");
}

static void a_shells_work_is_refused(void **state UNUSED)
{
	expect_refused("./a < in.txt", 4, "'<': no shell runs");
	expect_refused("./a | ./b", 4, "'|'");
	expect_refused("./a|./b", 3, "'|'");
	expect_refused("a && b", 2, "'&&'");
	expect_refused("a >> b", 2, "'>>'");
	expect_refused("a; b", 1, "';'");
	expect_refused("a &", 2, "'&'");
	expect_refused("(a)", 0, "'('");
	expect_refused("a `b`", 2, "'`'");
	expect_refused("$HOME/x", 0, "'$H'");
	expect_refused("a ${B}", 2, "'${'");
	expect_refused("a x$(b)", 3, "'$('");
	expect_refused("~/x", 0, "'~'");
	expect_refused("a ~", 2, "'~'");
	expect_refused("FOO=1 ./b", 3, "'env FOO=...'");
	expect_refused("a 'b", 2, "a ' that is not closed");
	expect_refused("a \"b\\\"", 2, "a \" that is not closed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(upstreams_examples),
		cmocka_unit_test(quotes_as_in_posix),
		cmocka_unit_test(a_shells_work_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
