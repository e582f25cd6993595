/* SPDX-License-Identifier: MIT */
/*
 * supervise.h - see one child to its end: its output passed on, its process tree followed, signals
 * to us forwarded to it, a time limit kept, and nothing of it left behind.
 */
#ifndef CORE_SUPERVISE_H
#define CORE_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/buf.h"
#include "core/proctree.h"

/*
 * Bytes from a pipe of the child to one of our descriptors, unchanged. Whoever reads there may be
 * slow: what it does not take yet waits in `held`, and the child waits for its pipe.
 */
struct relay {
	int from; /* read end, closed when done; -1: none */
	int to;
	struct buf held;
	size_t taken; /* of held */
	bool bounded; /* the child has ended: `left` bytes of its own are to be read, no more */
	size_t left;
};

struct supervise {
	pid_t child;
	struct proctree *tree;   /* NULL: only the child itself is waited for */
	struct relay relays[2];
	uint64_t grace_ns;       /* between the first signal or the time-out and SIGKILL */
	uint64_t linger_ns;      /* with a tree: how long processes may outlive the root */
	uint64_t deadline;       /* clock_now() at which the child is ended; 0: none */
	uint64_t tick_ns;        /* between two calls of `tick`; 0: never */
	void (*tick)(void *ctx);
	void (*before_output)(void *ctx); /* before relayed bytes are written; may be NULL */
	int extra;                        /* one more descriptor to read from; -1: none */
	void (*on_extra)(void *ctx);      /* it is ready; may set it to -1 */
	bool give_up;                     /* set by a callback: the child is ended, as by a time-out */
	void *ctx;

	/* outcome */
	int status;      /* of the child, as of waitpid */
	int signal;      /* we were asked to end by this signal; 0: no */
	bool timed_out;
	bool output_lost; /* nobody reads what a relay writes to (EPIPE); the child was told so */
};

#define SUPERVISE_INIT {.relays = {{.from = -1}, {.from = -1}}, .extra = -1}

/*
 * Block what supervise() waits for. To be called before the child is forked, so that no signal is
 * lost in between; children start with the mask as it was.
 */
void supervise_prepare(void);

/*
 * Returns when the child has ended and, with a tree, every process under it has, or was ended.
 * 0 or -errno with a frame; the outcome is in `s`.
 */
int supervise(struct supervise *s);

/* One of the signals that end us is waiting to be taken: its number, else 0. */
int supervise_pending_signal(void);

/*
 * The run is over, what follows may be ended by a signal in the ordinary way. SIGPIPE stays blocked:
 * a reader that goes is an error of writing.
 */
void supervise_release_signals(void);

/* End this process by the signal, as if it had never been caught (status 128+N for a shell). */
void supervise_reraise(int signal) __attribute__((noreturn));

#endif
