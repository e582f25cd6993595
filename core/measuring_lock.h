/* SPDX-License-Identifier: MIT */
/*
 * measuring_lock.h - memory mode and the others keep away from each other on one machine: a probe
 * in a library is a breakpoint, on which a program under valgrind crashes, and any other is slow.
 * Simulations and timed runs go side by side, a memory run alone.
 *
 * The lock is on the directory /tmp itself (flock): nothing to leave behind, and every user of the
 * machine can take it.
 */
#ifndef CORE_MEASURING_LOCK_H
#define CORE_MEASURING_LOCK_H

#include "core/mode.h"

/*
 * Held until this process ends. 0; -EBUSY with a frame that names who is in the way; 0 with a debug
 * line where there is nothing to lock.
 */
int measuring_lock_take(enum mode mode);

#endif
