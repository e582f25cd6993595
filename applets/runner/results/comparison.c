/* SPDX-License-Identifier: MIT */
/* comparison.c - two results, benchmark by benchmark and metric by metric */
#include <math.h>

#include "applets/runner/results/benchmark_index.h"
#include "applets/runner/results/comparison.h"
#include "applets/runner/results/fingerprint.h"
#include "core/base.h"
#include "core/buf.h"

static const char *const verdict_names[] = {
	[VERDICT_REGRESSED] = "regressed",
	[VERDICT_INCOMPARABLE] = "not comparable",
	[VERDICT_MISSING] = "missing",
	[VERDICT_NEW] = "new",
	[VERDICT_IMPROVED] = "improved",
	[VERDICT_UNCHANGED] = "unchanged",
	[VERDICT_NONE] = "",
};

const char *verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}

const struct benchmark *compared_benchmark(const struct compared *row)
{
	return row->head ? row->head : row->base;
}

double relative_change(const struct metric_change *change)
{
	double base = (double)change->base.value, head = (double)change->head.value;

	if (change->base.value == change->head.value)
		return 0;
	return change->base.value ? (head - base) / base : INFINITY;
}

enum verdict judge_exact(const struct metric_change *change, double threshold)
{
	if (!change->base.known || !change->head.known)
		return VERDICT_NONE;
	if (change->base.value == change->head.value || fabs(relative_change(change)) <= threshold)
		return VERDICT_UNCHANGED;
	return change->head.value > change->base.value ? VERDICT_REGRESSED : VERDICT_IMPROVED;
}

enum verdict judge_test(const struct rank_test *test, double threshold)
{
	if (test->p >= RANK_TEST_ALPHA || fabs(test->ratio - 1) <= threshold)
		return VERDICT_UNCHANGED;
	return test->ratio > 1 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
}

/* Wall time: the rounds are judged as a whole, the median stands for them. */
static enum verdict judge_rounds(struct compared *row, double threshold)
{
	const struct benchmark *base = row->base, *head = row->head;
	struct rank_test test;
	size_t fewer = base->rounds.len < head->rounds.len ? base->rounds.len : head->rounds.len;

	if (fewer < RANK_TEST_MIN_ROUNDS) {
		row->why = xasprintf("%zu and %zu rounds, a rank test needs %d of each (--min-rounds)",
			base->rounds.len, head->rounds.len, RANK_TEST_MIN_ROUNDS);
		return VERDICT_INCOMPARABLE;
	}
	test = rank_test(base->rounds.items, base->rounds.len, head->rounds.items,
		head->rounds.len);
	row->metrics[WALLTIME_MEDIAN].test = xmemdup(&test, sizeof(test));
	return judge_test(&test, threshold);
}

/* Figures of a run that went wrong say nothing about the code. */
static const char *unfit(const struct benchmark *benchmark)
{
	return benchmark->status == BENCHMARK_OK ? NULL : benchmark_status_name(benchmark->status);
}

static char *why_unfit(const struct comparison *c, const struct compared *row)
{
	const char *base = unfit(row->base), *head = unfit(row->head);

	if (base && head)
		return xasprintf("%s in %s, %s in %s", base, c->base_name, head, c->head_name);
	if (base || head)
		return xasprintf("%s in %s", base ? base : head, base ? c->base_name : c->head_name);
	return NULL;
}

static void judge_both(const struct comparison *c, struct compared *row,
	const struct comparison_options *options)
{
	enum mode mode = row->head->mode;
	size_t leading = result_mode_info(mode)->leading;

	if (c->why[mode] && !options->across_machines) {
		row->verdict = VERDICT_INCOMPARABLE;
		return; /* c->why says it for all */
	}
	row->why = why_unfit(c, row);
	if (row->why) {
		row->verdict = VERDICT_INCOMPARABLE;
		return;
	}
	for (size_t i = 0; mode != MODE_WALLTIME && i < result_mode_info(mode)->metric_count; i++)
		row->metrics[i].verdict = judge_exact(&row->metrics[i], options->threshold);
	if (mode == MODE_WALLTIME)
		row->metrics[leading].verdict = judge_rounds(row, options->threshold);
	row->verdict = row->metrics[leading].verdict;
	if (row->verdict == VERDICT_NONE) {
		row->verdict = VERDICT_INCOMPARABLE;
		row->why = xasprintf("%s unknown", result_mode_info(mode)->metrics[leading].name);
	}
}

static void add_row(struct comparison *c, const struct benchmark *base,
	const struct benchmark *head, const struct comparison_options *options)
{
	struct compared *row;

	vec_push(&c->rows, (struct compared){.base = base, .head = head});
	row = vec_last(&c->rows);
	for (size_t i = 0; i < RESULT_METRICS_MAX; i++) {
		row->metrics[i].base = base ? base->metrics[i] : MEASURE_NULL;
		row->metrics[i].head = head ? head->metrics[i] : MEASURE_NULL;
		row->metrics[i].verdict = VERDICT_NONE;
	}
	if (base && head)
		judge_both(c, row, options);
	else
		row->verdict = head ? VERDICT_NEW : VERDICT_MISSING;
	c->counts[row->verdict]++;
}

/* The head's benchmarks; `seen` marks those of the base that have one. */
static void add_head(struct comparison *c, struct benchmark_index *base, bool *seen,
	const struct comparison_options *options)
{
	for (size_t i = 0; i < c->head->benchmarks.len; i++) {
		const struct benchmark *head = &c->head->benchmarks.items[i];
		size_t at = benchmark_index_find(base, head);

		if (at != SIZE_MAX)
			seen[at] = true;
		add_row(c, at == SIZE_MAX ? NULL : &c->base->benchmarks.items[at], head, options);
	}
}

static void compare_machines(struct comparison *c)
{
	for (size_t i = 0; i < MODE_COUNT; i++) {
		enum mode mode = (enum mode)i;
		struct buf why = BUF_INIT;

		if (!result_has_mode(c->base, mode) || !result_has_mode(c->head, mode))
			continue;
		fingerprint_differences(c->base, c->head, mode, &why);
		if (why.len)
			c->why[i] = buf_detach(&why);
	}
}

static int check_twice(const struct result *result, const char *name)
{
	struct benchmark_index index;
	int rc = benchmark_index_init(&index, result, name);

	benchmark_index_release(&index);
	return rc;
}

int comparison_make(struct comparison *c, const struct result *base, const char *base_name,
	const struct result *head, const char *head_name, const struct comparison_options *options)
{
	struct benchmark_index index;
	int rc = benchmark_index_init(&index, base, base_name);
	bool *seen = xcalloc(base->benchmarks.len, sizeof(*seen));

	*c = (struct comparison){
		.base = base, .head = head, .base_name = base_name, .head_name = head_name,
	};
	if (!rc)
		rc = check_twice(head, head_name);
	if (rc)
		goto out;
	compare_machines(c);
	add_head(c, &index, seen, options);
	for (size_t i = 0; i < base->benchmarks.len; i++)
		if (!seen[i])
			add_row(c, &base->benchmarks.items[i], NULL, options);
out:
	benchmark_index_release(&index);
	free(seen);
	return rc;
}

void comparison_release(struct comparison *c)
{
	for (size_t i = 0; i < c->rows.len; i++) {
		free(c->rows.items[i].why);
		for (size_t m = 0; m < RESULT_METRICS_MAX; m++)
			free(c->rows.items[i].metrics[m].test);
	}
	vec_release(&c->rows);
	for (size_t i = 0; i < MODE_COUNT; i++)
		free(c->why[i]);
	*c = (struct comparison){0};
}
