/* SPDX-License-Identifier: MIT */
/* function_changes.h - the functions that explain why a benchmark's instructions changed */
#ifndef RESULTS_FUNCTION_CHANGES_H
#define RESULTS_FUNCTION_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "applets/runner/results/result.h"

struct function_change {
	const char *name, *object; /* bytes, of the results; the object may be NULL */
	bool more;                 /* the head spends more in it */
	bool at_least;             /* one side does not list it: the change may be larger */
	uint64_t by;               /* instructions of the function itself */
};

/*
 * Biggest first, ties by name; *count says how many. The caller frees the array.
 *
 * Results list only the costliest functions. One that a side does not list has cost 0 there where
 * that list is complete (it sums up to the instructions), else at most what the cheapest in the
 * list has; the difference to that is then the least that it changed by.
 */
struct function_change *function_changes(const struct benchmark *base, const struct benchmark *head,
	size_t *count);

#endif
