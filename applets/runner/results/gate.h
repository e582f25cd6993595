/* SPDX-License-Identifier: MIT */
/*
 * gate.h - limits of metrics, and which of them a comparison breaks.
 *
 * A limit is text: `3%` how much a metric may grow over the base's, `+100` the same as a number,
 * `5000` how large it may be at all, `off` none. Numbers are in the metric's unit.
 */
#ifndef RESULTS_GATE_H
#define RESULTS_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "applets/runner/results/comparison.h"
#include "core/buf.h"
#include "core/strvec.h"
#include "core/vec.h"

enum gate_kind { GATE_OFF, GATE_SHARE, GATE_GROWTH, GATE_CEILING };

struct gate {
	char *benchmark; /* name or URI; NULL: every benchmark that has no gate of its own */
	enum mode mode;
	size_t metric; /* of the mode */
	enum gate_kind kind;
	double share;    /* 0.03 for 3% */
	uint64_t amount; /* GATE_GROWTH, GATE_CEILING */
};

struct gates {
	VEC(struct gate) items;
};

void gates_release(struct gates *gates);

/*
 * One gate; `benchmark` is copied, NULL for all of them. Of several for one benchmark and metric
 * the last one counts. 0, or -EINVAL with a frame that says what was expected.
 */
int gates_add(struct gates *gates, const char *benchmark, const char *metric, const char *limit);

/*
 * `METRIC=LIMIT,...` for all benchmarks, or `BENCHMARK:METRIC=LIMIT` for one, whose name may hold
 * anything. As above.
 */
int gates_parse(struct gates *gates, const char *text);

/*
 * The same for lines of such text, empty ones aside. With a `benchmark` all are limits of that one,
 * METRIC=LIMIT,... only.
 */
int gates_parse_lines(struct gates *gates, const char *benchmark, const char *text);

/* Whether any limit is relative to a base. */
bool gates_need_base(const struct gates *gates);

struct broken_gate {
	const struct gate *gate;
	const struct compared *row;
};

struct broken_gates {
	VEC(struct broken_gate) items;
};

/*
 * All that `c` breaks, in its order. What cannot be compared breaks only ceilings. A growth of wall
 * time breaks a gate only where the rank test finds the rounds longer, too.
 */
void gates_check(const struct gates *gates, const struct comparison *c, struct broken_gates *to);

/* The names that gates give to benchmarks of which `c` has none: those gates can never be broken. */
void gates_unused(const struct gates *gates, const struct comparison *c, struct strvec *to);

/* Append "NAME: METRIC is 1,050, 5.00% above the base's 1,000; the limit is 3%". */
void broken_gate_text(const struct broken_gate *broken, struct buf *to);

/* "2.5%" as 0.025. 0, or -EINVAL with a frame. */
int parse_share(const char *text, double *share);

#endif
