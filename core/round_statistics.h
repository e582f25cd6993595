/* SPDX-License-Identifier: MIT */
/*
 * round_statistics.h - what many times of one thing come to, number for number as upstream's
 * exec-harness has it: its service compares these figures.
 */
#ifndef CORE_ROUND_STATISTICS_H
#define CORE_ROUND_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of one iteration; a round may be many. */
struct round_statistics {
	double min_ns, max_ns, mean_ns;
	double stdev_ns; /* of the sample (n - 1); 0 for a single round */
	double q1_ns, median_ns, q3_ns;
	uint64_t rounds;
	double total_time;             /* seconds, of all rounds */
	uint64_t iqr_outlier_rounds;   /* further from the quartiles than 1.5 of their distance */
	uint64_t stdev_outlier_rounds; /* further from the mean than two standard deviations */
	uint64_t iter_per_round;       /* mean, rounded down */
	uint64_t warmup_iters;         /* not computed here */
};

/*
 * Of `count` rounds: nanoseconds each, and how many iterations each was, at least 1 (NULL: one).
 * All zero for no round.
 */
void round_statistics_compute(struct round_statistics *to, const uint64_t *times,
			      const uint64_t *iterations, size_t count);

/* Half the width of the mean's confidence interval of 95 %: Student's t * stdev / sqrt(rounds). 0
 * for fewer than two rounds, where nothing is known. */
double round_statistics_confidence(double stdev, uint64_t rounds);

#endif
