/* SPDX-License-Identifier: MIT */
/* machine_state.c - what of the machine makes times differ */
#include <sched.h>
#include <stdio.h>

#include "core/base.h"
#include "core/cpu_list.h"
#include "core/io.h"

#include "applets/exec-harness/machine_state.h"

/* False where there is no such file. */
static bool read_small(const char *path, struct buf *to)
{
	buf_clear(to);
	if (!read_file(path, to) && to->len)
		return true;
	error_clear();
	return false;
}

/* "cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...", proc(5) */
static void read_ticks(struct machine_state *to, const char *root, struct buf *text)
{
	enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
	char *path = xasprintf("%s/proc/stat", root);
	unsigned long long t[FIELDS];

	if (read_small(path, text) &&
	    sscanf(text->data, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[USER], &t[NICE],
		   &t[SYSTEM], &t[IDLE], &t[IOWAIT], &t[IRQ], &t[SOFTIRQ], &t[STEAL]) == FIELDS) {
		to->busy = t[USER] + t[NICE] + t[SYSTEM] + t[IRQ] + t[SOFTIRQ];
		to->idle = t[IDLE] + t[IOWAIT];
		to->stolen = t[STEAL];
	}
	free(path);
}

static void read_throttling(struct machine_state *to, const char *root, int cpu, struct buf *text)
{
	char *path = xasprintf("%s/sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count",
			       root, cpu);

	if (read_small(path, text))
		to->throttled += strtoull(text->data, NULL, 10);
	free(path);
}

static void read_governor(struct machine_state *to, const char *root, int cpu, struct buf *text)
{
	char *path = xasprintf("%s/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", root, cpu);

	if (read_small(path, text)) {
		text->data[strcspn(text->data, "\n")] = '\0';
		if (!str_eq(text->data, "performance"))
			snprintf(to->governor, sizeof(to->governor), "%s", text->data);
	}
	free(path);
}

void machine_state_read(struct machine_state *to, const char *root)
{
	struct buf text = BUF_INIT;
	cpu_set_t usable;

	*to = (struct machine_state){0};
	read_ticks(to, root, &text);
	CPU_ZERO(&usable);
	sched_getaffinity(0, sizeof(usable), &usable);
	for (int cpu = 0; cpu < CPU_LIST_MAX; cpu++) {
		if (!CPU_ISSET(cpu, &usable))
			continue;
		read_throttling(to, root, cpu, &text);
		if (!*to->governor)
			read_governor(to, root, cpu, &text);
	}
	buf_release(&text);
}
