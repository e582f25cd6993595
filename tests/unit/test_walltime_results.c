/* SPDX-License-Identifier: MIT */
/* test_walltime_results.c - statistics and results/<pid>.json, against recorded vectors */
#include <math.h>

#include "vectors.h"

#include "core/json.h"
#include "core/json_number.h"
#include "core/round_statistics.h"
#include "core/walltime_results.h"

/* ---- Numbers ---- */

static void numbers_are_written_as_recorded(void **state UNUSED)
{
	struct buf table = BUF_INIT;
	char *rest, *line, text[JSON_NUMBER_TEXT];
	size_t count = 0;

	read_vector("walltime/json_numbers.tsv", &table);
	rest = table.data;
	while ((line = strsep(&rest, "\n"))) {
		char *value = strsep(&line, "\t");

		if (!line)
			continue;
		assert_string_equal(json_number(text, strtod(value, NULL)), line);
		count++;
	}
	assert_int_equal(count, 22);
	assert_string_equal(json_number(text, -0.25), "-0.25");
	buf_release(&table);
}

/* ---- Statistics ---- */

enum { ROUNDS_MAX = 64 };

static size_t read_numbers(const struct json_doc *doc, const struct json_value *object,
			   const char *key, uint64_t *to)
{
	const struct json_value *array, *v;
	struct json_iter it;
	size_t count = 0;

	assert_int_equal(json_get_array(doc, object, key, &array), 0);
	it = json_iter(array);
	while ((v = json_next(&it))) {
		assert_true(count < ROUNDS_MAX);
		assert_int_equal(json_as_u64(doc, v, &to[count++]), 0);
	}
	return count;
}

/* The exact text of the number in the file: a double as it must be written. */
static void expect_time(const struct json_doc *doc, const struct json_value *stats, const char *key,
			double got)
{
	char text[JSON_NUMBER_TEXT], expected[JSON_NUMBER_TEXT];
	double value;

	assert_int_equal(json_get_double(doc, stats, key, &value), 0);
	assert_string_equal(json_number(text, got), json_number(expected, value));
}

static void expect_count(const struct json_doc *doc, const struct json_value *stats,
			 const char *key, uint64_t got)
{
	uint64_t value;

	assert_int_equal(json_get_u64(doc, stats, key, &value), 0);
	assert_int_equal(got, value);
}

static void expect_case(const struct json_doc *doc, const struct json_value *item)
{
	uint64_t times[ROUNDS_MAX], iterations[ROUNDS_MAX];
	size_t count = read_numbers(doc, item, "times_per_round_ns", times);
	const struct json_value *stats;
	struct round_statistics s;

	assert_int_equal(read_numbers(doc, item, "iters_per_round", iterations), count);
	round_statistics_compute(&s, times, iterations, count);
	assert_int_equal(json_get_object(doc, item, "stats", &stats), 0);
	expect_time(doc, stats, "min_ns", s.min_ns);
	expect_time(doc, stats, "max_ns", s.max_ns);
	expect_time(doc, stats, "mean_ns", s.mean_ns);
	expect_time(doc, stats, "stdev_ns", s.stdev_ns);
	expect_time(doc, stats, "q1_ns", s.q1_ns);
	expect_time(doc, stats, "median_ns", s.median_ns);
	expect_time(doc, stats, "q3_ns", s.q3_ns);
	expect_time(doc, stats, "total_time", s.total_time);
	expect_count(doc, stats, "rounds", s.rounds);
	expect_count(doc, stats, "iqr_outlier_rounds", s.iqr_outlier_rounds);
	expect_count(doc, stats, "stdev_outlier_rounds", s.stdev_outlier_rounds);
	expect_count(doc, stats, "iter_per_round", s.iter_per_round);
	expect_count(doc, stats, "warmup_iters", s.warmup_iters);
}

static void statistics_are_as_recorded(void **state UNUSED)
{
	const struct json_value *item;
	struct buf text = BUF_INIT;
	struct json_doc doc;
	struct json_iter it;
	size_t count = 0;

	read_vector("walltime/walltime_stats.json", &text);
	assert_int_equal(json_parse(&doc, "vector", text.data, text.len), 0);
	it = json_iter(doc.root);
	while ((item = json_next(&it))) {
		expect_case(&doc, item);
		count++;
	}
	assert_int_equal(count, 15);
	json_release(&doc);
	buf_release(&text);
}

static void the_interval_is_students(void **state UNUSED)
{
	assert_true(round_statistics_confidence(5, 0) == 0);
	assert_true(round_statistics_confidence(5, 1) == 0);
	assert_true(fabs(round_statistics_confidence(1, 2) - 12.706 / sqrt(2)) < 1e-9);
	assert_true(fabs(round_statistics_confidence(1, 31) - 2.042 / sqrt(31)) < 1e-9);
	/* scipy.stats.t.ppf(0.975, n) of 31, 40 and 120 */
	assert_true(fabs(round_statistics_confidence(1, 32) * sqrt(32) - 2.039513) < 0.0005);
	assert_true(fabs(round_statistics_confidence(1, 41) * sqrt(41) - 2.021075) < 0.0005);
	assert_true(fabs(round_statistics_confidence(1, 121) * sqrt(121) - 1.979930) < 0.0005);
}

/* ---- The file ---- */

static struct walltime_results written(uint64_t pid)
{
	return (struct walltime_results){
		.creator = xstrdup("exec-harness"), .version = xstrdup("1.3.0"), .pid = pid,
	};
}

static void add(struct walltime_results *r, const char *name, const uint64_t *times, size_t count)
{
	struct walltime_benchmark b = {.name = xstrdup(name),
				       .uri = xasprintf("exec_harness::%s", name)};

	round_statistics_compute(&b.stats, times, NULL, count);
	vec_push(&r->benchmarks, b);
}

static void expect_file(struct walltime_results *r, const char *name)
{
	struct buf expected = BUF_INIT, got = BUF_INIT;

	read_vector(name, &expected);
	walltime_results_encode(r, &got);
	expect_bytes(&got, expected.data, expected.len);
	walltime_results_release(r);
	buf_release(&expected);
	buf_release(&got);
}

static void the_file_is_byte_for_byte_upstreams(void **state UNUSED)
{
	static const uint64_t two[] = {100, 200};
	uint64_t times[ROUNDS_MAX];
	struct walltime_results r = written(4242);
	const struct json_value *item;
	struct buf text = BUF_INIT;
	struct json_doc doc;
	struct json_iter it;
	const char *name;

	read_vector("walltime/walltime_stats.json", &text);
	assert_int_equal(json_parse(&doc, "vector", text.data, text.len), 0);
	it = json_iter(doc.root);
	while ((item = json_next(&it))) {
		assert_int_equal(json_get_text(&doc, item, "name", &name), 0);
		if (str_eq(name, "real_sleep"))
			add(&r, "sleep 0.1", times,
			    read_numbers(&doc, item, "times_per_round_ns", times));
	}
	add(&r, "say \"hi\"\t\\ é ☃", two, 2);
	json_release(&doc);
	buf_release(&text);
	expect_file(&r, "walltime/walltime_result.4242.json");
	r = written(4243);
	expect_file(&r, "walltime/walltime_result_empty.4243.json");
}

static int decode(const char *text, struct walltime_results *r)
{
	return walltime_results_decode(r, "f", text, strlen(text));
}

static void read_recorded(const char *name, struct walltime_results *r)
{
	struct buf text = BUF_INIT;

	read_vector(name, &text);
	assert_int_equal(walltime_results_decode(r, name, text.data, text.len), 0);
	buf_release(&text);
}

static void files_of_others_are_read(void **state UNUSED)
{
	static const char *const names[] = {
		"walltime/results_pytest_walltime.4244.json", "walltime/results_node_walltime.4246.json",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct walltime_results r;

		read_recorded(names[i], &r);
		assert_int_equal(r.benchmarks.len, 1);
		assert_true(r.benchmarks.items[0].stats.max_ns == 200.5);
		assert_true(r.benchmarks.items[0].stats.min_ns == 100);
		assert_int_equal(r.benchmarks.items[0].stats.warmup_iters, 7);
		walltime_results_release(&r);
	}
}

static void our_own_file_reads_back(void **state UNUSED)
{
	struct walltime_results r;

	read_recorded("walltime/walltime_result.4242.json", &r);
	assert_string_equal(r.creator, "exec-harness");
	assert_int_equal(r.pid, 4242);
	assert_int_equal(r.benchmarks.len, 2);
	expect_file(&r, "walltime/walltime_result.4242.json");
}

static void expect_refused(const char *text, const char *why)
{
	struct walltime_results r;

	assert_int_equal(decode(text, &r), -EINVAL);
	assert_non_null(strstr(error_text(), why));
	assert_int_equal(r.benchmarks.len, 0);
	error_clear();
}

#define HEAD "{\"creator\":{\"name\":\"a\",\"version\":\"1\",\"pid\":1},"

static void what_is_no_result_is_refused(void **state UNUSED)
{
	struct buf text = BUF_INIT;
	struct walltime_results r;

	expect_refused("", "empty");
	expect_refused("{", "f:1:");
	expect_refused("{}", "creator: is missing");
	expect_refused(HEAD "\"instrument\":{\"type\":\"walltime\"}}", "benchmarks: is missing");
	expect_refused(HEAD "\"instrument\":{\"type\":\"walltime\"},\"benchmarks\":[{}]}",
		       "benchmarks[0].name: is missing");
	expect_refused(HEAD "\"instrument\":{\"type\":\"walltime\"},\"benchmarks\":[{\"name\":\"a\","
		       "\"uri\":\"b\",\"config\":{},\"stats\":{\"min_ns\":\"1\"}}]}",
		       "stats.min_ns: expected a number");
	read_vector("walltime/results_pytest_memory.4245.json", &text);
	assert_int_equal(walltime_results_decode(&r, "f", text.data, text.len), -EINVAL);
	assert_non_null(strstr(error_text(), "analysis"));
	error_clear();
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_written_as_recorded),
		cmocka_unit_test(statistics_are_as_recorded),
		cmocka_unit_test(the_interval_is_students),
		cmocka_unit_test(the_file_is_byte_for_byte_upstreams),
		cmocka_unit_test(files_of_others_are_read),
		cmocka_unit_test(our_own_file_reads_back),
		cmocka_unit_test(what_is_no_result_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
