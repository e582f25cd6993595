/* SPDX-License-Identifier: MIT */
/* track.h - run a command under memtrack, and let its benchmarks switch it by the FIFOs */
#ifndef MEMORY_TRACK_H
#define MEMORY_TRACK_H

#include "applets/runner/session.h"

/*
 * What of this machine memory mode needs: folders, and a memtrack that this user may run, which goes
 * to s->memtrack. 0, or -errno with a frame that says what is missing.
 */
int memory_session_check(struct session *s);

/*
 * Run these words to their end: an entrypoint, or our own exec-harness. What they report goes to the
 * profile folder. Ends the process when the machine cannot do it.
 */
void memory_session_run(struct session *s, char *const *words);

#endif
