/* SPDX-License-Identifier: MIT */
/*
 * artifact_read.c - the artifact's reader. Events in exactly the bytes that memtrack writes take a
 * short way (fast_event()); for whatever else msgpack allows there is artifact_decode.c.
 */
#include <fcntl.h>
#include <unistd.h>

#include "core/artifact_reader.h"
#include "core/base.h"

void reader_fill(struct artifact_reader *r)
{
	memmove(r->bytes, r->bytes + r->pos, r->len - r->pos);
	r->base += r->pos;
	r->len -= r->pos;
	r->pos = 0;
	while (r->len < sizeof(r->bytes) && !r->ended) {
		size_t room = sizeof(r->bytes) - r->len;
		ssize_t n = r->zstd ? zstd_read(r->zstd, r->bytes + r->len, room)
				    : read(r->fd, r->bytes + r->len, room);

		if (n < 0 && !r->zstd && errno == EINTR)
			continue;
		if (n < 0) {
			r->source_rc = r->zstd ? (int)n : fail_errno("cannot read");
			/* Told when the events before it have been handed out. */
			r->source_text = xstrdup(error_text());
			error_clear();
		}
		r->ended = n <= 0;
		r->len += n > 0 ? (size_t)n : 0;
	}
}

/* ---- The short way ---- */

static inline uint64_t load_be(const unsigned char *p, int bytes)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v)); /* reads over the end of the field, but not of the event's room */
	return __builtin_bswap64(v) >> (64 - 8 * bytes);
}

/* NULL for what is no unsigned integer. */
static inline const unsigned char *get_uint(const unsigned char *p, uint64_t *v)
{
	unsigned tag = *p;

	if (tag < 0x80) {
		*v = tag;
		return p + 1;
	}
	switch (tag) {
	case 0xcc:
		*v = p[1];
		return p + 2;
	case 0xcd:
		*v = load_be(p + 1, 2);
		return p + 3;
	case 0xce:
		*v = load_be(p + 1, 4);
		return p + 5;
	case 0xcf:
		*v = load_be(p + 1, 8);
		return p + 9;
	}
	return NULL;
}

#define TEXT_AT(p, text) (memcmp(p, text, sizeof(text) - 1) == 0)

/* Kind and length of the text at `p`; false for an unknown one. */
static inline bool get_kind(const unsigned char *p, uint8_t *kind, size_t *len)
{
	uint64_t text;

	memcpy(&text, p, sizeof(text));
	text &= 0x00ffffffffffffff;
	*len = (size_t)(text & 0x1f) + 1;
#define SEVEN(a, b, c, d, e, f, g)                                                              \
	((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 |         \
	 (uint64_t)(e) << 32 | (uint64_t)(f) << 40 | (uint64_t)(g) << 48)
	switch (text) {
	case SEVEN(0xa6, 'M', 'a', 'l', 'l', 'o', 'c'):
		*kind = HEAP_MALLOC;
		return true;
	case SEVEN(0xa6, 'C', 'a', 'l', 'l', 'o', 'c'):
		*kind = HEAP_CALLOC;
		return true;
	case SEVEN(0xa7, 'R', 'e', 'a', 'l', 'l', 'o'):
		*kind = HEAP_REALLOC;
		return p[7] == 'c';
	case SEVEN(0xac, 'A', 'l', 'i', 'g', 'n', 'e'):
		*kind = HEAP_ALIGNED_ALLOC;
		return TEXT_AT(p + 7, "dAlloc");
	}
#undef SEVEN
	*kind = HEAP_FREE;
	return TEXT_AT(p, "\xa4" "Free");
}

/*
 * The event at `p`, where ARTIFACT_EVENT_MAX bytes are, in memtrack's own bytes. Its length, 0 for
 * any other form, which need not be wrong.
 */
static inline size_t fast_event(const unsigned char *at, struct heap_event *e)
{
	const unsigned char *p = at;
	uint64_t pid, tid;
	size_t len;

	if (!TEXT_AT(p + 1, "\xa3pid") || !(p = get_uint(p + 5, &pid)))
		return 0;
	if (!TEXT_AT(p, "\xa3tid") || !(p = get_uint(p + 4, &tid)))
		return 0;
	if (!TEXT_AT(p, "\xa9timestamp") || !(p = get_uint(p + 10, &e->timestamp)))
		return 0;
	if (!TEXT_AT(p, "\xa4" "addr") || !(p = get_uint(p + 5, &e->addr)))
		return 0;
	if (!TEXT_AT(p, "\xa4type") || !get_kind(p + 5, &e->kind, &len))
		return 0;
	p += 5 + len;
	e->pid = (int32_t)pid;
	e->tid = (int32_t)tid;
	e->old_known = *at == 0x87;
	e->old_addr = 0;
	e->size = 0;
	if ((pid | tid) > INT32_MAX)
		return 0;
	if (e->kind == HEAP_FREE)
		return *at == 0x85 ? (size_t)(p - at) : 0;
	if (*at != 0x86 && (*at != 0x87 || e->kind != HEAP_REALLOC))
		return 0;
	if (e->old_known && (!TEXT_AT(p, "\xa8old_addr") || !(p = get_uint(p + 9, &e->old_addr))))
		return 0;
	if (!TEXT_AT(p, "\xa4size") || !(p = get_uint(p + 5, &e->size)))
		return 0;
	return (size_t)(p - at);
}

/* ---- The stream of events ---- */

/* Remembers the damage; whatever asks again hears of it again. */
static int refuse(struct artifact_reader *r, int rc, const char *what)
{
	const char *how;

	if (rc == -ENODATA && r->source_rc) {
		rc = r->source_rc;
		what = r->source_text;
	}
	how = rc == -ENODATA ? "cut off" : "damaged";
	r->rc = rc;
	r->text = xasprintf("%s is %s at byte %llu of its content, after %llu events%s%s", r->name,
			    how, (unsigned long long)r->good, (unsigned long long)r->events,
			    what ? ": " : "", what ? what : "");
	return rc;
}

/* 1 and an event, 0 at the end of a whole file, or -errno after refuse(). */
static inline int next_event(struct artifact_reader *r, struct heap_event *e)
{
	const char *what = NULL;
	size_t len = 0;
	int rc;

	if (r->len - r->pos < ARTIFACT_EVENT_MAX && !r->ended)
		reader_fill(r);
	r->good = r->base + r->pos;
	if (r->layout == ARTIFACT_MAP && !r->left)
		return r->pos == r->len ? 0 : refuse(r, -EINVAL, "the list of events has ended");
	if (r->pos == r->len && !r->source_rc && r->layout != ARTIFACT_MAP)
		return 0;
	if (r->len - r->pos >= ARTIFACT_EVENT_MAX)
		len = fast_event(r->bytes + r->pos, e);
	r->pos += len;
	rc = len ? 0 : reader_decode(r, e, &what);
	if (rc)
		return refuse(r, rc, what);
	r->left -= r->layout == ARTIFACT_MAP;
	r->events++;
	return 1;
}

ssize_t artifact_read(struct artifact_reader *r, struct heap_event *events, size_t max)
{
	size_t n = 0;

	while (!r->rc && n < max && next_event(r, &events[n]) > 0)
		n++;
	return n || !r->rc ? (ssize_t)n : fail(r->rc, "%s", r->text);
}

/* ---- The file ---- */

enum { HEAD = 8 }; /* tells the layouts apart */

static int read_head(struct artifact_reader *r)
{
	while (r->len < HEAD) {
		ssize_t n = read(r->fd, r->bytes + r->len, HEAD - r->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno("cannot read %s", r->name);
		if (n == 0)
			break;
		r->len += (size_t)n;
	}
	return r->len ? 0 : fail(-ENODATA, "%s is empty", r->name);
}

static int find_layout(struct artifact_reader *r)
{
	const char *what = NULL;
	uint32_t magic = 0;
	int rc = 0;

	memcpy(&magic, r->bytes, sizeof(magic));
	if (magic == ZSTD_FRAME_MAGIC) {
		r->layout = ARTIFACT_FRAMES;
		r->zstd = zstd_reader_new(r->fd, r->bytes, r->len);
		r->len = 0;
	} else if (TEXT_AT(r->bytes, "\x81\xa6" "events")) {
		r->layout = ARTIFACT_MAP;
		r->pos = HEAD;
		rc = reader_decode_array(r, &what);
	} else {
		r->layout = ARTIFACT_PLAIN;
	}
	if (!rc)
		return 0;
	r->good = HEAD;
	refuse(r, rc, what);
	return fail(r->rc, "%s", r->text);
}

static int open_reader(struct artifact_reader **to, int fd, bool own_fd, const char *name)
{
	struct artifact_reader *r = xcalloc(1, sizeof(*r));
	int rc;

	r->fd = fd;
	r->own_fd = own_fd;
	r->name = xstrdup(name);
	rc = read_head(r);
	if (!rc)
		rc = find_layout(r);
	if (rc)
		artifact_close(r);
	else
		*to = r;
	return rc;
}

int artifact_open_fd(struct artifact_reader **to, int fd, const char *name)
{
	return open_reader(to, fd, false, name);
}

int artifact_open(struct artifact_reader **to, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? fail_errno("cannot open %s", path) : open_reader(to, fd, true, path);
}

void artifact_close(struct artifact_reader *r)
{
	if (!r)
		return;
	zstd_reader_free(r->zstd);
	if (r->own_fd)
		close(r->fd);
	free(r->name);
	free(r->text);
	free(r->source_text);
	free(r);
}
