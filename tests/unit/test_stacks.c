/* SPDX-License-Identifier: MIT */
/* test_stacks.c - samples of perf and of the kernel's buffer into folded stacks */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vectors.h"

#include "applets/runner/walltime/perf_events.h"
#include "applets/runner/walltime/perf_script.h"
#include "applets/runner/walltime/stacks.h"
#include "applets/runner/walltime/symbols.h"
#include "core/path.h"

static void expect_sample(const struct stacks *s, size_t i, uint64_t time, const char *folded)
{
	assert_true(i < s->samples.len);
	assert_int_equal(s->samples.items[i].time, time);
	assert_string_equal(intern_text(&s->texts, s->samples.items[i].stack), folded);
}

/* ---- perf script ---- */

static void text_of_perf(void **state UNUSED)
{
	char text[] = "hot 12 13452.235870274: \n"
		      "\t           7a063 inner(int, char) (/tmp/hot)\n"
		      "\t           7a100 main (/tmp/hot)\n"
		      "\t               0 [unknown] ([unknown])\n"
		      "\n"
		      "Web Content 7 1.000000001: \n"
		      "\t    55f70c1e5530 [unknown] (/usr/lib/libfoo.so.1)\n"
		      "\t    55f70c1e5531 a;b (/usr/lib/x (deleted))\n"
		      "\n"
		      "codspeed 9 2.000000000: \n"
		      "\t 1 main (/x)\n"
		      "\n"
		      "no sample at all\n"
		      "last 7 3.5: \n"
		      "\t 1 f (/x)\n";
	struct stacks s;

	stacks_init(&s);
	perf_script_read(text, 9, &s);
	assert_int_equal(s.samples.len, 3);
	expect_sample(&s, 0, 13452235870274, "hot;main;inner(int, char)");
	expect_sample(&s, 1, 1000000001, "Web Content;a:b;libfoo.so.1");
	expect_sample(&s, 2, 3000000005, "last;f");
	stacks_release(&s);
}

/* ---- The kernel's records ---- */

struct bytes {
	unsigned char data[512];
	size_t len;
};

static void add(struct bytes *b, uint64_t value, size_t size)
{
	memcpy(b->data + b->len, &value, size);
	b->len += size;
}

static void begin(struct bytes *b, uint32_t type, uint16_t misc)
{
	b->len = 0;
	add(b, type, 4);
	add(b, misc, 2);
	add(b, 0, 2);
}

static uint64_t end(struct bytes *b, struct trace *t, pid_t without)
{
	uint16_t size = (uint16_t)b->len;

	memcpy(b->data + 6, &size, 2);
	return perf_record_read(b->data, b->len, without, t);
}

static void add_text(struct bytes *b, const char *text)
{
	size_t len = (strlen(text) + 8) / 8 * 8;

	memset(b->data + b->len, 0, len);
	memcpy(b->data + b->len, text, strlen(text));
	b->len += len;
}

/* pid and tid, time: what stands at the end of records that are no samples. */
static void add_id(struct bytes *b, uint64_t pid, uint64_t time)
{
	add(b, pid, 4);
	add(b, pid, 4);
	add(b, time, 8);
}

static void add_map(struct trace *t, uint64_t pid, uint64_t time, uint64_t start, uint64_t len,
		    uint64_t offset, const char *path)
{
	struct bytes b;

	begin(&b, PERF_RECORD_MMAP2, 0);
	add(&b, pid, 4);
	add(&b, pid, 4);
	add(&b, start, 8);
	add(&b, len, 8);
	add(&b, offset, 8);
	for (int i = 0; i < 3; i++)
		add(&b, 0, 8);
	add(&b, PROT_READ | PROT_EXEC, 4);
	add(&b, 0, 4);
	add_text(&b, path);
	add_id(&b, pid, time);
	end(&b, t, 0);
}

static void add_exec(struct trace *t, uint64_t pid, uint64_t time, const char *name, uint16_t misc)
{
	struct bytes b;

	begin(&b, PERF_RECORD_COMM, misc);
	add(&b, pid, 4);
	add(&b, pid, 4);
	add_text(&b, name);
	add_id(&b, pid, time);
	end(&b, t, 0);
}

static void add_fork(struct trace *t, uint64_t pid, uint64_t parent, uint64_t time)
{
	struct bytes b;

	begin(&b, PERF_RECORD_FORK, 0);
	add(&b, pid, 4);
	add(&b, parent, 4);
	add(&b, pid, 4);
	add(&b, parent, 4);
	add(&b, time, 8);
	add_id(&b, pid, time);
	end(&b, t, 0);
}

static void add_sample(struct trace *t, uint64_t pid, uint64_t time, uint64_t inner, uint64_t outer)
{
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	add(&b, inner, 8);
	add(&b, pid, 4);
	add(&b, pid, 4);
	add(&b, time, 8);
	add(&b, 3, 8);
	add(&b, PERF_CONTEXT_USER, 8);
	add(&b, inner, 8);
	add(&b, outer, 8);
	end(&b, t, 9);
}

static void resolve(struct trace *t, struct stacks *s)
{
	stacks_init(s);
	trace_resolve(t, s);
	trace_release(t);
}

static void records_become_stacks(void **state UNUSED)
{
	struct trace t;
	struct stacks s;

	trace_init(&t);
	add_exec(&t, 5, 10, "first", PERF_RECORD_MISC_COMM_EXEC);
	add_map(&t, 5, 11, 0x1000, 0x1000, 0, "/none/a");
	add_exec(&t, 5, 12, "renamed", 0); /* by itself: the program is the same */
	add_sample(&t, 5, 20, 0x1100, 0x9000);
	add_sample(&t, 9, 20, 0x1100, 0x1100);
	add_fork(&t, 6, 5, 30);
	add_sample(&t, 6, 40, 0x1100, 0x1200);
	add_map(&t, 5, 50, 0x1000, 0x1000, 0, "/none/b"); /* after the fork */
	add_sample(&t, 6, 60, 0x1100, 0x1200);
	add_sample(&t, 5, 60, 0x1100, 0x1200);
	add_exec(&t, 6, 70, "second", PERF_RECORD_MISC_COMM_EXEC);
	add_sample(&t, 6, 80, 0x1100, 0x1200);
	resolve(&t, &s);
	assert_int_equal(s.samples.len, 5);
	expect_sample(&s, 0, 20, "first;a");
	expect_sample(&s, 1, 40, "first;a;a");
	expect_sample(&s, 2, 60, "first;a;a");
	expect_sample(&s, 3, 60, "first;b;b");
	expect_sample(&s, 4, 80, "second");
	stacks_release(&s);
}

static void records_that_are_cut_short(void **state UNUSED)
{
	struct trace t;
	struct bytes b;

	trace_init(&t);
	for (uint32_t type = 0; type < 20; type++) {
		begin(&b, type, PERF_RECORD_MISC_COMM_EXEC);
		for (int i = 0; i < 16; i++)
			add(&b, 0x4141414141414141, 8);
		for (size_t len = 0; len <= b.len; len++)
			perf_record_read(b.data, len, 0, &t);
	}
	trace_release(&t);
}

static void lost_records_are_counted(void **state UNUSED)
{
	struct trace t;
	struct bytes b;

	trace_init(&t);
	begin(&b, PERF_RECORD_LOST, 0);
	add(&b, 1, 8);
	add(&b, 42, 8);
	assert_int_equal(end(&b, &t, 0), 42);
	trace_release(&t);
}

/* ---- Symbols ---- */

static void functions_are_found_by_their_place(void **state UNUSED)
{
	struct symbols s;

	symbols_read(&s, "/proc/self/exe");
	assert_true(s.functions.len > 10);
	for (size_t i = 1; i < s.functions.len; i++)
		assert_true(s.functions.items[i - 1].offset <= s.functions.items[i].offset);
	assert_null(symbols_find(&s, 0));
	for (size_t i = 0; i < s.functions.len; i++) {
		const struct function *f = &s.functions.items[i];

		if (str_eq(f->name, "functions_are_found_by_their_place"))
			assert_string_equal(symbols_find(&s, f->offset + 1), f->name);
	}
	symbols_release(&s);
	symbols_read(&s, "/etc/passwd");
	assert_int_equal(s.functions.len, 0);
	symbols_read(&s, "/none");
	assert_null(symbols_find(&s, 5));
	symbols_release(&s);
}

/* ---- Files ---- */

static void files_have_the_samples_of_a_window(void **state UNUSED)
{
	char root[] = "/tmp/codspeed-test.XXXXXX";
	struct execution_timestamps t = EXECUTION_TIMESTAMPS_INIT;
	struct result r = RESULT_INIT;
	struct buf text = BUF_INIT;
	struct stacks s;
	char *path;

	assert_non_null(mkdtemp(root));
	vec_push(&t.markers, (struct marker){MARKER_SAMPLE_START, 10});
	vec_push(&t.markers, (struct marker){MARKER_SAMPLE_END, 20});
	execution_timestamps_add(&t, 21, "u::two", 6, 1);
	result_add(&r, MODE_WALLTIME, "u::one", "one");
	result_add(&r, MODE_WALLTIME, "u::two", "two");
	stacks_init(&s);
	stacks_add(&s, 9, "early", 5);
	stacks_add(&s, 10, "a;b", 3);
	stacks_add(&s, 20, "a;b", 3);
	stacks_add(&s, 15, "a", 1);
	stacks_add(&s, 21, "late", 4);
	assert_int_equal(stacks_write(&s, &t, &r, root), 1);
	path = xasprintf("%s/profile-2.folded", root);
	assert_int_equal(read_file(path, &text), 0);
	assert_string_equal(text.data, "a;b 2\na 1\n");
	free(path);
	buf_release(&text);
	stacks_release(&s);
	result_release(&r);
	execution_timestamps_release(&t);
	path_remove_tree(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_perf),
		cmocka_unit_test(records_become_stacks),
		cmocka_unit_test(records_that_are_cut_short),
		cmocka_unit_test(lost_records_are_counted),
		cmocka_unit_test(functions_are_found_by_their_place),
		cmocka_unit_test(files_have_the_samples_of_a_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
