/* SPDX-License-Identifier: MIT */
/*
 * rounds.h - the rounds of one command: warm-up, measured ones, and those for a profile. Each step
 * returns 0; -EINTR without a frame when we were asked to end, the round under way not counting; or
 * another -errno with a frame that names the round.
 */
#ifndef EXEC_HARNESS_ROUNDS_H
#define EXEC_HARNESS_ROUNDS_H

#include "applets/exec-harness/advice.h"
#include "applets/exec-harness/round.h"
#include "applets/exec-harness/round_plan.h"
#include "applets/exec-harness/walltime.h"

/* Processes that were still running, and were ended. */
struct left_behind {
	size_t count;
	struct buf names; /* of the first ones */
};

/* One command at work. */
struct rounds {
	struct walltime *w;
	struct round_benchmark *to; /* what is measured goes there */
	struct round_plan plan;
	struct round_command command;
	struct advice advice;
	const char *phase;  /* for messages: "the warm-up" or "measuring" */
	struct left_behind of_rounds, of_asides;
	uint64_t mean;      /* of the warm-up's rounds; 0: there was none */
	uint64_t elapsed;   /* of measuring, at its end */
	int status;         /* of the round that failed */
};

/* The warm-up, if there is to be one, and the aim that it gives. True in *single: its one round is the
 * result, and nothing is left to measure. */
int rounds_warm_up(struct rounds *r, bool *single);
int rounds_measure(struct rounds *r);

/* Rounds that are not measured but sampled: at least one, for half a second. */
int rounds_sample(struct rounds *r);

/*
 * A command of the user's own that is not timed; NULL text: nothing. `what` it is and the round it is
 * for, 0 for none, are for messages.
 */
int rounds_aside(struct rounds *r, const char *what, const char *text, uint64_t round);

/*
 * round_notes.c: what is to be said of the rounds besides their times, into the record: advice about
 * them (`times` of each), and what came about.
 */
void rounds_advise(struct rounds *r, const uint64_t *times);
void rounds_describe(struct rounds *r);
void rounds_note(struct rounds *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
