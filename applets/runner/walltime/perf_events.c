/* SPDX-License-Identifier: MIT */
/* perf_events.c - the records of the kernel's perf ring buffer */
#include <sys/mman.h>

#include "core/base.h"

#include "applets/runner/walltime/perf_events.h"

enum { FILE_BYTES = 24 }; /* of a mapping: device and inode, or build id */

/* A record being read; what is behind its end reads as 0. */
struct record {
	const unsigned char *at, *end;
};

static uint64_t take(struct record *r, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(r->end - r->at) < size) {
		r->at = r->end;
		return 0;
	}
	memcpy(&value, r->at, size);
	r->at += size;
	return value;
}

static void skip(struct record *r, size_t size)
{
	r->at += (size_t)(r->end - r->at) < size ? (size_t)(r->end - r->at) : size;
}

/* In the kernel's order: ip, pid, tid, time, and the callchain. */
static void read_sample(struct record *r, pid_t without, struct trace *to)
{
	uint64_t addresses[PERF_MAX_STACK_DEPTH], time, count;
	size_t kept = 0;
	pid_t pid;

	take(r, 8);
	pid = (pid_t)take(r, 4);
	take(r, 4);
	time = take(r, 8);
	count = take(r, 8);
	for (uint64_t i = 0; i < count && r->at < r->end && kept < PERF_MAX_STACK_DEPTH; i++) {
		uint64_t address = take(r, 8);

		if (address < PERF_CONTEXT_MAX) /* above are marks, not addresses */
			addresses[kept++] = address;
	}
	if (pid != without)
		trace_add_sample(to, time, pid, addresses, kept);
}

/* At the end of records that are no samples: pid, tid, time. */
static uint64_t time_of(const struct record *r)
{
	struct record trailer = {r->end - 8, r->end};

	return r->end - r->at >= 8 ? take(&trailer, 8) : 0;
}

static void read_map(struct record *r, struct trace *to)
{
	struct trace_event e = {.change = TRACE_MAP, .time = time_of(r)};
	uint32_t protection;
	uint64_t len;

	e.pid = (pid_t)take(r, 4);
	take(r, 4);
	e.start = take(r, 8);
	len = take(r, 8);
	e.end = e.start + len;
	e.offset = take(r, 8);
	skip(r, FILE_BYTES);
	protection = (uint32_t)take(r, 4);
	take(r, 4);
	if ((protection & PROT_EXEC) && memchr(r->at, '\0', (size_t)(r->end - r->at)))
		trace_add_event(to, &e, (const char *)r->at);
}

static void read_exec(struct record *r, struct trace *to)
{
	struct trace_event e = {.change = TRACE_EXEC, .time = time_of(r)};

	e.pid = (pid_t)take(r, 4);
	take(r, 4);
	if (memchr(r->at, '\0', (size_t)(r->end - r->at)))
		trace_add_event(to, &e, (const char *)r->at);
}

static void read_fork(struct record *r, struct trace *to)
{
	struct trace_event e = {.change = TRACE_FORK};

	e.pid = (pid_t)take(r, 4);
	e.parent = (pid_t)take(r, 4);
	take(r, 8);
	e.time = take(r, 8);
	if (e.pid != e.parent) /* a thread otherwise */
		trace_add_event(to, &e, "");
}

uint64_t perf_record_read(const unsigned char *bytes, size_t size, pid_t without, struct trace *to)
{
	struct perf_event_header h;
	struct record r = {bytes + sizeof(h), bytes + size};

	if (size < sizeof(h))
		return 0;
	memcpy(&h, bytes, sizeof(h));
	switch (h.type) {
	case PERF_RECORD_SAMPLE:
		read_sample(&r, without, to);
		return 0;
	case PERF_RECORD_MMAP2:
		read_map(&r, to);
		return 0;
	case PERF_RECORD_COMM:
		if (h.misc & PERF_RECORD_MISC_COMM_EXEC)
			read_exec(&r, to);
		return 0;
	case PERF_RECORD_FORK:
		read_fork(&r, to);
		return 0;
	case PERF_RECORD_LOST:
		skip(&r, 8);
		return take(&r, 8);
	default:
		return 0;
	}
}
