/* SPDX-License-Identifier: MIT */
/*
 * perf_events.h - the records of the kernel's perf ring buffer, perf_event_open(2), into a trace. For
 * events opened with PERF_EVENTS_SAMPLE_TYPE and sample_id_all.
 */
#ifndef WALLTIME_PERF_EVENTS_H
#define WALLTIME_PERF_EVENTS_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "applets/runner/walltime/trace.h"

#define PERF_EVENTS_SAMPLE_TYPE \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN)

/*
 * One record of `size` bytes, its header included; one that is cut short gives less. Samples of the
 * process `without` are left out (0: none). Returns how many records the kernel says it has lost.
 */
uint64_t perf_record_read(const unsigned char *bytes, size_t size, pid_t without, struct trace *to);

#endif
