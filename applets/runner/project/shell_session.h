/* SPDX-License-Identifier: MIT */
/*
 * shell_session.h - the modes that `codspeed use` sets for a shell and what it starts: a small file
 * named after the process that asked, in a folder that only its user may enter. A process that took
 * a dead one's id is told apart by its start time.
 */
#ifndef PROJECT_SHELL_SESSION_H
#define PROJECT_SHELL_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/buf.h"

/*
 * Set the list ("simulation,memory") for the process that has started this one, and all below it.
 * Files of processes that have ended go. Who that is in *pid. 0 or -errno with a frame.
 */
int shell_session_set(const char *modes, pid_t *pid);

/*
 * The list of this process (of what it was before an exec), else of the nearest ancestor that has one.
 * Caller frees; NULL: none. A file that cannot be used is told as a warning and counts as none.
 */
char *shell_session_modes(void);

/* The process leads a session or is an interactive shell's: what is set for it lasts. */
bool shell_session_lasts(pid_t pid);

#endif
