/* SPDX-License-Identifier: MIT */
/*
 * interrupts.h - what ends a round from outside: a signal to us, or its time limit. Handlers pass it
 * on to the command at once, so that the wait for the command itself can stay a plain wait4(), which
 * is all that a timed round should do.
 */
#ifndef EXEC_HARNESS_INTERRUPTS_H
#define EXEC_HARNESS_INTERRUPTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Take over SIGINT, SIGTERM, SIGHUP and SIGQUIT, but for those that are ignored, and SIGALRM. */
void interrupts_begin(void);

/* Back to what they were. */
void interrupts_end(void);

/*
 * Around the start of a command, for nothing may come between its start and our knowledge of it.
 * interrupts_hold() gives the mask that the command is to have.
 */
void interrupts_hold(sigset_t *before);
void interrupts_watch(pid_t child, const sigset_t *before);

/* Arm the limit before a round (0: none); disarm it, and forget the child, once it was waited for. */
void interrupts_arm(uint64_t limit_ns);
void interrupts_disarm(void);

/* The signal that asks us to end, or 0. */
int interrupts_signal(void);

/* What is started next is part of the end, and not ended for a signal that came before it. */
void interrupts_leave_time(void);

/* The limit of the round that was just disarmed had passed. */
bool interrupts_timed_out(void);

#endif
