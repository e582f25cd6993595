/* SPDX-License-Identifier: MIT */
/* test_memory_profile.c - memory profile folders: whole, damaged, with parts missing */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applets/runner/memory/artifacts.h"
#include "applets/runner/memory/heap.h"
#include "applets/runner/memory/profile.h"
#include "core/artifact.h"
#include "core/base.h"
#include "core/buf.h"
#include "core/execution_timestamps.h"
#include "core/io.h"
#include "core/path.h"
#include <cmocka.h>
#undef fail

static char *folder; /* of every test's own, with an empty folder `results` */
static struct result result;
static struct memory_profile_summary summary;
static struct execution_timestamps times;

static char *in_results(const char *name)
{
	return xasprintf("%s/results/%s", folder, name);
}

static int setup(void **state UNUSED)
{
	char *results;
	int rc;

	folder = xstrdup("/tmp/codspeed-test.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	results = in_results("");
	rc = mkdir(results, 0700);
	free(results);
	result = (struct result)RESULT_INIT;
	times = (struct execution_timestamps)EXECUTION_TIMESTAMPS_INIT;
	return rc;
}

static int teardown(void **state UNUSED)
{
	result_release(&result);
	execution_timestamps_release(&times);
	path_remove_tree(folder);
	free(folder);
	return 0;
}

/* ---- Folders by hand ---- */

static void marker(enum marker_type type, uint64_t time)
{
	vec_push(&times.markers, (struct marker){.type = type, .time = time});
}

/* A benchmark that ran from `start` to `end` and then said who it is; end 0: never. */
static void window(const char *uri, uint64_t start, uint64_t end)
{
	marker(MARKER_SAMPLE_START, start);
	if (end)
		marker(MARKER_SAMPLE_END, end);
	if (uri)
		execution_timestamps_add(&times, end ? end + 1 : start, uri, strlen(uri), 1);
}

static void write_times(void)
{
	char *path = in_results(EXECUTION_TIMESTAMPS_FILE);

	assert_int_equal(execution_timestamps_write(&times, path), 0);
	free(path);
}

#define MALLOC(when, block, bytes) \
	{.timestamp = when, .addr = block, .size = bytes, .pid = 7, .tid = 7, .kind = HEAP_MALLOC}
#define FREE(when, block) {.timestamp = when, .addr = block, .pid = 7, .tid = 7, .kind = HEAP_FREE}

static void write_events(pid_t pid, const struct heap_event *events, size_t count, bool whole)
{
	char *results = in_results("");
	struct artifact_writer *w;

	assert_int_equal(artifact_create(&w, results, pid, 0), 0);
	assert_int_equal(artifact_add(w, events, count), 0);
	assert_int_equal(whole ? artifact_finish(w) : artifact_abandon(w), 0);
	free(results);
}

#define EVENTS(pid, ...)                                                    \
	do {                                                                \
		const struct heap_event list_[] = {__VA_ARGS__};            \
		write_events(pid, list_, ARRAY_SIZE(list_), true);          \
	} while (0)

static void write_bytes(const char *name, const char *bytes)
{
	char *path = in_results(name);

	assert_int_equal(write_file_atomic(path, bytes, strlen(bytes), 0600), 0);
	free(path);
}

/* The file of process 7 loses its last bytes. */
static void cut_artifact(size_t by)
{
	char *path = in_results("7" ARTIFACT_SUFFIX);
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - (off_t)by), 0);
	free(path);
}

static void load(void)
{
	write_times();
	assert_int_equal(memory_profile_load(&result, folder, &summary), 0);
	assert_string_equal(error_text(), "");
}

/* ---- Expectations ---- */

static const struct benchmark *expect_benchmark(size_t at, const char *uri,
						enum benchmark_status status)
{
	const struct benchmark *b;

	assert_true(at < result.benchmarks.len);
	b = &result.benchmarks.items[at];
	assert_string_equal(b->uri, uri);
	assert_int_equal(b->mode, MODE_MEMORY);
	assert_int_equal(b->status, status);
	return b;
}

#define EXPECT(b, ...) expect_metrics(b, (const uint64_t[MEMORY_METRICS]){__VA_ARGS__})

static void expect_metrics(const struct benchmark *b, const uint64_t values[MEMORY_METRICS])
{
	for (size_t i = 0; i < MEMORY_METRICS; i++) {
		assert_true(b->metrics[i].known);
		assert_int_equal(b->metrics[i].value, values[i]);
	}
}

static void expect_no_figures(const struct benchmark *b)
{
	for (size_t i = 0; i < MEMORY_METRICS; i++)
		assert_false(b->metrics[i].known);
	assert_int_equal(b->histogram.len, 0);
	assert_int_equal(b->timeline.len, 0);
}

static void expect_note(const struct benchmark *b, size_t at, const char *text)
{
	assert_true(at < b->notes.len);
	assert_string_equal(b->notes.items[at], text);
}

/* ---- Whole folders ---- */

/*
 * Of `codspeed exec -m memory -- ./ten`: blocks of 100, 200, ... 1000 bytes, the first made 5000 and
 * freed with every second one, then 77 bytes that are freed at once. One allocation of 64 bytes and
 * two frees are of exec-harness itself.
 */
static void a_recorded_folder(void **state UNUSED)
{
	static const struct result_size_class expected[] = {
		{64, 1, 64}, {128, 2, 177}, {256, 1, 200}, {512, 3, 1200}, {1024, 5, 4000},
		{8192, 1, 5000},
	};
	const char *data = getenv("DATA");
	char *path = xasprintf("%s/profile_memory", data ? data : "tests/data");
	const struct benchmark *b;

	assert_true(artifacts_exist(path));
	assert_int_equal(memory_profile_load(&result, path, &summary), 0);
	assert_int_equal(result.benchmarks.len, 1);
	b = expect_benchmark(0, "exec_harness::./ten", BENCHMARK_OK);
	assert_string_equal(b->name, "./ten");
	assert_int_equal(b->notes.len, 1);
	expect_note(b, 0, "when its 2 processes ended is not known (an old memtrack): the "
			  "peak is a sum over all of them");
	EXPECT(b, 10400, 10577 + 64, 12 + 1, 7 + 2, 3000, 5, 2 + 1);
	assert_int_equal(b->histogram.len, ARRAY_SIZE(expected));
	assert_memory_equal(b->histogram.items, expected, sizeof(expected));
	assert_true(b->timeline.len > 1 && b->timeline.len <= HEAP_TIMELINE_POINTS);
	assert_int_equal(summary.events, 21);
	free(path);
}

static void one_benchmark(void **state UNUSED)
{
	const struct benchmark *b;

	window("a.py::test[x::y]", 100, 200);
	EVENTS(7, MALLOC(50, 0x9000, 5000), MALLOC(110, 0x1000, 100), MALLOC(120, 0x2000, 30),
	       FREE(130, 0x2000), MALLOC(140, 0x3000, 64), FREE(150, 0x9000), FREE(300, 0x1000));
	load();
	assert_int_equal(result.benchmarks.len, 1);
	b = expect_benchmark(0, "a.py::test[x::y]", BENCHMARK_OK);
	assert_string_equal(b->name, "test[x::y]");
	EXPECT(b, 164, 194, 3, 2, 164, 2, 1);
	assert_int_equal(b->notes.len, 0);
	assert_int_equal(b->histogram.len, 3);
	assert_int_equal(b->histogram.items[0].size_class, 32);
	assert_int_equal(b->histogram.items[0].allocations, 1);
	assert_int_equal(b->histogram.items[0].bytes, 30);
	assert_int_equal(b->histogram.items[2].size_class, 128);
	assert_true(b->timeline.len > 0);
	assert_int_equal(b->timeline.items[0].ns, 0);
	assert_int_equal(b->timeline.items[0].live_bytes, 164);
	assert_int_equal(summary.artifacts, 1);
	assert_int_equal(summary.events, 7);
	assert_int_equal(summary.uris, 1);
	assert_false(summary.no_timestamps);
	assert_null(summary.integration);
}

static void several_benchmarks_in_the_order_of_their_reports(void **state UNUSED)
{
	const struct benchmark *b;

	window("b", 100, 200);
	window("a", 300, 400);
	window("b", 500, 600);
	EVENTS(7, MALLOC(110, 0x1000, 100), MALLOC(310, 0x2000, 7), MALLOC(510, 0x3000, 60),
	       FREE(520, 0x3000));
	load();
	assert_int_equal(result.benchmarks.len, 2);
	b = expect_benchmark(0, "b", BENCHMARK_OK);
	EXPECT(b, 100, 160, 2, 1, 100, 1, 1);
	expect_note(b, 0, "ran 2 times; the peak is the highest, all else the sum");
	b = expect_benchmark(1, "a", BENCHMARK_OK);
	EXPECT(b, 7, 7, 1, 0, 7, 1, 0);
	assert_int_equal(b->notes.len, 0);
}

static void uris_are_written_as_in_simulation(void **state UNUSED)
{
	window("exec_harness::sh -c 'a::b \\xff'", 100, 200);
	window("f.c::back\\slash", 300, 400);
	EVENTS(7, MALLOC(110, 0x1000, 100), MALLOC(310, 0x2000, 100));
	load();
	assert_string_equal(expect_benchmark(0, "exec_harness::sh -c 'a::b \\xff'",
					     BENCHMARK_OK)->name, "sh -c 'a::b \\xff'");
	assert_string_equal(expect_benchmark(1, "f.c::back\\\\slash", BENCHMARK_OK)->name,
			    "back\\\\slash");
}

static void a_benchmark_that_allocates_nothing(void **state UNUSED)
{
	const struct benchmark *b;

	window("none", 100, 200);
	window("some", 300, 400);
	EVENTS(7, MALLOC(310, 0x1000, 1));
	load();
	b = expect_benchmark(0, "none", BENCHMARK_OK);
	EXPECT(b, 0);
	expect_note(b, 0, "no heap call was seen in its window");
	assert_int_equal(expect_benchmark(1, "some", BENCHMARK_OK)->notes.len, 0);
}

/* Of one run cut into two files, neither order of which would do. */
static void several_artifacts_are_merged_by_time(void **state UNUSED)
{
	const struct benchmark *b;

	window("a", 100, 200);
	window("b", 300, 400);
	EVENTS(7, MALLOC(110, 0x1000, 100), FREE(130, 0x1000), MALLOC(310, 0x1000, 10));
	EVENTS(8, {.timestamp = 120, .addr = 0x1000, .size = 50, .pid = 8, .tid = 8},
	       {.timestamp = 320, .addr = 0x2000, .size = 5, .pid = 8, .tid = 8});
	load();
	assert_int_equal(summary.artifacts, 2);
	assert_int_equal(summary.events, 5);
	b = expect_benchmark(0, "a", BENCHMARK_OK);
	EXPECT(b, 150, 150, 2, 1, 50, 1, 1);
	expect_note(b, 0, "the events of 2 files were merged by their time");
	EXPECT(expect_benchmark(1, "b", BENCHMARK_OK), 15, 15, 2, 0, 15, 2, 0);
}

static void many_events_of_several_artifacts(void **state UNUSED)
{
	enum { COUNT = 20000 };
	struct heap_event *events = xcalloc(COUNT, sizeof(*events));

	window("a", 1, 10 * COUNT);
	for (pid_t pid = 7; pid < 10; pid++) {
		for (size_t i = 0; i < COUNT; i++)
			events[i] = (struct heap_event){.timestamp = 1 + 3 * i, .size = 1,
				.addr = 0x1000 + 16 * i, .pid = pid, .tid = pid};
		write_events(pid, events, COUNT, true);
	}
	free(events);
	load();
	assert_int_equal(summary.events, 3 * COUNT);
	EXPECT(expect_benchmark(0, "a", BENCHMARK_OK), 3 * COUNT, 3 * COUNT, 3 * COUNT, 0, 3 * COUNT,
	       3 * COUNT, 0);
	/* that they were merged, and that the processes' ends are not known */
	assert_int_equal(result.benchmarks.items[0].notes.len, 2);
}

/* Two children, one after the other, with 100 bytes each; the first one's address is used again. */
static void write_children(void)
{
	window("a", 100, 200);
	EVENTS(7, {.timestamp = 110, .addr = 0x1000, .size = 100, .pid = 8, .tid = 8},
	       {.timestamp = 130, .addr = 0x1000, .size = 100, .pid = 9, .tid = 9});
}

static void the_supplement_tells_when_processes_end(void **state UNUSED)
{
	const struct benchmark *b;

	write_children();
	write_bytes("7" SUPPLEMENT_SUFFIX, SUPPLEMENT_BEGINNING "exit 8 120\nexit 9 140\nexec 7 90\nend\n");
	load();
	b = expect_benchmark(0, "a", BENCHMARK_OK);
	EXPECT(b, 100, 200, 2, 0, 200, 2, 0);
	assert_int_equal(b->notes.len, 0);
}

static void a_damaged_supplement_makes_it_incomplete(void **state UNUSED)
{
	const struct benchmark *b;

	write_children();
	write_bytes("7" SUPPLEMENT_SUFFIX, SUPPLEMENT_BEGINNING "exit 8 120\nexit 9");
	load();
	assert_int_equal(summary.damaged, 1);
	b = expect_benchmark(0, "a", BENCHMARK_INCOMPLETE);
	EXPECT(b, 100, 200, 2, 0, 200, 2, 0);
	expect_note(b, 0, "results/7" SUPPLEMENT_SUFFIX ": line 3: the file was cut off here");
}

/* Of two benchmarks the first was over when memtrack met a program that it cannot look into. */
static void gaps_concern_what_was_not_over_before(void **state UNUSED)
{
	const struct benchmark *b;

	window("a", 100, 200);
	window("b", 300, 400);
	EVENTS(7, MALLOC(110, 0x1000, 100), MALLOC(310, 0x2000, 10));
	write_bytes("7" SUPPLEMENT_SUFFIX, SUPPLEMENT_BEGINNING
		    "gap 250 /x is a static program\nremark 150 nothing bad\ngap 500 later\nend\n");
	load();
	b = expect_benchmark(0, "a", BENCHMARK_OK);
	assert_int_equal(b->notes.len, 1);
	expect_note(b, 0, "nothing bad");
	b = expect_benchmark(1, "b", BENCHMARK_INCOMPLETE);
	EXPECT(b, 10, 10, 1, 0, 10, 1, 0);
	expect_note(b, 0, "/x is a static program");
	assert_int_equal(b->notes.len, 2);
}

static void many_gaps_are_not_all_told(void **state UNUSED)
{
	struct buf text = BUF_INIT;
	const struct benchmark *b;

	window("a", 100, 200);
	EVENTS(7, MALLOC(110, 0x1000, 100));
	buf_addstr(&text, SUPPLEMENT_BEGINNING);
	for (int i = 0; i < 25; i++)
		buf_printf(&text, "gap 0 program %d\n", i);
	buf_addstr(&text, "end\n");
	write_bytes("7" SUPPLEMENT_SUFFIX, text.data);
	buf_release(&text);
	load();
	b = expect_benchmark(0, "a", BENCHMARK_INCOMPLETE);
	assert_int_equal(b->notes.len, 21);
	expect_note(b, 19, "program 19");
	expect_note(b, 20, "and 5 more of this kind");
}

/* Between windows no free is seen: the same address in two of them is nothing to tell. */
static void missed_frees_are_told(void **state UNUSED)
{
	window("a", 100, 200);
	window("b", 300, 400);
	EVENTS(7, MALLOC(110, 0x1000, 100), MALLOC(120, 0x2000, 100), MALLOC(310, 0x1000, 10));
	load();
	assert_int_equal(expect_benchmark(0, "a", BENCHMARK_OK)->notes.len, 0);
	EVENTS(7, MALLOC(110, 0x1000, 100), MALLOC(120, 0x2000, 100), MALLOC(130, 0x1000, 10));
	result_release(&result);
	result = (struct result)RESULT_INIT;
	load();
	expect_note(expect_benchmark(0, "a", BENCHMARK_OK), 0, "blocks of the run that were given out "
		    "again without a free that was seen: 1; the peak may be too high");
}

static void late_events_are_told(void **state UNUSED)
{
	enum { COUNT = 2 * HEAP_REORDER_EVENTS };
	struct heap_event *events = xcalloc(COUNT + 1, sizeof(*events));

	window("a", 1, 10 * COUNT);
	for (size_t i = 0; i < COUNT; i++)
		events[i] = (struct heap_event)MALLOC(10 + i, 0x1000 + 16 * i, 1);
	events[COUNT] = (struct heap_event)MALLOC(5, 0x900, 1);
	write_events(7, events, COUNT + 1, true);
	free(events);
	load();
	expect_note(expect_benchmark(0, "a", BENCHMARK_OK), 0,
		    "events of the run that came too late to be put in order: 1; the figures may be "
		    "a little off");
}

static void old_artifacts_do_not_know_what_a_realloc_ends(void **state UNUSED)
{
	const struct benchmark *b;

	window("a", 1, 100);
	EVENTS(7, MALLOC(10, 0x1000, 10), {.timestamp = 20, .addr = 0x2000, .size = 20, .pid = 7,
					   .tid = 7, .kind = HEAP_REALLOC});
	load();
	b = expect_benchmark(0, "a", BENCHMARK_OK);
	EXPECT(b, 30, 30, 2, 0, 30, 2, 0);
	assert_non_null(strstr(b->notes.items[0], "which block they end (an old memtrack): 1;"));
}

/* ---- Missing parts ---- */

static void no_timestamps(void **state UNUSED)
{
	EVENTS(7, MALLOC(10, 0x1000, 10));
	assert_int_equal(memory_profile_load(&result, folder, &summary), 0);
	assert_true(summary.no_timestamps);
	assert_int_equal(summary.artifacts, 1);
	assert_int_equal(summary.events, 1);
	assert_int_equal(result.benchmarks.len, 0);
	assert_string_equal(error_text(), "");
}

static void timestamps_without_a_benchmark(void **state UNUSED)
{
	window(NULL, 100, 200);
	EVENTS(7, MALLOC(110, 0x1000, 10));
	load();
	assert_false(summary.no_timestamps);
	assert_int_equal(summary.uris, 0);
	assert_int_equal(summary.unnamed_windows, 1);
	assert_int_equal(result.benchmarks.len, 0);
}

static void no_artifact(void **state UNUSED)
{
	const struct benchmark *b;

	window("a", 100, 200);
	load();
	assert_int_equal(summary.artifacts, 0);
	b = expect_benchmark(0, "a", BENCHMARK_INCOMPLETE);
	expect_no_figures(b);
	expect_note(b, 0, "memtrack's file is missing in the folder results");
	assert_int_equal(b->notes.len, 1);
}

static void an_artifact_without_events_gives_no_zeros(void **state UNUSED)
{
	const struct benchmark *b;

	window("a", 100, 200);
	write_events(7, NULL, 0, true);
	load();
	assert_int_equal(summary.artifacts, 1);
	assert_int_equal(summary.damaged, 0);
	b = expect_benchmark(0, "a", BENCHMARK_INCOMPLETE);
	expect_no_figures(b);
	assert_true(str_starts(b->notes.items[0], "not one heap call was recorded"));
}

static void a_benchmark_without_a_window(void **state UNUSED)
{
	const struct benchmark *b;

	window("a", 100, 200);
	execution_timestamps_add(&times, 300, "lost", 4, 1);
	EVENTS(7, MALLOC(110, 0x1000, 10));
	load();
	expect_benchmark(0, "a", BENCHMARK_OK);
	b = expect_benchmark(1, "lost", BENCHMARK_INCOMPLETE);
	expect_no_figures(b);
	expect_note(b, 0, "nothing says when it ran: its SampleStart and SampleEnd are missing");
	assert_int_equal(b->notes.len, 1);
}

static void a_window_without_an_end(void **state UNUSED)
{
	const struct benchmark *b;

	window("a", 100, 200);
	window("open", 300, 0);
	EVENTS(7, MALLOC(110, 0x1000, 10), MALLOC(310, 0x2000, 20));
	load();
	expect_benchmark(0, "a", BENCHMARK_OK);
	b = expect_benchmark(1, "open", BENCHMARK_INCOMPLETE);
	EXPECT(b, 20, 20, 1, 0, 20, 1, 0);
	assert_true(str_starts(b->notes.items[0], "nothing says when it ended"));
}

static void a_folder_that_is_empty_or_gone(void **state UNUSED)
{
	char *gone = xasprintf("%s/gone", folder);

	assert_false(artifacts_exist(folder));
	assert_int_equal(memory_profile_load(&result, folder, &summary), 0);
	assert_true(summary.no_timestamps);
	assert_int_equal(summary.artifacts, 0);
	assert_false(artifacts_exist(gone));
	assert_int_equal(memory_profile_load(&result, gone, &summary), 0);
	assert_true(summary.no_timestamps);
	assert_int_equal(result.benchmarks.len, 0);
	assert_string_equal(error_text(), "");
	free(gone);
}

/* ---- Damage ---- */

static void a_cut_artifact(void **state UNUSED)
{
	const struct benchmark *b;

	window("a", 100, 200);
	EVENTS(7, MALLOC(110, 0x1000, 10), MALLOC(120, 0x2000, 20), FREE(130, 0x1000));
	cut_artifact(8);
	load();
	assert_int_equal(summary.damaged, 1);
	b = expect_benchmark(0, "a", BENCHMARK_INCOMPLETE);
	expect_no_figures(b);
	assert_true(str_starts(b->notes.items[0], "results/7" ARTIFACT_SUFFIX " is cut off"));
	assert_int_equal(b->notes.len, 1);
}

static void an_artifact_of_other_bytes(void **state UNUSED)
{
	const struct benchmark *b;

	window("a", 100, 200);
	write_bytes("7" ARTIFACT_SUFFIX, "something else");
	write_bytes("8" ARTIFACT_SUFFIX, "");
	load();
	assert_int_equal(summary.artifacts, 2);
	assert_int_equal(summary.damaged, 2);
	b = expect_benchmark(0, "a", BENCHMARK_INCOMPLETE);
	expect_no_figures(b);
	assert_int_equal(b->notes.len, 2);
}

static void an_incomplete_artifact(void **state UNUSED)
{
	static const struct heap_event events[] = {MALLOC(110, 0x1000, 10)};
	const struct benchmark *b;

	window("a", 100, 200);
	write_events(7, events, ARRAY_SIZE(events), false);
	assert_true(artifacts_exist(folder));
	load();
	assert_int_equal(summary.artifacts, 1);
	assert_int_equal(summary.incomplete, 1);
	assert_int_equal(summary.damaged, 0);
	b = expect_benchmark(0, "a", BENCHMARK_INCOMPLETE);
	EXPECT(b, 10, 10, 1, 0, 10, 1, 0);
	expect_note(b, 0, "results/7" ARTIFACT_SUFFIX ARTIFACT_INCOMPLETE
			  ": memtrack could not record everything");
	assert_int_equal(b->notes.len, 1);
}

/* Also where memtrack was killed while it wrote. */
static void an_incomplete_artifact_that_is_cut(void **state UNUSED)
{
	window("a", 100, 200);
	write_bytes("7" ARTIFACT_SUFFIX ARTIFACT_INCOMPLETE, "\x28\xb5");
	load();
	assert_int_equal(summary.incomplete, 1);
	assert_int_equal(summary.damaged, 0);
	expect_no_figures(expect_benchmark(0, "a", BENCHMARK_INCOMPLETE));
	assert_int_equal(result.benchmarks.items[0].notes.len, 1);
}

static void timestamps_that_are_damaged(void **state UNUSED)
{
	write_bytes(EXECUTION_TIMESTAMPS_FILE, "x");
	EVENTS(7, MALLOC(110, 0x1000, 10));
	assert_int_equal(memory_profile_load(&result, folder, &summary), -EBADMSG);
	assert_non_null(strstr(error_text(), EXECUTION_TIMESTAMPS_FILE));
	error_clear();
}

/* It would wait for ever. */
static void a_fifo_is_no_artifact(void **state UNUSED)
{
	char *path = in_results("7" ARTIFACT_SUFFIX);

	window("a", 100, 200);
	assert_int_equal(mkfifo(path, 0600), 0);
	load();
	expect_note(expect_benchmark(0, "a", BENCHMARK_INCOMPLETE), 0,
		    "results/7" ARTIFACT_SUFFIX " is not a plain file");
	free(path);
}

static void other_files_are_no_artifacts(void **state UNUSED)
{
	window("a", 100, 200);
	write_bytes("7" ARTIFACT_SUFFIX "~", "x");
	write_bytes("7.msgpack", "x");
	write_bytes("4242.json", "{}");
	load();
	assert_int_equal(summary.artifacts, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_recorded_folder),
		TEST(one_benchmark),
		TEST(several_benchmarks_in_the_order_of_their_reports),
		TEST(uris_are_written_as_in_simulation),
		TEST(a_benchmark_that_allocates_nothing),
		TEST(several_artifacts_are_merged_by_time),
		TEST(many_events_of_several_artifacts),
		TEST(the_supplement_tells_when_processes_end),
		TEST(a_damaged_supplement_makes_it_incomplete),
		TEST(gaps_concern_what_was_not_over_before),
		TEST(many_gaps_are_not_all_told),
		TEST(missed_frees_are_told),
		TEST(late_events_are_told),
		TEST(old_artifacts_do_not_know_what_a_realloc_ends),
		TEST(no_timestamps),
		TEST(timestamps_without_a_benchmark),
		TEST(no_artifact),
		TEST(an_artifact_without_events_gives_no_zeros),
		TEST(a_benchmark_without_a_window),
		TEST(a_window_without_an_end),
		TEST(a_folder_that_is_empty_or_gone),
		TEST(a_cut_artifact),
		TEST(an_artifact_of_other_bytes),
		TEST(an_incomplete_artifact),
		TEST(an_incomplete_artifact_that_is_cut),
		TEST(timestamps_that_are_damaged),
		TEST(a_fifo_is_no_artifact),
		TEST(other_files_are_no_artifacts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
