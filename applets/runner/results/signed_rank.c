/* SPDX-License-Identifier: MIT */
/* signed_rank.c - the Wilcoxon signed-rank test and the interval of the ratio */
#include <math.h>

#include "applets/runner/results/signed_rank.h"
#include "core/base.h"

enum { EXACT_PAIRS = 50 }; /* 2^50 orders are counted exactly by a double */

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

struct ranks {
	double longer; /* sum of the ranks of pairs whose head's round is longer */
	double ties;   /* sum of t^3 - t over groups of t equal ratios */
};

static struct ranks rank(const struct pair *pairs, size_t len)
{
	struct ranks ranks = {0};

	for (size_t i = 0, end; i < len; i = end) {
		double t;

		for (end = i; end < len && !by_ratio(&pairs[i], &pairs[end]); end++)
			;
		t = (double)(end - i);
		ranks.ties += t * t * t - t;
		for (size_t j = i; j < end; j++)
			if (pairs[j].longer)
				ranks.longer += (double)(i + 1 + end) / 2; /* ranks i + 1 to end */
	}
	return ranks;
}

/* How many of the 2^n signs give each sum of ranks; the caller frees. */
static double *count_signs(size_t n)
{
	size_t last = n * (n + 1) / 2;
	double *counts = xcalloc(last + 1, sizeof(*counts));

	counts[0] = 1;
	for (size_t rank_ = 1; rank_ <= n; rank_++)
		for (size_t sum = last; sum >= rank_; sum--)
			counts[sum] += counts[sum - rank_];
	return counts;
}

/* p, and which of the sorted averages the interval begins with (from 1). */
static size_t test_exactly(double longer, size_t n, struct rank_test *test)
{
	size_t last = n * (n + 1) / 2, sum = (size_t)longer, tail = sum < last - sum ? sum : last - sum;
	double *counts = count_signs(n), all = ldexp(1, (int)n), up_to = 0;
	size_t k = 0;

	for (size_t i = 0; i <= tail; i++)
		up_to += counts[i];
	test->exact = true;
	test->p = fmin(1, 2 * up_to / all);
	for (up_to = counts[0]; up_to / all < RANK_TEST_ALPHA / 2 && k < last; up_to += counts[k])
		k++;
	free(counts);
	return k ? k : 1;
}

static size_t test_by_normal(const struct ranks *ranks, size_t differ, size_t count,
	struct rank_test *test)
{
	double n = (double)differ, all = (double)count;
	double sigma = sqrt(n * (n + 1) * (2 * n + 1) / 24 - ranks->ties / 48);
	double z = sigma > 0 ? (fabs(ranks->longer - n * (n + 1) / 4) - 0.5) / sigma : 0;
	double k = floor(all * (all + 1) / 4 -
			 RANK_TEST_Z * sqrt(all * (all + 1) * (2 * all + 1) / 24));

	test->p = z > 0 ? erfc(z / sqrt(2)) : 1;
	return k >= 1 ? (size_t)k : 1;
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
	struct rank_test test = {.p = 1};
	size_t differ, all = count * (count + 1) / 2, k;
	struct pair *pairs = differing(base, head, count, &differ);
	double *averages = walsh_averages(base, head, count);
	struct ranks ranks = rank(pairs, differ);

	if (differ == count && ranks.ties == 0 && count <= EXACT_PAIRS)
		k = test_exactly(ranks.longer, count, &test);
	else
		k = test_by_normal(&ranks, differ, count, &test);
	test.ratio = exp((averages[(all - 1) / 2] + averages[all / 2]) / 2);
	test.low = exp(averages[k - 1]);
	test.high = exp(averages[all - k]);
	free(averages);
	free(pairs);
	return test;
}
