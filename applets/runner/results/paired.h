/* SPDX-License-Identifier: MIT */
/* paired.h - two commands whose rounds ran in turn: compared pair by pair, in every metric */
#ifndef RESULTS_PAIRED_H
#define RESULTS_PAIRED_H

#include "applets/runner/results/comparison.h"
#include "core/vec.h"

struct rounds_of_metric {
	VEC(struct measure) items;
};

/* All rounds of one command. */
struct paired_side {
	struct result last; /* the result of the last round, of one benchmark */
	struct rounds_of_metric rounds[RESULT_METRICS_MAX];
};

void paired_release(struct paired_side *side);

/*
 * Take the result of a round, which is then empty. 0, or -EINVAL with a frame where it is not that
 * of one benchmark that ended well.
 */
int paired_add(struct paired_side *side, struct result *round);

/*
 * Compare sides with the same number of rounds, at least one, as comparison_make() does: each metric
 * by the median of its rounds. Exact where all rounds of a side are equal, else by the signed-rank
 * test, for which fewer than SIGNED_RANK_MIN_PAIRS allow no verdict. The metrics of `last` become
 * the medians.
 */
int paired_compare(struct comparison *c, struct paired_side *base, const char *base_name,
	struct paired_side *head, const char *head_name, const struct comparison_options *options);

#endif
