/* SPDX-License-Identifier: MIT */
/* fifo.c - the runner's end of the FIFO pair */
#include <endian.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/cleanup.h"
#include "core/clock.h"
#include "core/fifo.h"

enum {
	READ_CHUNK = 64 * 1024,          /* what a FIFO holds */
	DRAIN_READS = 16,                /* in one go, so that a flood does not hold us */
	DISCARD_READS = 32,
	PART_NS = 100 * 1000 * 1000,     /* no living client pauses so long inside a frame */
};

/* ---- The pair ---- */

static void unlink_end(struct fifo_end *e)
{
	struct stat there, ours;

	if (!e->made)
		return;
	e->made = false;
	/* A runner that knows no lock may have put its own there. */
	if (e->fd >= 0 && (fstat(e->fd, &ours) || lstat(e->path, &there) ||
			   there.st_dev != ours.st_dev || there.st_ino != ours.st_ino))
		return;
	unlink(e->path);
}

/* What must not outlive us; also run at exit. The order is the reverse of fifo_open()'s. */
static void undo(void *fifo)
{
	struct fifo *f = fifo;

	unlink_end(&f->answers);
	unlink_end(&f->control);
	lock_file_drop(&f->lock);
}

static int remove_old(const char *path)
{
	struct stat st;
	int rc;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : fail_errno("cannot look at %s", path);
	if (!unlink(path) || errno == ENOENT)
		return 0;
	rc = fail_errno("cannot remove %s", path);
	if (st.st_uid == geteuid())
		return rc;
	return fail(rc, "%s belongs to another user (id %u), who must remove it", path, st.st_uid);
}

static int open_end(struct fifo_end *e)
{
	struct stat st;

	/* Read-write: no open blocks, no side sees an end, no write fails for want of a reader. */
	e->fd = open(e->path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (e->fd < 0 || fstat(e->fd, &st))
		return fail_errno("cannot open %s", e->path);
	if (!S_ISFIFO(st.st_mode) || st.st_uid != geteuid()) {
		e->made = false;
		return fail(-EEXIST, "%s was replaced by someone else", e->path);
	}
	return 0;
}

static int make_end(struct fifo_end *e, const char *dir, const char *name)
{
	int rc;

	e->path = xasprintf("%s/%s", dir, name);
	rc = remove_old(e->path);
	if (rc)
		return rc;
	if (mkfifo(e->path, 0700))
		return fail_errno("cannot create %s", e->path);
	e->made = true;
	return open_end(e);
}

static int take_lock(struct lock_file *lock, const char *dir)
{
	char *path = xasprintf("%s/%s", dir, FIFO_LOCK);
	int rc = lock_file_take(lock, path);

	free(path);
	return rc == -EBUSY ? fail(rc, "another codspeed is measuring on this machine") : rc;
}

int fifo_open(struct fifo *f, const char *dir)
{
	int rc;

	*f = (struct fifo){.lock = LOCK_FILE_INIT, .control.fd = -1, .answers.fd = -1};
	if (!dir)
		dir = FIFO_DIR;
	rc = take_lock(&f->lock, dir);
	if (rc)
		return rc;
	cleanup_push(undo, f);
	rc = make_end(&f->control, dir, FIFO_CONTROL);
	if (!rc)
		rc = make_end(&f->answers, dir, FIFO_ANSWERS);
	if (rc)
		fifo_close(f);
	return rc;
}

static void close_end(struct fifo_end *e)
{
	if (e->fd >= 0)
		close(e->fd);
	free(e->path);
	*e = (struct fifo_end){.fd = -1};
}

void fifo_close(struct fifo *f)
{
	undo(f);
	cleanup_drop(undo, f);
	close_end(&f->answers);
	close_end(&f->control);
	buf_release(&f->input);
	buf_release(&f->output);
}

int fifo_give_to(struct fifo *f, uid_t uid, gid_t gid)
{
	if (fchown(f->control.fd, uid, gid))
		return fail_errno("cannot give %s to user id %u", f->control.path, uid);
	if (fchown(f->answers.fd, uid, gid))
		return fail_errno("cannot give %s to user id %u", f->answers.path, uid);
	return 0;
}

/* Whether there is a FIFO of ours by that name; it is removed only if asked for. */
static bool find_own(const char *dir, const char *name, bool removing)
{
	char *path = xasprintf("%s/%s", dir, name);
	struct stat st;
	bool found = !lstat(path, &st) && S_ISFIFO(st.st_mode) && st.st_uid == geteuid();

	if (found && removing)
		unlink(path);
	free(path);
	return found;
}

void fifo_remove_stale(const char *dir)
{
	struct lock_file lock;

	if (!dir)
		dir = FIFO_DIR;
	/* Most often there is none, and a runner that starts now should not find the lock taken. */
	if (!find_own(dir, FIFO_CONTROL, false) && !find_own(dir, FIFO_ANSWERS, false))
		return;
	if (take_lock(&lock, dir)) {
		error_clear(); /* in use, or out of our hands */
		return;
	}
	find_own(dir, FIFO_CONTROL, true);
	find_own(dir, FIFO_ANSWERS, true);
	lock_file_drop(&lock);
}

/* ---- Reading ---- */

size_t fifo_waiting(const struct fifo *f)
{
	int bytes = 0;

	ioctl(f->control.fd, FIONREAD, &bytes);
	return bytes > 0 ? (size_t)bytes : 0;
}

/* One read into the input. The number of bytes, 0 for none now, -errno with a frame. */
static ssize_t read_input(struct fifo *f)
{
	ssize_t n = read(f->control.fd, buf_reserve(&f->input, READ_CHUNK), READ_CHUNK);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return fail_errno("cannot read %s", f->control.path);
	f->input.len += (size_t)n;
	f->input.data[f->input.len] = '\0';
	return n;
}

static void drain(struct fifo *f)
{
	ssize_t n = 1;

	for (int i = 0; i < DRAIN_READS && n > 0; i++) {
		buf_clear(&f->input);
		n = read_input(f);
	}
	buf_clear(&f->input);
	f->taken = f->fresh = 0;
	f->draining = n > 0;
	error_clear(); /* of a read that failed: the next one fails again, and is told */
}

/* The length of the message at the front, SIZE_MAX while there are too few bytes to know it. */
static size_t announced(const struct fifo *f, size_t at)
{
	uint32_t len;

	if (f->input.len - at < sizeof(len))
		return SIZE_MAX;
	memcpy(&len, f->input.data + at, sizeof(len));
	return le32toh(len);
}

/* A whole message is at this offset. */
static bool is_whole(const struct fifo *f, size_t at)
{
	size_t len = announced(f, at);

	return len != SIZE_MAX && f->input.len - at - FIFO_LENGTH_SIZE >= len;
}

/* From this offset on there is nothing but whole messages of exactly the announced lengths. */
static bool are_messages(const struct fifo *f, size_t at)
{
	while (at < f->input.len) {
		struct fifo_message m;
		size_t len;

		if (!is_whole(f, at))
			return false;
		len = announced(f, at);
		at += FIFO_LENGTH_SIZE;
		if (fifo_message_decode(&m, f->input.data + at, len)) {
			error_clear();
			return false;
		}
		if (fifo_message_size(&m) != len)
			return false;
		at += len;
	}
	return true;
}

/*
 * A client that died inside a frame leaves a part of it, and the requests of all others would be
 * taken for the rest. The rest of a real message never looks like messages itself (a client writes
 * the length and the message, and no message begins with the length of a shorter one that fits),
 * so what comes after a pause and does so is from someone else.
 */
static void drop_dead_part(struct fifo *f, uint64_t now)
{
	if (f->fresh == f->taken || now - f->last_read < PART_NS || !are_messages(f, f->fresh))
		return;
	f->taken = f->fresh;
	f->dropped_parts++;
}

/* The number of bytes, 0 for none now, -errno with a frame. */
static int read_more(struct fifo *f)
{
	uint64_t now = clock_now();
	size_t left = f->input.len - f->taken;
	ssize_t n;

	if (f->taken)
		memmove(f->input.data, f->input.data + f->taken, left);
	f->input.len = f->fresh = left;
	f->taken = 0;
	n = read_input(f);
	if (n <= 0)
		return (int)n;
	drop_dead_part(f, now);
	f->last_read = now;
	return (int)n;
}

/* 1 and the message's bytes, 0 when it is not whole yet, or -EMSGSIZE. */
static int take_frame(struct fifo *f, const char **bytes, size_t *len)
{
	*len = announced(f, f->taken);
	if (*len == SIZE_MAX)
		return 0;
	if (*len > FIFO_MESSAGE_MAX) {
		size_t claimed = *len;

		drain(f);
		return fail(-EMSGSIZE, "it announces %zu bytes; at most %d are possible", claimed,
			    FIFO_MESSAGE_MAX);
	}
	if (!is_whole(f, f->taken))
		return 0;
	*bytes = f->input.data + f->taken + FIFO_LENGTH_SIZE;
	f->taken += FIFO_LENGTH_SIZE + *len;
	return 1;
}

int fifo_read_message(struct fifo *f, struct fifo_message *m)
{
	const char *bytes;
	size_t len;
	int rc;

	if (f->draining) {
		drain(f);
		f->has_read = false;
		return 0;
	}
	rc = take_frame(f, &bytes, &len);
	if (rc == 0 && !f->has_read) {
		rc = read_more(f);
		if (rc <= 0)
			return rc;
		f->has_read = true;
		rc = take_frame(f, &bytes, &len);
	}
	if (rc == 0)
		f->has_read = false;
	if (rc <= 0)
		return rc;
	rc = fifo_message_decode(m, bytes, len);
	return rc ? rc : 1;
}

/* ---- Answering ---- */

int fifo_answer(struct fifo *f, const struct fifo_message *m)
{
	ssize_t n;

	buf_clear(&f->output);
	fifo_message_encode(m, &f->output);
	do {
		n = write(f->answers.fd, f->output.data, f->output.len);
	} while (n < 0 && errno == EINTR);
	if (n >= 0)
		return 0; /* all or nothing: far below PIPE_BUF */
	return errno == EAGAIN ? -EAGAIN : fail_errno("cannot write %s", f->answers.path);
}

void fifo_discard_answers(struct fifo *f)
{
	char chunk[4096];

	for (int i = 0; i < DISCARD_READS && read(f->answers.fd, chunk, sizeof(chunk)) > 0; i++)
		;
}
