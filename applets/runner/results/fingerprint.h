/* SPDX-License-Identifier: MIT */
/*
 * fingerprint.h - whether what two machines measured can be compared: what of the machine a mode's
 * figures depend on.
 */
#ifndef RESULTS_FINGERPRINT_H
#define RESULTS_FINGERPRINT_H

#include "applets/runner/results/result.h"
#include "core/buf.h"

/* Stands for what differed among the parts of a merged result; equal to nothing, itself included. */
#define FINGERPRINT_SEVERAL "several"

/*
 * The value of GLIBC_TUNABLES by which programs with a dynamic glibc take the same functions on
 * every x86-64 processor: none that needs more than the base architecture, fixed sizes of caches
 * and thresholds, a number of arenas that does not follow that of the processors.
 */
extern const char dispatch_tunables[];

/* `tunables` (may be NULL), the value of GLIBC_TUNABLES, ends in these. */
bool dispatch_is_pinned(const char *tunables);

/*
 * Append what of the fingerprint differs and matters to the mode, "name: BASE, HEAD" by semicolons.
 * Nothing appended: figures of the mode can be compared.
 *
 * Simulation: architecture, libc, valgrind and its options, tunables, and unless both are pinned,
 * those processor flags that valgrind shows to programs (it hides AVX-512 and what came later).
 * Memory: architecture. Wall time: all of them, processor, cores, kernel, governor and host.
 */
void fingerprint_differences(const struct result *base, const struct result *head, enum mode mode,
	struct buf *to);

#endif
