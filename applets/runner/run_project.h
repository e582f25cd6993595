/* SPDX-License-Identifier: MIT */
/* run_project.h - the benchmarks of codspeed.yml */
#ifndef RUNNER_RUN_PROJECT_H
#define RUNNER_RUN_PROJECT_H

#include "core/strvec.h"
#include "core/vec.h"

#include "applets/runner/options.h"
#include "applets/runner/settings.h"

/* Texts that are borrowed. */
struct bench_list {
	const char **items;
	size_t len;
	size_t cap;
};

/*
 * Run the benchmarks that the project's file lists, or those of them that `only` names (all where it
 * is empty): first its 'exec' commands, as one list for exec-harness, then each 'entrypoint'. `common`
 * are options for both, as words, `entry` for an entrypoint alone. The exit status of the run; ends
 * the process (usage) where there is nothing to run.
 */
int run_project(const struct settings *settings, const struct run_options *options,
		const struct bench_list *only, const struct strvec *common, const struct strvec *entry);

#endif
