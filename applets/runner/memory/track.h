/* SPDX-License-Identifier: MIT */
/* track.h - run a command under memtrack, and let its benchmarks switch it by the FIFOs */
#ifndef MEMORY_TRACK_H
#define MEMORY_TRACK_H

#include "applets/runner/session.h"

/* 0, or -errno with a frame: what of this machine's folders memory mode needs and does not find. */
int memory_session_check(void);

/*
 * Run these words to their end: an entrypoint, or our own exec-harness. What they report goes to the
 * profile folder. Ends the process when the machine cannot do it.
 */
void memory_session_run(struct session *s, char *const *words);

#endif
