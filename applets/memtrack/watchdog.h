/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - a process of its own that lets stopped processes go on when memtrack is killed: the
 * kernel takes the probes away then, but nobody else would send SIGCONT.
 */
#ifndef MEMTRACK_WATCHDOG_H
#define MEMTRACK_WATCHDOG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct watchdog {
	pid_t pid;
	int alive; /* closed by the kernel when this process ends, however it does */
};

/*
 * `held` are the last `count` processes that were stopped, in shared memory; 0 for none. To be
 * started before any thread. 0 or -errno with a frame.
 */
int watchdog_start(struct watchdog *w, const volatile uint32_t *held, size_t count);
void watchdog_stop(struct watchdog *w);

#endif
