/* SPDX-License-Identifier: MIT */
/* fifo_rig.h - for tests: a pair of FIFOs in a folder of its own, a server, a client's bare ends */
#ifndef TESTS_FIFO_RIG_H
#define TESTS_FIFO_RIG_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applets/runner/hooks_server.h"
#include "core/clock.h"
#include "tests/unit/vectors.h"

/* What stands for the profiler. */
struct switches {
	int starts, stops, pings;
	int fails; /* every call returns this */
};

static inline int on_start(void *ctx)
{
	struct switches *s = ctx;

	s->starts++;
	return s->fails ? fail(s->fails, "no tracker") : 0;
}

static inline int on_stop(void *ctx)
{
	struct switches *s = ctx;

	s->stops++;
	return s->fails ? fail(s->fails, "no tracker") : 0;
}

static inline int on_ping(void *ctx)
{
	struct switches *s = ctx;

	s->pings++;
	return s->fails ? fail(s->fails, "no tracker") : 0;
}

/* A pair in a folder of its own, a server behind it, and a client's ends. */
struct rig {
	char dir[32];
	struct fifo *fifo; /* not on the stack: a test that fails leaves it to the cleanup stack */
	struct hooks_server server;
	struct hooks_profiler profiler;
	struct switches switches;
	int control, answers;
	struct buf got; /* answers read so far */
};

static inline void make_dir(char dir[32])
{
	strcpy(dir, "/tmp/fifo-test.XXXXXX");
	assert_non_null(mkdtemp(dir));
}

static inline char *path_in(const char *dir, const char *name)
{
	static char paths[4][96];
	static unsigned next;
	char *path = paths[next++ % ARRAY_SIZE(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static inline bool exists(const char *dir, const char *name)
{
	struct stat st;

	return !lstat(path_in(dir, name), &st);
}

static inline void remove_dir(const char *dir)
{
	static const char *const names[] = {FIFO_CONTROL, FIFO_ANSWERS, FIFO_LOCK};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (unlink(path_in(dir, names[i])))
			rmdir(path_in(dir, names[i]));
	assert_int_equal(rmdir(dir), 0);
}

static inline void rig_init(struct rig *r, const struct hooks_mode *mode)
{
	*r = (struct rig){0};
	make_dir(r->dir);
	r->fifo = xmalloc(sizeof(*r->fifo));
	assert_int_equal(fifo_open(r->fifo, r->dir), 0);
	r->profiler = (struct hooks_profiler){
		.start = on_start, .stop = on_stop, .ctx = &r->switches,
		.ping = mode == &hooks_mode_memory ? NULL : on_ping,
	};
	hooks_server_init(&r->server, r->fifo, mode, &r->profiler);
	r->control = open(path_in(r->dir, FIFO_CONTROL), O_RDWR | O_NONBLOCK | O_CLOEXEC);
	r->answers = open(path_in(r->dir, FIFO_ANSWERS), O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(r->control >= 0 && r->answers >= 0);
}

static inline void rig_release(struct rig *r)
{
	hooks_server_release(&r->server);
	fifo_close(r->fifo);
	free(r->fifo);
	close(r->control);
	close(r->answers);
	buf_release(&r->got);
	assert_int_equal(rmdir(r->dir), 0); /* nothing is left behind */
}

static inline void collect(struct rig *r)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(r->answers, chunk, sizeof(chunk))) > 0)
		buf_add(&r->got, chunk, (size_t)n);
}

static inline int serve(struct rig *r)
{
	int rc = hooks_server_serve(&r->server);

	collect(r);
	return rc;
}

static inline int feed(struct rig *r, const void *bytes, size_t len)
{
	const char *at = bytes;
	int rc = 0;

	while (len && !rc) {
		ssize_t n = write(r->control, at, len);

		assert_true(n > 0);
		at += n;
		len -= (size_t)n;
		rc = serve(r);
	}
	return rc;
}

static inline int feed_hex(struct rig *r, const char *hex)
{
	struct buf bytes = BUF_INIT;
	int rc;

	parse_hex(hex, &bytes);
	rc = feed(r, bytes.data, bytes.len);
	buf_release(&bytes);
	return rc;
}

static inline int feed_message(struct rig *r, const struct fifo_message *m)
{
	struct buf frame = BUF_INIT;
	int rc;

	fifo_message_encode(m, &frame);
	rc = feed(r, frame.data, frame.len);
	buf_release(&frame);
	return rc;
}

static inline struct fifo_text text(const char *s)
{
	return (struct fifo_text){s, strlen(s)};
}

static inline int feed_integration(struct rig *r, const char *name, const char *version)
{
	struct fifo_message m = {.command = FIFO_SET_INTEGRATION};

	m.name = text(name);
	m.release = text(version);
	return feed_message(r, &m);
}

static inline int feed_uri(struct rig *r, int32_t pid, const char *uri)
{
	return feed_message(r, &(struct fifo_message){.command = FIFO_CURRENT_BENCHMARK,
						      .pid = pid, .uri = text(uri)});
}

static inline int feed_command(struct rig *r, enum fifo_command command)
{
	return feed_message(r, &(struct fifo_message){.command = command});
}

static inline int feed_version(struct rig *r, uint64_t version)
{
	return feed_message(r, &(struct fifo_message){.command = FIFO_SET_VERSION,
						      .version = version});
}

#define ACK "04 00 00 00 03 00 00 00 "
#define ERR "04 00 00 00 06 00 00 00 "
#define ANALYSIS "08 00 00 00 0a 00 00 00 02 00 00 00 "

/* What was answered since the last call, and nothing else. */
static inline void expect_answers(struct rig *r, const char *hex)
{
	struct buf expected = BUF_INIT;

	parse_hex(hex, &expected);
	expect_bytes(&r->got, expected.data, expected.len);
	buf_clear(&r->got);
	buf_release(&expected);
}

static inline void expect_refusal(int rc, const char *words)
{
	assert_int_equal(rc, -EPROTO);
	if (!strstr(error_text(), words))
		assert_string_equal(error_text(), words);
	error_clear();
}

#endif
