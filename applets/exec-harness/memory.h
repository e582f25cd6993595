/* SPDX-License-Identifier: MIT */
/* memory.h - one command between two switches of the runner's heap tracker */
#ifndef EXEC_HARNESS_MEMORY_H
#define EXEC_HARNESS_MEMORY_H

#include <stdbool.h>

#include "core/hooks.h"

#include "applets/exec-harness/targets.h"

/*
 * Run one target and report it, if it ended well or with one of `allowed` (STATUSES). 0 and the command's exit status (128+N for signal
 * N) in *status; or -errno with a frame: then nothing was recorded. `*interrupted` is the signal that
 * ended the run from outside, or 0.
 */
int memory_run(struct hooks *hooks, const struct target *target, const bool *allowed, int *status,
	       int *interrupted);

#endif
