/* SPDX-License-Identifier: MIT */
/* test_profile.c - profile folders of any origin: trees of exec-harness, parts named by a URI */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applets/runner/simulation/profile.h"
#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include "core/path.h"
#include <cmocka.h>
#undef fail

static char *folder; /* of every test's own */
static struct result result;
static struct profile_summary summary;

static int setup(void **state UNUSED)
{
	folder = xstrdup("/tmp/codspeed-test.XXXXXX");
	result = (struct result)RESULT_INIT;
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state UNUSED)
{
	result_release(&result);
	free(summary.integration);
	summary.integration = NULL;
	path_remove_tree(folder);
	free(folder);
	return 0;
}

static int load(const char *from)
{
	return profile_load(&result, from, &(struct profile_wanted){.top = 10}, &summary);
}

static void write_file(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", folder, name);

	assert_int_equal(write_file_atomic(path, text, strlen(text), 0600), 0);
	free(path);
}

/* ---- Dumps by hand ---- */

struct part {
	const char *trigger;
	unsigned ir;
	const char *extra; /* more header lines */
	bool no_totals;    /* the file is cut there */
	unsigned of_main;  /* of `ir`, called from (below main); 0: no start-up code by name */
};

static void add_part(struct buf *text, const struct part *p, size_t number)
{
	buf_printf(text, "part: %zu\n%s\ndesc: Trigger: %s\n\npositions: line\nevents: Ir Dr\n"
			 "summary: 0\n\n\n", number, p->extra ? p->extra : "", p->trigger);
	if (p->of_main)
		buf_printf(text, "fn=(below main)\n1 %u\ncfn=main\ncalls=1 2\n1 %u\n\nfn=main\n2 %u\n",
			   p->ir - p->of_main, p->of_main, p->of_main);
	else if (p->ir)
		buf_printf(text, "ob=/bin/x\nfl=x.c\nfn=work\n1 %u\n", p->ir);
	if (!p->no_totals)
		buf_printf(text, "\ntotals: %u\n\n", p->ir);
}

/* A dump of these parts, ended by one without a trigger. */
static void write_dump(const char *name, const struct part *parts)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: %ld\n"
			  "cmd:  x\n", strtol(name, NULL, 10));
	for (size_t i = 0; parts[i].trigger; i++)
		add_part(&text, &parts[i], i + 1);
	write_file(name, text.data);
	buf_release(&text);
}

#define DUMP(name, ...) write_dump(name, (const struct part[]){__VA_ARGS__, {0}})
#define REQUEST "Client Request: "
#define END {"Program termination", 0, NULL, false, 0}
#define URI(uri, ir) {REQUEST uri, ir, NULL, false, 0}

/* ---- Expectations ---- */

static const struct benchmark *expect_benchmark(size_t at, const char *uri, uint64_t ir)
{
	const struct benchmark *b;

	assert_true(at < result.benchmarks.len);
	b = &result.benchmarks.items[at];
	assert_string_equal(b->uri, uri);
	assert_int_equal(b->mode, MODE_SIMULATION);
	assert_true(b->metrics[SIMULATION_INSTRUCTIONS].known);
	assert_int_equal(b->metrics[SIMULATION_INSTRUCTIONS].value, ir);
	return b;
}

static bool has_note(const struct benchmark *b, const char *part)
{
	for (size_t i = 0; i < b->notes.len; i++)
		if (strstr(b->notes.items[i], part))
			return true;
	return false;
}

static char *data_folder(const char *name)
{
	const char *data = getenv("DATA");

	return xasprintf("%s/%s", data ? data : "tests/data", name);
}

/* ---- Recorded folders ---- */

static void a_recorded_fork_in_a_window(void **state UNUSED)
{
	char *path = data_folder("profile_fork");
	const struct benchmark *b;

	assert_int_equal(load(path), 0);
	assert_int_equal(result.benchmarks.len, 1);
	b = expect_benchmark(0, "fork::within", 2000028 + 32 + 1000154);
	assert_string_equal(b->name, "within");
	assert_int_equal(b->status, BENCHMARK_OK);
	assert_int_equal(b->notes.len, 1); /* the child's work is missing */
	assert_non_null(strstr(b->notes.items[0], "lower bound: it starts processes"));
	assert_int_equal(b->metrics[SIMULATION_RAM_HITS].value, 35);
	assert_int_equal(b->metrics[SIMULATION_L1_HITS].value, 3000277);
	assert_false(b->metrics[SIMULATION_STARTUP_INSTRUCTIONS].known);
	assert_string_equal(summary.integration, "entry-test 1.2.3");
	assert_int_equal(summary.dumps, 2);
	assert_int_equal(summary.damaged_dumps, 0);
	free(path);
}

static void a_recorded_exec_in_place(void **state UNUSED)
{
	char *path = data_folder("profile_replaced");

	assert_int_equal(load(path), 0);
	assert_int_equal(result.benchmarks.len, 2);
	expect_benchmark(0, "exec::before", 200020);
	expect_benchmark(1, "exec::after", 400020);
	free(path);
}

static void a_recorded_tree(void **state UNUSED)
{
	char *path = data_folder("profile_tree");
	const struct benchmark *b;

	assert_int_equal(load(path), 0);
	assert_int_equal(result.benchmarks.len, 1);
	b = expect_benchmark(0, "exec_harness::/opt/tests/ferry-musl 1000 2000", 19543);
	assert_int_equal(b->status, BENCHMARK_OK);
	assert_int_equal(b->metrics[SIMULATION_STARTUP_INSTRUCTIONS].value, 1026);
	assert_int_equal(b->processes.len, 2);
	assert_int_equal(b->processes.items[0].pid, 100);
	assert_int_equal(b->processes.items[0].instructions.value, 7092 + 32 + 190);
	assert_int_equal(b->processes.items[1].ppid, 100);
	assert_int_equal(b->processes.items[1].instructions.value, 12229);
	assert_true(b->functions.len > 0 && b->functions.len <= 10);
	assert_string_equal(b->functions.items[0].name, "burn");
	free(path);
}

/* What upstream's runner left, from CodSpeed's valgrind; the spawned process has no dump there. */
static void a_folder_of_upstreams(void **state UNUSED)
{
	char *path = data_folder("callgrind_plain.out");
	struct buf text = BUF_INIT;
	const struct benchmark *b;

	assert_int_equal(read_file(path, &text), 0);
	write_file("4242.out", text.data);
	assert_int_equal(load(folder), 0);
	assert_string_equal(summary.integration, "codspeed-c 1.0.0");
	assert_int_equal(result.benchmarks.len, 2);
	b = expect_benchmark(0, "src/demo.c::sum[3]", 61);
	assert_string_equal(b->name, "sum[3]");
	assert_int_equal(b->status, BENCHMARK_OK);
	b = expect_benchmark(1, "src/demo.c::sum[10]", 145);
	assert_int_equal(b->status, BENCHMARK_INCOMPLETE);
	assert_true(has_note(b, "4250"));
	buf_release(&text);
	free(path);
}

/* ---- Parts with a URI ---- */

static void parts_of_one_uri_add_up(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.out", URI("Metadata: some-thing with blanks 1.0", 0), URI("a::b", 10),
	     URI("c", 100), URI("a::b", 5), END);
	DUMP("8.out", URI("a::b", 1000), END);
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 2);
	b = expect_benchmark(0, "a::b", 1015);
	assert_true(has_note(b, "3 times"));
	b = expect_benchmark(1, "c", 100);
	assert_int_equal(b->notes.len, 0);
	assert_string_equal(summary.integration, "some-thing with blanks 1.0");
}

static void what_is_no_benchmark(void **state UNUSED)
{
	DUMP("7.out", URI("Metadata: x 1", 3), {"Client Request", 5, NULL, false, 0},
	     {REQUEST, 7, NULL, false, 0}, {"--dump-before=fork", 11, NULL, false, 0},
	     {"Program termination", 13, NULL, false, 0});
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 0);
	assert_int_equal(summary.dumps, 1);
}

static void parts_at_forks_and_execs_go_to_the_next_uri(void **state UNUSED)
{
	DUMP("7.out", URI("Metadata: x 1", 0), {"--dump-before=fork", 1, NULL, false, 0},
	     {"--dump-before=_Fork", 2, NULL, false, 0}, {"--dump-before=execve", 4, NULL, false, 0},
	     URI("a", 8), {"--dump-before=clone3", 16, NULL, false, 0}, URI("b", 32), URI("c", 64),
	     END);
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 3);
	expect_benchmark(0, "a", 15);
	expect_benchmark(1, "b", 48);
	expect_benchmark(2, "c", 64);
}

static void parts_outside_any_window_are_dropped(void **state UNUSED)
{
	DUMP("7.out", {"--dump-before=fork", 1, NULL, false, 0}, URI("Metadata: x 1", 0), URI("a", 2),
	     {"--dump-before=fork", 4, NULL, false, 0}, {"Program termination", 8, NULL, false, 0});
	DUMP("8.out", URI("b", 16), END); /* another process: nothing of the first */
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 2);
	expect_benchmark(0, "a", 2);
	expect_benchmark(1, "b", 16);
}

static void an_image_that_is_replaced_takes_its_window_along(void **state UNUSED)
{
	DUMP("7.1.out", URI("a", 1), {"--dump-before=execve", 100, NULL, false, 0});
	DUMP("7.out", URI("b", 2), END);
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 2);
	expect_benchmark(0, "a", 1);
	expect_benchmark(1, "b", 2);
}

static void processes_in_the_order_of_their_ids(void **state UNUSED)
{
	DUMP("10.out", URI("e", 1), END);
	DUMP("9.out", URI("d", 1), END);
	DUMP("9.2.out", URI("b", 1), END);
	DUMP("9.10.out", URI("c", 1), END);
	DUMP("9.1.out", URI("a", 1), END);
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 5);
	for (size_t i = 0; i < 5; i++)
		expect_benchmark(i, (const char *[]){"a", "b", "c", "d", "e"}[i], 1);
}

static void other_files_are_no_dumps(void **state UNUSED)
{
	static const char *const names[] = {"x.out", "7.out.bak", "7x.out", "7.out~", ".7.out",
		"7..out", "7.1x.out", "7.1.1.out", "-7.out", "7.OUT", "valgrind.7.log"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		DUMP(names[i], URI("a", 1), END);
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 0);
	assert_int_equal(summary.dumps, 0);
}

static void expect_name(const char *uri, const char *name)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, REQUEST "%s", uri);
	write_dump("7.out", (const struct part[]){{text.data, 1, NULL, false, 0}, END, {0}});
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 1);
	assert_string_equal(result.benchmarks.items[0].uri, uri);
	assert_string_equal(result.benchmarks.items[0].name, name);
	result_release(&result);
	result = (struct result)RESULT_INIT;
	free(summary.integration);
	summary.integration = NULL;
	buf_release(&text);
}

static void names_are_the_end_of_the_uri(void **state UNUSED)
{
	expect_name("tests/t.py::Class::test_x", "test_x");
	expect_name("tests/t.py::test_x[a::b-c d]", "test_x[a::b-c d]");
	expect_name("b.mjs::group::fib 20", "fib 20");
	expect_name("plain", "plain");
	expect_name("a:b", "a:b");
	expect_name("gr\xc3\xbc\xc3\x9f::\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
	expect_name("x.rs::f::{{closure}}", "{{closure}}");
}

/* A name is never empty: the table would have a row that nobody can tell. */
static void names_are_never_empty(void **state UNUSED)
{
	expect_name("a::b::", "b::");
	expect_name("::", "::");
}

static void uris_of_any_bytes(void **state UNUSED)
{
	DUMP("7.out", URI("a\xff::b\\c", 1), URI("tab\there \"quoted\"", 2), END);
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 2);
	expect_benchmark(0, "a\\xff::b\\\\c", 1);
	assert_string_equal(result.benchmarks.items[0].name, "b\\\\c");
	expect_benchmark(1, "tab\there \"quoted\"", 2);
}

static void a_cut_dump_keeps_the_parts_before(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.out", URI("a", 1), URI("b", 2), {REQUEST "c", 4, NULL, true, 0});
	assert_int_equal(load(folder), 0);
	assert_int_equal(summary.damaged_dumps, 1);
	assert_int_equal(result.benchmarks.len, 2);
	b = expect_benchmark(0, "a", 1);
	assert_int_equal(b->status, BENCHMARK_OK);
	b = expect_benchmark(1, "b", 2);
	assert_int_equal(b->status, BENCHMARK_INCOMPLETE);
	assert_true(has_note(b, "7.out"));
}

/* The benchmark before the damage, and no other one that happens to stand last in the list. */
static void damage_is_told_where_it_is(void **state UNUSED)
{
	DUMP("6.out", URI("a", 1), URI("b", 2), END);
	DUMP("7.out", URI("b", 4), URI("a", 8), {REQUEST "a", 16, NULL, true, 0});
	assert_int_equal(load(folder), 0);
	assert_int_equal(summary.damaged_dumps, 1);
	assert_int_equal(expect_benchmark(0, "a", 9)->status, BENCHMARK_INCOMPLETE);
	assert_int_equal(expect_benchmark(1, "b", 6)->status, BENCHMARK_OK);
}

static void empty_and_foreign_dumps(void **state UNUSED)
{
	write_file("6.out", "");
	write_file("7.out", "no callgrind format\n");
	DUMP("8.out", URI("a", 1), END);
	assert_int_equal(load(folder), 0);
	assert_int_equal(summary.dumps, 3);
	assert_int_equal(summary.empty_dumps, 1);
	assert_int_equal(summary.damaged_dumps, 1);
	assert_int_equal(result.benchmarks.len, 1);
	assert_int_equal(expect_benchmark(0, "a", 1)->status, BENCHMARK_OK);
}

static void a_folder_that_is_empty_or_gone(void **state UNUSED)
{
	char *gone = xasprintf("%s/gone", folder);

	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 0);
	assert_int_equal(load(gone), -ENOENT);
	assert_non_null(strstr(error_text(), gone));
	error_clear();
	free(gone);
}

static void the_most_expensive_functions_of_all_parts(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.out", {"--dump-before=fork", 8, NULL, false, 0}, URI("a", 2), URI("a", 1), END);
	assert_int_equal(load(folder), 0);
	b = expect_benchmark(0, "a", 11);
	assert_int_equal(b->functions.len, 1);
	assert_string_equal(b->functions.items[0].name, "work");
	assert_string_equal(b->functions.items[0].object, "/bin/x");
	assert_int_equal(b->functions.items[0].self, 11);
}

static void no_functions_are_asked_for(void **state UNUSED)
{
	DUMP("7.out", URI("a", 2), END);
	assert_int_equal(profile_load(&result, folder, &(struct profile_wanted){0}, &summary), 0);
	assert_int_equal(expect_benchmark(0, "a", 2)->functions.len, 0);
}

/* ---- Processes that a benchmark started, by the edges of CodSpeed's valgrind ---- */

#define SPAWNED(uri, ir, pids) {REQUEST uri, ir, pids, false, 0}

static void spawned_processes_belong_to_the_benchmark(void **state UNUSED)
{
	DUMP("7.out", SPAWNED("a", 1, "desc: Spawned pid: 8\ndesc: Spawned pid: 9\n"), URI("b", 2),
	     END);
	DUMP("8.out", {"Program termination", 16, "desc: Spawned pid: 10\n", false, 0});
	DUMP("9.out", {"Program termination", 32, NULL, false, 0});
	DUMP("10.out", {"--dump-before=fork", 64, NULL, false, 0},
	     {"Program termination", 128, NULL, false, 0});
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 2);
	assert_int_equal(expect_benchmark(0, "a", 1 + 16 + 32 + 64 + 128)->status, BENCHMARK_OK);
	expect_benchmark(1, "b", 2);
}

static void edges_of_pending_parts_count(void **state UNUSED)
{
	DUMP("7.out", {"--dump-before=fork", 1, "desc: Spawned pid: 8\n", false, 0}, URI("a", 2), END);
	DUMP("8.out", {"Program termination", 16, NULL, false, 0});
	assert_int_equal(load(folder), 0);
	expect_benchmark(0, "a", 19);
}

static void edges_outside_a_window_do_not(void **state UNUSED)
{
	DUMP("7.out", URI("a", 1), {"Program termination", 2, "desc: Spawned pid: 8\n", false, 0});
	DUMP("8.out", {"Program termination", 16, NULL, false, 0});
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 1);
	expect_benchmark(0, "a", 1);
}

/* Process ids that are used again make loops; each dump counts once. */
static void edges_in_a_circle_end(void **state UNUSED)
{
	DUMP("7.out", SPAWNED("a", 1, "desc: Spawned pid: 8\ndesc: Spawned pid: 8\n"), END);
	DUMP("8.out", {"Program termination", 16, "desc: Spawned pid: 8\ndesc: Spawned pid: 9\n", false,
		       0});
	DUMP("9.out", {"Program termination", 32, "desc: Spawned pid: 8\n", false, 0});
	assert_int_equal(load(folder), 0);
	expect_benchmark(0, "a", 49);
}

static void a_spawned_process_without_a_dump(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.out", SPAWNED("a", 1, "desc: Spawned pid: 18446744073709551615\n"), URI("b", 2), END);
	assert_int_equal(load(folder), 0);
	b = expect_benchmark(0, "a", 1);
	assert_int_equal(b->status, BENCHMARK_INCOMPLETE); /* not silently lower */
	assert_true(has_note(b, "18446744073709551615"));
	assert_int_equal(expect_benchmark(1, "b", 2)->status, BENCHMARK_OK);
}

static void a_spawned_process_that_was_killed(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.out", SPAWNED("a", 1, "desc: Spawned pid: 8\n"), END);
	write_file("8.out", "");
	assert_int_equal(load(folder), 0);
	b = expect_benchmark(0, "a", 1);
	assert_int_equal(b->status, BENCHMARK_INCOMPLETE);
	assert_true(has_note(b, "8.out"));
}

/* ---- Trees of exec-harness ---- */

struct tree_process {
	long pid, parent;
	int status;
	const char *images; /* JSON */
};

#define IMAGE(command, forked, flaws, dumps)                                                \
	"{\"command\":\"" command "\",\"measured\":true,\"forked\":" forked ",\"flaws\":[" flaws \
	"],\"dumps\":[" dumps "]}"

/* simulation.json with one benchmark of these processes. */
static void write_tree(int status, int signal, const struct tree_process *processes)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "{\"version\":1,\"benchmarks\":[{\"uri\":\"exec_harness::t\",\"name\":\"t\","
			  "\"status\":%d,\"signal\":%d,\"random_addresses\":false,\"untraced\":false,"
			  "\"processes\":[", status, signal);
	for (const struct tree_process *p = processes; p->pid; p++)
		buf_printf(&text, "%s{\"pid\":%ld,\"parent\":%ld,\"outlived\":false,\"status\":%d,"
				  "\"images\":[%s]}", p == processes ? "" : ",", p->pid, p->parent,
			   p->status, p->images);
	buf_addstr(&text, "]}]}");
	write_file("simulation.json", text.data);
	buf_release(&text);
}

#define TREE(status, signal, ...) \
	write_tree(status, signal, (const struct tree_process[]){__VA_ARGS__, {0}})
#define STARTED(ir, main) {"Program termination", ir, NULL, false, main}

static void a_tree_is_the_sum_of_its_dumps(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.1.out", {"--dump-before=execve", 100, NULL, false, 70});
	DUMP("7.out", STARTED(1000, 900));
	DUMP("8.out", {"Program termination", 10000, NULL, false, 0});
	DUMP("9.out", URI("not::mine", 5), END); /* of an integration beside it */
	TREE(0, 0,
	     {7, 0, 0, IMAGE("sh", "false", "", "\"7.1.out\"") "," IMAGE("seq", "false", "", "\"7.out\"")},
	     {8, 7, 3, IMAGE("seq", "true", "", "\"8.out\"")});
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 2);
	b = expect_benchmark(0, "exec_harness::t", 11100);
	assert_int_equal(b->status, BENCHMARK_OK);
	assert_int_equal(b->metrics[SIMULATION_STARTUP_INSTRUCTIONS].value, 30 + 100);
	assert_int_equal(b->processes.len, 2);
	assert_string_equal(b->processes.items[0].command, "seq");
	assert_int_equal(b->processes.items[0].instructions.value, 1100);
	assert_int_equal(b->processes.items[1].instructions.value, 10000);
	assert_int_equal(b->processes.items[1].status.value, 3);
	expect_benchmark(1, "not::mine", 5);
}

static void dumps_of_a_tree_are_no_uri_parts(void **state UNUSED)
{
	DUMP("7.out", URI("looks::like::one", 5), STARTED(1000, 900));
	TREE(0, 0, {7, 0, 0, IMAGE("x", "false", "", "\"7.out\"")});
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 1);
	expect_benchmark(0, "exec_harness::t", 1005);
}

static void start_up_without_a_name_is_unknown(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.1.out", {"--dump-before=execve", 100, NULL, false, 70});
	DUMP("7.out", {"Program termination", 1000, NULL, false, 0}); /* a stripped static program */
	TREE(0, 0,
	     {7, 0, 0, IMAGE("sh", "false", "", "\"7.1.out\"") "," IMAGE("x", "false", "", "\"7.out\"")});
	assert_int_equal(load(folder), 0);
	b = expect_benchmark(0, "exec_harness::t", 1100);
	assert_false(b->metrics[SIMULATION_STARTUP_INSTRUCTIONS].known);
}

static void a_killed_process_is_missing(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.out", STARTED(1000, 900));
	write_file("8.out", "");
	TREE(0, 0, {7, 0, 0, IMAGE("sh", "false", "", "\"7.out\"")},
	     {8, 7, 137, IMAGE("victim", "true", "\"no-dump\"", "")});
	assert_int_equal(load(folder), 0);
	b = expect_benchmark(0, "exec_harness::t", 1000);
	assert_int_equal(b->status, BENCHMARK_INCOMPLETE);
	assert_true(has_note(b, "victim"));
	assert_false(b->processes.items[1].instructions.known); /* never 0 */
}

static void a_root_without_a_dump_has_no_figures(void **state UNUSED)
{
	const struct benchmark *b;

	TREE(137, 9, {7, 0, 137, IMAGE("victim", "false", "\"no-dump\"", "")});
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 1);
	b = &result.benchmarks.items[0];
	assert_int_equal(b->status, BENCHMARK_FAILED);
	assert_true(has_note(b, "signal 9"));
	for (size_t i = 0; i < SIMULATION_METRICS; i++)
		assert_false(b->metrics[i].known);
}

static void a_dump_of_the_record_that_is_gone_or_empty(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.out", STARTED(1000, 900));
	write_file("8.out", "");
	TREE(0, 0, {7, 0, 0, IMAGE("sh", "false", "", "\"7.out\"")},
	     {8, 7, 0, IMAGE("empty", "true", "", "\"8.out\"")},
	     {9, 7, 0, IMAGE("gone", "true", "", "\"9.out\"")});
	assert_int_equal(load(folder), 0);
	b = expect_benchmark(0, "exec_harness::t", 1000);
	assert_int_equal(b->status, BENCHMARK_INCOMPLETE);
	assert_true(has_note(b, "8.out"));
	assert_true(has_note(b, "9.out"));
	assert_false(b->processes.items[1].instructions.known);
	assert_false(b->processes.items[2].instructions.known);
}

static void a_cut_dump_in_a_tree(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.out", {"--dump-before=fork", 100, NULL, false, 0}, {"Program termination", 5, NULL, true, 0});
	TREE(0, 0, {7, 0, 0, IMAGE("x", "false", "", "\"7.out\"")});
	assert_int_equal(load(folder), 0);
	b = expect_benchmark(0, "exec_harness::t", 100);
	assert_int_equal(b->status, BENCHMARK_INCOMPLETE);
	assert_int_equal(summary.damaged_dumps, 1);
	assert_true(has_note(b, "cut off"));
}

static void bounds_are_told(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.out", STARTED(1000, 900));
	DUMP("8.out", {"Program termination", 1000, NULL, false, 0});
	TREE(0, 0,
	     {7, 0, 0, IMAGE("a", "false", "\"start-lost\"", "") "," IMAGE("b", "false", "", "\"7.out\"")},
	     {8, 7, 0, IMAGE("b", "true", "\"repeats-parent\"", "\"8.out\"")});
	assert_int_equal(load(folder), 0);
	b = expect_benchmark(0, "exec_harness::t", 2000);
	assert_true(has_note(b, "lower bound"));
	assert_true(has_note(b, "upper bound"));
}

static void a_failure_is_told(void **state UNUSED)
{
	const struct benchmark *b;

	DUMP("7.out", STARTED(1000, 900));
	TREE(3, 0, {7, 0, 3, IMAGE("x", "false", "", "\"7.out\"")});
	assert_int_equal(load(folder), 0);
	b = expect_benchmark(0, "exec_harness::t", 1000);
	assert_int_equal(b->status, BENCHMARK_FAILED);
	assert_true(has_note(b, "exit status 3"));
}

static void a_record_that_cannot_be_read(void **state UNUSED)
{
	DUMP("7.out", STARTED(1000, 900));
	write_file("simulation.json", "{");
	assert_int_equal(load(folder), -EINVAL);
	assert_non_null(strstr(error_text(), "simulation.json:1:"));
	error_clear();
	assert_int_equal(result.benchmarks.len, 0);
}

static void a_record_without_processes(void **state UNUSED)
{
	write_file("simulation.json",
		   "{\"version\":1,\"benchmarks\":[{\"uri\":\"u\",\"name\":\"n\",\"status\":0,"
		   "\"signal\":0,\"random_addresses\":false,\"untraced\":false,\"processes\":[]}]}");
	assert_int_equal(load(folder), 0);
	assert_int_equal(result.benchmarks.len, 1);
	assert_int_equal(result.benchmarks.items[0].status, BENCHMARK_INCOMPLETE);
	assert_false(result.benchmarks.items[0].metrics[SIMULATION_INSTRUCTIONS].known);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_recorded_fork_in_a_window),
		TEST(a_recorded_exec_in_place),
		TEST(a_recorded_tree),
		TEST(a_folder_of_upstreams),
		TEST(parts_of_one_uri_add_up),
		TEST(what_is_no_benchmark),
		TEST(parts_at_forks_and_execs_go_to_the_next_uri),
		TEST(parts_outside_any_window_are_dropped),
		TEST(an_image_that_is_replaced_takes_its_window_along),
		TEST(processes_in_the_order_of_their_ids),
		TEST(other_files_are_no_dumps),
		TEST(names_are_the_end_of_the_uri),
		TEST(names_are_never_empty),
		TEST(uris_of_any_bytes),
		TEST(a_cut_dump_keeps_the_parts_before),
		TEST(damage_is_told_where_it_is),
		TEST(empty_and_foreign_dumps),
		TEST(a_folder_that_is_empty_or_gone),
		TEST(the_most_expensive_functions_of_all_parts),
		TEST(no_functions_are_asked_for),
		TEST(spawned_processes_belong_to_the_benchmark),
		TEST(edges_of_pending_parts_count),
		TEST(edges_outside_a_window_do_not),
		TEST(edges_in_a_circle_end),
		TEST(a_spawned_process_without_a_dump),
		TEST(a_spawned_process_that_was_killed),
		TEST(a_tree_is_the_sum_of_its_dumps),
		TEST(dumps_of_a_tree_are_no_uri_parts),
		TEST(start_up_without_a_name_is_unknown),
		TEST(a_killed_process_is_missing),
		TEST(a_root_without_a_dump_has_no_figures),
		TEST(a_dump_of_the_record_that_is_gone_or_empty),
		TEST(a_cut_dump_in_a_tree),
		TEST(bounds_are_told),
		TEST(a_failure_is_told),
		TEST(a_record_that_cannot_be_read),
		TEST(a_record_without_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
