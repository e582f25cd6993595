/* SPDX-License-Identifier: MIT */
/* paired.c - two commands whose rounds ran in turn, compared pair by pair */
#include "applets/runner/results/paired.h"
#include "applets/runner/results/signed_rank.h"
#include "core/base.h"

void paired_release(struct paired_side *side)
{
	result_release(&side->last);
	for (size_t i = 0; i < RESULT_METRICS_MAX; i++)
		vec_release(&side->rounds[i].items);
}

int paired_add(struct paired_side *side, struct result *round)
{
	const struct benchmark *b = round->benchmarks.items;

	if (round->benchmarks.len != 1)
		return fail(-EINVAL, "the round has %zu benchmarks", round->benchmarks.len);
	if (b->status != BENCHMARK_OK)
		return fail(-EINVAL, "the round is %s%s%s", benchmark_status_name(b->status),
			b->notes.len ? ": " : "", b->notes.len ? b->notes.items[0] : "");
	for (size_t i = 0; i < RESULT_METRICS_MAX; i++)
		vec_push(&side->rounds[i].items, b->metrics[i]);
	result_release(&side->last);
	side->last = *round;
	*round = (struct result)RESULT_INIT;
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The values of all rounds, or NULL where one is unknown; the caller frees. */
static uint64_t *values_of(const struct rounds_of_metric *rounds)
{
	uint64_t *values = xreallocarray(NULL, rounds->items.len, sizeof(*values));

	for (size_t i = 0; i < rounds->items.len; i++) {
		if (!rounds->items.items[i].known) {
			free(values);
			return NULL;
		}
		values[i] = rounds->items.items[i].value;
	}
	return values;
}

/* Of an even number the lower of the two in the middle: a value that was measured. */
static struct measure median_of(const struct rounds_of_metric *rounds)
{
	uint64_t *values = values_of(rounds);
	struct measure median = MEASURE_NULL;

	if (values) {
		qsort(values, rounds->items.len, sizeof(*values), compare_numbers);
		median = MEASURE(values[(rounds->items.len - 1) / 2]);
	}
	free(values);
	return median;
}

static bool all_equal(const uint64_t *values, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (values[i] != values[0])
			return false;
	return true;
}

static void judge_metric(struct compared *row, size_t metric, const uint64_t *base,
	const uint64_t *head, size_t rounds, double threshold)
{
	struct metric_change *change = &row->metrics[metric];
	struct rank_test test;

	if (all_equal(base, rounds) && all_equal(head, rounds)) {
		change->verdict = judge_exact(change, threshold);
	} else if (rounds < SIGNED_RANK_MIN_PAIRS) {
		change->verdict = VERDICT_INCOMPARABLE;
	} else {
		test = signed_rank_test(base, head, rounds);
		change->test = xmemdup(&test, sizeof(test));
		change->verdict = judge_test(&test, threshold);
	}
}

static void judge(struct comparison *c, const struct paired_side *base,
	const struct paired_side *head, double threshold)
{
	struct compared *row = &c->rows.items[0];
	const struct mode_info *mode = result_mode_info(row->head->mode);

	c->counts[row->verdict]--;
	free(row->why);
	row->why = NULL;
	for (size_t i = 0; i < mode->metric_count; i++) {
		uint64_t *a = values_of(&base->rounds[i]), *b = values_of(&head->rounds[i]);

		free(row->metrics[i].test);
		row->metrics[i].test = NULL;
		row->metrics[i].verdict = VERDICT_NONE;
		if (a && b)
			judge_metric(row, i, a, b, base->rounds[i].items.len, threshold);
		free(a);
		free(b);
	}
	row->verdict = row->metrics[mode->leading].verdict;
	if (row->verdict == VERDICT_INCOMPARABLE)
		row->why = xasprintf("rounds differ, and a test of %zu pairs can tell nothing: --rounds %d "
				     "at least", base->rounds[0].items.len, SIGNED_RANK_MIN_PAIRS);
	if (row->verdict == VERDICT_NONE) {
		row->verdict = VERDICT_INCOMPARABLE;
		row->why = xasprintf("%s unknown", mode->metrics[mode->leading].name);
	}
	c->counts[row->verdict]++;
}

static void take_medians(struct paired_side *side)
{
	for (size_t i = 0; i < RESULT_METRICS_MAX; i++)
		side->last.benchmarks.items[0].metrics[i] = median_of(&side->rounds[i]);
}

int paired_compare(struct comparison *c, struct paired_side *base, const char *base_name,
	struct paired_side *head, const char *head_name, const struct comparison_options *options)
{
	const struct comparison_options here = {options->threshold, .across_machines = true};
	int rc;

	take_medians(base);
	take_medians(head);
	rc = comparison_make(c, &base->last, base_name, &head->last, head_name, &here);
	if (rc)
		return rc;
	if (c->rows.len != 1)
		return fail(-EINVAL, "the two sides are not one benchmark");
	c->paired = true;
	judge(c, base, head, options->threshold);
	return 0;
}
