/* SPDX-License-Identifier: MIT */
/* session.h - run a command whose benchmarks take their own times */
#ifndef WALLTIME_SESSION_H
#define WALLTIME_SESSION_H

#include "applets/runner/session.h"

/*
 * Choose the profiler. Where there is one: the descriptor that our harness is to get (it then gives
 * the profiler rounds); else -1.
 */
int walltime_session_prepare(struct session *s);

/*
 * Run these words to their end: an entrypoint, or our own exec-harness (`path` is the file to
 * execute). What they report goes to the profile folder. Ends the process when it cannot be done.
 */
void walltime_session_run(struct session *s, const char *path, char *const *words);

#endif
