/* SPDX-License-Identifier: MIT */
/*
 * round_plan.h - how many rounds are run: from limits in rounds and in time, and from what the
 * warm-up showed of a round's length.
 *
 *	round_plan_init(&plan, &limits);
 *	while (round_plan_warms_up(&plan, rounds, elapsed)) ... a round that is not measured
 *	if (round_plan_is_single(&plan, rounds, duration)) ... that one round is the result
 *	round_plan_aim(&plan, rounds, elapsed);
 *	do ... a measured round
 *	while (!round_plan_enough(&plan, rounds, elapsed));
 *	why = round_plan_unmet(&plan, rounds, elapsed);
 *
 * It has no clock: all times are nanoseconds that the caller took. Sums do not wrap, and a warm-up
 * that took no time divides by nothing.
 */
#ifndef EXEC_HARNESS_ROUND_PLAN_H
#define EXEC_HARNESS_ROUND_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/walltime_options.h"

/* A number of rounds that is not given. */
#define ROUNDS_NONE UINT64_MAX

struct round_limits {
	uint64_t warmup_ns;
	uint64_t min_ns, max_ns;         /* 0: none */
	uint64_t min_rounds, max_rounds; /* ROUNDS_NONE: none */
};

struct round_plan {
	struct round_limits limits;
	uint64_t target; /* rounds to aim at; ROUNDS_NONE: the limits alone end it */
};

/*
 * Texts into limits, with the defaults: a warm-up of 1 s, and 3 s where nothing else ends it. 0 or
 * -EINVAL with a frame: a text that is none, limits that contradict each other, or no limit at all.
 */
int round_limits_parse(struct round_limits *to, const struct walltime_options *options);

void round_plan_init(struct round_plan *plan, const struct round_limits *limits);

/* Another warm-up round is due after so many, that much time after the start. */
bool round_plan_warms_up(const struct round_plan *plan, uint64_t rounds, uint64_t elapsed);

/* The whole warm-up was one round of `duration`, which is all that fits into the limit. */
bool round_plan_is_single(const struct round_plan *plan, uint64_t rounds, uint64_t duration);

/* Set the target, by the mean length of the warm-up's rounds; without a warm-up both are 0. */
void round_plan_aim(struct round_plan *plan, uint64_t rounds, uint64_t elapsed);

/* Measuring ends after so many rounds, at least one, that much time after its start. */
bool round_plan_enough(const struct round_plan *plan, uint64_t rounds, uint64_t elapsed);

/* The lower limit that could not be met within the upper one, for people; NULL: all were. */
const char *round_plan_unmet(const struct round_plan *plan, uint64_t rounds, uint64_t elapsed);

#endif
