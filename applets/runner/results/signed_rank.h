/* SPDX-License-Identifier: MIT */
/*
 * signed_rank.h - the same as rank_test.h for pairs: a round of one side and a round of the other
 * that ran next to each other, so that what slows the machine slows both (Wilcoxon 1945; estimate
 * and interval from the Walsh averages of the logarithms, Hollander and Wolfe 3.2 and 3.3).
 */
#ifndef RESULTS_SIGNED_RANK_H
#define RESULTS_SIGNED_RANK_H

#include "applets/runner/results/rank_test.h"

#define SIGNED_RANK_METHOD "Wilcoxon signed-rank test over pairs of rounds, p < 0.01; 99% interval of the ratio"

/* With fewer no order of the pairs could give such a p. */
enum { SIGNED_RANK_MIN_PAIRS = 8 };

/*
 * Of `count` pairs (at least one), the ratio of `head` to `base`; 0 counts as 1. Equal pairs are left
 * out of the test. Up to 50 pairs it is exact, given the ties there are; else by the normal
 * distribution, corrected for them.
 */
struct rank_test signed_rank_test(const uint64_t *base, const uint64_t *head, size_t count);

#endif
