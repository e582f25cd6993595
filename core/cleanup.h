/* SPDX-License-Identifier: MIT */
/*
 * cleanup.h - what must be undone outside this process (temporary folders, FIFOs, stopped
 * processes), undone in reverse order on return, on die() and at exit. A run that waits for
 * signals turns them into an ordinary return (supervise.h), so signals need no case of their own.
 */
#ifndef CORE_CLEANUP_H
#define CORE_CLEANUP_H

/* `undo(arg)` runs once, at the latest at exit, in this process only (not in forked children). */
void cleanup_push(void (*undo)(void *arg), void *arg);

/* Take the newest entry for this pair off the stack without running it: it was undone by hand. */
void cleanup_drop(void (*undo)(void *arg), void *arg);

/* Run and empty the stack. */
void cleanup_run(void);

#endif
