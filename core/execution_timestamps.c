/* SPDX-License-Identifier: MIT */
/* execution_timestamps.c - when which benchmark ran */
#include "core/base.h"
#include "core/execution_timestamps.h"
#include "core/io.h"
#include "core/msgpack.h"
#include "core/text.h"

#define KEY_URIS "uri_by_ts"
#define KEY_MARKERS "markers"

static const char *const marker_names[] = {
	[MARKER_SAMPLE_START] = "SampleStart",
	[MARKER_SAMPLE_END] = "SampleEnd",
	[MARKER_ROUND_START] = "RoundStart",
	[MARKER_ROUND_END] = "RoundEnd",
};

/* What they were called before. */
static const char *const old_marker_names[] = {
	[MARKER_SAMPLE_START] = "SampleStart",
	[MARKER_SAMPLE_END] = "SampleEnd",
	[MARKER_ROUND_START] = "BenchmarkStart",
	[MARKER_ROUND_END] = "BenchmarkEnd",
};

void execution_timestamps_release(struct execution_timestamps *t)
{
	for (size_t i = 0; i < t->uris.len; i++)
		free(t->uris.items[i].uri);
	vec_release(&t->uris);
	vec_release(&t->markers);
}

void execution_timestamps_add(struct execution_timestamps *t, uint64_t time, const char *uri,
			      size_t len, int32_t pid)
{
	char *copy = xmalloc(len + 1);

	if (len)
		memcpy(copy, uri, len);
	copy[len] = '\0';
	vec_push(&t->uris, (struct execution_uri){time, copy, len, pid});
}

/* ---- Writing ---- */

static void add_text(struct buf *to, const char *text)
{
	msgpack_add_str(to, text, strlen(text));
}

void execution_timestamps_encode(const struct execution_timestamps *t, struct buf *to)
{
	msgpack_add_map(to, 2);
	add_text(to, KEY_URIS);
	msgpack_add_array(to, t->uris.len);
	for (size_t i = 0; i < t->uris.len; i++) {
		msgpack_add_array(to, 2);
		msgpack_add_uint(to, t->uris.items[i].time);
		msgpack_add_str(to, t->uris.items[i].uri, t->uris.items[i].len);
	}
	add_text(to, KEY_MARKERS);
	msgpack_add_array(to, t->markers.len);
	for (size_t i = 0; i < t->markers.len; i++) {
		msgpack_add_map(to, 1);
		add_text(to, marker_names[t->markers.items[i].type]);
		msgpack_add_uint(to, t->markers.items[i].time);
	}
}

int execution_timestamps_write(const struct execution_timestamps *t, const char *path)
{
	struct buf bytes = BUF_INIT;
	int rc;

	execution_timestamps_encode(t, &bytes);
	rc = write_file_atomic(path, bytes.data, bytes.len, 0644);
	buf_release(&bytes);
	return rc;
}

/* ---- Reading ---- */

static bool is_text(const char *text, size_t len, const char *expected)
{
	return len == strlen(expected) && memcmp(text, expected, len) == 0;
}

static int skip_values(struct msgpack_reader *r, uint32_t count)
{
	int rc = 0;

	while (count-- && !rc)
		rc = msgpack_skip(r);
	return rc;
}

/* [time, uri]; later writers may append. */
static int read_uri(struct execution_timestamps *t, struct msgpack_reader *r)
{
	uint32_t count;
	uint64_t time;
	const char *uri;
	size_t len;
	int rc = msgpack_read_array(r, &count);

	if (rc || count < 2)
		return rc ? rc : -EINVAL;
	rc = msgpack_read_u64(r, &time);
	if (!rc)
		rc = msgpack_read_str(r, &uri, &len);
	if (rc)
		return rc;
	if (!text_is_utf8(uri, len) || memchr(uri, '\0', len)) /* which would be cut there */
		return -EILSEQ;
	execution_timestamps_add(t, time, uri, len, 0);
	return skip_values(r, count - 2);
}

static int find_marker(const char *name, size_t len, enum marker_type *type)
{
	for (size_t i = 0; i < MARKER_TYPE_COUNT; i++) {
		*type = (enum marker_type)i;
		if (is_text(name, len, marker_names[i]) || is_text(name, len, old_marker_names[i]))
			return 0;
	}
	return -EINVAL;
}

/* {"SampleStart": time} */
static int read_marker(struct execution_timestamps *t, struct msgpack_reader *r)
{
	struct marker marker;
	const char *name;
	uint32_t count;
	size_t len;
	int rc = msgpack_read_map(r, &count);

	if (rc || count != 1)
		return rc ? rc : -EINVAL;
	rc = msgpack_read_str(r, &name, &len);
	if (!rc)
		rc = find_marker(name, len, &marker.type);
	if (!rc)
		rc = msgpack_read_u64(r, &marker.time);
	if (!rc)
		vec_push(&t->markers, marker);
	return rc;
}

typedef int read_entry(struct execution_timestamps *t, struct msgpack_reader *r);

static int read_list(struct execution_timestamps *t, struct msgpack_reader *r, read_entry *entry)
{
	uint32_t count;
	int rc = msgpack_read_array(r, &count);

	while (!rc && count--)
		rc = entry(t, r);
	return rc;
}

static int read_positional(struct execution_timestamps *t, struct msgpack_reader *r)
{
	uint32_t count;
	int rc = msgpack_read_array(r, &count);

	if (rc || count < 2)
		return rc ? rc : -EINVAL;
	rc = read_list(t, r, read_uri);
	if (!rc)
		rc = read_list(t, r, read_marker);
	return rc ? rc : skip_values(r, count - 2);
}

/* One key and its value. `seen` tells the keys that have been. */
static int read_member(struct execution_timestamps *t, struct msgpack_reader *r, bool seen[2])
{
	static const struct {
		const char *key;
		read_entry *entry;
	} members[] = {{KEY_URIS, read_uri}, {KEY_MARKERS, read_marker}};
	struct msgpack_reader next = *r;
	const char *key;
	size_t len;
	int rc = msgpack_read_str(&next, &key, &len);

	for (size_t i = 0; !rc && i < ARRAY_SIZE(members); i++) {
		if (!is_text(key, len, members[i].key))
			continue;
		if (seen[i])
			return -EEXIST;
		seen[i] = true;
		*r = next;
		return read_list(t, r, members[i].entry);
	}
	*r = next;
	return rc ? rc : msgpack_skip(r);
}

static int read_named(struct execution_timestamps *t, struct msgpack_reader *r)
{
	bool seen[2] = {false, false};
	uint32_t count;
	int rc = msgpack_read_map(r, &count);

	while (!rc && count--)
		rc = read_member(t, r, seen);
	return rc || (seen[0] && seen[1]) ? rc : -ENODATA;
}

static const char *reason(int rc)
{
	switch (rc) {
	case -EAGAIN:
		return "the file is cut short";
	case -EILSEQ:
		return "a URI is not UTF-8, or holds a NUL";
	case -EEXIST:
		return "a key stands twice";
	case -ENODATA:
		return "a key is missing";
	case -ELOOP:
		return "nested too deeply";
	case -EBADMSG:
		return "not msgpack";
	case -E2BIG:
		return "something follows the end";
	default:
		return "not what ExecutionTimestamps hold";
	}
}

int execution_timestamps_decode(struct execution_timestamps *t, const char *name,
				const void *bytes, size_t len)
{
	const uint8_t *from = len ? bytes : (const uint8_t *)"";
	struct msgpack_reader r = {from, from + len}, peek = r;
	struct msgpack_value first;
	int rc;

	*t = (struct execution_timestamps)EXECUTION_TIMESTAMPS_INIT;
	rc = msgpack_read(&peek, &first);
	if (!rc)
		rc = first.type == MSGPACK_ARRAY ? read_positional(t, &r) : read_named(t, &r);
	if (!rc && r.at != r.end)
		rc = -E2BIG;
	if (!rc)
		return 0;
	execution_timestamps_release(t);
	return fail(-EBADMSG, "%s: at byte %zu: %s", name, (size_t)(r.at - from), reason(rc));
}

int execution_timestamps_read(struct execution_timestamps *t, const char *path)
{
	struct buf bytes = BUF_INIT;
	int rc = read_plain_file(path, &bytes);

	*t = (struct execution_timestamps)EXECUTION_TIMESTAMPS_INIT;
	if (!rc)
		rc = execution_timestamps_decode(t, path, bytes.data, bytes.len);
	buf_release(&bytes);
	return rc;
}

/* ---- Windows ---- */

struct ordered {
	struct marker marker;
	size_t position; /* qsort() is not stable */
};

static int by_time(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->marker.time != y->marker.time)
		return x->marker.time < y->marker.time ? -1 : 1;
	return x->position < y->position ? -1 : 1;
}

/* The SampleStart and SampleEnd markers in order of time. Caller frees. */
static struct ordered *samples_dup(const struct execution_timestamps *t, size_t *count)
{
	struct ordered *list = xcalloc(t->markers.len, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < t->markers.len; i++)
		if (t->markers.items[i].type == MARKER_SAMPLE_START ||
		    t->markers.items[i].type == MARKER_SAMPLE_END)
			list[(*count)++] = (struct ordered){t->markers.items[i], i};
	qsort(list, *count, sizeof(*list), by_time);
	return list;
}

static void find_windows(const struct execution_timestamps *t, struct execution_windows *w)
{
	size_t count;
	struct ordered *list = samples_dup(t, &count);
	bool open = false;

	for (size_t i = 0; i < count; i++) {
		bool start = list[i].marker.type == MARKER_SAMPLE_START;
		uint64_t time = list[i].marker.time;

		if (start && !open)
			vec_push(&w->list,
				 (struct execution_window){time, UINT64_MAX, EXECUTION_NO_URI});
		else if (!start && open)
			vec_last(&w->list)->end = time;
		open = start;
	}
	free(list);
}

/* How many windows had ended by then. They lie one behind the other. */
static size_t ended_by(const struct execution_windows *w, uint64_t time)
{
	size_t low = 0, high = w->list.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->list.items[middle].end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void assign(struct execution_windows *w, uint64_t time, size_t uri)
{
	size_t ended = ended_by(w, time);

	for (size_t i = ended; i-- > 0;) {
		if (w->list.items[i].uri != EXECUTION_NO_URI)
			continue;
		w->list.items[i].uri = uri;
		return;
	}
	for (size_t i = ended; i < w->list.len; i++) {
		if (w->list.items[i].uri != EXECUTION_NO_URI || w->list.items[i].start < time)
			continue;
		w->list.items[i].uri = uri;
		return;
	}
}

void execution_windows_find(const struct execution_timestamps *t, struct execution_windows *w)
{
	*w = (struct execution_windows){0};
	find_windows(t, w);
	for (size_t i = 0; i < t->uris.len; i++)
		assign(w, t->uris.items[i].time, i);
}

void execution_windows_release(struct execution_windows *w)
{
	vec_release(&w->list);
}
