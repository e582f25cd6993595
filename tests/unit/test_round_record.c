/* SPDX-License-Identifier: MIT */
/* test_round_record.c - rounds-<pid>.json written and read back, and lists of options */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/cpu_list.h"
#include "core/io.h"
#include "core/path.h"
#include "core/round_record.h"
#include "core/walltime_options.h"
#include <cmocka.h>
#undef fail

#include "tests/unit/temp_folder.h"

static char *record_path(void)
{
	return xasprintf("%s/rounds-%d.json", folder, getpid());
}

static void what_is_written_is_read(void **state UNUSED)
{
	const struct round round = {1, UINT64_MAX, 3, 4, 5, 6, 7, 8, 9, 137};
	struct round_record r = {0}, back = {0};
	struct round_benchmark b = {.uri = xstrdup("u"), .name = xstrdup("n \"q\" é"),
				    .outcome = ROUNDS_INTERRUPTED};
	char *path = record_path();

	strvec_push(&b.notes, "a note");
	vec_push(&b.rounds, round);
	vec_push(&b.rounds, round);
	vec_push(&r.benchmarks, b);
	assert_int_equal(round_record_write(&r, folder), 0);
	assert_int_equal(round_record_read(&back, path), 0);
	assert_int_equal(back.benchmarks.len, 1);
	assert_string_equal(back.benchmarks.items[0].name, "n \"q\" é");
	assert_int_equal(back.benchmarks.items[0].outcome, ROUNDS_INTERRUPTED);
	assert_string_equal(back.benchmarks.items[0].notes.items[0], "a note");
	assert_int_equal(back.benchmarks.items[0].rounds.len, 2);
	assert_memory_equal(&back.benchmarks.items[0].rounds.items[1], &round, sizeof(round));
	round_record_release(&r);
	round_record_release(&back);
	free(path);
}

static void expect_refused(const char *text, const char *why)
{
	struct round_record r = {0};
	char *path = record_path();

	assert_int_equal(write_file_atomic(path, text, strlen(text), 0644), 0);
	assert_int_equal(round_record_read(&r, path), -EINVAL);
	assert_non_null(strstr(error_text(), why));
	assert_int_equal(r.benchmarks.len, 0);
	error_clear();
	free(path);
}

#define BENCHMARK(outcome, rounds)                                                              \
	"{\"version\":1,\"benchmarks\":[{\"uri\":\"u\",\"name\":\"n\",\"outcome\":\"" outcome  \
	"\",\"notes\":[],\"rounds\":[" rounds "]}]}"

static void what_is_no_record_is_refused(void **state UNUSED)
{
	expect_refused("", "empty");
	expect_refused("{}", "version: is missing");
	expect_refused("{\"version\":2,\"benchmarks\":[]}", "version 2");
	expect_refused(BENCHMARK("fine", ""), "no outcome");
	expect_refused(BENCHMARK("ok", "[1,2]"), "expected 10 numbers, found 2");
	expect_refused(BENCHMARK("ok", "[1,2,3,4,5,6,7,8,9,-1]"), "negative");
	expect_refused(BENCHMARK("ok", "[2,1,3,4,5,6,7,8,9,0]"), "ends before it starts");
}

/* ---- Lists ---- */

static void processors(void **state UNUSED)
{
	static const char *const bad[] = {"", "a", "1,", "1-", "-1", "3-2", "1024", "0,,1", "1-2-3"};
	cpu_set_t set;

	assert_int_equal(parse_cpu_list("0,2-3,1023", &set), 0);
	assert_int_equal(CPU_COUNT(&set), 4);
	assert_true(CPU_ISSET(0, &set) && CPU_ISSET(2, &set) && CPU_ISSET(3, &set));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(parse_cpu_list(bad[i], &set), -EINVAL);
		error_clear();
	}
}

static void statuses(void **state UNUSED)
{
	bool set[256] = {false};

	assert_int_equal(parse_statuses("1,3,255", set), 0);
	assert_true(set[1] && set[3] && set[255] && !set[0] && !set[2]);
	assert_int_not_equal(parse_statuses("256", set), 0);
	assert_int_not_equal(parse_statuses("1,", set), 0);
	assert_int_not_equal(parse_statuses("x", set), 0);
	error_clear();
}

static void options_go_over_as_words(void **state UNUSED)
{
	const struct walltime_options o = {
		.warmup_time = "0", .max_rounds = "3", .ignore_failure = "", .input = "a b", .quiet = true,
	};
	struct strvec words = STRVEC_INIT;
	char *line;

	walltime_options_words(&o, &words);
	line = words_join(words.items);
	assert_string_equal(line, "--warmup-time=0 --max-rounds=3 --ignore-failure --input=a b --no-advice");
	free(line);
	strvec_release(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_is_no_record_is_refused),
		cmocka_unit_test(processors),
		cmocka_unit_test(statuses),
		cmocka_unit_test(options_go_over_as_words),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
