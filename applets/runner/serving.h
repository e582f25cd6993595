/* SPDX-License-Identifier: MIT */
/*
 * serving.h - the FIFOs during a run: opened before the command starts, answered while it runs,
 * closed after it. What memory and walltime mode have in common.
 */
#ifndef RUNNER_SERVING_H
#define RUNNER_SERVING_H

#include "applets/runner/hooks_server.h"
#include "applets/runner/session.h"

/* One a process: the FIFOs' cleanup points into it. */
struct serving {
	struct fifo fifo;
	struct hooks_server server;
};

extern struct serving serving;

/* Open the FIFOs and let session_watch() answer them. Ends the process when they cannot be had. */
void serving_start(struct session *s, const struct hooks_mode *mode,
		   const struct hooks_profiler *profiler);

/* Answer what is there: what session_watch() calls, unless the mode has more to read. */
void serving_serve(struct session *s);

/* After the command: answer the rest, write what was reported to `path`, close the FIFOs. */
void serving_finish(const char *path);

/* What only the dialogue knows: windows that were of two benchmarks at once, or never closed. */
void serving_note_windows(struct result *r);

#endif
