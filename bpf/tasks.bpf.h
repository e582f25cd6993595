/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * tasks.bpf.h - of memtrack.bpf.c: the threads that are followed, and how they are stopped; what is
 * shared with memtrack, and the maps
 */
#ifndef BPF_TASKS_H
#define BPF_TASKS_H

enum {
	SIGNAL_STOP = 19,
	FILES_KNOWN = 65536,
	STOPS_BYTES = 256 * 1024,
};

/* ---- Set by memtrack before the object is loaded ---- */

/* The pid namespace that ids are told in; 0: the first one, where they cost nothing. */
const volatile __u64 namespace_device;
const volatile __u64 namespace_inode;

/*
 * The kernel lets no program read memory (lockdown=confidentiality): where the address of a block or
 * of a caller stands in memory it stays unknown.
 */
const volatile bool memory_hidden;

/* Only processes of `own_uid` are followed: others could not be let go, nor are they ours to see. */
const volatile bool own_user_only;
const volatile __u32 own_uid;

/* Bytes in the ring from which on a producer is held. */
const volatile __u64 ring_high;

/* ---- Shared while it runs ---- */

int tracking; /* events are wanted: written by memtrack */

/* The last processes that were stopped, for whoever lets them go when memtrack is killed. */
__u32 held[TRACK_HELD];
__u32 held_next;

/* By place in `held`, the stop that memtrack has answered there: see struct track_stop. */
__u32 answered[TRACK_HELD];

/* What went wrong, for memtrack to read: nothing is lost without a word. */
__u64 lost_events;
__u64 lost_stops;
__u64 lost_tasks;
__u64 lost_addresses; /* blocks of which the address stands in hidden memory */
__u64 strangers; /* threads that were left alone, see own_user_only */
__u64 first_stranger; /* when, ns */
__u64 escaped; /* stops that ended before memtrack's answer */
bool no_more_stops; /* memtrack is about to leave */

__u64 alive; /* threads of the tree */

__u8 unseen[TRACK_UNSEEN_MAX]; /* functions that were called, whose blocks are not seen */

/* ---- Maps ---- */

/*
 * A thread of the tree: that it has an entry here is what makes it one. Entries go with their
 * threads, so there is no limit on processes and no confusion of ids that are used again.
 */
struct task {
	__u64 sp; /* stack pointer at the entry of the allocator call it is in; 0: none */
	__u64 size;
	__u64 block; /* the old one, or where the result goes */
	__u64 cookie;
	__u64 return_to; /* of a call that may throw: where it was called from */
	__u64 wish_sp; /* of a wrapper that was asked for `wish` bytes, and will ask for more; 0: none */
	__u64 wish;
	__u64 passed_sp; /* of a free that may pass `passed` on to another one; 0: none */
	__u64 passed_ip;
	__u64 passed;
	__u32 pid; /* as memtrack sees them; 0: not asked yet */
	__u32 tid;
	__u32 events;
	__u32 asked; /* number of the stop for a file that it was last held by; 0: none, or seen to */
	__u32 stranger; /* it is left alone, see own_user_only */
	__u32 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF); /* its size depends on the host */
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, STOPS_BYTES);
} stops SEC(".maps");

/* Files that were looked at, with the time of their last change: each is stopped for once. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, FILES_KNOWN);
	__type(key, struct track_file);
	__type(value, __u64);
} files SEC(".maps");

/* ---- Threads ---- */

static __always_inline struct task *find_task(struct task_struct *task)
{
	struct task *t = bpf_task_storage_get(&tasks, task, 0, 0);

	return t && !t->stranger ? t : NULL;
}

static __always_inline struct task *current_task(void)
{
	return find_task(bpf_get_current_task_btf());
}

/* Asked once a thread: inside a namespace it takes a helper that walks the levels. */
static __always_inline void learn_ids(struct task *t)
{
	struct bpf_pidns_info inside = {};
	__u64 ids;

	if (t->tid)
		return;
	if (namespace_inode) {
		if (bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &inside,
						sizeof(inside))) {
			/* of a namespace inside ours, where the helper does not answer */
			__sync_fetch_and_add(&lost_tasks, 1);
			inside.pid = ~0u;
		}
		t->pid = inside.tgid;
		t->tid = inside.pid;
	} else {
		ids = bpf_get_current_pid_tgid();
		t->pid = ids >> 32;
		t->tid = (__u32)ids;
	}
}

/* ---- Processes that are not the user's ---- */

/* Its entry stays: to delete it can fail, when something on this processor is at the map just now. */
static __always_inline void leave_alone(struct task *t)
{
	t->stranger = 1;
	__sync_fetch_and_add(&alive, -1);
	if (!__sync_fetch_and_add(&strangers, 1))
		first_stranger = bpf_ktime_get_ns();
}

/* One that has changed its user without executing anything: it has mapped ids of a user namespace. */
static __always_inline bool is_stranger(void)
{
	return own_user_only && (__u32)bpf_get_current_uid_gid() != own_uid;
}

/* ---- Stops ---- */

/*
 * A thread that goes on although its stop was not answered: somebody else has sent SIGCONT, and what
 * it called since then may have had no probes. A later answer in the same place will do.
 */
static __always_inline void see_to_stop(struct task *t)
{
	if (t->asked && (__s32)(answered[(t->asked - 1) % TRACK_HELD] - t->asked) < 0)
		__sync_fetch_and_add(&escaped, 1);
	t->asked = 0;
}

/* It stands only when it has left the kernel, which memtrack waits for before it looks. */
static __always_inline void stop(struct task *t, __u32 reason, struct track_file file, __u64 changed)
{
	struct track_stop *r;
	__u32 number;

	see_to_stop(t);
	if (no_more_stops)
		return;
	if (is_stranger()) {
		leave_alone(t);
		return;
	}
	learn_ids(t);
	r = t->pid ? bpf_ringbuf_reserve(&stops, sizeof(*r), 0) : NULL;
	if (!r) { /* nobody could let it go */
		__sync_fetch_and_add(&lost_stops, 1);
		return;
	}
	r->pid = t->pid;
	r->tid = t->tid;
	r->reason = reason;
	number = __sync_fetch_and_add(&held_next, 1);
	held[number % TRACK_HELD] = t->pid;
	r->number = number + 1;
	r->file = file;
	r->changed = changed;
	if (reason == TRACK_STOP_FILE)
		t->asked = number + 1;
	bpf_send_signal(SIGNAL_STOP);
	bpf_ringbuf_submit(r, 0);
}

static const struct track_file no_file;

/* Its number may have been another file's before, and it may have been written to since. */
static __always_inline void stop_at_new_file(struct task *t, struct track_file file, __u64 changed)
{
	__u64 *known = bpf_map_lookup_elem(&files, &file);

	if (!known || *known != changed)
		stop(t, TRACK_STOP_FILE, file, changed);
}

#endif
