/* SPDX-License-Identifier: MIT */
/* test_project.c - codspeed.yml: what is read, what is refused and where, what is only told */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "applets/runner/project/project.h"
#include "core/base.h"
#include "core/io.h"
#include "core/json.h"
#include <cmocka.h>

/* What is logged while `text` is read. */
static int parse_logged(struct project *p, const char *text, struct buf *log)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO), rc;

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	rc = project_parse(p, "f.yml", text, strlen(text));
	dup2(saved, STDERR_FILENO);
	close(saved);
	lseek(fileno(file), 0, SEEK_SET);
	buf_addstr(log, "");
	assert_int_equal(read_rest(fileno(file), log), 0);
	fclose(file);
	return rc;
}

static struct project read_quietly(const char *text)
{
	struct buf log = BUF_INIT;
	struct project p;

	if (parse_logged(&p, text, &log))
		fail_msg("refused: %s", error_text());
	assert_string_equal(log.data, "");
	buf_release(&log);
	return p;
}

static void expect_refused(const char *text, const char *expected)
{
	struct project p;

	assert_int_equal(project_parse(&p, "f.yml", text, strlen(text)), -EINVAL);
	assert_string_equal(error_text(), expected);
	error_clear();
	project_release(&p);
}

/* Read all the same. */
static void expect_told(const char *text, const char *expected)
{
	struct buf log = BUF_INIT;
	struct project p;

	assert_int_equal(parse_logged(&p, text, &log), 0);
	if (!strstr(log.data, expected))
		fail_msg("'%s' instead of '%s'", log.data, expected);
	buf_release(&log);
	project_release(&p);
}

static const char example[] =
	"options:\n"
	"  working-directory: bench\n"
	"  warmup-time: \"0.2s\"\n"
	"  max-time: 1s\n"
	"  min-time: 100ms\n"
	"  max-rounds: 20\n"
	"  min-rounds: 5\n"
	"benchmarks:\n"
	"  - name: \"Fast\"\n"
	"    id: fast\n"
	"    exec: ./bin --mode fast\n"
	"    options:\n"
	"      max-rounds: 30\n"
	"  - entrypoint: pytest --codspeed tests\n";

static void the_example(void **state UNUSED)
{
	struct project p = read_quietly(example);
	const struct project_benchmark *b = p.benchmarks.items;

	assert_string_equal(p.options.working_directory, "bench");
	assert_string_equal(project_option(&p, "warmup-time"), "0.2s");
	assert_string_equal(project_option(&p, "max-rounds"), "20");
	assert_null(project_option(&p, "timeout"));
	assert_int_equal(p.benchmarks.len, 2);
	assert_string_equal(b[0].name, "Fast");
	assert_string_equal(b[0].id, "fast");
	assert_int_equal(b[0].words.len, 3);
	assert_string_equal(b[0].words.items[2], "fast");
	assert_string_equal(b[0].limits.texts[LIMIT_MAX_ROUNDS], "30");
	assert_string_equal(b[0].limits.texts[LIMIT_MIN_ROUNDS], "5");
	assert_string_equal(b[0].limits.texts[LIMIT_WARMUP_TIME], "0.2s");
	assert_null(b[1].exec);
	assert_string_equal(b[1].entrypoint, "pytest --codspeed tests");
	project_release(&p);
}

static void empty_files_and_groups(void **state UNUSED)
{
	static const char *const texts[] = {
		"", "# note\n", "{}", "---\n", "options:\nbenchmarks:\n", "options: ~\nbenchmarks: []\n",
		"options: {}\n", "options:\n  max-time:\n  working-directory: null\n",
		"x-anchors: {a: &a {max-rounds: 2}}\noptions: *a\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct project p = read_quietly(texts[i]);

		assert_int_equal(p.benchmarks.len, 0);
		assert_null(p.options.limits.texts[LIMIT_MAX_TIME]);
		project_release(&p);
	}
}

/* Upstream drops all five where one is ill-typed. */
static void unquoted_numbers_are_values(void **state UNUSED)
{
	struct project p = read_quietly("options:\n  warmup-time: 0\n  max-time: 1.5\n"
					"  max-rounds: \"20\"\n  working-directory: 123\n"
					"benchmarks:\n  - {name: 5, id: true, exec: a}\n");

	assert_string_equal(p.options.limits.texts[LIMIT_WARMUP_TIME], "0");
	assert_string_equal(p.options.limits.texts[LIMIT_MAX_TIME], "1.5");
	assert_string_equal(p.options.limits.texts[LIMIT_MAX_ROUNDS], "20");
	assert_string_equal(p.options.working_directory, "123");
	assert_string_equal(p.benchmarks.items[0].name, "5");
	assert_string_equal(p.benchmarks.items[0].id, "true");
	project_release(&p);
}

static void merging_is_per_option(void **state UNUSED)
{
	struct project p = read_quietly("x-slow: &slow\n  max-time: 10s\n"
					"options: {max-time: 1s}\n"
					"benchmarks:\n"
					"  - {exec: a, options: {min-rounds: 3}}\n"
					"  - {exec: b, options: {<<: *slow, min-rounds: 2, max-rounds: ~}}\n");

	assert_string_equal(p.benchmarks.items[0].limits.texts[LIMIT_MAX_TIME], "1s");
	assert_string_equal(p.benchmarks.items[0].limits.texts[LIMIT_MIN_ROUNDS], "3");
	assert_string_equal(p.benchmarks.items[1].limits.texts[LIMIT_MAX_TIME], "10s");
	assert_null(p.benchmarks.items[1].limits.texts[LIMIT_MAX_ROUNDS]);
	project_release(&p);
}

static void wrong_shapes(void **state UNUSED)
{
	expect_refused("null", "f.yml:1:1: expected a mapping with 'options' and 'benchmarks', this is null");
	expect_refused("[]", "f.yml:1:1: expected a mapping with 'options' and 'benchmarks', this is a list");
	expect_refused("options: 3", "f.yml:1:10: options: expected a mapping, this is a number");
	expect_refused("benchmarks: {}", "f.yml:1:13: benchmarks: expected a list, this is a mapping");
	expect_refused("benchmarks: [a]", "f.yml:1:14: a benchmark is a mapping with 'exec' or "
					  "'entrypoint', this is text");
	expect_refused("benchmarks:\n  - name: x\n",
		       "f.yml:2:5: a benchmark needs 'exec' or 'entrypoint'");
	expect_refused("benchmarks:\n  - {exec: ~, entrypoint: null}\n",
		       "f.yml:2:5: a benchmark needs 'exec' or 'entrypoint'");
	expect_refused("benchmarks:\n  - {exec: a, entrypoint: b}\n",
		       "f.yml:2:5: a benchmark has 'exec' or 'entrypoint', not both");
	expect_refused("benchmarks:\n  - exec: 5\n",
		       "f.yml:2:11: exec: expected a command (a text; put it in quotes), this is a number");
	expect_refused("benchmarks:\n  - exec: true\n",
		       "f.yml:2:11: exec: expected a command (a text; put it in quotes), this is a truth value");
	expect_refused("benchmarks:\n  - {name: [a], exec: b}\n",
		       "f.yml:2:12: name: expected a single value, this is a list");
	expect_refused("benchmarks:\n  - {name: '', exec: b}\n",
		       "f.yml:2:12: name: expected a text, this is empty");
	expect_refused("options:\n  max-time: [1]\n",
		       "f.yml:2:13: max-time: expected a single value, this is a list");
}

static void wrong_values(void **state UNUSED)
{
	expect_refused("options:\n  max-rounds: -5\n",
		       "f.yml:2:15: invalid value '-5' for max-rounds: expected a whole number");
	expect_refused("options:\n  max-rounds: 20.0\n",
		       "f.yml:2:15: invalid value '20.0' for max-rounds: expected a whole number");
	expect_refused("options:\n  min-time: 2s\n  max-time: 1s\n",
		       "f.yml:2:3: limits: min-time (2s) is above max-time (1s)");
	expect_refused("options: {max-rounds: 3}\nbenchmarks:\n  - {exec: a, options: {min-rounds: 4}}\n",
		       "f.yml:3:5: limits: min-rounds (4) is above max-rounds (3)");
}

static void a_malformed_duration_names_its_place(void **state UNUSED)
{
	struct project p;
	static const char text[] = "options:\n  warmup-time: 1x\n";

	assert_int_equal(project_parse(&p, "f.yml", text, strlen(text)), -EINVAL);
	assert_true(str_starts(error_text(), "f.yml:2:16: invalid value '1x' for warmup-time: no such unit: x"));
	error_clear();
	project_release(&p);
}

static void commands_that_need_a_shell(void **state UNUSED)
{
	expect_refused("benchmarks:\n  - exec: ./a < in.txt\n",
		       "f.yml:2:15: exec: '<': no shell runs an 'exec'; quote it, use 'sh -c \"...\"', or "
		       "make it an 'entrypoint'");
	expect_refused("benchmarks:\n  - exec: é && b\n",
		       "f.yml:2:13: exec: '&&': no shell runs an 'exec'; quote it, use 'sh -c \"...\"', or "
		       "make it an 'entrypoint'");
	expect_refused("benchmarks:\n  - exec: FOO=1 ./b\n",
		       "f.yml:2:14: exec: 'FOO=' would be the name of the program; write 'env FOO=...'");
	expect_refused("benchmarks:\n  - exec: |\n      a\n      b | c\n",
		       "f.yml:2:11: exec: '|': no shell runs an 'exec'; quote it, use 'sh -c \"...\"', or "
		       "make it an 'entrypoint'");
	expect_refused("benchmarks:\n  - {name: x, exec: ''}\n",
		       "f.yml:2:21: benchmark x: the command is empty");
	expect_refused("benchmarks:\n  - {exec: \"''\"}\n",
		       "f.yml:2:12: benchmark <unnamed>: the command is empty");
	expect_refused("benchmarks:\n  - {entrypoint: ' '}\n", "f.yml:2:18: the command is empty");
}

static void names_are_identities(void **state UNUSED)
{
	struct project p = read_quietly("benchmarks:\n  - {exec: a b}\n  - {exec: a b, name: other}\n"
					"  - {entrypoint: a b}\n  - {entrypoint: a b}\n");

	project_release(&p);
	expect_refused("benchmarks:\n  - {exec: a b}\n  - {exec: c, name: a b}\n",
		       "f.yml:3:5: this benchmark has the same name as the one on line 2; give each a name "
		       "of its own");
}

static void unknown_keys_are_told_and_ignored(void **state UNUSED)
{
	expect_told("options:\n  warmup-tme: 1\n",
		    "f.yml:2:3: unknown key 'warmup-tme', ignored; did you mean 'warmup-time'?");
	expect_told("targets:\n  - exec: a\n",
		    "f.yml:1:1: unknown key 'targets', ignored; did you mean 'benchmarks'?");
	expect_told("mode: walltime\n", "f.yml:1:1: unknown key 'mode', ignored\n");
	expect_told("benchmarks:\n  - {exec: a, options: {working-directory: b}}\n",
		    "f.yml:2:25: unknown key 'working-directory', ignored\n");
	expect_told("benchmarks:\n  - {exec: a, x-note: b}\n", "unknown key 'x-note'");
	expect_told("\"a\\e[2J\": 1\n", "unknown key 'a\\x1b[2J', ignored\n");
	expect_told("benchmarks:\n  - entrypoint: a\n    options: {max-time: 1}\n",
		    "f.yml:3:14: options of an 'entrypoint' have no effect");
	expect_told("benchmarks:\n  - entrypoint: a\n    fail-above: instructions=1%\n",
		    "f.yml:3:17: fail-above of an 'entrypoint' has no effect");
}

/* Every key of the example is in the schema, with its type. */
static void the_schema_is_of_the_same_rows(void **state UNUSED)
{
	static const char *const root[] = {"working-directory", "fail-above", "warmup-time", "max-time", "min-time",
					   "max-rounds", "min-rounds"};
	const struct json_value *top, *options, *members, *member, *text;
	struct buf schema = BUF_INIT;
	struct json_doc doc;

	project_schema(&schema);
	assert_int_equal(json_parse(&doc, "schema", schema.data, schema.len), 0);
	assert_int_equal(json_get_object(&doc, doc.root, "properties", &top), 0);
	assert_int_equal(json_get_object(&doc, top, "benchmarks", &members), 0);
	assert_int_equal(json_get_object(&doc, top, "options", &options), 0);
	assert_int_equal(json_get_object(&doc, options, "properties", &members), 0);
	assert_int_equal(json_length(members), ARRAY_SIZE(root));
	for (size_t i = 0; i < ARRAY_SIZE(root); i++) {
		assert_int_equal(json_get_object(&doc, members, root[i], &member), 0);
		assert_int_equal(json_get(&doc, member, "description", &text), 0);
		assert_true(json_is_string(text));
	}
	json_release(&doc);
	buf_release(&schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example),
		cmocka_unit_test(empty_files_and_groups),
		cmocka_unit_test(unquoted_numbers_are_values),
		cmocka_unit_test(merging_is_per_option),
		cmocka_unit_test(wrong_shapes),
		cmocka_unit_test(wrong_values),
		cmocka_unit_test(a_malformed_duration_names_its_place),
		cmocka_unit_test(commands_that_need_a_shell),
		cmocka_unit_test(names_are_identities),
		cmocka_unit_test(unknown_keys_are_told_and_ignored),
		cmocka_unit_test(the_schema_is_of_the_same_rows),
	};

	log_init("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
