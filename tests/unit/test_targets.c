/* SPDX-License-Identifier: MIT */
/* test_targets.c - the list on stdin, names and URIs */
#include <setjmp.h>
#include <stdarg.h>

#include "applets/exec-harness/targets.h"
#include "core/base.h"
#include "core/io.h"
#include "core/text.h"
#include <cmocka.h>

static void read_data(const char *name, struct buf *to)
{
	const char *folder = getenv("DATA");
	char *path = xasprintf("%s/%s", folder ? folder : "tests/data", name);

	assert_int_equal(read_file(path, to), 0);
	free(path);
}

static void expect_target(const struct target *t, const char *const *command, const char *name,
			  const char *uri)
{
	size_t len = 0;

	for (; command[len]; len++) {
		assert_true(len < t->command.len);
		assert_string_equal(t->command.items[len], command[len]);
	}
	assert_int_equal(t->command.len, len);
	assert_string_equal(t->name, name);
	assert_string_equal(t->uri, uri);
}

static int read_text(struct targets *t, const char *text)
{
	return targets_read_json(t, text, strlen(text));
}

static void expect_refused(const char *text, const char *reason)
{
	struct targets t = {0};

	assert_int_equal(read_text(&t, text), -EINVAL);
	if (!strstr(error_text(), reason))
		fail_msg("'%s' is not told for: %s (but: %s)", reason, text, error_text());
	error_clear();
	targets_release(&t);
}

static void expect_accepted(const char *text, size_t count)
{
	struct targets t = {0};

	if (read_text(&t, text))
		fail_msg("refused: %s (%s)", text, error_text());
	assert_int_equal(t.list.len, count);
	targets_release(&t);
}

/* ---- The recorded lists ---- */

static void what_upstreams_runner_sends(void **state UNUSED)
{
	struct targets t = {0};
	struct buf text = BUF_INIT;

	read_data("exec_harness_stdin.json", &text);
	assert_int_equal(targets_read_json(&t, text.data, text.len), 0);
	assert_int_equal(t.list.len, 2);
	expect_target(&t.list.items[0], (const char *[]){"sleep", "0.1", NULL}, "nap",
		      "exec_harness::nap");
	expect_target(&t.list.items[1], (const char *[]){"./bench", "--n", "1000", "a b", NULL},
		      "./bench --n 1000 a b", "exec_harness::./bench --n 1000 a b");
	targets_release(&t);
	buf_release(&text);
}

static void the_shortest_list(void **state UNUSED)
{
	struct targets t = {0};
	struct buf text = BUF_INIT;

	read_data("exec_harness_stdin_minimal.json", &text);
	assert_int_equal(targets_read_json(&t, text.data, text.len), 0);
	assert_int_equal(t.list.len, 1);
	expect_target(&t.list.items[0], (const char *[]){"true", NULL}, "true", "exec_harness::true");
	targets_release(&t);
	buf_release(&text);
}

/*
 * JSON, a tab, what becomes of it. Of the three outcomes "parses; error when the command starts" is
 * an error here: the list is checked whole before anything runs (cli.md 2.4, "Do better").
 */
static void the_table_of_odd_lists(void **state UNUSED)
{
	struct buf text = BUF_INIT;
	size_t lines = 0;

	read_data("exec_harness_stdin_invalid.tsv", &text);
	for (char *save, *line = strtok_r(text.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save), lines++) {
		char *outcome = strchr(line, '\t');
		struct targets t = {0};
		int rc;

		assert_non_null(outcome);
		*outcome++ = '\0';
		rc = read_text(&t, line);
		if (str_starts(outcome, "ok") ? rc != 0 : rc != -EINVAL || !*error_text())
			fail_msg("%s: %d, expected: %s", line, rc, outcome);
		error_clear();
		targets_release(&t);
	}
	assert_true(lines >= 10);
	buf_release(&text);
}

/* ---- Shape ---- */

static void blanks_around_and_unknown_keys(void **state UNUSED)
{
	expect_accepted(" \t\r\n [ { \"command\" : [ \"a\" ] } ] \n ", 1);
	expect_accepted("[{\"command\":[\"a\"],\"id\":7,\"id\":8,\"x\":{\"command\":[]}}]", 1);
	expect_accepted("[{\"command\":[\"a\"],\"walltime_args\":{}}]", 1);
	expect_accepted("[{\"command\":[\"a\"],\"walltime_args\":{\"odd\":1,\"max_rounds\":5}}]", 1);
	expect_accepted("[{\"command\":[\"a\"],\"walltime_args\":{\"max_time\":\"1.5s\"}}]", 1);
	expect_accepted("[{\"command\":[\"a\",\"\",\" \"]}]", 1);
	expect_accepted("[{\"command\":[\"a\"]},{\"command\":[\"b\"]},{\"command\":[\"c\"]}]", 3);
}

static void what_is_no_list(void **state UNUSED)
{
	expect_refused("", "standard input");
	expect_refused("   ", "standard input");
	expect_refused("null", "standard input");
	expect_refused("\"a\"", "standard input");
	expect_refused("[", "standard input:1:");
	expect_refused("[{\"command\":[\"a\"]}", "standard input:1:");
	expect_refused("[{\"command\":[\"a\"]}] x", "standard input:1:");
	expect_refused("[{\"command\":[\"a\"]}][]", "standard input:1:");
	expect_refused("[{\"command\":[\"\xff\"]}]", "standard input:1:");
	expect_refused("\xef\xbb\xbf[]", "standard input:1:");
	expect_refused("['a']", "standard input:1:");
	expect_refused("[{\"command\":[\"a\"],}]", "standard input:1:");
	expect_refused("[]", "no command");
	expect_refused("[null]", "[0]");
	expect_refused("[{\"command\":[\"a\"]}, []]", "[1]");
}

static void places_are_named(void **state UNUSED)
{
	expect_refused("[{\"command\":\"ls\"}]", "[0].command");
	expect_refused("[{\"command\":null}]", "[0].command");
	expect_refused("[{\"command\":[\"a\",1]}]", "[0].command[1]");
	expect_refused("[{\"command\":[\"a\"],\"name\":3}]", "[0].name");
	expect_refused("[{\"command\":[\"a\"],\"name\":\"x\\u0000y\"}]", "[0].name");
	expect_refused("[{\"command\":[\"a\\u0000b\"]}]", "[0].command[0]");
	expect_refused("[{\"command\":[\"a\"]},{\"command\":[\"b\"],\"walltime_args\":[]}]",
		       "[1].walltime_args");
	expect_refused("[{\"command\":[\"a\"],\"walltime_args\":{\"max_time\":\"-1s\"}}]",
		       "[0].walltime_args.max_time");
	expect_refused("[{\"command\":[\"a\"],\"walltime_args\":{\"min_time\":\"nan\"}}]",
		       "[0].walltime_args.min_time");
	expect_refused("[{\"command\":[\"a\"],\"walltime_args\":{\"min_rounds\":1.5}}]",
		       "[0].walltime_args.min_rounds");
}

static void keys_given_twice(void **state UNUSED)
{
	expect_refused("[{\"command\":[\"a\"],\"command\":[\"b\"]}]", "command");
	expect_refused("[{\"command\":[\"a\"],\"name\":\"x\",\"name\":\"y\"}]", "name");
	expect_refused("[{\"command\":[\"a\"],\"walltime_args\":{},\"walltime_args\":{}}]",
		       "walltime_args");
	expect_refused("[{\"command\":[\"a\"],\"walltime_args\":{\"max_rounds\":1,\"max_rounds\":2}}]",
		       "max_rounds");
}

static void commands_that_are_empty(void **state UNUSED)
{
	expect_refused("[{\"command\":[]}]", "empty");
	expect_refused("[{\"command\":[\"\"]}]", "empty");
	expect_refused("[{\"command\":[\" \\t\"],\"name\":\"blank\"}]", "blank");
	expect_refused("[{\"command\":[\"\"]}]", "<unnamed>");
}

static void the_same_name_twice(void **state UNUSED)
{
	expect_refused("[{\"command\":[\"a\"]},{\"command\":[\"a\"]}]", "same name: a");
	expect_refused("[{\"command\":[\"a\"],\"name\":\"n\"},{\"command\":[\"b\"],\"name\":\"n\"}]",
		       "same name: n");
	expect_refused("[{\"command\":[\"a\"],\"name\":\"b\"},{\"command\":[\"b\"]}]", "same name: b");
	expect_accepted("[{\"command\":[\"a\"],\"name\":\"1\"},{\"command\":[\"a\"],\"name\":\"2\"}]",
			2);
}

static void lists_may_be_long(void **state UNUSED)
{
	struct buf text = BUF_INIT;

	buf_addch(&text, '[');
	for (size_t i = 0; i < 1000; i++)
		buf_printf(&text, "%s{\"command\":[\"a\",\"%zu\"]}", i ? "," : "", i);
	buf_addch(&text, ']');
	expect_accepted(text.data, 1000);
	buf_release(&text);
}

/* ---- Names and URIs ---- */

static void add_words(struct targets *t, const char *name, char *const *words)
{
	assert_int_equal(targets_add_words(t, words, name, &(struct walltime_options){0}), 0);
}

static void words_are_bytes(void **state UNUSED)
{
	struct targets t = {0};

	add_words(&t, NULL, (char *[]){(char *)"printf", (char *)"a\xff\\n", (char *)"", NULL});
	expect_target(&t.list.items[0], (const char *[]){"printf", "a\xff\\n", "", NULL},
		      "printf a\xff\\n ", "exec_harness::printf a\\xff\\\\n ");
	targets_release(&t);
}

static void names_are_taken_as_they_are(void **state UNUSED)
{
	struct targets t = {0};

	add_words(&t, "a::b[c] \xc3\xbc \xf0\x9f\x98\x80", (char *[]){(char *)"true", NULL});
	add_words(&t, "", (char *[]){(char *)"false", NULL});
	assert_string_equal(t.list.items[0].uri,
			    "exec_harness::a::b[c] \xc3\xbc \xf0\x9f\x98\x80");
	assert_string_equal(t.list.items[1].uri, "exec_harness::");
	targets_release(&t);
}

/* A name that differs only in how it is escaped must not look like another's. */
static void escapes_keep_names_apart(void **state UNUSED)
{
	struct targets t = {0};

	add_words(&t, "\xff", (char *[]){(char *)"true", NULL});
	add_words(&t, "\\xff", (char *[]){(char *)"true", NULL});
	assert_string_equal(t.list.items[0].uri, "exec_harness::\\xff");
	assert_string_equal(t.list.items[1].uri, "exec_harness::\\\\xff");
	targets_release(&t);
}

static void expect_uri_length(const char *unit, size_t count, size_t expected)
{
	struct targets t = {0};
	struct buf name = BUF_INIT;

	for (size_t i = 0; i < count; i++)
		buf_addstr(&name, unit);
	add_words(&t, name.data, (char *[]){(char *)"true", NULL});
	assert_int_equal(strlen(t.list.items[0].name), expected);
	assert_memory_equal(t.list.items[0].name, name.data, expected);
	assert_int_equal(strlen(t.list.items[0].uri), strlen("exec_harness::") + expected);
	assert_true(text_is_utf8(t.list.items[0].uri, strlen(t.list.items[0].uri)));
	targets_release(&t);
	buf_release(&name);
}

static void long_names_are_cut_between_characters(void **state UNUSED)
{
	expect_uri_length("x", 924, 924);
	expect_uri_length("x", 925, 924);
	expect_uri_length("x", 100000, 924);
	expect_uri_length("\xe2\x82\xac", 308, 924);
	expect_uri_length("\xe2\x82\xac", 309, 924);
	expect_uri_length("\xf0\x9f\x98\x80", 300, 924);
	expect_uri_length("x\xc3\xbc", 500, 924);
	expect_uri_length("xx\xe2\x82\xac", 500, 922); /* 184 * 5 + "xx" */
	expect_uri_length("xxxx\xf0\x9f\x98\x80", 500, 924);
}

/* Half an escape at the cut would read as something else. */
static void escapes_are_not_cut(void **state UNUSED)
{
	struct targets t = {0};
	struct buf name = BUF_INIT, back = BUF_INIT;
	const char *uri;

	for (size_t i = 0; i < 922; i++)
		buf_addch(&name, 'x');
	buf_addstr(&name, "\xff\xff");
	add_words(&t, name.data, (char *[]){(char *)"true", NULL});
	uri = t.list.items[0].uri + strlen("exec_harness::");
	text_unescape(uri, strlen(uri), &back);
	assert_memory_equal(back.data, name.data, back.len); /* a prefix of the name */
	targets_release(&t);
	buf_release(&name);
	buf_release(&back);
}

static void cut_names_may_collide(void **state UNUSED)
{
	struct targets t = {0};
	struct buf name = BUF_INIT;

	for (size_t i = 0; i < 1000; i++)
		buf_addch(&name, 'x');
	add_words(&t, name.data, (char *[]){(char *)"true", NULL});
	buf_addch(&name, 'y');
	assert_int_equal(targets_add_words(&t, (char *[]){(char *)"true", NULL}, name.data,
					   &(struct walltime_options){0}), -EINVAL);
	assert_non_null(strstr(error_text(), "same name"));
	error_clear();
	targets_release(&t);
	buf_release(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_upstreams_runner_sends),
		cmocka_unit_test(the_shortest_list),
		cmocka_unit_test(the_table_of_odd_lists),
		cmocka_unit_test(blanks_around_and_unknown_keys),
		cmocka_unit_test(what_is_no_list),
		cmocka_unit_test(places_are_named),
		cmocka_unit_test(keys_given_twice),
		cmocka_unit_test(commands_that_are_empty),
		cmocka_unit_test(the_same_name_twice),
		cmocka_unit_test(lists_may_be_long),
		cmocka_unit_test(words_are_bytes),
		cmocka_unit_test(names_are_taken_as_they_are),
		cmocka_unit_test(escapes_keep_names_apart),
		cmocka_unit_test(long_names_are_cut_between_characters),
		cmocka_unit_test(escapes_are_not_cut),
		cmocka_unit_test(cut_names_may_collide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
