/* SPDX-License-Identifier: MIT */
/*
 * walltime_options.h - how many rounds, how long: the options that exec and exec-harness share.
 * Other modes accept and check them, one command line serves all modes.
 */
#ifndef CORE_WALLTIME_OPTIONS_H
#define CORE_WALLTIME_OPTIONS_H

#include <stdint.h>

#include "core/opts.h"

struct walltime_options {
	const char *warmup_time; /* texts as given: the harness gets them as they are; NULL: not given */
	const char *max_time;
	const char *min_time;
	uint64_t max_rounds;
	uint64_t min_rounds;
};

/* The rows, for OPT_ROWS(struct cfg, member, struct walltime_options, walltime_option_rows). */
extern const struct opt walltime_option_rows[];

#endif
