/* SPDX-License-Identifier: MIT */
/* costs.c - event counts of a simulation and the metrics made of them */
#include "core/base.h"

#include "applets/runner/simulation/costs.h"

enum { LL_CYCLES = 5, RAM_CYCLES = 35 };

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t p;

	return __builtin_mul_overflow(a, b, &p) ? UINT64_MAX : p;
}

/* An event of the sum is known if every part has it; the first part brings what it has. */
static void add_event(struct costs *to, size_t event, uint64_t count, bool has)
{
	to->events[event] = add_capped(to->events[event], count);
	to->has_event[event] = has && (to->has_event[event] || !to->parts);
}

void costs_add_part(struct costs *to, const struct callgrind_part *part)
{
	for (size_t i = 0; i < CG_EVENT_COUNT; i++)
		add_event(to, i, part->costs[i], part->has_event[i]);
	to->below_main_seen |= part->below_main_seen;
	to->main_inclusive = add_capped(to->main_inclusive, part->main_inclusive);
	to->parts++;
}

void costs_add(struct costs *to, const struct costs *from)
{
	if (!from->parts)
		return;
	for (size_t i = 0; i < CG_EVENT_COUNT; i++)
		add_event(to, i, from->events[i], from->has_event[i]);
	to->below_main_seen |= from->below_main_seen;
	to->main_inclusive = add_capped(to->main_inclusive, from->main_inclusive);
	to->parts += from->parts;
}

struct measure costs_startup(const struct costs *c)
{
	if (!c->below_main_seen)
		return MEASURE_NULL;
	return MEASURE(difference(c->events[CG_IR], c->main_inclusive));
}

void costs_to_metrics(const struct costs *c, struct measure metrics[SIMULATION_METRICS])
{
	const uint64_t *e = c->events;
	uint64_t ram, ll, l1;

	metrics[SIMULATION_INSTRUCTIONS] = MEASURE(e[CG_IR]);
	for (size_t i = 0; i < CG_EVENT_COUNT; i++)
		if (!c->has_event[i])
			return;
	ram = add_capped(add_capped(e[CG_ILMR], e[CG_DLMR]), e[CG_DLMW]);
	ll = difference(add_capped(add_capped(e[CG_I1MR], e[CG_D1MR]), e[CG_D1MW]), ram);
	l1 = difference(difference(add_capped(add_capped(e[CG_IR], e[CG_DR]), e[CG_DW]), ll), ram);
	metrics[SIMULATION_L1_HITS] = MEASURE(l1);
	metrics[SIMULATION_LL_HITS] = MEASURE(ll);
	metrics[SIMULATION_RAM_HITS] = MEASURE(ram);
	metrics[SIMULATION_ESTIMATED_CYCLES] =
		MEASURE(add_capped(l1, add_capped(product(LL_CYCLES, ll), product(RAM_CYCLES, ram))));
}
