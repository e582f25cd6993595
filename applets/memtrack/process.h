/* SPDX-License-Identifier: MIT */
/* process.h - what /proc says of a process that is not ours */
#ifndef MEMTRACK_PROCESS_H
#define MEMTRACK_PROCESS_H

#include <sys/types.h>

#include "core/heap_gaps.h"

/*
 * The state of the thread that moves the most, as letters of proc(5): 'T' when all are stopped, 0
 * when the process is gone or has ended, PROCESS_STATE_UNKNOWN when we cannot look (no descriptors).
 */
#define PROCESS_STATE_UNKNOWN '?'
char process_state(pid_t pid);

/* 0 when it is gone. */
pid_t process_parent(pid_t pid);

/*
 * Wait until no thread of a process that was sent SIGSTOP can map anything: 0, also when it is gone.
 * -ETIMEDOUT with a frame for one that does not stop, -EMFILE when we cannot look. A thread that the kernel keeps busy (D) is
 * not waited for: it is a gap.
 */
int process_wait_stopped(pid_t pid, struct heap_gaps *gaps);

#endif
