/* SPDX-License-Identifier: MIT */
/* benchmark_index.h - benchmarks of a result by their identity, (uri, mode) */
#ifndef RESULTS_BENCHMARK_INDEX_H
#define RESULTS_BENCHMARK_INDEX_H

#include "applets/runner/results/result.h"
#include "core/intern.h"

/* An identity's number is its benchmark's place in the result. */
struct benchmark_index {
	struct intern keys;
	size_t count;
};

/* The number of the benchmark's identity in a table of such, a new one where there is none. */
uint32_t benchmark_key(struct intern *keys, const struct benchmark *benchmark);

/*
 * Of `result`, which stands in `name`, for messages. 0, or -EINVAL with a frame where a benchmark
 * stands there twice; the index is to be released in any case.
 */
int benchmark_index_init(struct benchmark_index *index, const struct result *result,
	const char *name);
void benchmark_index_release(struct benchmark_index *index);

/* The place of the benchmark with the identity of `wanted`, or SIZE_MAX. */
size_t benchmark_index_find(struct benchmark_index *index, const struct benchmark *wanted);

#endif
