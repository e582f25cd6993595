/* SPDX-License-Identifier: MIT */
/*
 * leftovers.h - processes that outlive the command that started them: named and ended. For a process
 * that waits for commands, has called orphans_adopt(), and has no other children meanwhile.
 */
#ifndef CORE_LEFTOVERS_H
#define CORE_LEFTOVERS_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

/*
 * To be called when the command was waited for: give what it left `linger_ns` to end, then end it,
 * by SIGTERM and half a second later by SIGKILL, with everything below. Costs one system call where
 * nothing was left. Returns how many had to be ended; `names` gets "sleep (pid 12), ..." of a few.
 */
size_t leftovers_end(uint64_t linger_ns, struct buf *names);

#endif
