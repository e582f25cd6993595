/* SPDX-License-Identifier: MIT */
/*
 * isolation.h - keep the benchmark away from what else runs: by the hooks that a machine for
 * benchmarks has installed, or in a slice of systemd's. CODSPEED_ISOLATION=false switches it off,
 * true asks for it.
 */
#ifndef WALLTIME_ISOLATION_H
#define WALLTIME_ISOLATION_H

#include "core/strvec.h"

/*
 * Prepare what there is, and append the words that go in front of the command (none where there is
 * no isolation). It is undone by isolation_end(), or at exit.
 */
void isolation_begin(struct strvec *words);
void isolation_end(void);

#endif
