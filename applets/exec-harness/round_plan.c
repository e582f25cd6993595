/* SPDX-License-Identifier: MIT */
/* round_plan.c - how many rounds are run */
#include "core/base.h"
#include "core/clock.h"
#include "core/units.h"

#include "applets/exec-harness/round_plan.h"

#define DEFAULT_WARMUP (1 * NS_PER_SECOND)
#define DEFAULT_MAX (3 * NS_PER_SECOND)

/* ---- Limits ---- */

static int parse_time(const char *what, const char *text, uint64_t *to)
{
	if (text && parse_duration(text, to))
		return fail(-EINVAL, "invalid %s '%s'", what, text);
	return 0;
}

static int parse_rounds(const char *what, const char *text, uint64_t *to)
{
	if (text && parse_uint64(text, to))
		return fail(-EINVAL, "invalid %s '%s'", what, text);
	return 0;
}

static int check_limits(const struct round_limits *l)
{
	char min[UNIT_TEXT], max[UNIT_TEXT];

	if (l->max_ns && l->min_ns > l->max_ns)
		return fail(-EINVAL, "the minimum time %s is more than the maximum time %s",
			    format_duration(min, l->min_ns), format_duration(max, l->max_ns));
	if (l->min_rounds != ROUNDS_NONE && l->min_rounds > l->max_rounds)
		return fail(-EINVAL, "the minimum of %llu rounds is more than the maximum of %llu",
			    (unsigned long long)l->min_rounds, (unsigned long long)l->max_rounds);
	if (!l->max_ns && !l->min_ns && l->max_rounds == ROUNDS_NONE && l->min_rounds == ROUNDS_NONE)
		return fail(-EINVAL, "nothing says how many rounds to run: give a maximum or minimum "
				     "of rounds or time");
	return 0;
}

int round_limits_parse(struct round_limits *to, const struct walltime_options *o)
{
	bool any = o->max_time || o->min_time || o->max_rounds || o->min_rounds;
	int rc;

	*to = (struct round_limits){
		.warmup_ns = DEFAULT_WARMUP, .max_ns = any ? 0 : DEFAULT_MAX,
		.min_rounds = ROUNDS_NONE, .max_rounds = ROUNDS_NONE,
	};
	rc = parse_time("warm-up time", o->warmup_time, &to->warmup_ns);
	if (!rc)
		rc = parse_time("maximum time", o->max_time, &to->max_ns);
	if (!rc)
		rc = parse_time("minimum time", o->min_time, &to->min_ns);
	if (!rc)
		rc = parse_rounds("maximum of rounds", o->max_rounds, &to->max_rounds);
	if (!rc)
		rc = parse_rounds("minimum of rounds", o->min_rounds, &to->min_rounds);
	return rc ? rc : check_limits(to);
}

/* ---- Warm-up ---- */

void round_plan_init(struct round_plan *plan, const struct round_limits *limits)
{
	*plan = (struct round_plan){.limits = *limits, .target = ROUNDS_NONE};
}

bool round_plan_warms_up(const struct round_plan *plan, uint64_t rounds, uint64_t elapsed)
{
	return plan->limits.warmup_ns && (!rounds || elapsed < plan->limits.warmup_ns);
}

bool round_plan_is_single(const struct round_plan *plan, uint64_t rounds, uint64_t duration)
{
	return rounds == 1 && plan->limits.max_ns && plan->limits.max_ns <= duration;
}

/* ---- The target ---- */

/* Rounds of this mean length that a time has room for, the one that goes past it included. */
static uint64_t rounds_in(uint64_t ns, uint64_t mean)
{
	return add_capped(ns, mean) / mean;
}

static uint64_t lowest(const struct round_limits *l, uint64_t mean)
{
	uint64_t by_time = l->min_ns ? add_capped(rounds_in(l->min_ns, mean), 1) : ROUNDS_NONE;

	if (by_time == ROUNDS_NONE || l->min_rounds == ROUNDS_NONE)
		return by_time == ROUNDS_NONE ? l->min_rounds : by_time;
	return by_time > l->min_rounds ? by_time : l->min_rounds;
}

static uint64_t highest(const struct round_limits *l, uint64_t mean)
{
	uint64_t by_time = l->max_ns ? rounds_in(l->max_ns, mean) : ROUNDS_NONE;

	return by_time < l->max_rounds ? by_time : l->max_rounds;
}

/* Between both limits: in the middle, as upstream does. */
static uint64_t between(uint64_t low, uint64_t high)
{
	if (low == ROUNDS_NONE || high == ROUNDS_NONE)
		return low == ROUNDS_NONE ? high : low;
	return low > high ? high : low + (high - low) / 2;
}

void round_plan_aim(struct round_plan *plan, uint64_t rounds, uint64_t elapsed)
{
	uint64_t mean = rounds ? elapsed / rounds : 0;

	if (!plan->limits.warmup_ns)
		return;
	mean = mean ? mean : 1;
	plan->target = between(lowest(&plan->limits, mean), highest(&plan->limits, mean));
}

/* ---- Measuring ---- */

static bool lower_limits_met(const struct round_limits *l, uint64_t rounds, uint64_t elapsed)
{
	return elapsed >= l->min_ns && (l->min_rounds == ROUNDS_NONE || rounds >= l->min_rounds);
}

static bool upper_limit_reached(const struct round_limits *l, uint64_t rounds, uint64_t elapsed)
{
	return (l->max_ns && elapsed >= l->max_ns) || rounds >= l->max_rounds;
}

/*
 * Without a target, rounds go on to the upper limit; but where a minimum of time is the only lower
 * one, and no number of rounds is given, that is enough.
 */
static bool ends_at_lower_limits(const struct round_limits *l)
{
	if (!l->max_ns && l->max_rounds == ROUNDS_NONE)
		return true;
	return l->min_ns && l->min_rounds == ROUNDS_NONE && l->max_rounds == ROUNDS_NONE;
}

bool round_plan_enough(const struct round_plan *plan, uint64_t rounds, uint64_t elapsed)
{
	const struct round_limits *l = &plan->limits;

	if (upper_limit_reached(l, rounds, elapsed))
		return true;
	if (!lower_limits_met(l, rounds, elapsed))
		return false;
	return plan->target == ROUNDS_NONE ? ends_at_lower_limits(l) : rounds >= plan->target;
}

const char *round_plan_unmet(const struct round_plan *plan, uint64_t rounds, uint64_t elapsed)
{
	const struct round_limits *l = &plan->limits;

	if (elapsed < l->min_ns)
		return "the minimum time could not be reached within the maximum of rounds";
	if (l->min_rounds != ROUNDS_NONE && rounds < l->min_rounds)
		return "the minimum of rounds could not be reached within the maximum time";
	return NULL;
}
