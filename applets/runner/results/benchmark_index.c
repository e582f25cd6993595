/* SPDX-License-Identifier: MIT */
/* benchmark_index.c - benchmarks of a result by their identity */
#include "applets/runner/results/benchmark_index.h"
#include "core/base.h"
#include "core/buf.h"

uint32_t benchmark_key(struct intern *keys, const struct benchmark *benchmark)
{
	struct buf key = BUF_INIT;
	uint32_t number;

	buf_addch(&key, (char)benchmark->mode);
	buf_addstr(&key, benchmark->uri);
	number = intern_add(keys, key.data, key.len);
	buf_release(&key);
	return number;
}

int benchmark_index_init(struct benchmark_index *index, const struct result *result,
	const char *name)
{
	int rc = 0;

	*index = (struct benchmark_index){.count = result->benchmarks.len};
	intern_init(&index->keys);
	for (size_t i = 0; !rc && i < result->benchmarks.len; i++) {
		const struct benchmark *b = &result->benchmarks.items[i];
		uint32_t first = benchmark_key(&index->keys, b);

		if (first != i)
			rc = fail(-EINVAL, "%s: benchmarks[%zu]: %s (%s) stands there twice, first as "
					   "benchmarks[%u]", name, i, b->uri, mode_name(b->mode), first);
	}
	return rc;
}

void benchmark_index_release(struct benchmark_index *index)
{
	intern_release(&index->keys);
}

/* Identities that are asked for, and new, get numbers behind those of benchmarks. */
size_t benchmark_index_find(struct benchmark_index *index, const struct benchmark *wanted)
{
	size_t at = benchmark_key(&index->keys, wanted);

	return at < index->count ? at : SIZE_MAX;
}
