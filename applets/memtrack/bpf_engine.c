/* SPDX-License-Identifier: MIT */
/* bpf_engine.c - heap events by uprobes and eBPF */
#include <unistd.h>

#include "core/base.h"

#include "applets/memtrack/bpf_engine.h"
#include "applets/memtrack/free_memory.h"
#include "applets/memtrack/rights.h"
#include "applets/memtrack/tracker.h"
#include "applets/memtrack/watchdog.h"
#include "applets/memtrack/watcher.h"

enum {
	RING_MOST = 256 * 1024 * 1024,
	RING_CORE_SHARE = 16 * 1024 * 1024, /* 0.4 s at the rate of a loop of malloc and free */
	RING_LEAST = 4 * 1024 * 1024,
	RING_SHARE = 16, /* of the memory that is free: a sixteenth */
};

struct bpf_engine {
	struct engine base;
	struct tracker *tracker;
	struct watcher *watcher;
	struct watchdog watchdog;
};

/* The engine is the first member of ours. */
static struct bpf_engine *of(struct engine *e)
{
	return (struct bpf_engine *)e;
}

/* ---- How large the ring is ---- */

/* No more than the cores can fill while we do not look: the kernel takes 0.3 ms for each MB. */
static size_t ring_bytes(void)
{
	uint64_t bytes = free_memory() / RING_SHARE;
	uint64_t most = RING_CORE_SHARE * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

	if (most > RING_MOST)
		most = RING_MOST;
	if (bytes > most)
		bytes = most;
	return bytes < RING_LEAST ? RING_LEAST : (size_t)bytes;
}

/* ---- The interface ---- */

static int follow(struct engine *e, pid_t root)
{
	return tracker_follow(of(e)->tracker, root);
}

static void track(struct engine *e, bool on)
{
	tracker_track(of(e)->tracker, on);
}

static ssize_t next(struct engine *e, struct heap_event *to, size_t max)
{
	const char *failure = watcher_failure(of(e)->watcher);
	size_t n = tracker_read(of(e)->tracker, to, max);

	if (!n && failure)
		return fail(-EIO, "%s", failure);
	return (ssize_t)n;
}

static uint64_t alive(struct engine *e)
{
	return tracker_counts(of(e)->tracker).alive;
}

static struct engine_losses losses(struct engine *e)
{
	struct tracker_counts counts = tracker_counts(of(e)->tracker);

	return (struct engine_losses){
		.events = counts.lost_events,
		.processes = counts.lost_tasks,
		.files = counts.lost_stops,
		.addresses = counts.lost_addresses,
	};
}

static void tell_strangers(const struct tracker_counts *counts, struct heap_gaps *gaps)
{
	if (!counts->strangers)
		return;
	heap_gaps_tell(gaps, "not recorded, with all that they started: %llu programs with rights of their "
			     "own (setuid, setgid, file capabilities) or of another user; that takes root",
		       (unsigned long long)counts->strangers);
	vec_last(&gaps->list)->from = counts->first_stranger;
}

/* When that was is known too late. */
static void tell_escaped(const struct tracker_counts *counts, struct heap_gaps *gaps)
{
	if (!counts->escaped)
		return;
	heap_gaps_tell(gaps, "processes that stood still for their allocators to be probed were let go on by "
		       "others (SIGCONT), %llu times: calls may be missing",
		       (unsigned long long)counts->escaped);
	vec_last(&gaps->list)->from = 0;
}

static void engine_free(struct engine *e, struct heap_gaps *gaps)
{
	struct bpf_engine *b = of(e);
	struct tracker_counts counts = tracker_counts(b->tracker);

	tell_strangers(&counts, gaps);
	if (!watcher_failure(b->watcher)) /* else nobody has answered */
		tell_escaped(&counts, gaps);
	watcher_stop(b->watcher, gaps);
	tracker_free(b->tracker);
	watchdog_stop(&b->watchdog);
	free(b);
}

static const struct engine_ops ops = {follow, track, next, alive, losses, engine_free};

/* Caller frees. */
static char *remedy_dup(int rc)
{
	if (rights_are_lacking(rc))
		return rights_explain_dup();
	if (rc == -ENOMEM)
		return xstrdup("there is not enough memory for the event ring: give a smaller --ring-size");
	if (rc == -EMFILE || rc == -ENFILE)
		return xstrdup("memory mode needs some 40 file descriptors, and two for each file with an "
			       "allocator: raise the hard limit (ulimit -Hn)");
	if (access("/proc/self/exe", F_OK))
		return xstrdup("/proc is needed: mount it (mount -t proc proc /proc)");
	if (rc == -ESRCH && access("/sys/kernel/btf/vmlinux", R_OK))
		return xstrdup("the kernel's description of itself, /sys/kernel/btf/vmlinux, cannot be "
			       "read: mount /sys (mount -t sysfs sysfs /sys), or use a kernel that has it");
	return xstrdup("this kernel cannot track the heap (Linux 6.1 or later with BPF, uprobes and BTF is "
		       "needed)");
}

/* A ring of a size that nobody asked for may be smaller, where there is less memory than it seems. */
static int load_tracker(struct tracker **to, const struct bpf_engine_options *options)
{
	struct tracker_options how = {
		.flavour = options->flavour,
		.ring_bytes = options->ring_bytes ? options->ring_bytes : ring_bytes(),
	};
	int rc = tracker_new(to, &how);

	while (rc == -ENOMEM && !options->ring_bytes && how.ring_bytes > RING_LEAST) {
		error_clear();
		how.ring_bytes /= 2;
		rc = tracker_new(to, &how);
	}
	return rc;
}

int bpf_engine_new(struct engine **to, const struct bpf_engine_options *options)
{
	struct bpf_engine *b = xcalloc(1, sizeof(*b));
	const volatile uint32_t *held;
	char *remedy;
	size_t count;
	int rc;

	b->base.ops = &ops;
	rc = load_tracker(&b->tracker, options);
	if (rc) {
		free(b);
		remedy = remedy_dup(rc);
		fail(rc, "%s", remedy);
		free(remedy);
		return rc;
	}
	held = tracker_held(b->tracker, &count);
	rc = watchdog_start(&b->watchdog, held, count);
	if (rc)
		goto free_tracker;
	b->base.helper = b->watchdog.pid;
	rc = watcher_start(&b->watcher, b->tracker);
	if (rc)
		goto stop_watchdog;
	*to = &b->base;
	return 0;

stop_watchdog:
	watchdog_stop(&b->watchdog);
free_tracker:
	tracker_free(b->tracker);
	free(b);
	return rc;
}
