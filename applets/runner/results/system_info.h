/* SPDX-License-Identifier: MIT */
/* system_info.h - what the machine is, without starting a process; what is missing is no error */
#ifndef RESULTS_SYSTEM_INFO_H
#define RESULTS_SYSTEM_INFO_H

#include "applets/runner/results/result.h"

/*
 * Fill `system` (empty before). What cannot be found is "unknown" where a text must stand, else
 * NULL or null. `valgrind` is its version as text, copied, or NULL.
 */
void system_info_collect(struct result_system *system, const char *valgrind);

/* Name of this host, "unknown" at worst; the caller frees. */
char *system_info_host_dup(void);

#endif
