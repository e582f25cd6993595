/* SPDX-License-Identifier: MIT */
/* free_memory.h - how much memory there is to take, for the event ring */
#ifndef MEMTRACK_FREE_MEMORY_H
#define MEMTRACK_FREE_MEMORY_H

#include <stdint.h>

/*
 * Bytes up to the nearest limit of the control groups that this process is in, its own and those
 * above it, of version 2 or of version 1's memory controller; UINT64_MAX where there is no limit.
 * `root` stands before /proc and /sys ("" but in tests).
 */
uint64_t cgroup_room(const char *root);

/* Bytes that are free on the host, or less where a control group allows less. */
uint64_t free_memory(void);

#endif
