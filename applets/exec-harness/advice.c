/* SPDX-License-Identifier: MIT */
/* advice.c - what could be wrong with times, and what to do about it */
#include <unistd.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/round_statistics.h"
#include "core/units.h"

#include "applets/exec-harness/advice.h"

enum {
	FEW = 10,                /* rounds, of which nothing can be said */
	SHORT_NS = 5000000,      /* below this the start of a process can matter */
	EMPTY_TIMES = 2,         /* a round that is shorter than so many empty ones */
	BUSY_PERCENT = 10,       /* of the processors, used by others */
	STOLEN_PERCENT = 1,
	TICKS_MIN = 50,          /* of all processors, below which shares mean nothing */
};

static const double median_shift = 0.01; /* by which outliers may move the median unmentioned */
static const double drift_limit = 0.05;  /* from the first third of the rounds to the last */
static const double first_limit = 1.5;   /* of the median: a first round above it is slow */

static double median_of(const uint64_t *times, size_t count)
{
	struct round_statistics s;

	round_statistics_compute(&s, times, NULL, count);
	return s.median_ns;
}

/* ---- The rounds ---- */

bool advice_wants_empty(const uint64_t *times, size_t count)
{
	return count && median_of(times, count) < SHORT_NS;
}

static void on_short(const struct advice *a, const struct round_statistics *s, struct strvec *to)
{
	char round[UNIT_TEXT], empty[UNIT_TEXT];

	if (!a->empty_ns || s->median_ns >= (double)a->empty_ns * EMPTY_TIMES)
		return;
	strvec_pushf(to, "a round (%s) is hardly longer than starting and ending a program that does "
			 "nothing (%s here): let a round do more work",
		     format_time(round, (uint64_t)s->median_ns), format_time(empty, a->empty_ns));
}

static bool has_warmup(const struct advice *a)
{
	uint64_t ns = 1; /* the default is not 0 */

	return !a->options->warmup_time || (!parse_duration(a->options->warmup_time, &ns) && ns);
}

/* The median of what is left without the outliers. */
static double median_without_outliers(const struct advice *a, const struct round_statistics *s)
{
	double reach = 1.5 * (s->q3_ns - s->q1_ns), median;
	uint64_t *kept = xreallocarray(NULL, a->count, sizeof(*kept));
	size_t count = 0;

	for (size_t i = 0; i < a->count; i++)
		if ((double)a->times[i] >= s->q1_ns - reach && (double)a->times[i] <= s->q3_ns + reach)
			kept[count++] = a->times[i];
	median = count ? median_of(kept, count) : s->median_ns;
	free(kept);
	return median;
}

/* Outliers are normal; they are worth a word where they change what is compared. */
static void on_outliers(const struct advice *a, const struct round_statistics *s, struct strvec *to)
{
	const char *remedy = !has_warmup(a) ? "--warmup-time" : a->options->cpu ? NULL : "--cpu";
	double moved;

	if (!s->iqr_outlier_rounds || a->count < FEW || !remedy)
		return;
	moved = (s->median_ns - median_without_outliers(a, s)) / s->median_ns;
	if (moved < median_shift && moved > -median_shift)
		return;
	strvec_pushf(to, "%llu of %zu rounds are outliers, they move the median by %.1f %%: keep the "
			 "machine quiet, or use %s", (unsigned long long)s->iqr_outlier_rounds,
		     a->count, moved < 0 ? -moved * 100 : moved * 100, remedy);
}

static void on_first(const struct advice *a, const struct round_statistics *s, struct strvec *to)
{
	if (a->count < FEW || has_warmup(a) || a->options->prepare)
		return;
	if ((double)a->times[0] < s->median_ns * first_limit || a->times[0] <= s->q3_ns * first_limit)
		return;
	strvec_pushf(to, "the first round took %.1f times the median, as with cold caches: use "
			 "--warmup-time to leave that out, or --prepare to have it in each round",
		     (double)a->times[0] / s->median_ns);
}

/* Where the warm-up was chosen by hand, it is not said again. */
static void on_drift(const struct advice *a, struct strvec *to)
{
	size_t third = a->count / 3;
	double first, last, drift;

	if (a->count < 3 * FEW || (a->options->warmup_time && has_warmup(a)))
		return;
	first = median_of(a->times, third);
	last = median_of(a->times + a->count - third, third);
	drift = (last - first) / first;
	if (drift < drift_limit && drift > -drift_limit)
		return;
	strvec_pushf(to, "rounds became %s while measuring (%.1f %% from the first third to the last): "
			 "use a longer --warmup-time", drift > 0 ? "slower" : "faster",
		     drift > 0 ? drift * 100 : -drift * 100);
}

/* ---- The machine ---- */

static uint64_t since(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

/* What others did is what the processors did, less what our rounds did. */
static void on_load(const struct advice *a, struct strvec *to)
{
	uint64_t busy = since(a->before.busy, a->after.busy);
	uint64_t stolen = since(a->before.stolen, a->after.stolen);
	uint64_t all = busy + stolen + since(a->before.idle, a->after.idle);
	uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t ours = a->cpu_ns / (NS_PER_SECOND / (ticks ? ticks : 100));
	uint64_t others = busy > ours ? busy - ours : 0;

	if (all < TICKS_MIN)
		return;
	if (others * 100 / all >= BUSY_PERCENT && !a->options->cpu)
		strvec_pushf(to, "other programs used %llu %% of the processors meanwhile: end them, or "
				 "keep away from them with --cpu",
			     (unsigned long long)(others * 100 / all));
	if (stolen * 100 / all >= STOLEN_PERCENT)
		strvec_pushf(to, "the hypervisor gave %llu %% of the processor time to other machines: "
				 "measure on a machine that is not shared",
			     (unsigned long long)(stolen * 100 / all));
}

static void on_frequency(const struct advice *a, struct strvec *to)
{
	uint64_t throttled = since(a->before.throttled, a->after.throttled);

	if (*a->before.governor)
		strvec_pushf(to, "the processors change their frequency by load (governor %s): "
				 "'cpupower frequency-set -g performance' keeps it steady",
			     a->before.governor);
	if (throttled)
		strvec_pushf(to, "the processors were slowed %llu times because of their heat: let the "
				 "machine cool down, and see to its cooling",
			     (unsigned long long)throttled);
}

void advice_give(const struct advice *a, struct strvec *to)
{
	struct round_statistics s;

	if (a->options->quiet || !a->count)
		return;
	round_statistics_compute(&s, a->times, NULL, a->count);
	on_short(a, &s, to);
	on_first(a, &s, to);
	on_outliers(a, &s, to);
	on_drift(a, to);
	on_load(a, to);
	on_frequency(a, to);
}
