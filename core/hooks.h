/* SPDX-License-Identifier: MIT */
/*
 * hooks.h - a benchmark's end of the FIFOs (protocol 2): tells the runner when to measure and what
 * was measured.
 *
 *	struct hooks h;
 *	if (hooks_init(&h, NULL))
 *		die_recorded(EXIT_WRAPPER);          // the runner refuses our protocol
 *	if (h.peer == HOOKS_NO_PEER)
 *		die(EXIT_WRAPPER, "not instrumented: %s", h.why);
 *	rc = hooks_set_integration(&h, HOOKS_INTEGRATION, HOOKS_INTEGRATION_VERSION);
 *	rc = hooks_start_profiler(&h);
 *	...
 *	rc = hooks_stop_profiler(&h);
 *	rc = hooks_current_benchmark(&h, getpid(), uri);
 *	hooks_close(&h);
 *
 * Each request waits for its answer, a second at most (patience_ns). It returns 0, -EREMOTEIO when the runner
 * answers that it cannot, -ETIMEDOUT when it does not answer, or another -errno; with a frame.
 * Without a peer requests do nothing and succeed. Descriptors are close-on-exec. One thread.
 */
#ifndef CORE_HOOKS_H
#define CORE_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/marker.h"

/*
 * How exec-harness presents itself. The version is that of the upstream harness it stands for,
 * which runners compare with a minimum; it is not ours.
 */
#define HOOKS_INTEGRATION "exec-harness"
#define HOOKS_INTEGRATION_VERSION "1.3.0"

enum hooks_peer {
	HOOKS_NO_PEER,
	HOOKS_WALLTIME,
	HOOKS_ANALYSIS, /* memory */
};

struct hooks {
	enum hooks_peer peer;
	const char *why; /* there is no peer; static text */
	int control, answers;
	bool owed;       /* an answer that we no longer wait for may still come */
	uint64_t patience_ns; /* for an answer; hooks_init() sets a second, a caller may change it */
};

/*
 * Look for a runner in `dir` (NULL: FIFO_DIR, tests have one of their own) and agree on the
 * protocol. 0 and `peer`, which HOOKS_NO_PEER is one of; -EPROTO with a frame when the runner
 * rejects the protocol, for which clients end their process.
 */
int hooks_init(struct hooks *h, const char *dir);
void hooks_close(struct hooks *h);

int hooks_set_integration(struct hooks *h, const char *name, const char *version);
int hooks_start_profiler(struct hooks *h);
int hooks_stop_profiler(struct hooks *h);
int hooks_current_benchmark(struct hooks *h, int32_t pid, const char *uri);
/* For walltime mode, whose rounds it tells; memory mode has none. */
int hooks_add_marker(struct hooks *h, int32_t pid, enum marker_type type, uint64_t time);

#endif
