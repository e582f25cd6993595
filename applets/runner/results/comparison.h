/* SPDX-License-Identifier: MIT */
/*
 * comparison.h - two results, benchmark by benchmark and metric by metric.
 *
 * Simulation and memory are exact: any difference is a change, unless a threshold says how small
 * ones do not count. Wall time is judged by a rank test over the rounds (rank_test.h).
 */
#ifndef RESULTS_COMPARISON_H
#define RESULTS_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "applets/runner/results/rank_test.h"
#include "applets/runner/results/result.h"
#include "core/vec.h"

/* In the order of how much they ask for a look. */
enum verdict {
	VERDICT_REGRESSED,
	VERDICT_INCOMPARABLE,
	VERDICT_MISSING, /* only in the base */
	VERDICT_NEW,     /* only in the head */
	VERDICT_IMPROVED,
	VERDICT_UNCHANGED,
	VERDICT_NONE, /* of a metric that is unknown, or that no test can judge */
};
enum { VERDICTS = VERDICT_NONE };

const char *verdict_name(enum verdict verdict);

struct metric_change {
	struct measure base, head;
	enum verdict verdict;
	struct rank_test *test; /* of the ratio of head to base, where rounds were judged; else NULL */
};

struct compared {
	const struct benchmark *base, *head; /* of the results; NULL for new and missing ones */
	enum verdict verdict;                /* of the mode's leading metric */
	char *why;                           /* text; why it cannot be compared; NULL: the machines */
	struct metric_change metrics[RESULT_METRICS_MAX];
};

struct comparison {
	const struct result *base, *head; /* borrowed */
	const char *base_name, *head_name;
	bool paired;               /* rounds were judged as pairs (paired.h) */
	bool baseless;             /* no benchmark in common is no failure: there is no base, or may be no head */
	VEC(struct compared) rows; /* in the head's order, then those that it lacks */
	char *why[MODE_COUNT];     /* why no benchmark of the mode can be compared, else NULL */
	size_t counts[VERDICTS];   /* rows by verdict */
};

struct comparison_options {
	double threshold;     /* relative changes up to this are none; 0.01 is a per cent */
	bool across_machines; /* compare although the machines differ in what matters */
};

/*
 * Both results are borrowed until comparison_release(), and their names, which messages say. 0, or
 * -EINVAL with a frame where one holds a benchmark twice.
 */
int comparison_make(struct comparison *c, const struct result *base, const char *base_name,
	const struct result *head, const char *head_name, const struct comparison_options *options);
void comparison_release(struct comparison *c);

/* An exact difference. */
enum verdict judge_exact(const struct metric_change *change, double threshold);

/* What a test says; unchanged where it is not significant or the ratio within the threshold. */
enum verdict judge_test(const struct rank_test *test, double threshold);

/* The benchmark that a row is about: the head's where there is one. */
const struct benchmark *compared_benchmark(const struct compared *row);

/* (head - base) / base; infinite for a growth from 0. Both are known. */
double relative_change(const struct metric_change *change);

#endif
