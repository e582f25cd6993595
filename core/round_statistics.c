/* SPDX-License-Identifier: MIT */
/* round_statistics.c - what many times of one thing come to */
#include <math.h>

#include "core/base.h"
#include "core/round_statistics.h"

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(const double *sorted, size_t count)
{
	size_t half = count / 2;

	return count % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/*
 * The exclusive method (Python's statistics.quantiles) from three values on; of two, upstream
 * takes the point between them where Python goes beyond.
 */
static double quantile(const double *sorted, size_t count, double p)
{
	double position, fraction;
	size_t below;

	if (count == 1)
		return sorted[0];
	if (count == 2)
		return sorted[0] * (1 - p) + sorted[1] * p;
	position = p * (double)(count + 1) - 1;
	below = (size_t)position;
	fraction = position - (double)below;
	if (below + 1 >= count)
		return sorted[below < count ? below : count - 1];
	return sorted[below] * (1 - fraction) + sorted[below + 1] * fraction;
}

/* In ascending order: the order of additions is part of the result. */
static double mean_of(const double *sorted, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += sorted[i];
	return sum / (double)count;
}

static double stdev_of(const double *sorted, size_t count, double mean)
{
	double sum = 0;

	if (count <= 1)
		return 0;
	for (size_t i = 0; i < count; i++)
		sum += (sorted[i] - mean) * (sorted[i] - mean);
	return sqrt(sum / (double)(count - 1));
}

static void count_outliers(struct round_statistics *s, const double *sorted, size_t count)
{
	double reach = 1.5 * (s->q3_ns - s->q1_ns);

	for (size_t i = 0; i < count; i++) {
		s->iqr_outlier_rounds += sorted[i] < s->q1_ns - reach || sorted[i] > s->q3_ns + reach;
		s->stdev_outlier_rounds += fabs(sorted[i] - s->mean_ns) > 2.0 * s->stdev_ns;
	}
}

void round_statistics_compute(struct round_statistics *to, const uint64_t *times,
			      const uint64_t *iterations, size_t count)
{
	unsigned __int128 time = 0, iteration_count = 0;
	double *sorted;

	*to = (struct round_statistics){0};
	if (!count)
		return;
	sorted = xreallocarray(NULL, count, sizeof(*sorted));
	for (size_t i = 0; i < count; i++) {
		uint64_t n = iterations ? iterations[i] : 1;

		sorted[i] = (double)(times[i] / n);
		time += times[i];
		iteration_count += n;
	}
	qsort(sorted, count, sizeof(*sorted), compare_doubles);
	to->rounds = count;
	to->total_time = (double)time / 1e9;
	to->mean_ns = mean_of(sorted, count);
	to->min_ns = sorted[0];
	to->max_ns = sorted[count - 1];
	to->median_ns = median(sorted, count);
	to->stdev_ns = stdev_of(sorted, count, to->mean_ns);
	to->q1_ns = quantile(sorted, count, 0.25);
	to->q3_ns = quantile(sorted, count, 0.75);
	to->iter_per_round = (uint64_t)(iteration_count / count);
	count_outliers(to, sorted, count);
	free(sorted);
}

/*
 * Quantile 0.975 of Student's t: exact to the digits of the tables up to 30 degrees of freedom,
 * then the expansion in 1/n up to its second term (Abramowitz and Stegun 26.7.5), below 0.0005 off.
 */
static double student_t(uint64_t freedom)
{
	static const double exact[] = {
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
		2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	};
	const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;
	double n = (double)freedom;

	if (freedom <= ARRAY_SIZE(exact))
		return exact[freedom - 1];
	return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

double round_statistics_confidence(double stdev, uint64_t rounds)
{
	return rounds < 2 ? 0 : student_t(rounds - 1) * stdev / sqrt((double)rounds);
}
