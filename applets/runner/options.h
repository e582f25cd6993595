/* SPDX-License-Identifier: MIT */
/* options.h - the options that run and exec share */
#ifndef RUNNER_OPTIONS_H
#define RUNNER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/opts.h"

#include "applets/runner/comparing.h"
enum profiler_choice { PROFILER_AUTO, PROFILER_PERF, PROFILER_SAMPLER };

struct run_options {
	struct opt_list modes;
	const char *profile_folder;
	const char *working_directory;
	const char *json; /* a path, "-" for standard output, NULL for none */
	uint64_t top;     /* functions to list for each benchmark */
	uint64_t timeout_ns;
	bool allow_empty;
	bool pin_dispatch;
	const char *save;     /* name of a baseline, NULL for none; likewise the next */
	const char *baseline;
	const char *store;
	struct comparing_options comparing;
	const char *config; /* the project's file; NULL: the one that is found */

	/*
	 * This is one of several processes of a run (parts.h): options are settled, nothing is taken from
	 * the project's file or the shell session; results go to the folder, nothing is printed.
	 */
	bool part;
	bool profiler;
	enum profiler_choice walltime_profiler;

	/* Of upstream's command line: accepted, so that its CI scripts work unchanged. */
	const char *ignored_text;
	bool ignored_flag;
};

/* For OPT_ROWS(struct cfg, member, struct run_options, run_option_rows). */
extern const struct opt run_option_rows[];

/* Those of them that each part of a run takes over, as words. */
void run_options_pass_on(const struct opts_args *args, struct strvec *to);

#endif
