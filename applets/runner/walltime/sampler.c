/* SPDX-License-Identifier: MIT */
/*
 * sampler.c - samples by perf_event_open(2) itself: a software clock of the process's own time, its
 * user stacks by frame pointers, one ring buffer a processor. An ordinary user may do that with
 * what it starts (kernel.perf_event_paranoid up to 2).
 */
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"

#include "applets/runner/walltime/perf_events.h"
#include "applets/runner/walltime/profiler.h"
#include "applets/runner/walltime/trace.h"

enum {
	RING_PAGES = 64,    /* a power of two; what an ordinary user may lock for each processor */
	PROCESSORS_MAX = 1024,
	RECORD_MAX = 65536, /* the size field has 16 bits */
};

struct ring {
	int samples, changes; /* the events that write into it */
	struct perf_event_mmap_page *page;
};

static struct {
	VEC(struct ring) rings; /* one for each processor; none: not attached */
	struct trace trace;
	bool any_trace;
	size_t page_size;
	uint64_t lost;  /* records */
	pid_t self;     /* whose samples are not wanted; 0: all are */
} sampler;

/* ---- Events ---- */

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->sample_type = PERF_EVENTS_SAMPLE_TYPE;
	attr->inherit = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->exclude_callchain_kernel = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_samples(pid_t pid, int cpu, unsigned frequency)
{
	struct perf_event_attr attr = {
		.config = PERF_COUNT_SW_TASK_CLOCK, .freq = 1, .sample_freq = frequency,
		.disabled = 1, .watermark = 1, .wakeup_watermark = RING_PAGES * 4096 / 4,
	};

	return open_event(&attr, pid, cpu);
}

/* These are recorded while samples are off, too: what was mapped before has to be known. */
static int open_changes(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.config = PERF_COUNT_SW_DUMMY, .mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1,
		.task = 1, .sample_id_all = 1, .watermark = 1, .wakeup_watermark = RING_PAGES * 4096 / 4,
	};

	return open_event(&attr, pid, cpu);
}

static int refused(const char *what)
{
	if (errno == EACCES || errno == EPERM)
		return fail_errno("%s is not permitted here (kernel.perf_event_paranoid above 2, or a "
				  "container's seccomp profile)", what);
	if (errno == ENOSYS)
		return fail_errno("the kernel was built without perf events");
	return fail_errno("%s", what);
}

static void close_ring(struct ring *r)
{
	if (r->page)
		munmap(r->page, (RING_PAGES + 1) * sampler.page_size);
	if (r->changes >= 0)
		close(r->changes);
	if (r->samples >= 0)
		close(r->samples);
}

static int open_ring(struct ring *r, pid_t pid, int cpu, unsigned frequency)
{
	void *map;
	int rc = 0;

	*r = (struct ring){.samples = open_samples(pid, cpu, frequency), .changes = -1};
	if (r->samples < 0)
		return refused("sampling");
	map = mmap(NULL, (RING_PAGES + 1) * sampler.page_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   r->samples, 0);
	if (map == MAP_FAILED) {
		rc = fail_errno("no memory for samples (kernel.perf_event_mlock_kb)");
		goto fail;
	}
	r->page = map;
	r->changes = open_changes(pid, cpu);
	if (r->changes < 0 || ioctl(r->changes, PERF_EVENT_IOC_SET_OUTPUT, r->samples)) {
		rc = refused("sampling");
		goto fail;
	}
	return 0;
fail:
	close_ring(r);
	return rc;
}

/* ---- Records ---- */

/* A record may go over the end of the ring: in one piece it is only when copied. */
static void drain_ring(const struct ring *ring)
{
	unsigned char record[RECORD_MAX];
	const unsigned char *data = (const unsigned char *)ring->page + sampler.page_size;
	uint64_t size = RING_PAGES * sampler.page_size, tail = ring->page->data_tail;
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);

	while (tail < head) {
		struct perf_event_header h;

		for (size_t i = 0; i < sizeof(h); i++)
			record[i] = data[(tail + i) % size];
		memcpy(&h, record, sizeof(h));
		if (h.size < sizeof(h) || tail + h.size > head)
			break;
		for (size_t i = sizeof(h); i < h.size; i++)
			record[i] = data[(tail + i) % size];
		sampler.lost += perf_record_read(record, h.size, sampler.self, &sampler.trace);
		tail += h.size;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

static void drain(void)
{
	for (size_t i = 0; i < sampler.rings.len; i++)
		drain_ring(&sampler.rings.items[i]);
}

/* ---- The back end ---- */

static void forget_rings(void)
{
	for (size_t i = 0; i < sampler.rings.len; i++)
		close_ring(&sampler.rings.items[i]);
	vec_release(&sampler.rings);
}

static int open_rings(pid_t pid, unsigned frequency)
{
	long count = sysconf(_SC_NPROCESSORS_CONF);
	int rc = 0;

	sampler.page_size = (size_t)sysconf(_SC_PAGESIZE);
	for (int cpu = 0; !rc && cpu < count && cpu < PROCESSORS_MAX; cpu++) {
		struct ring ring;

		rc = open_ring(&ring, pid, cpu, frequency);
		if (rc == -ENODEV || rc == -ENXIO) { /* it is switched off */
			error_clear();
			rc = 0;
		} else if (!rc) {
			vec_push(&sampler.rings, ring);
		}
	}
	if (!rc && !sampler.rings.len)
		rc = fail(-ENODEV, "no processor to sample on");
	if (rc)
		forget_rings();
	return rc;
}

static int try_sampler(void)
{
	int rc = open_rings(0, PROFILER_FREQUENCY);

	forget_rings();
	return rc;
}

static int attach(const struct profiler_target *target)
{
	int rc = open_rings(target->pid, target->frequency);

	if (rc)
		return rc;
	sampler.self = target->without_itself ? target->pid : 0;
	if (!sampler.any_trace)
		trace_init(&sampler.trace);
	sampler.any_trace = true;
	for (size_t i = 0; i < sampler.rings.len; i++) {
		struct epoll_event ready = {.events = EPOLLIN};

		epoll_ctl(target->ready, EPOLL_CTL_ADD, sampler.rings.items[i].samples, &ready);
	}
	return 0;
}

static int switch_all(unsigned long request)
{
	for (size_t i = 0; i < sampler.rings.len; i++)
		if (ioctl(sampler.rings.items[i].samples, request, 0))
			return fail_errno("samples cannot be switched");
	return 0;
}

static int enable(void)
{
	return switch_all(PERF_EVENT_IOC_ENABLE);
}

static int disable(void)
{
	return switch_all(PERF_EVENT_IOC_DISABLE);
}

static int detach(void)
{
	drain();
	forget_rings();
	return 0;
}

static int collect(struct stacks *to)
{
	if (!sampler.any_trace)
		return 0;
	trace_resolve(&sampler.trace, to);
	if (sampler.lost || sampler.trace.dropped)
		log_warn("the profile is not whole: %llu samples were lost",
			 (unsigned long long)(sampler.lost + sampler.trace.dropped));
	return 0;
}

static void release(void)
{
	detach();
	if (sampler.any_trace)
		trace_release(&sampler.trace);
	sampler.any_trace = false;
}

const struct profiler_backend sampler_backend = {
	.name = "sampler", .try = try_sampler, .attach = attach, .enable = enable, .disable = disable,
	.detach = detach, .collect = collect, .drain = drain, .release = release,
};
