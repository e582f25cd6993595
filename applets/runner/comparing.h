/* SPDX-License-Identifier: MIT */
/*
 * comparing.h - what every command that compares has in common: options, reports, gates and the exit
 * status.
 */
#ifndef RUNNER_COMPARING_H
#define RUNNER_COMPARING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/opts.h"

#include "applets/runner/results/comparison.h"
#include "applets/runner/results/gate.h"

struct comparing_options {
	struct gates gates; /* --fail-above; lives as long as the process */
	bool stored_gates;  /* they are of codspeed.yml: without a base growth is not looked at, and other
			     * benchmarks than those at hand may be named */
	double threshold;
	bool across_machines;
	bool all_metrics;
	uint64_t functions; /* --explain */
	const char *markdown;
	bool quiet;
	bool gates_only; /* no reports, there is nothing to compare with; set by the command itself */
};

/* For OPT_ROWS(struct cfg, member, struct comparing_options, comparing_option_rows). */
extern const struct opt comparing_option_rows[];

/*
 * All reports first, the table on standard output last; then the broken gates as errors. Returns
 * EXIT_REGRESSED, EXIT_INCOMPARABLE where something cannot be compared, EXIT_FAILED where a report
 * cannot be written, else EXIT_DONE; the first of these that applies.
 */
int comparing_report(const struct comparison *c, const struct comparing_options *options);

#endif
