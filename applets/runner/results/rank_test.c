/* SPDX-License-Identifier: MIT */
/* rank_test.c - the Mann-Whitney test and the interval of the ratio */
#include <math.h>

#include "applets/runner/results/rank_test.h"
#include "core/base.h"

enum { EXACT_PAIRS = 400 }; /* the largest count of orders is C(40, 20), far below 2^63 */

struct samples {
	uint64_t *base, *head; /* sorted */
	size_t m, n;
};

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t *sorted_dup(const uint64_t *rounds, size_t len)
{
	uint64_t *sorted = xreallocarray(NULL, len, sizeof(*sorted));

	for (size_t i = 0; i < len; i++)
		sorted[i] = rounds[i] ? rounds[i] : 1;
	qsort(sorted, len, sizeof(*sorted), compare_numbers);
	return sorted;
}

/* Twice U, the pairs in which the head's round is longer; pairs of equals count half. */
static double twice_u(const struct samples *s)
{
	size_t below = 0, up_to = 0;
	double sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		while (below < s->m && s->base[below] < s->head[i])
			below++;
		while (up_to < s->m && s->base[up_to] <= s->head[i])
			up_to++;
		sum += (double)below + (double)up_to;
	}
	return sum;
}

/* The sum of t^3 - t over the groups of t equal rounds; 0 without ties. */
static double tie_term(const struct samples *s)
{
	size_t i = 0, j = 0;
	double sum = 0;

	while (i < s->m || j < s->n) {
		uint64_t value = j == s->n || (i < s->m && s->base[i] < s->head[j]) ? s->base[i]
										      : s->head[j];
		double t = 0;

		for (; i < s->m && s->base[i] == value; i++)
			t++;
		for (; j < s->n && s->head[j] == value; j++)
			t++;
		sum += t * t * t - t;
	}
	return sum;
}

/*
 * How many orders of m and n rounds give each U: the coefficients of the Gaussian binomial, the
 * product of (1 - q^(m + i)) / (1 - q^i) for i = 1..n. The caller frees.
 */
static int64_t *count_orders(size_t m, size_t n)
{
	size_t last = m * n;
	int64_t *counts = xcalloc(last + 1, sizeof(*counts));

	counts[0] = 1;
	for (size_t i = 1; i <= n; i++) {
		for (size_t u = last + 1; u-- > m + i;)
			counts[u] -= counts[u - m - i];
		for (size_t u = i; u <= last; u++)
			counts[u] += counts[u - i];
	}
	return counts;
}

static double sum_up_to(const int64_t *counts, size_t u)
{
	double sum = 0;

	for (size_t i = 0; i <= u; i++)
		sum += (double)counts[i];
	return sum;
}

/* The smallest U (at least 1) up to which there is half of alpha: the interval begins with that ratio. */
static size_t interval_start(const int64_t *counts, double all)
{
	double up_to = (double)counts[0];
	size_t k = 0;

	while (up_to / all < RANK_TEST_ALPHA / 2)
		up_to += (double)counts[++k];
	return k ? k : 1;
}

/* p, and which of the sorted ratios the interval begins with (from 1). */
static size_t test_exactly(const struct samples *s, struct rank_test *test)
{
	size_t pairs = s->m * s->n, u = (size_t)(twice_u(s) / 2), k;
	int64_t *counts = count_orders(s->m, s->n);
	double all = sum_up_to(counts, pairs);

	test->exact = true;
	test->p = fmin(1, 2 * sum_up_to(counts, u < pairs - u ? u : pairs - u) / all);
	k = interval_start(counts, all);
	free(counts);
	return k;
}

/* The same by the normal distribution, with corrections for ties and continuity. */
static size_t test_by_normal(const struct samples *s, double ties, struct rank_test *test)
{
	double m = (double)s->m, n = (double)s->n, all = m + n, mean = m * n / 2;
	double sigma = sqrt(m * n / 12 * (all + 1 - ties / (all * (all - 1))));
	double z = sigma > 0 ? (fabs(twice_u(s) / 2 - mean) - 0.5) / sigma : 0;
	double k = floor(mean - RANK_TEST_Z * sigma);

	test->p = z > 0 ? erfc(z / sqrt(2)) : 1;
	return k >= 1 ? (size_t)k : 1;
}

/* Pairs whose ratio is at most `ratio`. */
static size_t count_up_to(const struct samples *s, double ratio)
{
	size_t count = 0, j = 0;

	for (size_t i = 0; i < s->m; i++) {
		double limit = ratio * (double)s->base[i];

		while (j < s->n && (double)s->head[j] <= limit)
			j++;
		count += j;
	}
	return count;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/*
 * The k-th smallest ratio (from 1), without making them all: bisection over the bits, which for
 * positive numbers are in the numbers' order.
 */
static double nth_ratio(const struct samples *s, size_t k)
{
	uint64_t low = bits_of((double)s->head[0] / (double)s->base[s->m - 1] * 0.999);
	uint64_t high = bits_of((double)s->head[s->n - 1] / (double)s->base[0] * 1.001);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (count_up_to(s, double_of(middle)) >= k)
			high = middle;
		else
			low = middle + 1;
	}
	return double_of(low);
}

static double median_ratio(const struct samples *s)
{
	size_t pairs = s->m * s->n;
	double upper = nth_ratio(s, pairs / 2 + 1);

	return pairs % 2 ? upper : sqrt(nth_ratio(s, pairs / 2) * upper);
}

struct rank_test rank_test(const uint64_t *base, size_t base_len, const uint64_t *head,
	size_t head_len)
{
	struct samples s = {
		.base = sorted_dup(base, base_len), .m = base_len,
		.head = sorted_dup(head, head_len), .n = head_len,
	};
	struct rank_test test = {.p = 1};
	double ties = tie_term(&s);
	size_t k = ties == 0 && base_len <= EXACT_PAIRS / head_len
		? test_exactly(&s, &test) : test_by_normal(&s, ties, &test);

	test.ratio = median_ratio(&s);
	test.low = nth_ratio(&s, k);
	test.high = nth_ratio(&s, base_len * head_len + 1 - k);
	free(s.base);
	free(s.head);
	return test;
}
