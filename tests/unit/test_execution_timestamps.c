/* SPDX-License-Identifier: MIT */
/* test_execution_timestamps.c - the file byte for byte, its other forms, damage; whose window */
#include "core/execution_timestamps.h"
#include "tests/unit/vectors.h"
#include <unistd.h>

#define VECTOR(name) "execution_timestamps/ExecutionTimestamps" name ".msgpack"

/* As ExecutionTimestamps.expected.json has it. */
static void spell(const struct execution_timestamps *t, struct buf *to)
{
	static const char *const names[] = {"SampleStart", "SampleEnd", "RoundStart", "RoundEnd"};

	buf_addstr(to, "{\"uri_by_ts\": [");
	for (size_t i = 0; i < t->uris.len; i++)
		buf_printf(to, "%s[%llu, \"%s\"]", i ? ", " : "",
			   (unsigned long long)t->uris.items[i].time, t->uris.items[i].uri);
	buf_addstr(to, "], \"markers\": [");
	for (size_t i = 0; i < t->markers.len; i++)
		buf_printf(to, "%s{\"%s\": %llu}", i ? ", " : "", names[t->markers.items[i].type],
			   (unsigned long long)t->markers.items[i].time);
	buf_addstr(to, "]}");
}

static void expect_file(const char *name, const char *canonical)
{
	struct execution_timestamps t;
	struct buf bytes = BUF_INIT, expected = BUF_INIT, text = BUF_INIT, again = BUF_INIT;

	read_vector(name, &bytes);
	read_vector("execution_timestamps/ExecutionTimestamps.expected.json", &expected);
	assert_int_equal(execution_timestamps_decode(&t, name, bytes.data, bytes.len), 0);
	spell(&t, &text);
	assert_memory_equal(text.data, expected.data, text.len);
	assert_true(text.len == strcspn(expected.data, "\n"));
	buf_clear(&bytes);
	read_vector(canonical, &bytes);
	execution_timestamps_encode(&t, &again);
	expect_bytes(&again, bytes.data, bytes.len);
	execution_timestamps_release(&t);
	buf_release(&bytes);
	buf_release(&expected);
	buf_release(&text);
	buf_release(&again);
}

static void every_form_is_read_and_one_written(void **state UNUSED)
{
	expect_file(VECTOR(""), VECTOR(""));
	expect_file(VECTOR(".positional"), VECTOR(""));
	expect_file(VECTOR(".old_names"), VECTOR(""));
}

static void an_empty_one(void **state UNUSED)
{
	struct execution_timestamps t = EXECUTION_TIMESTAMPS_INIT;
	struct buf bytes = BUF_INIT, again = BUF_INIT;

	read_vector(VECTOR(".empty"), &bytes);
	execution_timestamps_encode(&t, &again);
	expect_bytes(&again, bytes.data, bytes.len);
	assert_int_equal(execution_timestamps_decode(&t, "empty", bytes.data, bytes.len), 0);
	assert_int_equal(t.uris.len + t.markers.len, 0);
	buf_release(&bytes);
	buf_release(&again);
}

/* Counts and lengths past each of the forms, and a URI with a line's end in it. */
static void large_ones_come_back(void **state UNUSED)
{
	struct execution_timestamps t = EXECUTION_TIMESTAMPS_INIT, back;
	char *path = xasprintf("/tmp/timestamps.%d", getpid());
	static const size_t lengths[] = {0, 31, 32, 255, 256, 65535, 65536};
	char *text = xmalloc(65536);

	memset(text, 'u', 65536);
	text[3] = '\n';
	for (size_t i = 0; i < 70000; i++) {
		size_t len = i < ARRAY_SIZE(lengths) ? lengths[i] : 5;

		execution_timestamps_add(&t, i * i, text, len, 1);
		vec_push(&t.markers, (struct marker){(enum marker_type)(i % 4), UINT64_MAX - i});
	}
	assert_int_equal(execution_timestamps_write(&t, path), 0);
	assert_int_equal(execution_timestamps_read(&back, path), 0);
	assert_int_equal(back.uris.len, t.uris.len);
	assert_int_equal(back.markers.len, t.markers.len);
	for (size_t i = 0; i < t.uris.len; i++) {
		assert_int_equal(back.uris.items[i].time, t.uris.items[i].time);
		assert_int_equal(back.uris.items[i].len, t.uris.items[i].len);
		assert_memory_equal(back.uris.items[i].uri, text, back.uris.items[i].len);
		assert_int_equal(back.markers.items[i].type, t.markers.items[i].type);
		assert_true(back.markers.items[i].time == t.markers.items[i].time);
	}
	unlink(path);
	free(path);
	free(text);
	execution_timestamps_release(&t);
	execution_timestamps_release(&back);
}

static void expect_refusal(const char *hex, const char *why)
{
	struct execution_timestamps t;
	struct buf bytes = BUF_INIT;

	parse_hex(hex, &bytes);
	assert_int_equal(execution_timestamps_decode(&t, "f", bytes.data, bytes.len), -EBADMSG);
	assert_string_equal(error_text(), why);
	assert_null(t.uris.items);
	error_clear();
	buf_release(&bytes);
}

#define URIS "a9 75 72 69 5f 62 79 5f 74 73 "
#define MARKERS "a7 6d 61 72 6b 65 72 73 "

static void damage_is_told_with_its_place(void **state UNUSED)
{
	expect_refusal("", "f: at byte 0: the file is cut short");
	expect_refusal("c1", "f: at byte 0: not msgpack");
	expect_refusal("c0", "f: at byte 0: not what ExecutionTimestamps hold");
	expect_refusal("80", "f: at byte 1: a key is missing");
	expect_refusal("81 " URIS "90", "f: at byte 12: a key is missing");
	expect_refusal("82 " URIS "90 " URIS "90", "f: at byte 12: a key stands twice");
	expect_refusal("82 " URIS "90 " MARKERS "91 81 a1 78 01",
		       "f: at byte 24: not what ExecutionTimestamps hold");
	expect_refusal("82 " URIS "91 92 ff a0 " MARKERS "90",
		       "f: at byte 13: not what ExecutionTimestamps hold");
	expect_refusal("82 " URIS "91 92 01 a1 ff " MARKERS "90",
		       "f: at byte 16: a URI is not UTF-8, or holds a NUL");
	expect_refusal("82 " URIS "91 92 01 a2 61 00 " MARKERS "90",
		       "f: at byte 17: a URI is not UTF-8, or holds a NUL");
	expect_refusal("82 " URIS "dd ff ff ff ff", "f: at byte 16: the file is cut short");
	expect_refusal("82 " URIS "90 " MARKERS "90 00",
		       "f: at byte 21: something follows the end");
	expect_refusal("83 a1 78 91 91 91 91 91 91 91 91 91 91 91 91 91 91 91 91 91 91 01",
		       "f: at byte 3: nested too deeply");
	expect_refusal("91 90", "f: at byte 1: not what ExecutionTimestamps hold");
}

static void what_later_writers_add_is_ignored(void **state UNUSED)
{
	static const char *const later[] = {
		"83 " MARKERS "90 a1 78 91 c0 " URIS "91 93 01 a1 61 07",
		"93 91 93 01 a1 61 07 90 c0",
	};

	for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
		struct execution_timestamps t;
		struct buf bytes = BUF_INIT;

		parse_hex(later[i], &bytes);
		assert_int_equal(execution_timestamps_decode(&t, "f", bytes.data, bytes.len), 0);
		assert_int_equal(t.uris.len, 1);
		assert_string_equal(t.uris.items[0].uri, "a");
		execution_timestamps_release(&t);
		buf_release(&bytes);
	}
}

static void every_cut_is_noticed(void **state UNUSED)
{
	static const char *const names[] = {VECTOR(""), VECTOR(".positional"),
					    VECTOR(".old_names")};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct execution_timestamps t;
		struct buf bytes = BUF_INIT;

		read_vector(names[i], &bytes);
		for (size_t len = 0; len < bytes.len; len++) {
			void *copy = xmemdup(bytes.data, len);

			assert_int_equal(execution_timestamps_decode(&t, "f", copy, len), -EBADMSG);
			assert_non_null(strstr(error_text(), "cut short"));
			error_clear();
			free(copy);
		}
		buf_release(&bytes);
	}
}

static void a_missing_file_is_told(void **state UNUSED)
{
	struct execution_timestamps t;

	assert_int_equal(execution_timestamps_read(&t, "/nonexistent"), -ENOENT);
	assert_non_null(strstr(error_text(), "/nonexistent"));
	error_clear();
	assert_int_equal(execution_timestamps_write(&(struct execution_timestamps){0},
						    "/nonexistent/x"), -ENOENT);
	error_clear();
}

/* ---- Windows ---- */

/*
 * A line of events, one time unit each: "[" and "]" are a sample's start and end, "(" and ")" a
 * round's, "-" nothing, a letter the URI of that name. A window comes back as START-END and URI.
 */
static void expect_windows(const char *line, const char *expected)
{
	struct execution_timestamps t = EXECUTION_TIMESTAMPS_INIT;
	struct execution_windows w;
	struct buf text = BUF_INIT;

	for (uint64_t time = 0; line[time]; time++) {
		const char *type = strchr("[]()", line[time]);

		if (type)
			vec_push(&t.markers,
				 (struct marker){(enum marker_type)(type - "[]()"), time});
		else if (line[time] != '-')
			execution_timestamps_add(&t, time, &line[time], 1, 1);
	}
	buf_addstr(&text, "");
	execution_windows_find(&t, &w);
	for (size_t i = 0; i < w.list.len; i++) {
		const struct execution_window *window = &w.list.items[i];

		buf_printf(&text, "%s%d-%d%s", i ? " " : "", (int)window->start, (int)window->end,
			   window->uri == EXECUTION_NO_URI ? "?" : t.uris.items[window->uri].uri);
	}
	assert_string_equal(text.data, expected);
	execution_timestamps_release(&t);
	execution_windows_release(&w);
	buf_release(&text);
}

static void windows_go_to_their_uris(void **state UNUSED)
{
	expect_windows("", "");
	expect_windows("a", "");
	expect_windows("[]a", "0-1a");
	expect_windows("[]a-[]b", "0-1a 4-5b");
	expect_windows("[()()]a", "0-5a");
	expect_windows("a[]b[]", "1-2a 4-5b");         /* URI first */
	expect_windows("[]-[]b", "0-1? 3-4b");         /* the first one failed */
	expect_windows("[]-[]ab", "0-1b 3-4a");        /* the nearest is taken first */
	expect_windows("[a]b", "0-2b");                /* neither before nor after: nobody's */
	expect_windows("[]ab", "0-1a");
	expect_windows("]]a[]", "3-4a");               /* ends without a start */
	expect_windows("[--[]a", "0-4a");              /* a start inside a window */
	expect_windows("a[", "1--1a");                 /* no end */
}

/* Clients send round markers late, and files may hold anything. */
static void markers_are_taken_by_time(void **state UNUSED)
{
	struct execution_timestamps t = EXECUTION_TIMESTAMPS_INIT;
	struct execution_windows w;

	vec_push(&t.markers, (struct marker){MARKER_SAMPLE_START, 100});
	vec_push(&t.markers, (struct marker){MARKER_SAMPLE_END, 200});
	vec_push(&t.markers, (struct marker){MARKER_SAMPLE_START, 10});
	vec_push(&t.markers, (struct marker){MARKER_SAMPLE_END, 20});
	vec_push(&t.markers, (struct marker){MARKER_SAMPLE_START, 20});
	vec_push(&t.markers, (struct marker){MARKER_SAMPLE_END, 30});
	execution_timestamps_add(&t, 15, "late", 4, 0);
	execution_windows_find(&t, &w);
	assert_int_equal(w.list.len, 3);
	assert_int_equal(w.list.items[0].end, 20);
	assert_int_equal(w.list.items[1].start, 20);
	assert_int_equal(w.list.items[1].uri, 0);
	assert_int_equal(w.list.items[2].start, 100);
	execution_windows_release(&w);
	execution_timestamps_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_is_read_and_one_written),
		cmocka_unit_test(an_empty_one),
		cmocka_unit_test(large_ones_come_back),
		cmocka_unit_test(damage_is_told_with_its_place),
		cmocka_unit_test(what_later_writers_add_is_ignored),
		cmocka_unit_test(every_cut_is_noticed),
		cmocka_unit_test(a_missing_file_is_told),
		cmocka_unit_test(windows_go_to_their_uris),
		cmocka_unit_test(markers_are_taken_by_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
