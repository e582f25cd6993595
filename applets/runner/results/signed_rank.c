/* SPDX-License-Identifier: MIT */
/* signed_rank.c - the Wilcoxon signed-rank test and the interval of the ratio */
#include <math.h>

#include "applets/runner/results/signed_rank.h"
#include "core/base.h"

enum { EXACT_PAIRS = 50 }; /* 2^50 signs are counted exactly by a double */

struct pair {
	uint64_t larger, smaller;
	bool longer; /* the head's round */
};

/* By the size of the ratio, without rounding: equal ones are ties. */
static int by_ratio(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	unsigned __int128 left = (unsigned __int128)x->larger * y->smaller;
	unsigned __int128 right = (unsigned __int128)y->larger * x->smaller;

	return (left > right) - (left < right);
}

static struct pair pair_of(uint64_t base, uint64_t head)
{
	base = base ? base : 1;
	head = head ? head : 1;
	return (struct pair){base > head ? base : head, base > head ? head : base, head > base};
}

/* Those that differ, sorted; the caller frees. */
static struct pair *differing(const uint64_t *base, const uint64_t *head, size_t count, size_t *len)
{
	struct pair *pairs = xreallocarray(NULL, count, sizeof(*pairs));

	*len = 0;
	for (size_t i = 0; i < count; i++) {
		pairs[*len] = pair_of(base[i], head[i]);
		*len += pairs[*len].larger != pairs[*len].smaller;
	}
	qsort(pairs, *len, sizeof(*pairs), by_ratio);
	return pairs;
}

/* Twice the ranks of the pairs, whose ratios are sorted: equal ones share the mean of theirs. */
static uint32_t *rank(const struct pair *pairs, size_t len)
{
	uint32_t *ranks = xreallocarray(NULL, len + 1, sizeof(*ranks));

	for (size_t i = 0, end; i < len; i = end) {
		for (end = i; end < len && !by_ratio(&pairs[i], &pairs[end]); end++)
			;
		for (size_t j = i; j < end; j++)
			ranks[j] = (uint32_t)(i + 1 + end); /* of ranks i + 1 to end */
	}
	return ranks;
}

/* Of the pairs whose head's round is longer. */
static uint64_t sum_of_longer(const struct pair *pairs, const uint32_t *ranks, size_t len)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += pairs[i].longer ? ranks[i] : 0;
	return sum;
}

/*
 * How many of the 2^len signs give each sum of these ranks, 0 to *last; the caller frees. With
 * ties that is the distribution given the ties.
 */
static double *count_signs(const uint32_t *ranks, size_t len, uint64_t *last)
{
	double *counts;

	*last = 0;
	for (size_t i = 0; i < len; i++)
		*last += ranks[i];
	counts = xcalloc(*last + 1, sizeof(*counts));
	counts[0] = 1;
	for (size_t i = 0; i < len; i++)
		for (uint64_t sum = *last; sum >= ranks[i]; sum--)
			counts[sum] += counts[sum - ranks[i]];
	return counts;
}

static double p_exactly(const uint32_t *ranks, size_t len, uint64_t longer)
{
	uint64_t last, tail;
	double *counts = count_signs(ranks, len, &last), up_to = 0;

	tail = longer < last - longer ? longer : last - longer;
	for (uint64_t i = 0; i <= tail; i++)
		up_to += counts[i];
	free(counts);
	return fmin(1, 2 * up_to / ldexp(1, (int)len));
}

/* The sum of t^3 - t over groups of t equal ranks. */
static double tie_term(const uint32_t *ranks, size_t len)
{
	double sum = 0;

	for (size_t i = 0, end; i < len; i = end) {
		double t;

		for (end = i; end < len && ranks[end] == ranks[i]; end++)
			;
		t = (double)(end - i);
		sum += t * t * t - t;
	}
	return sum;
}

static double p_by_normal(const uint32_t *ranks, size_t len, uint64_t longer)
{
	double n = (double)len;
	double sigma = sqrt(n * (n + 1) * (2 * n + 1) / 24 - tie_term(ranks, len) / 48);
	double z = sigma > 0 ? (fabs((double)longer / 2 - n * (n + 1) / 4) - 0.5) / sigma : 0;

	return z > 0 ? erfc(z / sqrt(2)) : 1;
}

/* Which of the sorted averages of `count` pairs the interval begins with (from 1), without ties. */
static size_t interval_start(size_t count)
{
	uint32_t ranks[EXACT_PAIRS];
	double n = (double)count, *counts, up_to, k;
	uint64_t last, at = 0;

	if (count > EXACT_PAIRS) {
		k = floor(n * (n + 1) / 4 - RANK_TEST_Z * sqrt(n * (n + 1) * (2 * n + 1) / 24));
		return k >= 1 ? (size_t)k : 1;
	}
	for (uint32_t i = 0; i < count; i++)
		ranks[i] = i + 1;
	counts = count_signs(ranks, count, &last);
	up_to = counts[0];
	while (up_to / ldexp(1, (int)count) < RANK_TEST_ALPHA / 2 && at < last)
		up_to += counts[++at];
	free(counts);
	return at ? (size_t)at : 1;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The means of any two logarithms, each with itself, too; sorted. The caller frees. */
static double *walsh_averages(const uint64_t *base, const uint64_t *head, size_t count)
{
	double *logs = xreallocarray(NULL, count, sizeof(*logs));
	double *averages = xreallocarray(NULL, count * (count + 1) / 2, sizeof(*averages));
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		struct pair p = pair_of(base[i], head[i]);

		logs[i] = log((double)p.larger / (double)p.smaller) * (p.longer ? 1 : -1);
		for (size_t j = 0; j <= i; j++)
			averages[len++] = (logs[i] + logs[j]) / 2;
	}
	free(logs);
	qsort(averages, len, sizeof(*averages), compare_doubles);
	return averages;
}

struct rank_test signed_rank_test(const uint64_t *base, const uint64_t *head, size_t count)
{
	size_t differ, all = count * (count + 1) / 2, k = interval_start(count);
	struct pair *pairs = differing(base, head, count, &differ);
	double *averages = walsh_averages(base, head, count);
	uint32_t *ranks = rank(pairs, differ);
	uint64_t longer = sum_of_longer(pairs, ranks, differ);
	struct rank_test test = {.exact = differ <= EXACT_PAIRS};

	test.p = test.exact ? p_exactly(ranks, differ, longer) : p_by_normal(ranks, differ, longer);
	test.ratio = exp((averages[(all - 1) / 2] + averages[all / 2]) / 2);
	test.low = exp(averages[k - 1]);
	test.high = exp(averages[all - k]);
	free(averages);
	free(ranks);
	free(pairs);
	return test;
}
