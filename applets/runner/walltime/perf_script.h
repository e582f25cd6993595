/* SPDX-License-Identifier: MIT */
/* perf_script.h - the text of `perf script -F comm,pid,time,ip,sym,dso --ns` into stacks */
#ifndef WALLTIME_PERF_SCRIPT_H
#define WALLTIME_PERF_SCRIPT_H

#include <sys/types.h>

#include "applets/runner/walltime/stacks.h"

/*
 * A sample is a line "NAME PID SECONDS.NANOSECONDS: ", a line "ADDRESS FUNCTION (FILE)" for each frame,
 * the innermost first, and an empty line. What is none of these is passed over, and so are
 * samples of the process `without` (0: none). `text` is changed.
 */
void perf_script_read(char *text, pid_t without, struct stacks *to);

#endif
