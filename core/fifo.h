/* SPDX-License-Identifier: MIT */
/*
 * fifo.h - the runner's end of the two FIFOs through which benchmarks talk to it. The paths are
 * fixed for ever by the clients in the field, so there is one pair a machine, guarded by a lock.
 *
 *	struct fifo f;
 *	if (fifo_open(&f, NULL))
 *		die_recorded(EXIT_FAILED);
 *	... whenever poll() says that fifo_fd(&f) is readable:
 *	while ((rc = fifo_read_message(&f, &m)))
 *		... one answer a message, in order
 *	fifo_close(&f);
 *
 * No message means anything here: the rules of the dialogue are the caller's. One thread.
 */
#ifndef CORE_FIFO_H
#define CORE_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/fifo_message.h"
#include "core/lock_file.h"

#define FIFO_DIR "/tmp" /* TMPDIR is not honoured by clients */
#define FIFO_CONTROL "runner.ctl.fifo"     /* from benchmarks */
#define FIFO_ANSWERS "runner.ack.fifo"     /* to benchmarks */
#define FIFO_LOCK "codspeed-runner.lock"

struct fifo_end {
	char *path;
	int fd;
	bool made; /* it is ours to remove */
};

struct fifo {
	struct lock_file lock;
	struct fifo_end control, answers;

	struct buf input;      /* what was read and not yet handed out */
	size_t taken;          /* its bytes that were */
	uint64_t last_read;    /* clock_now() */
	size_t fresh;          /* input from this offset on came with the last read */
	bool has_read;         /* since fifo_read_message() returned 0 */
	bool draining;         /* after an oversized frame: up to the end of what is there */
	uint64_t dropped_parts; /* begun by clients that died before they could finish */
	struct buf output;
};

/*
 * Take the lock, put the pair in place of stale ones, open it. `dir` is NULL for FIFO_DIR; tests
 * give one of their own. 0, or -errno with a frame; -EBUSY: another runner has it, the frame names
 * it. What was made is removed by fifo_close() or at exit (cleanup.h), so `f` must stay where it is
 * until then.
 */
int fifo_open(struct fifo *f, const char *dir);
void fifo_close(struct fifo *f);

/*
 * Let clients of another user use the pair, which only its owner may (root that starts the
 * benchmark as someone else). 0 or -errno with a frame.
 */
int fifo_give_to(struct fifo *f, uid_t uid, gid_t gid);

/* To poll for POLLIN. */
static inline int fifo_fd(const struct fifo *f)
{
	return f->control.fd;
}

/*
 * The next message; its texts are good until the next call.
 *
 *	1          a message is in `m`
 *	0          none now: poll again. At most one read is made between two such answers, so
 *	           that a flood does not hold up the caller's loop
 *	-EBADMSG   a whole frame that is no message, with a frame; its sender waits for an answer
 *	-EMSGSIZE  the stream claims a frame over FIFO_MESSAGE_MAX, with a frame. There is no way to
 *	           find the next frame, so all that is waiting is dropped and nobody is answered
 *	other      the FIFO cannot be read, with a frame
 */
int fifo_read_message(struct fifo *f, struct fifo_message *m);

/* Bytes in the FIFO that fifo_read_message() has not read yet. */
size_t fifo_waiting(const struct fifo *f);

/*
 * Answer, in one write: clients rely on it. 0; -EAGAIN without a frame: the FIFO is full of answers
 * that nobody reads, the client is gone; else -errno with a frame.
 */
int fifo_answer(struct fifo *f, const struct fifo_message *m);

/* Throw away answers that nobody has read: they would be taken for those to come. */
void fifo_discard_answers(struct fifo *f);

/*
 * Remove a pair that was left behind, which makes every client wait: for a run that opens none
 * itself. A pair in use by another runner stays, and so does another user's.
 */
void fifo_remove_stale(const char *dir);

#endif
