/* SPDX-License-Identifier: MIT */
/* test_artifact.c - memtrack's artifact: recorded bytes, every layout, damage, and the writer */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/artifact_reader.h"
#include "core/base.h"
#include "core/io.h"
#include "core/vec.h"
#include "core/zstd.h"
#include <cmocka.h>
#undef fail

enum { MANY = 300000 }; /* more than four frames */

#define EVENT(p, t, ts, a, k, s, ...)                                                           \
	{.pid = p, .tid = t, .timestamp = ts, .addr = a, .kind = k, .size = s, __VA_ARGS__}

/* memtrack_all_kinds.expected.json */
static const struct heap_event all_kinds[] = {
	EVENT(1234, 1234, 123456789012345, 93823560622752, HEAP_MALLOC, 64),
	EVENT(1234, 1235, 123456789013345, 93823560622848, HEAP_CALLOC, 70000),
	EVENT(1234, 1234, 123456789014345, 93823560626176, HEAP_REALLOC, 300, .old_known = true,
	      .old_addr = 93823560622752),
	EVENT(1234, 1234, 123456789015345, 93823560630272, HEAP_REALLOC, 16, .old_known = true),
	EVENT(1234, 1234, 123456789016345, 139637976731648, HEAP_ALIGNED_ALLOC, 8589934592),
	EVENT(1234, 1234, 123456789015845, 139637976735744, HEAP_MMAP, 4096),
	EVENT(1236, 1236, 123456789017345, 139637976735744, HEAP_MUNMAP, 4096),
	EVENT(1236, 1236, 123456789018345, 93823560716288, HEAP_BRK, 0),
	EVENT(1234, 1234, 123456789019345, 93823560626176, HEAP_FREE, 0),
};

/* memtrack_int_widths.expected.json */
static const struct heap_event int_widths[] = {
	{.pid = 0, .tid = 127, .timestamp = 0, .addr = 0, .size = 0},
	{.pid = 128, .tid = 255, .timestamp = 127, .addr = 128, .size = 255},
	{.pid = 256, .tid = 65535, .timestamp = 256, .addr = 65535, .size = 65536},
	{.pid = 65536, .tid = INT32_MAX, .timestamp = UINT32_MAX, .addr = 1ull << 32,
	 .size = 1ull << 63},
	{.pid = -1, .tid = -32, .timestamp = UINT64_MAX, .addr = UINT64_MAX, .size = UINT64_MAX},
	{.pid = -33, .tid = -128, .timestamp = 1, .addr = 2, .size = 3},
	{.pid = -129, .tid = -32768, .timestamp = 4, .addr = 5, .size = 6},
	{.pid = -32769, .tid = INT32_MIN, .timestamp = 7, .addr = 8, .size = 9},
};

static char *data_path(const char *name)
{
	return xasprintf("%s/memtrack_%s", getenv("DATA"), name);
}

static void read_data(const char *name, struct buf *to)
{
	char *path = data_path(name);

	assert_int_equal(read_file(path, to), 0);
	free(path);
}

static void assert_same(const struct heap_event *a, const struct heap_event *b)
{
	assert_int_equal(a->timestamp, b->timestamp);
	assert_int_equal(a->addr, b->addr);
	assert_int_equal(a->old_addr, b->old_addr);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->old_known, b->old_known);
}

/* What came of reading: events, and the result of the last call. */
struct outcome {
	VEC(struct heap_event) events;
	int rc;
	uint64_t offset;
	enum artifact_layout layout;
	char *text;
};

static void outcome_release(struct outcome *o)
{
	vec_release(&o->events);
	free(o->text);
}

static void read_to_end(struct artifact_reader *r, struct outcome *o, size_t at_a_time)
{
	struct heap_event events[512];
	ssize_t n;

	while ((n = artifact_read(r, events, at_a_time)) > 0)
		for (ssize_t i = 0; i < n; i++)
			vec_push(&o->events, events[i]);
	o->rc = (int)n;
	o->offset = r->good;
	o->layout = r->layout;
	o->text = xstrdup(error_text());
	error_clear();
	assert_int_equal(artifact_read(r, events, 1), n); /* and stays so */
	error_clear();
	artifact_close(r);
}

static struct outcome read_path(const char *path)
{
	struct outcome o = {0};
	struct artifact_reader *r;

	o.rc = artifact_open(&r, path);
	if (!o.rc)
		read_to_end(r, &o, 512);
	else
		o.text = xstrdup(error_text());
	error_clear();
	return o;
}

static struct outcome read_bytes(const void *bytes, size_t len, size_t at_a_time)
{
	int fd = memfd_create("artifact", MFD_CLOEXEC);
	struct outcome o = {0};
	struct artifact_reader *r;

	assert_int_equal(write_full(fd, bytes, len), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	o.rc = artifact_open_fd(&r, fd, "artifact");
	if (!o.rc)
		read_to_end(r, &o, at_a_time);
	else
		o.text = xstrdup(error_text());
	error_clear();
	close(fd);
	return o;
}

static void expect_events(struct outcome *o, const struct heap_event *expected, size_t count)
{
	assert_int_equal(o->events.len, count);
	for (size_t i = 0; i < count; i++)
		assert_same(&o->events.items[i], &expected[i]);
}

/* ---- Bytes ---- */

static void expect_encoding(const char *name, const struct heap_event *events, size_t count)
{
	unsigned char bytes[ARTIFACT_EVENT_MAX];
	struct buf expected = BUF_INIT, made = BUF_INIT;

	read_data(name, &expected);
	for (size_t i = 0; i < count; i++)
		buf_add(&made, bytes, artifact_encode(&events[i], bytes));
	assert_int_equal(made.len, expected.len);
	assert_memory_equal(made.data, expected.data, made.len);
	buf_release(&expected);
	buf_release(&made);
}

static void events_become_the_recorded_bytes(void **state UNUSED)
{
	expect_encoding("all_kinds.raw.msgpack", all_kinds, ARRAY_SIZE(all_kinds));
	expect_encoding("int_widths.raw.msgpack", int_widths, ARRAY_SIZE(int_widths));
}

static void no_event_is_longer_than_the_room_for_it(void **state UNUSED)
{
	struct heap_event e = {.timestamp = UINT64_MAX, .addr = UINT64_MAX, .old_addr = UINT64_MAX,
			       .size = UINT64_MAX, .pid = INT32_MIN, .tid = INT32_MIN,
			       .old_known = true};
	unsigned char bytes[ARTIFACT_EVENT_MAX];

	for (int kind = 0; kind < HEAP_EVENT_KINDS; kind++) {
		e.kind = (uint8_t)kind;
		/* The encoder may write a few bytes more than it says. */
		assert_true(artifact_encode(&e, bytes) + 8 <= ARTIFACT_EVENT_MAX);
	}
}

static void expect_file(const char *name, enum artifact_layout layout, bool with_old)
{
	char *path = data_path(name);
	struct outcome o = read_path(path);
	struct heap_event expected[ARRAY_SIZE(all_kinds)];

	memcpy(expected, all_kinds, sizeof(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected) && !with_old; i++) {
		expected[i].old_known = false;
		expected[i].old_addr = 0;
	}
	assert_int_equal(o.rc, 0);
	assert_int_equal(o.layout, layout);
	expect_events(&o, expected, ARRAY_SIZE(expected));
	outcome_release(&o);
	free(path);
}

static void every_layout_is_read(void **state UNUSED)
{
	expect_file("all_kinds.MemtrackArtifact.msgpack", ARTIFACT_FRAMES, true);
	expect_file("two_frames.MemtrackArtifact.msgpack", ARTIFACT_FRAMES, true);
	expect_file("old_no_old_addr.MemtrackArtifact.msgpack", ARTIFACT_FRAMES, false);
	expect_file("old_plain_stream.MemtrackArtifact.msgpack", ARTIFACT_PLAIN, false);
	expect_file("old_single_map.MemtrackArtifact.msgpack", ARTIFACT_MAP, false);
	expect_file("all_kinds.raw.msgpack", ARTIFACT_PLAIN, true);
}

static void all_widths_of_numbers_are_read(void **state UNUSED)
{
	char *path = data_path("int_widths.raw.msgpack");
	struct outcome o = read_path(path);

	assert_int_equal(o.rc, 0);
	expect_events(&o, int_widths, ARRAY_SIZE(int_widths));
	outcome_release(&o);
	free(path);
}

static void an_empty_frame_is_no_event(void **state UNUSED)
{
	char *path = data_path("empty.MemtrackArtifact.msgpack");
	struct outcome o = read_path(path);

	assert_int_equal(o.rc, 0);
	assert_int_equal(o.events.len, 0);
	assert_int_equal(o.offset, 0);
	outcome_release(&o);
	free(path);
}

static void an_empty_file_is_an_error(void **state UNUSED)
{
	struct outcome o = read_bytes("", 0, 1);

	assert_int_equal(o.rc, -ENODATA);
	assert_string_equal(o.text, "artifact is empty");
	outcome_release(&o);
}

/* ---- Damage ---- */

static void a_cut_event_is_told_after_the_whole_ones(void **state UNUSED)
{
	char *path = data_path("truncated.MemtrackArtifact.msgpack");
	struct outcome o = read_path(path);
	unsigned char bytes[ARTIFACT_EVENT_MAX];
	uint64_t whole = 0;

	for (size_t i = 0; i < 8; i++)
		whole += artifact_encode(&all_kinds[i], bytes);
	assert_int_equal(o.rc, -ENODATA);
	expect_events(&o, all_kinds, 8);
	assert_int_equal(o.offset, whole);
	assert_non_null(strstr(o.text, "truncated.MemtrackArtifact.msgpack is cut off at byte "));
	assert_non_null(strstr(o.text, "after 8 events"));
	outcome_release(&o);
	free(path);
}

/* Of `bytes`, every beginning: the events that are whole, and an error unless it ends after one. */
static void cut_everywhere(const struct buf *bytes, const size_t *ends, size_t count)
{
	for (size_t len = 1; len < bytes->len; len++) {
		struct outcome o = read_bytes(bytes->data, len, 3);
		size_t whole = 0;

		while (whole < count && ends[whole] <= len)
			whole++;
		expect_events(&o, all_kinds, whole);
		assert_int_equal(o.offset, whole ? ends[whole - 1] : 0);
		assert_int_equal(o.rc, whole && ends[whole - 1] == len ? 0 : -ENODATA);
		outcome_release(&o);
	}
}

static void a_plain_stream_may_end_after_an_event_alone(void **state UNUSED)
{
	size_t ends[ARRAY_SIZE(all_kinds)];
	unsigned char bytes[ARTIFACT_EVENT_MAX];
	struct buf stream = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(all_kinds); i++) {
		buf_add(&stream, bytes, artifact_encode(&all_kinds[i], bytes));
		ends[i] = stream.len;
	}
	cut_everywhere(&stream, ends, ARRAY_SIZE(all_kinds));
	buf_release(&stream);
}

static void a_cut_frame_is_never_whole(void **state UNUSED)
{
	struct buf file = BUF_INIT;

	read_data("two_frames.MemtrackArtifact.msgpack", &file);
	for (size_t len = 5; len < file.len; len++) {
		struct outcome o = read_bytes(file.data, len, 512);
		bool first_frame_only = o.rc == 0;

		if (first_frame_only)
			assert_int_equal(o.events.len, 4);
		else
			assert_int_equal(o.rc, -ENODATA);
		assert_true(o.events.len <= 9);
		outcome_release(&o);
	}
	buf_release(&file);
}

static void a_cut_list_is_never_whole(void **state UNUSED)
{
	struct buf file = BUF_INIT;

	read_data("old_single_map.MemtrackArtifact.msgpack", &file);
	for (size_t len = 8; len < file.len; len++) {
		struct outcome o = read_bytes(file.data, len, 512);

		assert_int_equal(o.rc, -ENODATA);
		outcome_release(&o);
	}
	buf_addch(&file, '\x80');
	{
		struct outcome o = read_bytes(file.data, file.len, 512);

		assert_int_equal(o.rc, -EINVAL);
		assert_int_equal(o.events.len, 9);
		outcome_release(&o);
	}
	buf_release(&file);
}

static void damaged_frames_are_told(void **state UNUSED)
{
	struct buf file = BUF_INIT;
	struct outcome o;

	read_data("two_frames.MemtrackArtifact.msgpack", &file);
	file.data[file.len - 8] ^= 0x55;
	buf_addstr(&file, "and more");
	o = read_bytes(file.data, file.len, 512);
	assert_int_equal(o.rc, -EINVAL);
	assert_true(o.events.len >= 4);
	assert_non_null(strstr(o.text, "zstd"));
	outcome_release(&o);
	buf_release(&file);
}

/* ---- Other forms of msgpack ---- */

#define BYTES(text) text, sizeof(text) - 1

#define PID "\xa3pid\x01"
#define TID "\xa3tid\x02"
#define TIME "\xa9timestamp\x03"
#define ADDR "\xa4" "addr\x04"
#define SIZE "\xa4size\x05"
#define TYPE(t) "\xa4type" t
#define MALLOC TYPE("\xa6Malloc")
#define PAD "\xd9\x80" EIGHTY "0123456789abcdef0123456789abcdef0123456789abcdef" /* 128 bytes */
#define EIGHTY                                                                                   \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void expect_one(const void *bytes, size_t len, enum heap_event_kind kind, uint64_t old_addr,
		       bool old_known)
{
	struct heap_event expected = {
		.pid = 1, .tid = 2, .timestamp = 3, .addr = 4, .kind = (uint8_t)kind,
		.size = kind == HEAP_FREE ? 0 : 5, .old_addr = old_addr, .old_known = old_known,
	};
	struct outcome o = read_bytes(bytes, len, 1);

	assert_int_equal(o.rc, 0);
	expect_events(&o, &expected, 1);
	assert_int_equal(o.offset, len);
	outcome_release(&o);
}

static void keys_may_come_in_any_order(void **state UNUSED)
{
	expect_one(BYTES("\x86" PID TID TIME ADDR MALLOC SIZE), HEAP_MALLOC, 0, false);
	expect_one(BYTES("\x86" SIZE MALLOC ADDR TIME TID PID), HEAP_MALLOC, 0, false);
	expect_one(BYTES("\x87" SIZE "\xa8old_addr\x07" TYPE("\xa7Realloc") ADDR TIME TID PID),
		   HEAP_REALLOC, 7, true);
	expect_one(BYTES("\xde\x00\x06" PID TID TIME ADDR MALLOC SIZE), HEAP_MALLOC, 0, false);
	expect_one(BYTES("\xdf\x00\x00\x00\x06" PID TID TIME ADDR MALLOC SIZE), HEAP_MALLOC, 0, false);
	expect_one(BYTES("\x86\xd9\x03pid\x01\xda\x00\x03tid\x02" TIME ADDR MALLOC SIZE), HEAP_MALLOC, 0,
		   false);
}

static void unknown_keys_are_skipped(void **state UNUSED)
{
	expect_one(BYTES("\x87" PID TID "\xa5other\xc0" TIME ADDR MALLOC SIZE), HEAP_MALLOC, 0, false);
	expect_one(BYTES("\x87" PID TID TIME ADDR MALLOC SIZE "\xa1x\x92\x81\xa1y\x93\x01\x02\xc2\xc3"),
		   HEAP_MALLOC, 0, false);
	expect_one(BYTES("\x87" PID TID TIME ADDR MALLOC SIZE
			 "\xa1x\xcb\x00\x00\x00\x00\x00\x00\x00\x00"), HEAP_MALLOC, 0, false);
	expect_one(BYTES("\x88" PID TID TIME ADDR MALLOC SIZE "\xa1x\xc7\x02\x01zz\xa1y\xd8\x01"
			 "0123456789abcdef"), HEAP_MALLOC, 0, false);
	expect_one(BYTES("\x87" PAD PAD PID TID TIME ADDR MALLOC SIZE), HEAP_MALLOC, 0, false);
	/* What only a realloc has is an unknown key to the others. */
	expect_one(BYTES("\x87" PID TID TIME ADDR MALLOC "\xa8old_addr\xc3" SIZE), HEAP_MALLOC, 0, false);
	expect_one(BYTES("\x86" PID TID TIME ADDR TYPE("\xa4" "Free") "\xa4size\xa1x"), HEAP_FREE, 0, false);
}

static void numbers_may_be_wider_than_needed(void **state UNUSED)
{
	expect_one(BYTES("\x86\xa3pid\xcf\0\0\0\0\0\0\0\x01\xa3tid\xd3\0\0\0\0\0\0\0\x02"
			 "\xa9timestamp\xd1\0\x03\xa4" "addr\xce\0\0\0\x04" MALLOC
			 "\xa4size\xd0\x05"), HEAP_MALLOC, 0, false);
}

static void an_old_address_may_be_nil(void **state UNUSED)
{
	expect_one(BYTES("\x87" PID TID TIME ADDR TYPE("\xa7Realloc") "\xa8old_addr\xc0" SIZE),
		   HEAP_REALLOC, 0, false);
	expect_one(BYTES("\x86" PID TID TIME ADDR TYPE("\xa7Realloc") SIZE), HEAP_REALLOC, 0, false);
}

static void expect_refused(const void *bytes, size_t len, const char *why)
{
	struct buf stream = BUF_INIT;
	unsigned char good[ARTIFACT_EVENT_MAX];
	size_t before = artifact_encode(&all_kinds[0], good);
	struct outcome o;

	buf_add(&stream, good, before);
	buf_add(&stream, bytes, len);
	buf_add(&stream, good, before);
	buf_add(&stream, good, before);
	o = read_bytes(stream.data, stream.len, 512);
	assert_int_equal(o.rc, -EINVAL);
	expect_events(&o, all_kinds, 1);
	assert_int_equal(o.offset, before);
	if (!strstr(o.text, why))
		print_error("not \"%s\", but: %s\n", why, o.text);
	assert_non_null(strstr(o.text, why));
	outcome_release(&o);
	buf_release(&stream);
}

static void what_is_no_event_ends_the_stream(void **state UNUSED)
{
	expect_refused(BYTES("\x05"), "no event");
	expect_refused(BYTES("\xa6Malloc"), "no event");
	expect_refused(BYTES("\xc1"), "no event");
	expect_refused(BYTES("\x87" PID TID TIME ADDR MALLOC SIZE "\x01\x01"), "a key is no text");
	expect_refused(BYTES("\x87" PID TID TIME ADDR MALLOC SIZE "\xa1x\xc1"), "no msgpack value");
	expect_refused(BYTES("\x87" PID PID TID TIME ADDR MALLOC SIZE), "a key comes twice");
	expect_refused(BYTES("\x85" PID TID TIME ADDR MALLOC), "the size is missing");
	expect_refused(BYTES("\x86" PID TID TIME ADDR MALLOC "\xa4size\xc0"), "the size is missing");
	expect_refused(BYTES("\x86" PID TID TIME ADDR MALLOC "\xa4size\xff"), "the size is missing");
	expect_refused(BYTES("\x85" PID TID TIME MALLOC SIZE), "a key is missing");
	expect_refused(BYTES("\x80"), "a key is missing");
	expect_refused(BYTES("\x86" PID TID TIME ADDR TYPE("\xa6" "Valloc") SIZE), "unknown type");
	expect_refused(BYTES("\x86" PID TID TIME ADDR TYPE("\xaf" "AlignedAllocate") SIZE), "unknown type");
	expect_refused(BYTES("\x86" PID TID TIME ADDR TYPE("\x01") SIZE), "unknown type");
	expect_refused(BYTES("\x86\xa3pid\xce\x80\0\0\0" TID TIME ADDR MALLOC SIZE), "no 32-bit number");
	expect_refused(BYTES("\x86\xa3pid\xcf\xff\xff\xff\xff\xff\xff\xff\xff" TID TIME ADDR MALLOC SIZE),
		       "no 32-bit number");
	expect_refused(BYTES("\x86" PID TID "\xa9timestamp\xff" ADDR MALLOC SIZE), "no unsigned number");
	expect_refused(BYTES("\x86" PID TID TIME "\xa4" "addr\xca\0\0\0\0" MALLOC SIZE),
		       "no unsigned number");
	expect_refused(BYTES("\x87" PID TID TIME ADDR TYPE("\xa7Realloc") "\xa8old_addr\xff" SIZE),
		       "old_addr is no number");
}

/* ---- Long streams ---- */

static struct heap_event made_up(uint64_t i)
{
	struct heap_event e = {.timestamp = 1000000000 + i * 317, .addr = 0x550000000000 + i * 16,
			       .pid = (int32_t)(i % 70000), .tid = (int32_t)(i % 3) - 1,
			       .kind = (uint8_t)(i % HEAP_EVENT_KINDS)};

	if (e.kind != HEAP_FREE)
		e.size = i * i;
	if (e.kind == HEAP_REALLOC) {
		e.old_known = i % 5;
		e.old_addr = e.old_known ? i : 0;
	}
	return e;
}

static void expect_made_up(struct outcome *o, size_t count)
{
	assert_int_equal(o->rc, 0);
	assert_int_equal(o->events.len, count);
	for (size_t i = 0; i < count; i++) {
		struct heap_event e = made_up(i);

		if (memcmp(&o->events.items[i], &e, sizeof(e)))
			assert_same(&o->events.items[i], &e);
	}
}

static void events_may_lie_across_any_boundary(void **state UNUSED)
{
	struct buf stream = BUF_INIT;
	struct outcome o;

	for (size_t i = 0; i < 20000; i++) {
		struct heap_event e = made_up(i);

		buf_reserve(&stream, ARTIFACT_EVENT_MAX);
		stream.len += artifact_encode(&e, (unsigned char *)stream.data + stream.len);
	}
	o = read_bytes(stream.data, stream.len, 7);
	expect_made_up(&o, 20000);
	assert_int_equal(o.offset, stream.len);
	outcome_release(&o);
	buf_release(&stream);
}

static void a_long_unknown_value_takes_no_memory(void **state UNUSED)
{
	struct buf stream = BUF_INIT;
	struct outcome o;

	buf_add(&stream, BYTES("\x87" PID TID TIME ADDR MALLOC SIZE "\xa1x\xdb\x00\x20\x00\x00"));
	memset(buf_reserve(&stream, 0x200000), 'x', 0x200000);
	stream.len += 0x200000;
	o = read_bytes(stream.data, stream.len, 1);
	assert_int_equal(o.rc, 0);
	assert_int_equal(o.events.len, 1);
	assert_int_equal(o.offset, stream.len);
	outcome_release(&o);
	o = read_bytes(stream.data, stream.len - 1, 1);
	assert_int_equal(o.rc, -ENODATA);
	outcome_release(&o);
	buf_release(&stream);
}

/* ---- The writer ---- */

struct folder {
	char path[32];
	char *whole, *incomplete;
};

static void folder_make(struct folder *f)
{
	strcpy(f->path, "/tmp/artifact.XXXXXX");
	assert_non_null(mkdtemp(f->path));
	f->whole = xasprintf("%s/77%s", f->path, ARTIFACT_SUFFIX);
	f->incomplete = xasprintf("%s%s", f->whole, ARTIFACT_INCOMPLETE);
}

static void folder_remove(struct folder *f)
{
	unlink(f->whole);
	unlink(f->incomplete);
	assert_int_equal(rmdir(f->path), 0);
	free(f->whole);
	free(f->incomplete);
}

static struct artifact_writer *start(const struct folder *f, unsigned workers)
{
	struct artifact_writer *w;

	assert_int_equal(artifact_create(&w, f->path, 77, workers), 0);
	assert_int_equal(access(f->whole, F_OK), -1);
	assert_int_equal(access(f->incomplete, F_OK), 0);
	return w;
}

static void without_events_there_is_one_empty_frame(void **state UNUSED)
{
	struct buf made = BUF_INIT, expected = BUF_INIT;
	struct folder f;

	read_data("empty.MemtrackArtifact.msgpack", &expected);
	for (unsigned workers = 0; workers < 3; workers++) {
		folder_make(&f);
		assert_int_equal(artifact_finish(start(&f, workers)), 0);
		assert_int_equal(access(f.incomplete, F_OK), -1);
		buf_clear(&made);
		assert_int_equal(read_file(f.whole, &made), 0);
		assert_int_equal(made.len, expected.len);
		assert_memory_equal(made.data, expected.data, made.len);
		folder_remove(&f);
	}
	buf_release(&made);
	buf_release(&expected);
}

static void the_frame_is_what_upstream_writes(void **state UNUSED)
{
	struct buf made = BUF_INIT, raw = BUF_INIT, content = BUF_INIT;
	struct zstd_reader *z;
	struct artifact_writer *w;
	struct folder f;
	ssize_t n;

	folder_make(&f);
	w = start(&f, 1);
	assert_int_equal(artifact_add(w, all_kinds, ARRAY_SIZE(all_kinds)), 0);
	assert_int_equal(artifact_count(w), ARRAY_SIZE(all_kinds));
	assert_int_equal(artifact_finish(w), 0);
	assert_int_equal(read_file(f.whole, &made), 0);
	assert_memory_equal(made.data, "\x28\xb5\x2f\xfd\x00\x48", 6);
	z = zstd_reader_new(-1, made.data, made.len);
	n = zstd_read(z, buf_reserve(&content, 4096), 4096);
	read_data("all_kinds.raw.msgpack", &raw);
	assert_int_equal(n, raw.len);
	assert_memory_equal(content.data, raw.data, raw.len);
	zstd_reader_free(z);
	folder_remove(&f);
	buf_release(&made);
	buf_release(&raw);
	buf_release(&content);
}

static void write_many(struct artifact_writer *w, size_t count)
{
	struct heap_event batch[1000];

	for (size_t i = 0; i < count;) {
		size_t n = 0;

		for (; n < 1 + i % ARRAY_SIZE(batch) && i + n < count; n++)
			batch[n] = made_up(i + n);
		assert_int_equal(artifact_add(w, batch, n), 0);
		i += n;
	}
}

static void frames_keep_their_order(void **state UNUSED)
{
	static const unsigned workers[] = {0, 1, 3, 100};

	for (size_t i = 0; i < ARRAY_SIZE(workers); i++) {
		struct artifact_writer *w;
		struct outcome o;
		struct folder f;

		folder_make(&f);
		w = start(&f, workers[i]);
		write_many(w, MANY);
		assert_int_equal(artifact_finish(w), 0);
		o = read_path(f.whole);
		expect_made_up(&o, MANY);
		outcome_release(&o);
		folder_remove(&f);
	}
}

static void a_whole_frame_is_followed_by_none(void **state UNUSED)
{
	struct artifact_writer *w;
	struct outcome o;
	struct folder f;

	folder_make(&f);
	w = start(&f, 2);
	write_many(w, ARTIFACT_FRAME_EVENTS);
	assert_int_equal(artifact_finish(w), 0);
	o = read_path(f.whole);
	expect_made_up(&o, ARTIFACT_FRAME_EVENTS);
	outcome_release(&o);
	folder_remove(&f);
}

static void an_abandoned_file_keeps_its_events_and_another_name(void **state UNUSED)
{
	struct artifact_writer *w;
	struct outcome o;
	struct folder f;

	folder_make(&f);
	w = start(&f, 2);
	write_many(w, 70000);
	assert_int_equal(artifact_abandon(w), 0);
	assert_int_equal(access(f.whole, F_OK), -1);
	o = read_path(f.incomplete);
	expect_made_up(&o, 70000);
	outcome_release(&o);
	folder_remove(&f);
	assert_int_equal(artifact_abandon(NULL), 0);
}

static void a_link_in_the_way_is_not_followed(void **state UNUSED)
{
	struct artifact_writer *w;
	struct folder f;
	char *victim;

	folder_make(&f);
	victim = xasprintf("%s/victim", f.path);
	assert_int_equal(write_file_atomic(victim, "keep", 4, 0600), 0);
	assert_int_equal(symlink("victim", f.incomplete), 0);
	assert_int_equal(artifact_create(&w, f.path, 77, 0), 0);
	assert_int_equal(artifact_finish(w), 0);
	{
		struct buf kept = BUF_INIT;

		assert_int_equal(read_file(victim, &kept), 0);
		assert_string_equal(kept.data, "keep");
		buf_release(&kept);
	}
	unlink(victim);
	free(victim);
	folder_remove(&f);
}

static void a_folder_that_is_none_is_told(void **state UNUSED)
{
	struct artifact_writer *w;

	assert_int_equal(artifact_create(&w, "/nonexistent", 77, 2), -ENOENT);
	assert_string_equal(error_text(), "cannot open /nonexistent: No such file or directory");
	error_clear();
}

/* The limit stands for a full disk. */
static void a_failed_write_is_told_and_leaves_no_whole_file(void **state UNUSED)
{
	struct rlimit before, small;
	struct artifact_writer *w;
	struct folder f;
	int rc = 0;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 100000;
	for (unsigned workers = 0; workers < 3; workers += 2) {
		folder_make(&f);
		w = start(&f, workers);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		for (size_t i = 0; i < MANY && !rc; i++) {
			struct heap_event e = made_up(i);

			rc = artifact_add(w, &e, 1);
		}
		error_clear();
		rc = artifact_finish(w);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		assert_int_equal(rc, -EFBIG);
		assert_non_null(strstr(error_text(), "cannot write 77.MemtrackArtifact.msgpack.incomplete"));
		error_clear();
		assert_int_equal(access(f.whole, F_OK), -1);
		assert_int_equal(access(f.incomplete, F_OK), 0);
		folder_remove(&f);
		rc = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_become_the_recorded_bytes),
		cmocka_unit_test(no_event_is_longer_than_the_room_for_it),
		cmocka_unit_test(every_layout_is_read),
		cmocka_unit_test(all_widths_of_numbers_are_read),
		cmocka_unit_test(an_empty_frame_is_no_event),
		cmocka_unit_test(an_empty_file_is_an_error),
		cmocka_unit_test(a_cut_event_is_told_after_the_whole_ones),
		cmocka_unit_test(a_plain_stream_may_end_after_an_event_alone),
		cmocka_unit_test(a_cut_frame_is_never_whole),
		cmocka_unit_test(a_cut_list_is_never_whole),
		cmocka_unit_test(damaged_frames_are_told),
		cmocka_unit_test(keys_may_come_in_any_order),
		cmocka_unit_test(unknown_keys_are_skipped),
		cmocka_unit_test(numbers_may_be_wider_than_needed),
		cmocka_unit_test(an_old_address_may_be_nil),
		cmocka_unit_test(what_is_no_event_ends_the_stream),
		cmocka_unit_test(events_may_lie_across_any_boundary),
		cmocka_unit_test(a_long_unknown_value_takes_no_memory),
		cmocka_unit_test(without_events_there_is_one_empty_frame),
		cmocka_unit_test(the_frame_is_what_upstream_writes),
		cmocka_unit_test(frames_keep_their_order),
		cmocka_unit_test(a_whole_frame_is_followed_by_none),
		cmocka_unit_test(an_abandoned_file_keeps_its_events_and_another_name),
		cmocka_unit_test(a_link_in_the_way_is_not_followed),
		cmocka_unit_test(a_folder_that_is_none_is_told),
		cmocka_unit_test(a_failed_write_is_told_and_leaves_no_whole_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
