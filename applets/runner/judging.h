/* SPDX-License-Identifier: MIT */
/*
 * judging.h - what becomes of a run's results: held against a baseline and limits, kept as a
 * baseline, reported as Markdown.
 */
#ifndef RUNNER_JUDGING_H
#define RUNNER_JUDGING_H

#include <stdbool.h>

#include "applets/runner/options.h"
#include "applets/runner/results/result.h"

struct judging {
	const struct run_options *options; /* borrowed */
	struct comparing_options comparing; /* its paths absolute */
	char *store;                        /* absolute */
	char *markdown;                     /* absolute, or NULL */
	struct result base;                 /* empty without --baseline */
};

/*
 * To be called before the run, and before the working directory is changed: ends the process where
 * the options do not fit together or the baseline cannot be read.
 */
void judging_begin(struct judging *j, const struct run_options *options);

/*
 * Report, compare, keep; without any of these options nothing but a step summary. `ok`: the run went
 * well; no other is kept. `quiet`: standard output is not for people. Returns an exit status.
 */
int judging_end(struct judging *j, const struct result *r, bool ok, bool quiet);
void judging_release(struct judging *j);

#endif
