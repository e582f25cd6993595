/* SPDX-License-Identifier: MIT */
/*
 * advice.h - what could be wrong with times, and what to do about it. Each remark names an option or
 * an act that is not in use yet; where it is, the remark is not made.
 */
#ifndef EXEC_HARNESS_ADVICE_H
#define EXEC_HARNESS_ADVICE_H

#include "core/strvec.h"
#include "core/walltime_options.h"

#include "applets/exec-harness/machine_state.h"

struct advice {
	const uint64_t *times;     /* of the measured rounds in order, ns */
	size_t count;
	uint64_t cpu_ns;           /* what these rounds used */
	uint64_t empty_ns;         /* a round of a program that does nothing; 0: not taken */
	const struct walltime_options *options;
	struct machine_state before, after; /* measuring */
};

/* Append the remarks, one a text. */
void advice_give(const struct advice *a, struct strvec *to);

/*
 * Rounds so short that starting a process may be most of them: then it is worth taking `empty_ns`.
 */
bool advice_wants_empty(const uint64_t *times, size_t count);

#endif
