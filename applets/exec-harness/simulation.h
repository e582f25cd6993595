/* SPDX-License-Identifier: MIT */
/* simulation.h - one command under callgrind, with everything it starts */
#ifndef EXEC_HARNESS_SIMULATION_H
#define EXEC_HARNESS_SIMULATION_H

#include <stdbool.h>

#include "core/strvec.h"

#include "applets/exec-harness/targets.h"

struct simulation {
	const char *folder; /* profile folder, absolute */
	const bool *allowed; /* exit statuses that are no failure, STATUSES of them */
	struct strvec valgrind; /* the words in front of the command */
	bool fixed_addresses;
};

/* Find what is needed; `folder` is set already. 0 or -errno with a frame. */
int simulation_init(struct simulation *sim);
void simulation_release(struct simulation *sim);

/*
 * Run one target and append it to the folder's record. 0 and the command's exit status (128+N for
 * signal N, 0 for a tolerated one) in *status; EXIT_NOT_FOUND, EXIT_NOT_EXECUTABLE or -errno with a frame: then nothing was
 * measured, -ENOSYS where valgrind did not run. `*interrupted` is the signal that ended the run from
 * outside, or 0.
 */
int simulation_run(const struct simulation *sim, const struct target *target, int *status,
		   int *interrupted);

#endif
