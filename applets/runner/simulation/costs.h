/* SPDX-License-Identifier: MIT */
/* costs.h - event counts of a simulation added up, and the metrics made of them */
#ifndef SIMULATION_COSTS_H
#define SIMULATION_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "applets/runner/results/result.h"
#include "applets/runner/simulation/callgrind.h"

struct costs {
	uint64_t events[CG_EVENT_COUNT];
	bool has_event[CG_EVENT_COUNT];
	bool below_main_seen;    /* some part shows C start-up code by name */
	uint64_t main_inclusive; /* instructions of what `(below main)` calls */
	size_t parts;
};

/* Sums end at UINT64_MAX, they do not wrap. */
void costs_add_part(struct costs *to, const struct callgrind_part *part);
void costs_add(struct costs *to, const struct costs *from);

/*
 * Instructions before main() of a program that was started by exec: the total without what
 * `(below main)` calls; null where start-up code has no name (stripped static programs).
 */
struct measure costs_startup(const struct costs *c);

/*
 * The metrics of simulation mode but for the start-up. Without the cache model's events only
 * instructions are known.
 *
 * RAM = ILmr + DLmr + DLmw; LL = I1mr + D1mr + D1mw - RAM; L1 = Ir + Dr + Dw - LL - RAM;
 * estimated cycles = L1 + 5 LL + 35 RAM, the formula of cachegrind's users (iai, gungraun).
 */
void costs_to_metrics(const struct costs *c, struct measure metrics[SIMULATION_METRICS]);

#endif
