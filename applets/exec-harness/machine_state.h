/* SPDX-License-Identifier: MIT */
/* machine_state.h - what of the machine makes times differ: looked at before and after measuring */
#ifndef EXEC_HARNESS_MACHINE_STATE_H
#define EXEC_HARNESS_MACHINE_STATE_H

#include <stdint.h>

/* All of it 0 or empty where the kernel does not say. */
struct machine_state {
	uint64_t busy, idle, stolen; /* clock ticks of all processors since boot */
	uint64_t throttled;          /* times that a processor was slowed because of its heat */
	char governor[32];           /* of the first processor we may use whose is not "performance" */
};

/* `root` goes in front of /proc and /sys: "" but in tests. */
void machine_state_read(struct machine_state *to, const char *root);

#endif
