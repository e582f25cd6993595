/* SPDX-License-Identifier: MIT */
/* merge.h - results of a CI matrix's shards made one; the order of the shards does not matter */
#ifndef RESULTS_MERGE_H
#define RESULTS_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "applets/runner/results/result.h"
#include "core/buf.h"

/* A part, and the name of its file, for messages. */
struct merge_part {
	struct result result;
	const char *name;
};

/*
 * Append where parts cannot be merged, a line for each mode: benchmarks of it ran on machines whose
 * figures cannot be compared. Nothing appended: they can.
 */
void merge_differences(const struct merge_part *parts, size_t count, struct buf *to);

/*
 * Move everything of the parts into `to` (empty before), sorted by URI and mode. What of tool and
 * system differs becomes `several` (fingerprint.h) or unknown; the run is the earliest start and
 * the sum of the times. A benchmark that stands in two parts is -EINVAL with a frame, or with
 * `replace` the later part's counts. One that stands twice in a part always is an error.
 */
int merge(struct result *to, struct merge_part *parts, size_t count, bool replace);

#endif
