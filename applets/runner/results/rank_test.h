/* SPDX-License-Identifier: MIT */
/*
 * rank_test.h - whether two samples of durations differ, and by what ratio: the Mann-Whitney test
 * (Mann and Whitney 1947) with the estimate and the interval that belong to it (Hodges and Lehmann
 * 1963; Hollander and Wolfe, Nonparametric Statistical Methods, 4.2 and 4.3), on the logarithms.
 * Nothing is assumed about how durations are distributed; outliers count as their ranks.
 */
#ifndef RESULTS_RANK_TEST_H
#define RESULTS_RANK_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A difference that chance would bring in one of a hundred comparisons at most. */
#define RANK_TEST_ALPHA 0.01
#define RANK_TEST_METHOD "Mann-Whitney rank test over the rounds, p < 0.01; 99% interval of the ratio"

/* With fewer on both sides no order of the rounds could give such a p. */
enum { RANK_TEST_MIN_ROUNDS = 5 };

struct rank_test {
	double ratio;     /* median of all ratios of a head's round to a base's */
	double low, high; /* its interval, at 1 - RANK_TEST_ALPHA */
	double p;         /* two-sided */
	bool exact;       /* from the distribution itself; else the normal one, corrected for ties */
};

/*
 * Both have at least one round, in ns and in any order; a round of 0 ns counts as one of 1 ns.
 * Exact without ties and up to 400 pairs.
 */
struct rank_test rank_test(const uint64_t *base, size_t base_len, const uint64_t *head,
	size_t head_len);

/* The largest absolute z that is within 1 - alpha of the normal distribution, for alpha = 0.01. */
#define RANK_TEST_Z 2.5758293035489004

#endif
