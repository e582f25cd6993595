/* SPDX-License-Identifier: MIT */
/* rounds.c - the rounds of one command */
#include <stdio.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/exit_code.h"
#include "core/leftovers.h"
#include "core/units.h"

#include "applets/exec-harness/interrupts.h"
#include "applets/exec-harness/rounds.h"

extern char **environ;

enum {
	ROOM = 65536,                  /* rounds for which nothing is allocated in between */
	SAMPLED_NS = 500 * 1000 * 1000,
	LINGER_NS = 100 * 1000 * 1000, /* for what a round leaves to end by itself */
};

/* Not part of the round: what was left would disturb the next one. */
static void end_leftovers(struct left_behind *left)
{
	left->count += leftovers_end(LINGER_NS, left->names.len ? NULL : &left->names);
}

static int fail_status(struct rounds *r, const char *what, int64_t status, uint64_t round)
{
	char where[64] = "";

	r->status = (int)status;
	if (round)
		snprintf(where, sizeof(where), " in round %llu of %s", (unsigned long long)round, r->phase);
	if (status > EXIT_SIGNAL_BASE)
		return fail(-ECHILD, "%s ended with exit status %d (signal %d, %s)%s", what, (int)status,
			    (int)status - EXIT_SIGNAL_BASE, strsignal((int)status - EXIT_SIGNAL_BASE),
			    where);
	return fail(-ECHILD, "%s ended with exit status %d%s", what, (int)status, where);
}

int rounds_aside(struct rounds *r, const char *what, const char *text, uint64_t round)
{
	char *const argv[] = {"sh", "-c", (char *)text, NULL};
	struct round_command command = {.path = "/bin/sh", .argv = argv, .envp = environ, .err = -1,
					.drain = -1};
	struct round ignored = {0};
	int rc;

	if (!text)
		return 0;
	rc = round_run(&command, &ignored);
	end_leftovers(&r->of_asides);
	return rc || !ignored.status ? rc : fail_status(r, what, ignored.status, round);
}

static int judge(struct rounds *r, const struct round *round, uint64_t number)
{
	if (interrupts_timed_out())
		return fail(-ETIMEDOUT, "the command took longer than %s in round %llu of %s",
			    format_duration((char[UNIT_TEXT]){0}, r->w->timeout_ns),
			    (unsigned long long)number, r->phase);
	if (!r->w->allowed[round->status & 255])
		return fail_status(r, "the command", round->status, number);
	return 0;
}

static int run_round(struct rounds *r, uint64_t number, struct round *round)
{
	int rc;

	if (interrupts_signal())
		return -EINTR;
	rc = rounds_aside(r, "--prepare", r->w->options->prepare, number);
	if (rc)
		return interrupts_signal() ? -EINTR : rc;
	round_streams_rewind(&r->w->streams);
	rc = round_run(&r->command, round);
	end_leftovers(&r->of_rounds);
	if (interrupts_signal()) {
		error_clear();
		return -EINTR;
	}
	return rc ? rc : judge(r, round, number);
}

int rounds_warm_up(struct rounds *r, bool *single)
{
	uint64_t rounds = 0, elapsed = 0, begin = clock_now();
	struct round round = {0};
	int rc = 0;

	r->phase = "the warm-up";
	*single = false;
	while (!rc && round_plan_warms_up(&r->plan, rounds, elapsed)) {
		rc = run_round(r, rounds + 1, &round);
		elapsed = clock_now() - begin;
		rounds++;
	}
	if (rc)
		return rc;
	r->mean = rounds ? elapsed / rounds : 0;
	*single = round_plan_is_single(&r->plan, rounds, round.end - round.start);
	if (*single)
		vec_push(&r->to->rounds, round);
	round_plan_aim(&r->plan, rounds, elapsed);
	return 0;
}

static void make_room(struct rounds *r)
{
	uint64_t target = r->plan.target;

	r->to->rounds.cap = target < ROOM ? target + 1 : ROOM;
	r->to->rounds.items = xreallocarray(NULL, r->to->rounds.cap, sizeof(struct round));
}

int rounds_measure(struct rounds *r)
{
	uint64_t begin;
	int rc;

	r->phase = "measuring";
	make_room(r);
	machine_state_read(&r->advice.before, "");
	begin = clock_now();
	do {
		struct round round = {0};

		rc = run_round(r, r->to->rounds.len + 1, &round);
		r->elapsed = clock_now() - begin;
		if (!rc)
			vec_push(&r->to->rounds, round);
	} while (!rc && !round_plan_enough(&r->plan, r->to->rounds.len, r->elapsed));
	if (!rc)
		machine_state_read(&r->advice.after, "");
	return rc;
}

int rounds_sample(struct rounds *r)
{
	uint64_t begin = clock_now(), number = 0;
	int rc;

	r->phase = "the rounds for the profile";
	do {
		struct round round = {0};

		rc = run_round(r, ++number, &round);
	} while (!rc && clock_now() - begin < SAMPLED_NS);
	return rc;
}
