/* SPDX-License-Identifier: MIT */
/* hooks.c - a benchmark's end of the FIFOs */
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/fifo.h"
#include "core/hooks.h"

/* A frame without fields: most answers are of this size and arrive in one read, so that another
 * client cannot get half of it. */
enum { BARE_FRAME = 8, DISCARD_READS = 32, LOCK_WAIT_MS = 1 };

#define PATIENCE_NS NS_PER_SECOND

/* ---- Bytes ---- */

/* Wait until `fd` is ready. 0, or -ETIMEDOUT. */
static int wait_for(int fd, short events, uint64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};
	uint64_t now = clock_now();

	if (now >= deadline)
		return -ETIMEDOUT;
	poll(&p, 1, (int)((deadline - now) / NS_PER_MS + 1)); /* whatever it says, we try and see */
	return 0;
}

static bool should_wait(void)
{
	return errno == EAGAIN || errno == EINTR; /* EWOULDBLOCK is the same */
}

static int send_bytes(int fd, const char *at, size_t len, uint64_t deadline)
{
	int rc = 0;

	while (len && !rc) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && should_wait())
			rc = wait_for(fd, POLLOUT, deadline);
		else if (n < 0)
			return fail_errno("cannot write to the runner");
		else {
			at += n;
			len -= (size_t)n;
		}
	}
	return rc ? fail(rc, "the runner does not read") : 0;
}

static int receive_bytes(int fd, char *to, size_t len, uint64_t deadline)
{
	int rc = 0;

	while (len && !rc) {
		ssize_t n = read(fd, to, len);

		if (n < 0 && should_wait())
			rc = wait_for(fd, POLLIN, deadline);
		else if (n <= 0)
			return n ? fail_errno("cannot read from the runner")
				 : fail(-EPIPE, "the runner is gone");
		else {
			to += n;
			len -= (size_t)n;
		}
	}
	return rc ? fail(rc, "the runner does not answer") : 0;
}

static void discard(int fd)
{
	char chunk[4096];

	for (int i = 0; i < DISCARD_READS && read(fd, chunk, sizeof(chunk)) > 0; i++)
		;
}

/* ---- Requests ---- */

static int receive_answer(const struct hooks *h, struct fifo_message *m, uint64_t deadline)
{
	char frame[FIFO_ANSWER_MAX];
	uint32_t len;
	int rc = receive_bytes(h->answers, frame, BARE_FRAME, deadline);

	if (rc)
		return rc;
	memcpy(&len, frame, sizeof(len));
	len = le32toh(len);
	if (len < BARE_FRAME - FIFO_LENGTH_SIZE || len > sizeof(frame) - FIFO_LENGTH_SIZE)
		return fail(-EPROTO, "the runner's answer is not understood");
	rc = receive_bytes(h->answers, frame + BARE_FRAME, FIFO_LENGTH_SIZE + len - BARE_FRAME,
			   deadline);
	return rc ? rc : fifo_message_decode(m, frame + FIFO_LENGTH_SIZE, len);
}

/*
 * Answers say not to whom they go. Harnesses that run side by side take turns, so that none gets
 * another's; clients of other kinds do not, and one that keeps the lock (protocol 0) is not waited
 * for.
 */
static void take_turn(const struct hooks *h, uint64_t deadline)
{
	while (flock(h->answers, LOCK_EX | LOCK_NB) && should_wait() && clock_now() < deadline)
		poll(NULL, 0, LOCK_WAIT_MS);
}

static int send_and_receive(const struct hooks *h, const struct fifo_message *request,
			    struct fifo_message *answer)
{
	uint64_t deadline = clock_now() + h->patience_ns;
	struct buf frame = BUF_INIT;
	int rc;

	fifo_message_encode(request, &frame);
	rc = send_bytes(h->control, frame.data, frame.len, deadline);
	buf_release(&frame);
	if (!rc)
		rc = receive_answer(h, answer, deadline);
	/* Left by a client that died waiting: ours is behind it. */
	while (!rc && request->command == FIFO_GET_MODE && answer->command == FIFO_ACK)
		rc = receive_answer(h, answer, deadline);
	return rc;
}

/* Whatever goes wrong, an answer may still come and would be taken for the next one's. */
static int exchange(struct hooks *h, const struct fifo_message *request,
		    struct fifo_message *answer)
{
	int rc;

	take_turn(h, clock_now() + h->patience_ns);
	if (h->owed)
		discard(h->answers);
	rc = send_and_receive(h, request, answer);
	h->owed = rc != 0;
	flock(h->answers, LOCK_UN);
	return rc;
}

/* A request that is answered by Ack or Err. */
static int request(struct hooks *h, const struct fifo_message *m)
{
	struct fifo_message answer;
	int rc;

	if (h->peer == HOOKS_NO_PEER)
		return 0;
	rc = exchange(h, m, &answer);
	if (!rc && answer.command == FIFO_ERR)
		rc = fail(-EREMOTEIO, "the runner cannot");
	else if (!rc && answer.command != FIFO_ACK)
		rc = fail(-EPROTO, "the runner answers something else");
	return rc ? fail(rc, "%s", fifo_command_name(m->command)) : 0;
}

static struct fifo_text text(const char *s)
{
	return (struct fifo_text){s, strlen(s)};
}

int hooks_set_integration(struct hooks *h, const char *name, const char *version)
{
	return request(h, &(struct fifo_message){.command = FIFO_SET_INTEGRATION,
						 .name = text(name), .release = text(version)});
}

int hooks_start_profiler(struct hooks *h)
{
	return request(h, &(struct fifo_message){.command = FIFO_START_PROFILER});
}

int hooks_stop_profiler(struct hooks *h)
{
	return request(h, &(struct fifo_message){.command = FIFO_STOP_PROFILER});
}

int hooks_current_benchmark(struct hooks *h, int32_t pid, const char *uri)
{
	return request(h, &(struct fifo_message){.command = FIFO_CURRENT_BENCHMARK, .pid = pid,
						 .uri = text(uri)});
}

int hooks_add_marker(struct hooks *h, int32_t pid, enum marker_type type, uint64_t time)
{
	return request(h, &(struct fifo_message){.command = FIFO_ADD_MARKER, .pid = pid,
						 .marker = {type, time}});
}

/* ---- Connecting ---- */

static int open_end(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	struct stat st;
	int fd = -1;

	/* First asked, then opened: a runner's pair that is not for us is left alone. */
	if (!access(path, R_OK | W_OK))
		fd = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISFIFO(st.st_mode))) {
		close(fd);
		fd = -1;
		errno = ENOENT;
	}
	free(path);
	return fd;
}

static void close_ends(struct hooks *h)
{
	if (h->control >= 0)
		close(h->control);
	if (h->answers >= 0)
		close(h->answers);
	h->control = h->answers = -1;
}

static bool open_ends(struct hooks *h, const char *dir)
{
	h->control = open_end(dir, FIFO_CONTROL);
	if (h->control >= 0)
		h->answers = open_end(dir, FIFO_ANSWERS);
	if (h->answers >= 0)
		return true;
	h->why = errno == EACCES || errno == EPERM
			 ? "the runner's FIFOs are not for this user"
			 : "there is no runner that measures";
	close_ends(h);
	return false;
}

/* Without an answer to SetVersion clients go on: a runner may not know it. */
static int agree_on_version(struct hooks *h)
{
	struct fifo_message answer;
	int rc = exchange(h, &(struct fifo_message){.command = FIFO_SET_VERSION,
						    .version = FIFO_PROTOCOL}, &answer);

	if (!rc && answer.command == FIFO_ERR)
		return fail(-EPROTO, "the runner rejects protocol version %d: update codspeed",
			    FIFO_PROTOCOL);
	error_clear();
	return 0;
}

static enum hooks_peer ask_mode(struct hooks *h)
{
	struct fifo_message answer;

	if (exchange(h, &(struct fifo_message){.command = FIFO_GET_MODE}, &answer)) {
		error_clear();
		h->why = "the runner's FIFOs are there, but nobody answers";
		return HOOKS_NO_PEER;
	}
	if (answer.command == FIFO_MODE && answer.mode == FIFO_MODE_ANALYSIS)
		return HOOKS_ANALYSIS;
	if (answer.command == FIFO_MODE && answer.mode == FIFO_MODE_WALLTIME)
		return HOOKS_WALLTIME;
	h->why = "the runner measures in a mode that needs no FIFOs";
	return HOOKS_NO_PEER;
}

/* One connection. 0, or -EPROTO with a frame. */
static int connect_once(struct hooks *h, const char *dir)
{
	int rc;

	h->peer = HOOKS_NO_PEER;
	if (!open_ends(h, dir))
		return 0;
	rc = agree_on_version(h);
	if (!rc)
		h->peer = ask_mode(h);
	if (h->peer == HOOKS_NO_PEER)
		hooks_close(h);
	return rc;
}

int hooks_init(struct hooks *h, const char *dir)
{
	int rc;

	*h = (struct hooks){.control = -1, .answers = -1, .patience_ns = PATIENCE_NS};
	if (!dir)
		dir = FIFO_DIR;
	rc = connect_once(h, dir);
	if (rc || h->peer != HOOKS_WALLTIME)
		return rc;
	/* Clients take each mode for an instrument of its own: walltime opens a new connection. */
	hooks_close(h);
	return connect_once(h, dir);
}

void hooks_close(struct hooks *h)
{
	if (h->owed && h->answers >= 0)
		discard(h->answers);
	h->owed = false;
	close_ends(h);
	h->peer = HOOKS_NO_PEER;
}
