/* SPDX-License-Identifier: MIT */
/* test_result.c - results.json: its exact bytes, read back, and refused with the place named */
#include <setjmp.h>
#include <stdarg.h>
#include <sys/utsname.h>

#include "applets/runner/results/result.h"
#include "applets/runner/results/system_info.h"
#include "core/base.h"
#include "core/io.h"
#include <cmocka.h>

static void fill_head(struct result *result)
{
	struct result_system *system = &result->system;
	struct result_run *run = &result->run;

	result->tool = (struct result_tool){xstrdup("codspeed"), xstrdup("0.1.0"), xstrdup("5f3a")};
	system->os = xstrdup("debian 12");
	system->arch = xstrdup("x86_64");
	system->cpu_model = xstrdup("Example CPU @ 3.00GHz");
	strvec_push(&system->cpu_flags, "avx2");
	strvec_push(&system->cpu_flags, "sse2");
	system->cores = MEASURE(8);
	system->memory_bytes = MEASURE(33554432000);
	system->kernel = xstrdup("6.1.0-18-amd64");
	system->libc = xstrdup("glibc 2.36");
	system->valgrind = xstrdup("3.19.0");
	strvec_push(&system->valgrind_options, "--cache-sim=yes");
	system->governor = xstrdup("performance");
	run->started = result_timestamp_dup(1769903999);
	run->duration_ns = 1234567890;
	run->host = xstrdup("build\xff");
	run->command = xstrdup("exec -m simulation -- sh -c 'seq 1 1000; false'");
	run->working_directory = xstrdup("/tmp/a\\b");
	strvec_push(&run->modes, "simulation");
}

static void add_tree(struct result *result)
{
	struct benchmark *b = result_add(result, MODE_SIMULATION,
		"exec_harness::sh -c 'seq 1 1000'", "sh -c 'seq 1 1000'");
	static const uint64_t values[] = {1235024, 1702133, 4301, 2999, 1828603, 220101};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		b->metrics[i] = MEASURE(values[i]);
	vec_push(&b->functions, (struct result_function){xstrdup("main"),
		xstrdup("/usr/bin/seq"), 700000, 1000000});
	vec_push(&b->functions, (struct result_function){xstrdup("odd \xfe"), NULL, 1235, 1235});
	vec_push(&b->processes, (struct result_process){100, 99, xstrdup("sh -c 'seq 1 1000'"),
		MEASURE(0), MEASURE(867166)});
	vec_push(&b->processes, (struct result_process){101, 100, xstrdup("seq 1 1000"),
		MEASURE(0), MEASURE(367858)});
	vec_push(&b->processes, (struct result_process){102, 101, xstrdup("cat a\xff"),
		MEASURE(137), MEASURE(0)});
	vec_push(&b->processes, (struct result_process){103, 100, NULL, MEASURE_NULL,
		MEASURE_NULL});
}

static void add_trouble(struct result *result)
{
	struct benchmark *b = result_add(result, MODE_SIMULATION, "uri::f", "bench\\xff \033[2J");

	b->status = BENCHMARK_FAILED;
	benchmark_note(b, "exit status %d", 3);
	b = result_add(result, MODE_SIMULATION, "uri::i", "gr\xc3\xbc\xc3\x9f");
	b->status = BENCHMARK_INCOMPLETE;
	b->metrics[SIMULATION_INSTRUCTIONS] = MEASURE(UINT64_MAX);
	benchmark_note(b, "ptrace is not permitted");
	benchmark_note(b, "one dump is cut short");
}

static struct result sample(void)
{
	struct result result = RESULT_INIT;

	fill_head(&result);
	add_tree(&result);
	add_trouble(&result);
	return result;
}

static void add_heap(struct result *result)
{
	struct benchmark *b = result_add(result, MODE_MEMORY, "t.py::test[a]", "test[a]");
	static const uint64_t values[] = {4096, 1048576, 1000, 990, 160, 10, 500};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		b->metrics[i] = MEASURE(values[i]);
	vec_push(&b->histogram, (struct result_size_class){0, 1, 0});
	vec_push(&b->histogram, (struct result_size_class){16, 900, 14000});
	vec_push(&b->histogram, (struct result_size_class){1ull << 63, 99, UINT64_MAX});
	vec_push(&b->timeline, (struct result_point){0, 0});
	vec_push(&b->timeline, (struct result_point){1024, 4096});
	b = result_add(result, MODE_MEMORY, "exec_harness::true", "true");
	b->status = BENCHMARK_INCOMPLETE;
	benchmark_note(b, "not one heap call was recorded");
}

static struct result memory_sample(void)
{
	struct result result = RESULT_INIT;

	fill_head(&result);
	free(result.run.modes.items[0]);
	result.run.modes.items[0] = xstrdup("memory");
	add_heap(&result);
	return result;
}

#define SIMULATION_GOLDEN "result_simulation.json"
#define MEMORY_GOLDEN "result_memory.json"

static const char *golden_name = SIMULATION_GOLDEN; /* of the test at hand */

static int take_memory(void **state UNUSED)
{
	golden_name = MEMORY_GOLDEN;
	return 0;
}

static int take_simulation(void **state UNUSED)
{
	golden_name = SIMULATION_GOLDEN;
	return 0;
}

static void read_golden(struct buf *to)
{
	const char *folder = getenv("DATA");
	char *path = xasprintf("%s/%s", folder ? folder : "tests/data", golden_name);

	assert_int_equal(read_file(path, to), 0);
	free(path);
}

static void expect_golden(struct result result)
{
	struct buf golden = BUF_INIT, written = BUF_INIT;

	read_golden(&golden);
	result_write_json(&result, &written);
	assert_string_equal(written.data, golden.data);
	result_release(&result);
	buf_release(&golden);
	buf_release(&written);
}

static void writes_the_golden_bytes(void **state UNUSED)
{
	expect_golden(sample());
}

static void writes_the_golden_bytes_of_memory(void **state UNUSED)
{
	expect_golden(memory_sample());
}

static void reads_what_it_writes(void **state UNUSED)
{
	struct buf golden = BUF_INIT, again = BUF_INIT;
	struct result result = RESULT_INIT;
	const struct benchmark *b;

	read_golden(&golden);
	assert_int_equal(result_read_json(&result, "r", golden.data, golden.len), 0);
	assert_string_equal(result.run.host, "build\xff");
	assert_string_equal(result.run.working_directory, "/tmp/a\\b");
	assert_int_equal(result.benchmarks.len, 3);
	b = &result.benchmarks.items[0];
	assert_int_equal(b->processes.items[2].status.value, 137);
	assert_string_equal(b->processes.items[2].command, "cat a\xff");
	assert_false(b->processes.items[3].instructions.known);
	assert_string_equal(b->functions.items[1].name, "odd \xfe");
	assert_null(b->functions.items[1].object);
	b = &result.benchmarks.items[2];
	assert_int_equal(b->status, BENCHMARK_INCOMPLETE);
	assert_true(b->metrics[SIMULATION_INSTRUCTIONS].value == UINT64_MAX);
	assert_false(b->metrics[SIMULATION_L1_HITS].known);
	result_write_json(&result, &again);
	assert_string_equal(again.data, golden.data);
	result_release(&result);
	buf_release(&golden);
	buf_release(&again);
}

static void reads_what_it_writes_of_memory(void **state UNUSED)
{
	struct buf golden = BUF_INIT, again = BUF_INIT;
	struct result result = RESULT_INIT;
	const struct benchmark *b;

	read_golden(&golden);
	assert_int_equal(result_read_json(&result, "r", golden.data, golden.len), 0);
	assert_int_equal(result.benchmarks.len, 2);
	b = &result.benchmarks.items[0];
	assert_int_equal(b->mode, MODE_MEMORY);
	assert_int_equal(b->metrics[MEMORY_PEAK_BYTES].value, 4096);
	assert_int_equal(b->metrics[MEMORY_TEMPORARY_ALLOCATIONS].value, 500);
	assert_int_equal(b->histogram.len, 3);
	assert_true(b->histogram.items[2].size_class == 1ull << 63);
	assert_int_equal(b->histogram.items[2].allocations, 99);
	assert_true(b->histogram.items[2].bytes == UINT64_MAX);
	assert_int_equal(b->timeline.len, 2);
	assert_int_equal(b->timeline.items[1].ns, 1024);
	assert_int_equal(b->timeline.items[1].live_bytes, 4096);
	assert_false(result.benchmarks.items[1].metrics[MEMORY_FREES].known);
	result_write_json(&result, &again);
	assert_string_equal(again.data, golden.data);
	result_release(&result);
	buf_release(&golden);
	buf_release(&again);
}

/* The golden file with its first `from` replaced by `to`. */
static void edit_golden(struct buf *edited, const char *from, const char *to)
{
	struct buf golden = BUF_INIT;
	char *at;

	read_golden(&golden);
	at = strstr(golden.data, from);
	assert_non_null(at);
	buf_add(edited, golden.data, (size_t)(at - golden.data));
	buf_addstr(edited, to);
	buf_addstr(edited, at + strlen(from));
	buf_release(&golden);
}

static void expect_refused(const char *from, const char *to, const char *error)
{
	struct result result = RESULT_INIT;
	struct buf edited = BUF_INIT;

	edit_golden(&edited, from, to);
	assert_int_equal(result_read_json(&result, "r.json", edited.data, edited.len), -EINVAL);
	assert_string_equal(error_text(), error);
	assert_int_equal(result.benchmarks.len, 0);
	error_clear();
	buf_release(&edited);
}

static void refuses_other_versions(void **state UNUSED)
{
	expect_refused("\"version\": 1", "\"version\": 2",
		"r.json: version 2 is newer than this program reads (1)");
	expect_refused("\"version\": 1", "\"version\": 0", "r.json: there is no version 0");
	expect_refused("\"version\": 1,", "", "r.json: version: is missing");
	expect_refused("\"version\": 1", "\"version\": \"1\"",
		"r.json: version: expected a whole number, found text");
}

static void names_the_value_that_is_wrong(void **state UNUSED)
{
	expect_refused("\"instructions\": 18446744073709551615", "\"instructions\": -1",
		"r.json: benchmarks[2].metrics.instructions: must not be negative");
	expect_refused("\"instructions\": 1235024", "\"instructions\": 1.5",
		"r.json: benchmarks[0].metrics.instructions: expected a whole number, "
		"found a fraction or a very large number");
	expect_refused("\"ppid\": 101", "\"ppid\": \"101\"",
		"r.json: benchmarks[0].processes[2].ppid: expected a whole number, found text");
	expect_refused("\"self\": 1235,", "",
		"r.json: benchmarks[0].functions[1].self: is missing");
	expect_refused("\"mode\": \"simulation\"", "\"mode\": \"guess\"",
		"r.json: benchmarks[0].mode: is no mode this program knows");
	expect_refused("\"status\": \"failed\"", "\"status\": \"fine\"",
		"r.json: benchmarks[1].status: is no status this program knows");
	expect_refused("\"ptrace is not permitted\"", "7",
		"r.json: benchmarks[2].notes[0]: expected text, found a whole number");
	expect_refused("\"avx2\"", "\"a\\u0000\"",
		"r.json: system.cpu_flags[0]: has a NUL character inside");
	expect_refused("\"os\": \"debian 12\"", "\"os\": null",
		"r.json: system.os: expected text, found null");
	expect_refused("\"uri\": \"uri::f\"", "\"uri\": \"uri::f\", \"uri\": \"\"",
		"r.json: benchmarks[1].uri: is given twice");
	expect_refused("\"tool\": {", "\"tool\": 3, \"x\": {",
		"r.json: tool: expected an object, found a whole number");
}

static void names_the_row_that_is_wrong(void **state UNUSED)
{
	expect_refused("\"histogram\": []", "\"histogram\": {}",
		"r.json: benchmarks[1].histogram: expected an array, found an object");
	expect_refused("\"histogram\": []", "\"histogram\": [[1, 2]]",
		"r.json: benchmarks[1].histogram[0]: expected 3 numbers, found 2");
	expect_refused("\"histogram\": []", "\"histogram\": [[1, 2, 3], 4]",
		"r.json: benchmarks[1].histogram[1]: expected an array, found a whole number");
	expect_refused("\"histogram\": []", "\"histogram\": [[1, -2, 3]]",
		"r.json: benchmarks[1].histogram[0][1]: must not be negative");
	expect_refused("\"timeline\": []", "\"timeline\": null",
		"r.json: benchmarks[1].timeline: expected an array, found null");
	expect_refused("\"timeline\": []", "\"timeline\": [[]]",
		"r.json: benchmarks[1].timeline[0]: expected 2 numbers, found 0");
	expect_refused("\"timeline\": []", "\"timeline\": [[1, \"2\"]]",
		"r.json: benchmarks[1].timeline[0][1]: expected a whole number, found text");
	expect_refused("\"timeline\": []", "\"timeline\": [[1, null]]",
		"r.json: benchmarks[1].timeline[0][1]: expected a whole number, found null");
	expect_refused("\"peak_bytes\": 4096", "\"peak_bytes\": 0.5",
		"r.json: benchmarks[0].metrics.peak_bytes: expected a whole number, "
		"found a fraction or a very large number");
}

/* What an edited golden file is after reading and writing: the golden file again. */
static void expect_same(const char *from, const char *to)
{
	struct buf edited = BUF_INIT, again = BUF_INIT, golden = BUF_INIT;
	struct result result = RESULT_INIT;

	edit_golden(&edited, from, to);
	read_golden(&golden);
	assert_int_equal(result_read_json(&result, "r", edited.data, edited.len), 0);
	result_write_json(&result, &again);
	assert_string_equal(again.data, golden.data);
	result_release(&result);
	buf_release(&edited);
	buf_release(&again);
	buf_release(&golden);
}

static void ignores_what_other_modes_have(void **state UNUSED)
{
	expect_same("\"histogram\": [],", "\"histogram\": [], \"functions\": 3, \"rounds\": {},");
	expect_same("\"histogram\": [],", "");
	expect_same("          1024,\n          4096", "1024, 4096, \"more\"");
	golden_name = SIMULATION_GOLDEN;
	expect_same("\"functions\": [", "\"histogram\": 3, \"timeline\": {}, \"functions\": [");
}

static void ignores_what_it_does_not_know(void **state UNUSED)
{
	expect_same("\"version\": 1,", "\"version\": 1, \"news\": [{\"uri\": 3}], \"news\": {},");
}

static void names_end_uris(void **state UNUSED)
{
	static const char *const pairs[][2] = {
		{"tests/t.py::Class::test_x", "test_x"},
		{"tests/t.py::test_x[a::b-c d]", "test_x[a::b-c d]"},
		{"plain", "plain"},
		{"a::b::", "b::"},
		{"", ""},
		{"exec_harness::a::b [c::d]", "a::b [c::d]"},
		{"exec_harness::", "exec_harness::"},
		{"x/exec_harness::y::z", "z"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		assert_string_equal(result_name_of_uri(pairs[i][0]), pairs[i][1]);
}

static void optional_parts_may_be_absent(void **state UNUSED)
{
	static const char text[] = "{\"version\":1,\"tool\":{\"name\":\"t\",\"version\":\"0\"},"
		"\"system\":{\"os\":\"o\",\"arch\":\"a\",\"cpu_model\":\"c\",\"kernel\":\"k\"},"
		"\"run\":{\"started\":\"s\",\"duration_ns\":0,\"host\":\"h\",\"command\":\"c\","
		"\"working_directory\":\"/\"},\"benchmarks\":[{\"uri\":\"u\",\"name\":\"n\","
		"\"mode\":\"simulation\",\"status\":\"ok\",\"metrics\":{}}]}";
	struct result result = RESULT_INIT;

	assert_int_equal(result_read_json(&result, "r", text, strlen(text)), 0);
	assert_null(result.system.libc);
	assert_false(result.benchmarks.items[0].metrics[0].known);
	result_release(&result);
}

/* Cut anywhere, a file is an error and no memory is lost (the sanitizer looks). */
static void half_a_file_is_refused(void **state UNUSED)
{
	struct result result = RESULT_INIT;
	struct buf golden = BUF_INIT;

	read_golden(&golden);
	for (size_t len = 0; len + 2 < golden.len; len++) {
		assert_int_equal(result_read_json(&result, "r", golden.data, len), -EINVAL);
		error_clear();
	}
	buf_release(&golden);
}

static void other_json_is_refused(void **state UNUSED)
{
	static const char *const texts[] = {"null", "[]", "{}", "1", "\"\"", "{\"version\":1}",
		"{\"version\":1,\"tool\":{}}", "{\"version\":{}}"};
	struct result result = RESULT_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(result_read_json(&result, "r", texts[i], strlen(texts[i])),
			-EINVAL);
		assert_true(str_starts(error_text(), "r: "));
		error_clear();
	}
}

static void the_system_is_described(void **state UNUSED)
{
	struct result result = RESULT_INIT;
	struct result_system *system = &result.system;
	struct utsname name;

	uname(&name);
	system_info_collect(system, "3.19.0");
	assert_string_equal(system->arch, name.machine);
	assert_string_equal(system->kernel, name.release);
	assert_string_equal(system->valgrind, "3.19.0");
	assert_true(strlen(system->os) > 0 && strlen(system->cpu_model) > 0);
	assert_true(system->cores.known && system->cores.value >= 1);
	assert_true(system->memory_bytes.known && system->memory_bytes.value > 1 << 20);
	for (size_t i = 1; i < system->cpu_flags.len; i++)
		assert_true(strcmp(system->cpu_flags.items[i - 1], system->cpu_flags.items[i]) <= 0);
#ifdef __GLIBC__
	{
		char *libc = xasprintf("glibc %d.%d", __GLIBC__, __GLIBC_MINOR__);

		assert_string_equal(system->libc, libc);
		free(libc);
	}
#endif
	result.run.host = system_info_host_dup();
	assert_true(strlen(result.run.host) > 0);
	result_release(&result);
}

#define MEMORY_TEST(name) cmocka_unit_test_setup_teardown(name, take_memory, take_simulation)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_the_golden_bytes),
		cmocka_unit_test(reads_what_it_writes),
		MEMORY_TEST(writes_the_golden_bytes_of_memory),
		MEMORY_TEST(reads_what_it_writes_of_memory),
		cmocka_unit_test(refuses_other_versions),
		cmocka_unit_test(names_the_value_that_is_wrong),
		MEMORY_TEST(names_the_row_that_is_wrong),
		MEMORY_TEST(ignores_what_other_modes_have),
		cmocka_unit_test(ignores_what_it_does_not_know),
		cmocka_unit_test(names_end_uris),
		cmocka_unit_test(optional_parts_may_be_absent),
		cmocka_unit_test(half_a_file_is_refused),
		MEMORY_TEST(half_a_file_is_refused),
		cmocka_unit_test(other_json_is_refused),
		cmocka_unit_test(the_system_is_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
