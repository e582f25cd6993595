/* SPDX-License-Identifier: MIT */
/* round_notes.c - what is to be said of rounds besides their times */
#include <stdarg.h>

#include "core/base.h"

#include "applets/exec-harness/rounds.h"

extern char **environ;

enum { EMPTY_ROUNDS = 20 }; /* of a program that does nothing */

void rounds_note(struct rounds *r, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	strvec_take(&r->to->notes, buf_detach(&text));
}

/* What a process costs that only starts and ends: this program, asked for nothing. */
static uint64_t time_empty(void)
{
	char *const argv[] = {"exec-harness", "--nothing", NULL};
	const struct round_command command = {
		.path = "/proc/self/exe", .argv = argv, .envp = environ, .err = -1, .drain = -1,
	};
	uint64_t times[EMPTY_ROUNDS];
	struct round_statistics s;

	for (size_t i = 0; i < EMPTY_ROUNDS; i++) {
		struct round round = {0};

		if (round_run(&command, &round) || round.status) {
			error_clear();
			return 0;
		}
		times[i] = round.end - round.start;
	}
	round_statistics_compute(&s, times, NULL, EMPTY_ROUNDS);
	return (uint64_t)s.median_ns;
}

void rounds_advise(struct rounds *r, const uint64_t *times)
{
	struct advice *a = &r->advice;

	a->times = times;
	a->count = r->to->rounds.len;
	a->options = r->w->options;
	for (size_t i = 0; i < a->count; i++)
		a->cpu_ns += r->to->rounds.items[i].user_ns + r->to->rounds.items[i].system_ns;
	if (!a->options->quiet && advice_wants_empty(times, a->count))
		a->empty_ns = time_empty();
	advice_give(a, &r->to->notes);
}

/* Which tolerated statuses there were. */
static void note_statuses(struct rounds *r)
{
	const struct round_benchmark *b = r->to;
	size_t counts[256] = {0};

	for (size_t i = 0; i < b->rounds.len; i++)
		counts[b->rounds.items[i].status & 255]++;
	for (int status = 1; status < 256; status++)
		if (counts[status])
			rounds_note(r, "%zu of %zu rounds ended with exit status %d, as allowed", counts[status],
			     b->rounds.len, status);
}

static void note_left(struct rounds *r, const struct left_behind *left, const char *what)
{
	if (left->count)
		rounds_note(r, "%zu process%s still running after %s, and ended: %s", left->count,
			    left->count == 1 ? " was" : "es in all were", what, left->names.data);
}

void rounds_describe(struct rounds *r)
{
	const char *unmet = round_plan_unmet(&r->plan, r->to->rounds.len, r->elapsed);

	if (r->to->outcome == ROUNDS_OK && unmet)
		rounds_note(r, "%s", unmet);
	note_statuses(r);
	note_left(r, &r->of_asides, "--prepare, before the round");
	note_left(r, &r->of_rounds, "the round");
}
