/* SPDX-License-Identifier: MIT */
/*
 * orphans.h - processes that outlive those who started them, and become the children of this one:
 * who watches a command to its end has to deal with what it leaves behind.
 */
#ifndef CORE_ORPHANS_H
#define CORE_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/buf.h"

/* From now on whoever loses its parent below this process becomes a child of it. */
void orphans_adopt(void);

/*
 * Call `visit` for each child of this process that runs, with its name, but for `except` (0: none);
 * children that have ended are reaped. Returns how many were visited.
 */
size_t orphans_visit(pid_t except, void (*visit)(void *ctx, pid_t pid, const char *name),
		     void *ctx);

/* `visit` for orphans_visit(): send the signal at `ctx` (an int), and let who stands act on it. */
void orphans_signal(void *ctx, pid_t pid, const char *name);

/* The name of any process, at most 15 bytes; false when it is gone. */
bool process_read_name(pid_t pid, struct buf *name);

#endif
