/* SPDX-License-Identifier: MIT */
/*
 * walltime_results.h - results/<pid>.json: what one process measured in walltime mode, the same file
 * from every CodSpeed integration. exec-harness writes it, byte for byte as upstream's does; the
 * runner reads everybody's.
 */
#ifndef CORE_WALLTIME_RESULTS_H
#define CORE_WALLTIME_RESULTS_H

#include <stdint.h>

#include "core/buf.h"
#include "core/round_statistics.h"
#include "core/vec.h"

struct walltime_benchmark {
	char *name; /* UTF-8 */
	char *uri;
	struct round_statistics stats;
};

struct walltime_results {
	char *creator; /* the integration's name */
	char *version;
	uint64_t pid;
	VEC(struct walltime_benchmark) benchmarks;
};

#define WALLTIME_RESULTS_INIT {0}

void walltime_results_release(struct walltime_results *r);

/* The file's bytes, appended. */
void walltime_results_encode(const struct walltime_results *r, struct buf *to);

/*
 * Such bytes; unknown keys are ignored, whole numbers stand for fractions. 0 or -EINVAL with a frame
 * that names the place; `r` is then empty.
 */
int walltime_results_decode(struct walltime_results *r, const char *name, const char *bytes,
			    size_t len);

#endif
