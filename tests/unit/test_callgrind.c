/* SPDX-License-Identifier: MIT */
/* test_callgrind.c - callgrind files: the two recorded ones, every way to write one, damage */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "applets/runner/simulation/callgrind.h"
#include "core/base.h"
#include "core/io.h"
#include <cmocka.h>

/* What a file said, part by part. */
struct seen_part {
	struct callgrind_part part; /* its pointers are of no use any more */
	char *trigger;
	uint64_t spawned; /* the first one */
};

struct seen {
	VEC(struct seen_part) parts;
	struct function_costs functions; /* of the parts chosen by `only` */
	const char *only;                /* a trigger; NULL: of all parts */
	char *creator, *cmd;
	uint64_t pid;
	unsigned begun;
	int stop; /* what part_end returns */
};

static struct function_costs *part_begin(void *ctx, const struct callgrind_part *part)
{
	struct seen *seen = ctx;

	seen->begun++;
	assert_int_equal(part->costs[CG_IR], 0);
	return !seen->only || str_eq(seen->only, part->trigger) ? &seen->functions : NULL;
}

static int part_end(void *ctx, const struct callgrind_part *part)
{
	struct seen *seen = ctx;
	struct seen_part copy = {*part, xstrdup(part->trigger), 0};

	if (part->spawned_count)
		copy.spawned = part->spawned[0];
	vec_push(&seen->parts, copy);
	free(seen->creator);
	free(seen->cmd);
	seen->creator = xstrdup(part->file->creator);
	seen->cmd = xstrdup(part->file->cmd);
	seen->pid = part->file->pid;
	return seen->stop;
}

static const struct callgrind_ops ops = {part_begin, part_end};

static void seen_init(struct seen *seen)
{
	*seen = (struct seen){0};
	function_costs_init(&seen->functions);
}

static void seen_release(struct seen *seen)
{
	for (size_t i = 0; i < seen->parts.len; i++)
		free(seen->parts.items[i].trigger);
	vec_release(&seen->parts);
	function_costs_release(&seen->functions);
	free(seen->creator);
	free(seen->cmd);
	error_clear();
}

/* In memory of just this size, so that the sanitizer sees a read beyond the end. */
static int read_bytes(struct seen *seen, const char *data, size_t len)
{
	char *copy = xmemdup(data, len);
	int rc = callgrind_read_bytes(copy, len, "file", &ops, seen);

	free(copy);
	return rc;
}

static const struct callgrind_part *part_at(const struct seen *seen, size_t i)
{
	assert_true(i < seen->parts.len);
	return &seen->parts.items[i].part;
}

static void expect_function(const struct seen *seen, const char *name, const char *object,
			    uint64_t self, uint64_t inclusive)
{
	const struct function_costs *t = &seen->functions;

	for (size_t i = 0; i < t->rows.len; i++) {
		const struct function_cost *row = &t->rows.items[i];

		if (!str_eq(function_costs_name(t, row), name) ||
		    !str_eq(function_costs_object(t, row), object))
			continue;
		assert_int_equal(row->self, self);
		assert_int_equal(row->inclusive, inclusive);
		return;
	}
	fail_msg("there is no function %s in %s", name, object);
}

/* A file of one part with two events and one position. */
#define MAGIC "# callgrind format\n"
#define PART "part: 1\npositions: line\nevents: Ir Dr\nsummary: 0\n\n"
#define FILE_OF(body) MAGIC PART body

static void expect_complete(struct seen *seen, const char *text)
{
	int rc;

	seen_init(seen);
	rc = read_bytes(seen, text, strlen(text));
	if (rc)
		fail_msg("%d: %s", rc, error_text());
}

static void expect_damaged(const char *text, const char *why)
{
	struct seen seen;

	seen_init(&seen);
	assert_int_equal(read_bytes(&seen, text, strlen(text)), -EBADMSG);
	if (!str_eq(error_text(), why))
		fail_msg("\"%s\" instead of \"%s\"", error_text(), why);
	seen_release(&seen);
}

/* The damage is in line `line` of a file of this body. */
#define EXPECT_DAMAGED_BODY(body, line, why) expect_damaged(FILE_OF(body), "file:" line ": " why)

/* --- the recorded files --- */

static char *data_path(const char *name)
{
	const char *folder = getenv("DATA");

	return xasprintf("%s/%s", folder ? folder : "tests/data", name);
}

static void read_recorded(struct seen *seen, const char *name, const char *only)
{
	char *path = data_path(name);

	seen_init(seen);
	seen->only = only;
	assert_int_equal(callgrind_read(path, &ops, seen), CALLGRIND_COMPLETE);
	free(path);
}

static void expect_recorded_parts(const struct seen *seen)
{
	static const uint64_t costs[][CG_EVENT_COUNT] = {
		{0}, {61, 7, 7, 2, 1, 0, 1}, {145, 14, 14, 2, 1, 0, 1}, {0},
	};
	static const char *const triggers[] = {
		"Client Request: Metadata: codspeed-c 1.0.0",
		"Client Request: src/demo.c::sum[3]",
		"Client Request: src/demo.c::sum[10]",
		"Program termination",
	};

	assert_int_equal(seen->parts.len, ARRAY_SIZE(costs));
	for (size_t i = 0; i < ARRAY_SIZE(costs); i++) {
		assert_int_equal(part_at(seen, i)->number, i + 1);
		assert_string_equal(seen->parts.items[i].trigger, triggers[i]);
		assert_memory_equal(part_at(seen, i)->costs, costs[i], sizeof(costs[i]));
		for (int event = 0; event < CG_EVENT_COUNT; event++)
			assert_true(part_at(seen, i)->has_event[event]);
		assert_false(part_at(seen, i)->below_main_seen && !part_at(seen, i)->main_inclusive);
		assert_int_equal(seen->parts.items[i].spawned, i == 2 ? 4250 : 0);
	}
	assert_string_equal(seen->creator, "callgrind-3.26.0.codspeed6");
	assert_string_equal(seen->cmd, "/opt/demo/bin/demo --bench sum");
	assert_int_equal(seen->pid, 4242);
}

static void expect_recorded_functions(const struct seen *seen, bool longer)
{
	static const char libc[] = "/usr/lib/libc.so.6", demo[] = "/opt/demo/bin/demo";

	assert_int_equal(seen->functions.rows.len, 4);
	expect_function(seen, "__memcpy_avx_unaligned", libc, 7, 7);
	expect_function(seen, "__codspeed_root_frame__run", demo, 8, longer ? 142 : 58);
	expect_function(seen, "main", demo, 3, longer ? 145 : 61);
	expect_function(seen, "sum", demo, longer ? 127 : 43, longer ? 127 : 43);
}

static void recorded_files_say_the_same(void **state UNUSED)
{
	static const char *const names[] = {"callgrind_plain.out", "callgrind_compressed.out"};
	struct seen seen;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		read_recorded(&seen, names[i], "Client Request: src/demo.c::sum[3]");
		expect_recorded_parts(&seen);
		expect_recorded_functions(&seen, false);
		seen_release(&seen);
		/* Names that were defined in a part nobody wanted are known in a later one. */
		read_recorded(&seen, names[i], "Client Request: src/demo.c::sum[10]");
		expect_recorded_functions(&seen, true);
		seen_release(&seen);
		read_recorded(&seen, names[i], NULL);
		expect_function(&seen, "sum", "/opt/demo/bin/demo", 170, 170);
		seen_release(&seen);
	}
}

static size_t count_totals(const char *text, size_t len, const char **rest)
{
	const char *end = text + len, *line = text;
	size_t count = 0;

	*rest = text;
	while (line < end) {
		const char *nl = memchr(line, '\n', (size_t)(end - line));

		if (!nl)
			break;
		if (strncmp(line, "totals:", 7) == 0) {
			count++;
			*rest = nl + 1;
		}
		line = nl + 1;
	}
	return count;
}

static int result_of_prefix(const char *text, size_t len, size_t *parts)
{
	const char *rest;

	*parts = count_totals(text, len, &rest);
	if (!len)
		return CALLGRIND_EMPTY;
	while (rest < text + len && *rest == '\n')
		rest++;
	return *parts && rest == text + len ? CALLGRIND_COMPLETE : CALLGRIND_TRUNCATED;
}

static void cut_anywhere_keeps_what_was_whole(void **state UNUSED)
{
	static const char *const names[] = {"callgrind_plain.out", "callgrind_compressed.out"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *path = data_path(names[i]);
		struct buf text = BUF_INIT;

		assert_int_equal(read_file(path, &text), 0);
		for (size_t len = 0; len <= text.len; len++) {
			struct seen seen;
			size_t parts;
			int expected = result_of_prefix(text.data, len, &parts);

			seen_init(&seen);
			assert_int_equal(read_bytes(&seen, text.data, len), expected);
			assert_int_equal(seen.parts.len, parts);
			assert_string_equal(error_text(), "");
			seen_release(&seen);
		}
		buf_release(&text);
		free(path);
	}
}

/* --- files and descriptors --- */

static void files_that_cannot_be_read_are_named(void **state UNUSED)
{
	struct seen seen;

	seen_init(&seen);
	assert_int_equal(callgrind_read("/nowhere/1.out", &ops, &seen), -ENOENT);
	assert_string_equal(error_text(), "cannot open /nowhere/1.out: No such file or directory");
	error_clear();
	assert_int_equal(callgrind_read("/", &ops, &seen), -EISDIR);
	assert_string_equal(error_text(), "cannot read /: Is a directory");
	seen_release(&seen);
}

static void emptiness_is_no_cost_of_zero(void **state UNUSED)
{
	struct seen seen;

	seen_init(&seen);
	assert_int_equal(callgrind_read("/dev/null", &ops, &seen), CALLGRIND_EMPTY);
	assert_int_equal(read_bytes(&seen, MAGIC, strlen(MAGIC)), CALLGRIND_TRUNCATED);
	assert_int_equal(read_bytes(&seen, MAGIC PART, strlen(MAGIC PART)), CALLGRIND_TRUNCATED);
	assert_int_equal(seen.begun, 0);
	seen_release(&seen);
}

static void other_files_are_refused(void **state UNUSED)
{
	static const char why[] = "file is not a callgrind file";

	expect_damaged("\n", why);
	expect_damaged("no newline", why);
	expect_damaged("# callgrind formats", why);
	expect_damaged("# callgrind format\r\n", why);
	expect_damaged("\n" MAGIC, why);
}

static int memory_file(const struct buf *text)
{
	int fd = memfd_create("callgrind", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write_full(fd, text->data, text->len), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Lines that lie across the reader's chunks, and one that is longer than several of them. */
static void lines_may_be_longer_than_a_chunk(void **state UNUSED)
{
	enum { NAME = 3 << 20, LINES = 100000 };
	struct buf text = BUF_INIT;
	struct seen seen;
	char *name = xmalloc(NAME + 1);
	int fd;

	memset(name, 'n', NAME);
	name[NAME] = '\0';
	buf_addstr(&text, FILE_OF("ob=lib\nfn=small\n1 1\nfn="));
	buf_addstr(&text, name);
	for (int i = 0; i < LINES; i++)
		buf_printf(&text, "\n+%d 3", i);
	buf_printf(&text, "\n\ntotals: %d\n", LINES * 3 + 1);
	fd = memory_file(&text);
	seen_init(&seen);
	assert_int_equal(callgrind_read_fd(fd, "file", &ops, &seen), CALLGRIND_COMPLETE);
	expect_function(&seen, "small", "lib", 1, 1);
	expect_function(&seen, name, "lib", LINES * 3, LINES * 3);
	seen_release(&seen);
	close(fd);
	buf_release(&text);
	free(name);
}

static void a_line_without_end_is_refused(void **state UNUSED)
{
	struct buf text = BUF_INIT;
	struct seen seen;
	int fd;

	buf_addstr(&text, MAGIC);
	fd = memory_file(&text);
	assert_int_equal(ftruncate(fd, 70 << 20), 0);
	seen_init(&seen);
	assert_int_equal(callgrind_read_fd(fd, "file", &ops, &seen), -EBADMSG);
	assert_string_equal(error_text(), "file: a line is too long");
	seen_release(&seen);
	close(fd);
	buf_release(&text);
}

/* --- parts --- */

static void events_are_found_by_name(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, MAGIC "positions: instr line\n"
				     "events: sysTime Dw Ir Bogus  DLmr \n"
				     "fn=f\n0x10 3 100 2 7 1 5 \n+0xa *  0  0 4\n-2 +1 9\n"
				     "totals: 109 2 11 1 5 \n");
	assert_int_equal(part_at(&seen, 0)->costs[CG_IR], 11);
	assert_int_equal(part_at(&seen, 0)->costs[CG_DW], 2);
	assert_int_equal(part_at(&seen, 0)->costs[CG_DLMR], 5);
	assert_true(part_at(&seen, 0)->has_event[CG_DW]);
	assert_false(part_at(&seen, 0)->has_event[CG_DR]);
	assert_int_equal(part_at(&seen, 0)->number, 0);
	expect_function(&seen, "f", "???", 11, 11);
	seen_release(&seen);
}

static void a_file_without_ir_has_none(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, MAGIC "events: Dr\nfn=f\n1 5\ntotals: 5\n");
	assert_false(part_at(&seen, 0)->has_event[CG_IR]);
	assert_int_equal(part_at(&seen, 0)->costs[CG_DR], 5);
	assert_int_equal(part_at(&seen, 0)->costs[CG_IR], 0);
	seen_release(&seen);
}

static void a_part_starts_anew(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, MAGIC "pid: 7\npart: 1\ndesc: Trigger: one\ndesc: Spawned pid: 5\n"
				     "events: Ir Dr\nob=lib\nfn=f\n1 2\ntotals: 2\n"
				     "\npart: 2\nevents: Dr Ir\nfn=f\n1 1 4\ntotals: 1 4\n"
				     "\npart: 3\ndesc: Trigger: \nevents: Ir\ntotals: 0\n\n");
	assert_int_equal(seen.parts.len, 3);
	assert_int_equal(seen.begun, 3);
	assert_string_equal(seen.parts.items[0].trigger, "one");
	assert_string_equal(seen.parts.items[1].trigger, "");
	assert_int_equal(part_at(&seen, 0)->spawned_count, 1);
	assert_int_equal(part_at(&seen, 1)->spawned_count, 0);
	assert_int_equal(part_at(&seen, 1)->costs[CG_IR], 4);
	expect_function(&seen, "f", "lib", 2, 2);
	expect_function(&seen, "f", "???", 4, 4);
	seen_release(&seen);
}

static void unknown_lines_are_passed_over(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, MAGIC "future: 1\nfuture=2\n# comment\n" PART
				     "rec=3\nfrfn=x\nln=1\nbb=2\ncfni=(9)\n# 1 2 3\nfn=f\n1 2\n"
				     "cfni=g\nfi=inline.h\n+1 3\ncfni=???\nfe=file.c\nfuture: x\n"
				     "jfi=other.c\njfn=(4) elsewhere\njcnd=2/3 +4 \n+1 \n"
				     "jump=1 0x40 \n*\nfn=(4)\n4 1\ntotals: 6\n");
	expect_function(&seen, "f", "???", 5, 5);
	expect_function(&seen, "elsewhere", "???", 1, 1);
	seen_release(&seen);
}

static void the_caller_may_stop(void **state UNUSED)
{
	static const char text[] = FILE_OF("fn=f\n1 2\ntotals: 2\n") PART "garbage\n";
	struct seen seen;

	seen_init(&seen);
	seen.stop = -ECANCELED;
	assert_int_equal(read_bytes(&seen, text, strlen(text)), -ECANCELED);
	assert_int_equal(seen.parts.len, 1);
	assert_string_equal(error_text(), "");
	seen_release(&seen);
}

static void callbacks_may_be_missing(void **state UNUSED)
{
	static const char text[] = FILE_OF("fn=f\n1 2\ncfn=f\ncalls=1 1\n1 2\ntotals: 2\n");
	static const struct callgrind_ops none = {0};

	assert_int_equal(callgrind_read_bytes(text, strlen(text), "file", &none, NULL), 0);
}

/* --- damage --- */

static void damage_is_named_with_its_line(void **state UNUSED)
{
	EXPECT_DAMAGED_BODY("fn=f\n1 2 3 4\n", "8", "more values than events");
	EXPECT_DAMAGED_BODY("fn=f\n1 2\ntotals: 2 0 0\n", "9", "more values than events");
	EXPECT_DAMAGED_BODY("fn=f\n1 2x\n", "8", "text in a number");
	EXPECT_DAMAGED_BODY("fn=f\n1 2\r\n", "8", "text in a number");
	EXPECT_DAMAGED_BODY("fn=f\n1 -2\n", "8", "not a number");
	EXPECT_DAMAGED_BODY("fn=f\n+ 2\n", "8", "not a number");
	EXPECT_DAMAGED_BODY("fn=f\n**\n", "8", "text in a number");
	EXPECT_DAMAGED_BODY("fn=f\n0x 1\n", "8", "not a number");
	EXPECT_DAMAGED_BODY("1 2\n", "7", "costs outside of a function");
	EXPECT_DAMAGED_BODY("fn=f\ntotals: 0\n" PART "1 2\n", "14", "costs outside of a function");
	EXPECT_DAMAGED_BODY("what is this\n", "7", "not a line of a callgrind file");
	EXPECT_DAMAGED_BODY(" 1 2\n", "7", "not a line of a callgrind file");
	EXPECT_DAMAGED_BODY("fn=f\n1 2\npart: 2\n", "9", "part 1 has no totals");
	EXPECT_DAMAGED_BODY("fn=f\nevents: Ir\n", "8", "events: among the costs");
	EXPECT_DAMAGED_BODY("totals: \n", "7", "totals: without a value");
	expect_damaged(MAGIC "part: 1\nfn=f\n", "file:3: part without an events: line");
	expect_damaged(MAGIC "totals: 0\n", "file:2: part without an events: line");
	expect_damaged(MAGIC "events: Ir Dr Ir\n", "file:2: event Ir twice");
	expect_damaged(MAGIC "events: \n", "file:2: no events");
	expect_damaged(MAGIC "positions:\n", "file:2: no kind of position");
	expect_damaged(MAGIC "pid: me\n", "file:2: not a number");
	expect_damaged(MAGIC "pid: 1 2\n", "file:2: text after the number");
}

static void lines_that_belong_together_stay_together(void **state UNUSED)
{
	EXPECT_DAMAGED_BODY("fn=f\ncalls=1 2\nfn=g\n", "9", "calls= or jump= without its line");
	EXPECT_DAMAGED_BODY("fn=f\njump=1 2\ncalls=1 1\n", "9", "calls= or jump= without its line");
	EXPECT_DAMAGED_BODY("fn=f\ncalls=1 2\ntotals: 0\n", "9",
			    "calls= or jump= without its line");
	EXPECT_DAMAGED_BODY("fn=f\njump=1 2\n1 5\n", "9", "costs of a jump");
	EXPECT_DAMAGED_BODY("fn=f\ncalls=many 2\n", "8", "not a number");
	EXPECT_DAMAGED_BODY("fn=f\ncalls=1x2\n", "8", "text in a number");
}

static void totals_must_be_the_sum(void **state UNUSED)
{
	EXPECT_DAMAGED_BODY("fn=f\n1 2\ncfn=g\ncalls=1 1\n1 50\ntotals: 52\n", "12",
			    "part 1 is damaged: its lines sum up to 2 instructions, its totals "
			    "say 52");
}

static void numbers_have_64_bits(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, FILE_OF("fn=f\n1 18446744073709551614 0xffffffffffffffff\n"
				       "0xfF 0x1\ntotals: 18446744073709551615 "
				       "00000000000000000000018446744073709551615\n"));
	assert_int_equal(part_at(&seen, 0)->costs[CG_IR], UINT64_MAX);
	assert_int_equal(part_at(&seen, 0)->costs[CG_DR], UINT64_MAX);
	seen_release(&seen);
	EXPECT_DAMAGED_BODY("fn=f\n1 18446744073709551616\n", "8", "number above 64 bits");
	EXPECT_DAMAGED_BODY("fn=f\n1 0 99999999999999999999\n", "8", "number above 64 bits");
	EXPECT_DAMAGED_BODY("fn=f\n1 0x10000000000000000\n", "8", "number above 64 bits");
	EXPECT_DAMAGED_BODY("fn=f\n1 18446744073709551615\n1 1\n", "9", "costs above 64 bits");
}

static void damage_spoils_no_earlier_part(void **state UNUSED)
{
	static const char text[] = FILE_OF("fn=f\n1 2\ntotals: 2\n") PART "fn=f\n1 5\nfn=g\n1 x\n";
	struct seen seen;

	seen_init(&seen);
	assert_int_equal(read_bytes(&seen, text, strlen(text)), -EBADMSG);
	assert_int_equal(seen.parts.len, 1);
	assert_int_equal(seen.functions.rows.len, 1);
	expect_function(&seen, "f", "???", 2, 2);
	seen_release(&seen);
}

/* --- names --- */

static void compressed_names_have_two_spaces_here(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, FILE_OF("ob=(1) lib\nfl=(1) a.c\nfn=(1) f\n1 1\n"
				       "cob=(2) exe\ncfi=(77)\ncfn=(2) g\ncalls=1 1\n1 5\n"
				       "ob=(2)\nfn=(2)\n1 2\nfn=(1) renamed\n1 3\nfn=(1)\n1 4\n"
				       "totals: 10\n"));
	expect_function(&seen, "f", "lib", 1, 6);
	expect_function(&seen, "g", "exe", 2, 2);
	expect_function(&seen, "renamed", "exe", 7, 7);
	seen_release(&seen);
}

static void names_that_look_compressed(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, FILE_OF("fn=(anonymous namespace)::f\n1 1\nfn=(1x)\n1 2\nfn=\n1 3\n"
				       "totals: 6\n"));
	expect_function(&seen, "(anonymous namespace)::f", "???", 1, 1);
	expect_function(&seen, "(1x)", "???", 2, 2);
	expect_function(&seen, "", "???", 3, 3);
	seen_release(&seen);
}

static void undefined_names_are_damage(void **state UNUSED)
{
	EXPECT_DAMAGED_BODY("fn=(3)\n", "7", "name (3) was never defined");
	EXPECT_DAMAGED_BODY("fn=(3) f\n1 1\ncfn=(2)\n", "9", "name (2) was never defined");
	EXPECT_DAMAGED_BODY("fn=(3) f\nob=(3)\n", "8", "name (3) was never defined");
	EXPECT_DAMAGED_BODY("cob=(0)\n", "7", "name (0) was never defined");
	EXPECT_DAMAGED_BODY("fn=(16777217) f\n", "7", "name (16777217) out of range");
	EXPECT_DAMAGED_BODY("fn=(99999999999999999999) f\n", "7", "number above 64 bits");
}

static void names_may_hold_nul_bytes(void **state UNUSED)
{
	static const char text[] = FILE_OF("fn=a\0b\n1 1\nfn=a\0c\n1 2\ntotals: 3\n");
	struct function_cost *top;
	struct seen seen;
	size_t count;

	seen_init(&seen);
	assert_int_equal(read_bytes(&seen, text, sizeof(text) - 1), 0);
	top = function_costs_top(&seen.functions, FUNCTIONS_BY_SELF, 10, &count);
	assert_int_equal(count, 2);
	assert_memory_equal(function_costs_name(&seen.functions, &top[0]), "a\0c", 4);
	free(top);
	seen_release(&seen);
}

/* --- calls --- */

static void recursion_counts_once(void **state UNUSED)
{
	struct seen seen;

	/* f calls itself; g and h call each other. */
	expect_complete(&seen, FILE_OF("ob=exe\nfn=f\n1 5\ncfn=f'2\ncalls=1 1\n1 30\n"
				       "fn=f'2\n1 10\ncfn=f'2\ncalls=2 1\n1 20\ncfn=k\ncalls=1 1\n"
				       "1 20\nfn=k\n1 20\n"
				       "fn=g\n1 1\ncfn=h\ncalls=1 1\n1 15\n"
				       "fn=h\n1 2\ncfn=g'2\ncalls=1 1\n1 13\n"
				       "fn=g'2\n1 4\ncfn=h'2\ncalls=1 1\n1 9\nfn=h'2\n1 9\n"
				       "totals: 51\n"));
	expect_function(&seen, "f", "exe", 15, 35);
	expect_function(&seen, "k", "exe", 20, 20);
	expect_function(&seen, "g", "exe", 5, 16);
	expect_function(&seen, "h", "exe", 11, 15);
	assert_int_equal(seen.functions.rows.len, 4);
	seen_release(&seen);
}

/* --separate-recs=1 writes a function's calls of itself as just that. */
static void calls_of_itself_do_not_count(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, FILE_OF("ob=exe\nfn=f\n1 5\ncfn=f\ncalls=1 1\n1 4\n"
				       "cob=lib\ncfn=f\ncalls=1 1\n1 3\n"
				       "ob=lib\nfn=f\n1 3\ntotals: 8\n"));
	expect_function(&seen, "f", "exe", 5, 8);
	expect_function(&seen, "f", "lib", 3, 3);
	seen_release(&seen);
}

/* callgrind leaves the start of a call behind when the call has no cost. */
static void a_called_object_without_call_is_forgotten(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, FILE_OF("ob=exe\nfn=f\ncob=???\ncfi=???\n* 2\n"
				       "cfn=f\ncalls=1 1\n1 1\nfn=g\n1 5\ntotals: 7\n"));
	expect_function(&seen, "f", "exe", 2, 2);
	seen_release(&seen);
}

static void inclusive_costs_stay_within_the_total(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, FILE_OF("fn=f\n1 5\ncfn=g\ncalls=1 1\n1 18446744073709551615\n"
				       "cfn=h\ncalls=1 1\n1 7\nfn=h'2\n1 3\ntotals: 8\n"));
	expect_function(&seen, "f", "???", 5, 8);
	expect_function(&seen, "h", "???", 3, 3);
	seen_release(&seen);
}

static void a_level_needs_digits(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, FILE_OF("fn=f'\n1 1\nfn='2\n1 2\nfn=f'2x\n1 3\nfn=f2\n1 4\n"
				       "fn=f'12\n1 5\ntotals: 15\n"));
	expect_function(&seen, "f'", "???", 1, 1);
	expect_function(&seen, "'2", "???", 2, 2);
	expect_function(&seen, "f'2x", "???", 3, 3);
	expect_function(&seen, "f2", "???", 4, 4);
	expect_function(&seen, "f", "???", 5, 5);
	seen_release(&seen);
}

static void expect_main(const char *text, bool seen_below, uint64_t inclusive)
{
	struct seen seen;

	expect_complete(&seen, text);
	assert_int_equal(part_at(&seen, 0)->below_main_seen, seen_below);
	assert_int_equal(part_at(&seen, 0)->main_inclusive, inclusive);
	seen_release(&seen);
}

static void main_is_told_from_its_start(void **state UNUSED)
{
	/* glibc: _start, __libc_start_main, __libc_start_call_main, main */
	expect_main(FILE_OF("ob=exe\nfn=(below main)\n1 1\ncob=libc\n"
			    "cfn=__libc_start_main@@GLIBC_2.34\ncalls=1 1\n1 90\n"
			    "fn=main\n1 70\nob=libc\nfn=__libc_start_main@@GLIBC_2.34\n1 9\n"
			    "cfn=(below main)\ncalls=1 1\n1 81\n"
			    "fn=(below main)\n1 1\ncfn=_setjmp\ncalls=1 1\n1 10\ncob=exe\ncfn=main\n"
			    "calls=1 1\n1 70\nfn=_setjmp\n1 10\ntotals: 91\n"),
		    true, 70);
	/* the same of a stripped program */
	expect_main(FILE_OF("fn=(below main)\n1 1\ncfn=__libc_start_main@@GLIBC_2.34\n"
			    "calls=1 1\n1 9\ncfn=(below main)'2\ncalls=1 1\n1 9\n"
			    "fn=(below main)'2\n1 2\ncfn=0x0000000000001040\ncalls=1 1\n1 7\n"
			    "fn=0x0000000000001040\n1 7\ntotals: 10\n"),
		    true, 7);
	/* musl has functions of its own between */
	expect_main(FILE_OF("fn=(below main)\n1 1\ncfn=stage2\ncalls=1 1\n1 9\n"
			    "fn=stage2\n1 2\ncfn=main\ncalls=1 1\n1 7\nfn=main\n1 7\ntotals: 10\n"),
		    true, 7);
	/* code with neither */
	expect_main(FILE_OF("fn=main.main\n1 1\ntotals: 1\n"), false, 0);
}

static void every_part_has_a_main_of_its_own(void **state UNUSED)
{
	struct seen seen;

	expect_complete(&seen, FILE_OF("fn=a\n1 9\ncfn=main\ncalls=1 1\n1 8\ntotals: 9\n")
			PART "fn=(below main)\n1 9\ncfn=a\ncalls=1 1\n1 5\ntotals: 9\n"
			PART "fn=a\n1 9\ntotals: 9\n"
			PART "fn=a\n1 9\ncfn=main\ncalls=1 1\n1 1\ntotals: 9\n");
	assert_int_equal(part_at(&seen, 0)->main_inclusive, 8);
	assert_int_equal(part_at(&seen, 1)->main_inclusive, 5);
	assert_int_equal(part_at(&seen, 2)->main_inclusive, 0);
	assert_false(part_at(&seen, 2)->below_main_seen);
	assert_int_equal(part_at(&seen, 3)->main_inclusive, 1);
	seen_release(&seen);
}

static void main_counts_once(void **state UNUSED)
{
	expect_main(FILE_OF("fn=start\n1 1\ncfn=main\ncalls=1 1\n1 9\n"
			    "fn=main\n1 3\ncfn=main'2\ncalls=1 1\n1 6\ncfn=main\ncalls=1 1\n1 6\n"
			    "fn=main'2\n1 6\ncfn=main\ncalls=1 1\n1 6\ntotals: 10\n"),
		    true, 9);
	expect_main(FILE_OF("fn=start\n1 1\ncfn=main\ncalls=1 1\n1 9\ncfn=main\ncalls=1 1\n1 9\n"
			    "totals: 1\n"),
		    true, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_files_say_the_same),
		cmocka_unit_test(cut_anywhere_keeps_what_was_whole),
		cmocka_unit_test(files_that_cannot_be_read_are_named),
		cmocka_unit_test(emptiness_is_no_cost_of_zero),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(lines_may_be_longer_than_a_chunk),
		cmocka_unit_test(a_line_without_end_is_refused),
		cmocka_unit_test(events_are_found_by_name),
		cmocka_unit_test(a_file_without_ir_has_none),
		cmocka_unit_test(a_part_starts_anew),
		cmocka_unit_test(unknown_lines_are_passed_over),
		cmocka_unit_test(the_caller_may_stop),
		cmocka_unit_test(callbacks_may_be_missing),
		cmocka_unit_test(damage_is_named_with_its_line),
		cmocka_unit_test(lines_that_belong_together_stay_together),
		cmocka_unit_test(totals_must_be_the_sum),
		cmocka_unit_test(numbers_have_64_bits),
		cmocka_unit_test(damage_spoils_no_earlier_part),
		cmocka_unit_test(compressed_names_have_two_spaces_here),
		cmocka_unit_test(names_that_look_compressed),
		cmocka_unit_test(undefined_names_are_damage),
		cmocka_unit_test(names_may_hold_nul_bytes),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(calls_of_itself_do_not_count),
		cmocka_unit_test(a_called_object_without_call_is_forgotten),
		cmocka_unit_test(inclusive_costs_stay_within_the_total),
		cmocka_unit_test(a_level_needs_digits),
		cmocka_unit_test(main_is_told_from_its_start),
		cmocka_unit_test(every_part_has_a_main_of_its_own),
		cmocka_unit_test(main_counts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
