/* SPDX-License-Identifier: MIT */
/*
 * walltime_options.h - how a command is run again and again: the options that exec and exec-harness
 * share. Other modes accept and check them, one command line serves all modes.
 */
#ifndef CORE_WALLTIME_OPTIONS_H
#define CORE_WALLTIME_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/opts.h"
#include "core/strvec.h"

/*
 * Texts as given, checked for themselves; NULL where not given. exec hands them to the harness as
 * they are.
 */
struct walltime_options {
	const char *warmup_time;
	const char *max_time;
	const char *min_time;
	const char *max_rounds;
	const char *min_rounds;
	const char *round_timeout;
	const char *ignore_failure; /* "" for any exit status, else a list: "1,3,130" */
	const char *prepare;        /* shell texts */
	const char *cleanup;
	const char *input;          /* a file */
	const char *output;         /* one of the words below, else a file */
	const char *cpu;            /* a list: "0,2-3" */
	bool quiet;
};

#define OUTPUT_INHERIT "inherit"
#define OUTPUT_NULL "null"
#define OUTPUT_PIPE "pipe"
bool output_is_file(const char *output);

/* The rows, for OPT_ROWS(struct cfg, member, struct walltime_options, walltime_option_rows). */
extern const struct opt walltime_option_rows[];

/*
 * A minimum above its maximum: -EINVAL with a frame "min-rounds (5) is above max-rounds (2)", else 0.
 * A maximum of 0 means none; what is no value at all is for its option to tell.
 */
int walltime_limits_check(const struct walltime_options *o);

/* Append them as words for exec-harness. */
void walltime_options_words(const struct walltime_options *o, struct strvec *to);

/* "1,3,130" as a set of exit statuses, `set` of STATUSES. 0 or -EINVAL with a frame. */
enum { STATUSES = 256 };
int parse_statuses(const char *text, bool *set);

/* The statuses that are no failure: 0, and what `ignore_failure` (may be NULL) says. As above. */
int parse_allowed_statuses(const char *ignore_failure, bool *set);

#endif
