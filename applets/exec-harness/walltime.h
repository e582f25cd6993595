/* SPDX-License-Identifier: MIT */
/* walltime.h - commands run again and again, and their times kept */
#ifndef EXEC_HARNESS_WALLTIME_H
#define EXEC_HARNESS_WALLTIME_H

#include "core/hooks.h"
#include "core/round_record.h"
#include "core/walltime_options.h"
#include "core/walltime_results.h"

#include "applets/exec-harness/round_streams.h"
#include "applets/exec-harness/targets.h"

struct walltime {
	const char *folder; /* profile folder */
	const struct walltime_options *options;
	struct hooks hooks;
	int profile;                  /* the runner takes samples, and is told here of what (harness_channel.h);
				       * 0: it does not */
	struct strvec profiled_env;   /* of rounds that may be sampled */
	struct round_streams streams;
	uint64_t timeout_ns;          /* of a round; 0: none */
	bool allowed[STATUSES];           /* exit statuses that are no failure */
	struct round_record record;   /* what was measured so far: both are on disk after each target */
	struct walltime_results results;
};

/*
 * Take over standard input and output, find the runner if one serves the FIFOs (`alone`: none is
 * looked for), make the folder. Both texts are borrowed. 0 or -errno with a frame.
 */
int walltime_init(struct walltime *w, const char *folder, const struct walltime_options *options,
		  bool alone);
void walltime_release(struct walltime *w);

/*
 * Measure one target and write down all that was measured so far. 0 and the command's exit status
 * (128+N for signal N) in *status, 0 if it was a tolerated one; EXIT_NOT_FOUND, EXIT_NOT_EXECUTABLE
 * or -errno with a frame. `*interrupted` is the signal that ended the run from outside, or 0.
 */
int walltime_run(struct walltime *w, const struct target *target, int *status, int *interrupted);

#endif
