/* SPDX-License-Identifier: MIT */
/* test_simulation_record.c - simulation.json: written, read back, appended to side by side */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"
#include "core/path.h"
#include "core/simulation_record.h"
#include "core/spawn.h"
#include "tests/unit/temp_folder.h"
#include <cmocka.h>

static char *record_path(void)
{
	return xasprintf("%s/" SIMULATION_RECORD_FILE, folder);
}

static void write_record(const char *text)
{
	char *path = record_path();

	assert_int_equal(write_file_atomic(path, text, strlen(text), 0644), 0);
	free(path);
}

static struct record_image image(const char *command, unsigned flaws, const char *dump)
{
	struct record_image i = {.command = xstrdup(command), .measured = true, .flaws = flaws};

	if (dump)
		strvec_push(&i.dumps, dump);
	return i;
}

/* A tree with everything that a record can say. */
static struct record_benchmark sample(const char *uri)
{
	struct record_benchmark b = {.uri = xstrdup(uri), .name = xstrdup("n\xff\\ \"q\"\n"),
				     .status = 137, .signal = 9, .random_addresses = true,
				     .untraced = true};
	struct record_process root = {.pid = 4194303, .parent = 0, .status = 137};
	struct record_process child = {.pid = 2, .parent = 4194303, .outlived = true, .status = -1};

	vec_push(&root.images, image("sh -c 'x'", IMAGE_START_LOST, "4194303.1.out"));
	vec_push(&root.images, image("", IMAGE_NO_DUMP | IMAGE_REPEATS, NULL));
	strvec_push(&root.images.items[0].dumps, "4194303.2.out");
	vec_push(&child.images, image("esbuild \xfe", 0, NULL));
	child.images.items[0].measured = false;
	child.images.items[0].forked = true;
	vec_push(&b.processes, root);
	vec_push(&b.processes, child);
	return b;
}

static void append(const char *uri)
{
	struct record_benchmark b = sample(uri);

	assert_int_equal(simulation_record_append(folder, &b), 0);
	record_benchmark_release(&b);
}

static void expect_images_equal(const struct record_image *a, const struct record_image *b)
{
	assert_string_equal(a->command, b->command);
	assert_int_equal(a->measured, b->measured);
	assert_int_equal(a->forked, b->forked);
	assert_int_equal(a->flaws, b->flaws);
	assert_int_equal(a->dumps.len, b->dumps.len);
	for (size_t i = 0; i < a->dumps.len; i++)
		assert_string_equal(a->dumps.items[i], b->dumps.items[i]);
}

static void expect_equal(const struct record_benchmark *a, const struct record_benchmark *b)
{
	assert_string_equal(a->uri, b->uri);
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->status, b->status);
	assert_int_equal(a->signal, b->signal);
	assert_int_equal(a->random_addresses, b->random_addresses);
	assert_int_equal(a->untraced, b->untraced);
	assert_int_equal(a->processes.len, b->processes.len);
	for (size_t i = 0; i < a->processes.len; i++) {
		const struct record_process *p = &a->processes.items[i], *q = &b->processes.items[i];

		assert_int_equal(p->pid, q->pid);
		assert_int_equal(p->parent, q->parent);
		assert_int_equal(p->outlived, q->outlived);
		assert_int_equal(p->status, q->status);
		assert_int_equal(p->images.len, q->images.len);
		for (size_t k = 0; k < p->images.len; k++)
			expect_images_equal(&p->images.items[k], &q->images.items[k]);
	}
}

static void what_is_written_is_read(void **state UNUSED)
{
	struct simulation_record r = {0};
	struct record_benchmark a = sample("u::a"), b = sample("u::\xc3\xbc");
	char *path = record_path();
	struct stat st;

	append("u::a");
	append("u::\xc3\xbc");
	assert_int_equal(simulation_record_read(folder, &r), 0);
	assert_int_equal(r.benchmarks.len, 2);
	expect_equal(&r.benchmarks.items[0], &a);
	expect_equal(&r.benchmarks.items[1], &b);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	simulation_record_release(&r);
	record_benchmark_release(&a);
	record_benchmark_release(&b);
	free(path);
}

static void the_bytes_are_stable(void **state UNUSED)
{
	struct simulation_record r = {0};
	struct buf once = BUF_INIT, again = BUF_INIT;
	char *path = record_path();

	append("u::a");
	assert_int_equal(read_file(path, &once), 0);
	assert_int_equal(simulation_record_read(folder, &r), 0);
	unlink(path);
	assert_int_equal(simulation_record_append(folder, &r.benchmarks.items[0]), 0);
	assert_int_equal(read_file(path, &again), 0);
	assert_string_equal(again.data, once.data);
	simulation_record_release(&r);
	buf_release(&once);
	buf_release(&again);
	free(path);
}

static void every_flaw_has_its_word(void **state UNUSED)
{
	struct simulation_record r = {0};
	struct record_benchmark b = sample("u");

	for (unsigned flaw = 1; flaw <= IMAGE_SELF_EXEC; flaw <<= 1)
		b.processes.items[0].images.items[0].flaws |= flaw;
	assert_int_equal(simulation_record_append(folder, &b), 0);
	assert_int_equal(simulation_record_read(folder, &r), 0);
	expect_equal(&r.benchmarks.items[0], &b);
	simulation_record_release(&r);
	record_benchmark_release(&b);
}

static void there_may_be_none(void **state UNUSED)
{
	struct simulation_record r = {0};

	assert_int_equal(simulation_record_read(folder, &r), -ENOENT);
	assert_string_equal(error_text(), "");
	assert_int_equal(r.benchmarks.len, 0);
}

static void a_folder_that_is_gone(void **state UNUSED)
{
	struct record_benchmark b = sample("u");
	char *gone = xasprintf("%s/gone", folder);

	assert_int_equal(simulation_record_append(gone, &b), -ENOENT);
	assert_non_null(strstr(error_text(), gone));
	error_clear();
	record_benchmark_release(&b);
	free(gone);
}

/* Harnesses of one entrypoint that end at the same time. */
static void appended_side_by_side(void **state UNUSED)
{
	enum { WRITERS = 4, EACH = 25 };
	struct simulation_record r = {0};
	bool seen[WRITERS][EACH] = {0};
	int status;

	for (int w = 0; w < WRITERS; w++) {
		if (fork() != 0)
			continue;
		for (int i = 0; i < EACH; i++) {
			char *uri = xasprintf("u::%d::%d", w, i);

			append(uri);
			free(uri);
		}
		_exit(0);
	}
	for (int w = 0; w < WRITERS; w++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(simulation_record_read(folder, &r), 0);
	assert_int_equal(r.benchmarks.len, WRITERS * EACH);
	for (size_t i = 0; i < r.benchmarks.len; i++) {
		int w, n;

		assert_int_equal(sscanf(r.benchmarks.items[i].uri, "u::%d::%d", &w, &n), 2);
		assert_false(seen[w][n]);
		seen[w][n] = true;
	}
	simulation_record_release(&r);
}

/* ---- Records from elsewhere ---- */

#define IMAGE(rest) "{\"command\":\"c\",\"measured\":true,\"forked\":false,\"flaws\":[]," rest "}"
#define PROCESS(images) \
	"{\"pid\":1,\"parent\":0,\"outlived\":false,\"status\":0,\"images\":[" images "]}"
#define BENCHMARK(processes) \
	"{\"uri\":\"u\",\"name\":\"n\",\"status\":0,\"signal\":0,\"random_addresses\":false," \
	"\"untraced\":false,\"processes\":[" processes "]}"
#define RECORD(benchmarks) "{\"version\":1,\"benchmarks\":[" benchmarks "]}"

static void expect_refused(const char *text, const char *reason)
{
	struct simulation_record r = {0};

	write_record(text);
	assert_int_equal(simulation_record_read(folder, &r), -EINVAL);
	if (!strstr(error_text(), reason) || !strstr(error_text(), folder))
		fail_msg("'%s' is not told for: %s (but: %s)", reason, text, error_text());
	error_clear();
	simulation_record_release(&r);
}

static void the_template_is_fine(void **state UNUSED)
{
	struct simulation_record r = {0};

	write_record(RECORD(BENCHMARK(PROCESS(IMAGE("\"dumps\":[\"1.out\"]")))));
	assert_int_equal(simulation_record_read(folder, &r), 0);
	assert_int_equal(r.benchmarks.len, 1);
	assert_string_equal(r.benchmarks.items[0].processes.items[0].images.items[0].dumps.items[0],
			    "1.out");
	simulation_record_release(&r);
	write_record(RECORD(""));
	assert_int_equal(simulation_record_read(folder, &r), 0);
	assert_int_equal(r.benchmarks.len, 0);
	simulation_record_release(&r);
}

static void unknown_keys_and_flaws_are_ignored(void **state UNUSED)
{
	struct simulation_record r = {0};

	write_record("{\"news\":{},\"version\":1,\"benchmarks\":[{\"uri\":\"u\",\"name\":\"n\",\"x\":1,"
		     "\"status\":0,\"signal\":0,\"random_addresses\":false,\"untraced\":false,"
		     "\"processes\":[{\"pid\":1,\"parent\":0,\"outlived\":false,\"status\":0,"
		     "\"images\":[{\"command\":\"c\",\"measured\":true,\"forked\":false,"
		     "\"flaws\":[\"no-dump\",\"of-the-future\"],\"dumps\":[]}]}]}]}");
	assert_int_equal(simulation_record_read(folder, &r), 0);
	assert_int_equal(r.benchmarks.items[0].processes.items[0].images.items[0].flaws,
			 IMAGE_NO_DUMP);
	simulation_record_release(&r);
}

static void newer_versions_are_refused_by_name(void **state UNUSED)
{
	expect_refused("{\"version\":2,\"benchmarks\":[]}", "version 2 is newer");
	expect_refused("{\"version\":2,\"elsewhere\":[]}", "version 2 is newer");
	expect_refused("{\"version\":0,\"benchmarks\":[]}", "version 0");
	expect_refused("{\"version\":\"1\",\"benchmarks\":[]}", "version");
	expect_refused("{\"benchmarks\":[]}", "version");
}

/* A record must not make us read files outside its folder, nor anything but dumps in it. */
static void names_of_dumps_stay_inside(void **state UNUSED)
{
	static const char *const names[] = {"", ".", "..", "/etc/passwd", "../1.out", "a/1.out",
		"1.out/", "./1.out"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *text = xasprintf(RECORD(BENCHMARK(PROCESS(IMAGE("\"dumps\":[\"%s\"]")))),
				       names[i]);

		expect_refused(text, "is not the name of a dump");
		free(text);
	}
	expect_refused(RECORD(BENCHMARK(PROCESS(IMAGE("\"dumps\":[\"1.out\\u0000\"]")))), "dumps[0]");
}

static void wrong_shapes_are_told(void **state UNUSED)
{
	expect_refused("", "simulation.json");
	expect_refused("{", "simulation.json:1:");
	expect_refused("[]", "simulation.json");
	expect_refused("null", "simulation.json");
	expect_refused("\xff", "simulation.json:1:");
	expect_refused("{\"version\":1}", "benchmarks");
	expect_refused("{\"version\":1,\"benchmarks\":{}}", "benchmarks");
	expect_refused(RECORD("1"), "benchmarks[0]");
	expect_refused(RECORD("{}"), "benchmarks[0].uri");
	expect_refused(RECORD(BENCHMARK("")) "x", "simulation.json:1:");
	expect_refused(RECORD(BENCHMARK("{}")), "benchmarks[0].processes[0]");
	expect_refused(RECORD(BENCHMARK(PROCESS("{}"))), "processes[0].images[0]");
	expect_refused(RECORD(BENCHMARK(PROCESS(IMAGE("\"dumps\":3")))), "dumps");
	expect_refused(RECORD(BENCHMARK(PROCESS(IMAGE("\"dumps\":[3]")))), "dumps[0]");
}

static void numbers_are_checked(void **state UNUSED)
{
	expect_refused(RECORD("{\"uri\":\"u\",\"name\":\"n\",\"status\":2147483648}"), "status");
	expect_refused(RECORD("{\"uri\":\"u\",\"name\":\"n\",\"status\":1e3}"), "status");
	expect_refused(RECORD("{\"uri\":\"u\",\"name\":\"n\",\"status\":0,\"signal\":-2147483649}"),
		       "signal");
	expect_refused(RECORD(BENCHMARK("{\"pid\":99999999999999999999}")), "pid");
}

static void cut_anywhere_it_is_refused(void **state UNUSED)
{
	struct simulation_record r = {0};
	struct buf whole = BUF_INIT;
	char *path = record_path();

	append("u");
	assert_int_equal(read_file(path, &whole), 0);
	for (size_t len = 0; len + 2 < whole.len; len++) {
		assert_int_equal(write_file_atomic(path, whole.data, len, 0644), 0);
		assert_int_equal(simulation_record_read(folder, &r), -EINVAL);
		error_clear();
		simulation_record_release(&r);
	}
	buf_release(&whole);
	free(path);
}

/* What cannot be read must not be written over. */
static void a_damaged_record_is_kept(void **state UNUSED)
{
	struct record_benchmark b = sample("u");
	struct buf text = BUF_INIT;
	char *path = record_path();

	write_record("{ damaged");
	assert_int_equal(simulation_record_append(folder, &b), -EINVAL);
	error_clear();
	assert_int_equal(read_file(path, &text), 0);
	assert_string_equal(text.data, "{ damaged");
	buf_release(&text);
	record_benchmark_release(&b);
	free(path);
}

static void statuses_as_a_shell_shows_them(void **state UNUSED)
{
	assert_int_equal(status_of_wait(0), 0);
	assert_int_equal(status_of_wait(W_EXITCODE(255, 0)), 255);
	assert_int_equal(status_of_wait(W_EXITCODE(0, 9)), 137);
	assert_int_equal(status_of_wait(W_EXITCODE(0, 11) | 0x80), 139);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_is_read),
		TEST(the_bytes_are_stable),
		TEST(every_flaw_has_its_word),
		TEST(there_may_be_none),
		TEST(a_folder_that_is_gone),
		TEST(appended_side_by_side),
		TEST(the_template_is_fine),
		TEST(unknown_keys_and_flaws_are_ignored),
		TEST(newer_versions_are_refused_by_name),
		TEST(names_of_dumps_stay_inside),
		TEST(wrong_shapes_are_told),
		TEST(numbers_are_checked),
		TEST(cut_anywhere_it_is_refused),
		TEST(a_damaged_record_is_kept),
		cmocka_unit_test(statuses_as_a_shell_shows_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
