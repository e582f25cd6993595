/* SPDX-License-Identifier: MIT */
/*
 * hooks_server.h - the runner's side of the dialogue with benchmarks: every request gets its one
 * answer, at once and in order, and what benchmarks report is kept. Memory and walltime mode share
 * it; what they do differently is in `struct hooks_mode` and `struct hooks_profiler`.
 *
 *	hooks_server_init(&server, &fifo, &hooks_mode_memory, &profiler);
 *	... while the child runs, whenever fifo_fd() is readable:
 *	if (hooks_server_serve(&server))
 *		... end the child; the frame says why
 *	... after the child's end:
 *	rc = hooks_server_finish(&server, clock_now());
 *	... server.timestamps, server.windows, hooks_server_explain_dup()
 *	hooks_server_release(&server);
 */
#ifndef RUNNER_HOOKS_SERVER_H
#define RUNNER_HOOKS_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/execution_timestamps.h"
#include "core/fifo.h"
#include "core/vec.h"

struct integration_minimum {
	const char *name;
	const char *version;
};

/* What a mode answers to integrations and asks of them. */
struct hooks_mode {
	const char *name;       /* for messages */
	enum fifo_mode answer;  /* to GetIntegrationMode */
	uint64_t min_protocol;
	/* Who is welcome, from which version on, closed by a NULL name; NULL: everyone. */
	const struct integration_minimum *minimums;
};

extern const struct hooks_mode hooks_mode_memory;
extern const struct hooks_mode hooks_mode_walltime;

/*
 * What is switched. Each is called before its request is answered, so it must be quick, and has
 * taken effect when it returns: 0, or -errno with a frame (the benchmark is answered Err).
 */
struct hooks_profiler {
	int (*start)(void *ctx);
	int (*stop)(void *ctx);
	int (*ping)(void *ctx); /* NULL: pings are answered Err (memory mode) */
	void *ctx;
};

/* From a StartProfiler to its StopProfiler, with this process's own time. */
struct hooks_window {
	uint64_t start, end;
	bool overlapped; /* another benchmark started inside: the figures are of both */
	bool left_open;  /* there was no StopProfiler */
};

/* Told once each. */
enum hooks_note {
	HOOKS_NOTE_MALFORMED,
	HOOKS_NOTE_OVERSIZED,
	HOOKS_NOTE_UNREAD,
	HOOKS_NOTE_OVERLAP,
	HOOKS_NOTE_NO_WINDOW,
	HOOKS_NOTE_PROFILER,
	HOOKS_NOTE_DIRECTION,
	HOOKS_NOTE_COUNT,
};

struct hooks_server {
	struct fifo *fifo;
	const struct hooks_mode *mode;
	const struct hooks_profiler *profiler;

	/* what benchmarks reported */
	struct execution_timestamps timestamps; /* URIs, and markers with those of the windows */
	VEC(struct hooks_window) windows;
	VEC(int32_t) pids;         /* of CurrentBenchmark, each once */
	char *integration;         /* the last one announced; NULL: none */
	char *integration_version;
	unsigned protocols;        /* bit N: SetVersion(N) was accepted */
	uint64_t requests, pings;  /* whole frames, malformed ones included; pings among them */
	uint64_t notes[HOOKS_NOTE_COUNT]; /* how often each happened */

	/* how it stands */
	bool open;                 /* the last window has no end yet */
	char *refusal;             /* why the run is over; all is answered Err from then on */
	bool refusal_returned;
	uint64_t last_answer;      /* clock_now() */
	struct buf note;           /* to be told once the answer is on its way */
};

/* The arguments are borrowed and must outlive the server. */
void hooks_server_init(struct hooks_server *s, struct fifo *fifo, const struct hooks_mode *mode,
		       const struct hooks_profiler *profiler);

/*
 * Answer what is there. 0, or once -EPROTO with a frame when the run makes no sense (an integration
 * or protocol that cannot work in this mode; it was answered Err): end the child. Another -errno
 * when the FIFO cannot be read any more.
 */
int hooks_server_serve(struct hooks_server *s);

/*
 * After the end of the child: answer what it or others still sent, and close a window that is open
 * with this time. As above.
 */
int hooks_server_finish(struct hooks_server *s, uint64_t ended_at);
void hooks_server_release(struct hooks_server *s);

/*
 * The window that began at this time, to find what is to be said of an execution_window; NULL when
 * it was not opened here (clients may send sample markers of their own).
 */
const struct hooks_window *hooks_server_window(const struct hooks_server *s, uint64_t start);

/* Only pings came: integrations of protocol 0 or 1, which a memory run does not answer. */
bool hooks_server_only_pings(const struct hooks_server *s);

/*
 * Why there is no benchmark, as a sentence or two for people; NULL when there is one. Caller frees.
 */
char *hooks_server_explain_dup(const struct hooks_server *s);

#endif
