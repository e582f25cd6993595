// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* memtrack.bpf.c - the kernel side of memtrack: heap calls of a process tree, into a ring */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "arch.h"
#include "kernel.h"
#include "memtrack.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum {
	SIGNAL_STOP = 19,
	MAP_EXECUTABLE = 4, /* PROT_EXEC */
	FLAG_SIGNALED = 0x400, /* PF_SIGNALED: a signal ends the thread */
	FILES_KNOWN = 65536,
	STOPS_BYTES = 256 * 1024,
	FRAMES = 64, /* looked at, between an allocator call and another one inside it */
	ASK_EVERY = 64, /* events of a thread between two looks at how full the ring is */
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

/* ---- Events ---- */

static __always_inline void fill(struct track_event *e, const struct task *t, __u64 kind, __u64 addr)
{
	e->time = bpf_ktime_get_ns();
	/* free() is given anything; what allocators return has no bits there */
	e->kind_addr = kind << TRACK_KIND_SHIFT | (addr & ((1ull << TRACK_KIND_SHIFT) - 1));
	e->pid = t->pid;
	e->tid = t->tid;
}

static __always_inline void submit(struct task *t, void *record)
{
	/* memtrack comes by every few milliseconds: a wake-up costs more than all the rest */
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	if (++t->events % ASK_EVERY == 0 && bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > ring_high)
		stop(t, TRACK_STOP_FULL, no_file, 0);
}

/* One function for each length: a reservation's must be a constant. */
#define RECORD(bytes_)                                                            \
	struct track_event *e = bpf_ringbuf_reserve(&events, (bytes_), 0);        \
	if (!e) {                                                                 \
		__sync_fetch_and_add(&lost_events, 1);                            \
		return;                                                           \
	}                                                                         \
	learn_ids(t)

static __always_inline void tell_free(struct task *t, __u64 addr)
{
	RECORD(TRACK_FREE_BYTES);
	fill(e, t, TRACK_FREE, addr);
	submit(t, e);
}

static __always_inline void tell_alloc(struct task *t, __u64 kind, __u64 addr)
{
	RECORD(TRACK_ALLOC_BYTES);
	fill(e, t, kind, addr);
	e->size = t->size;
	submit(t, e);
}

static __always_inline void tell_realloc(struct task *t, __u64 addr)
{
	RECORD(TRACK_REALLOC_BYTES);
	fill(e, t, TRACK_REALLOC, addr);
	e->size = t->size;
	e->old = t->block;
	submit(t, e);
}

/* Also while no events are wanted; and nobody is held for it, who could not answer any more. */
static __always_inline void tell_end(struct task *t, __u64 kind)
{
	RECORD(TRACK_FREE_BYTES);
	fill(e, t, kind, 0);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/* ---- Allocator calls ---- */

static __always_inline bool may_throw(const struct task *t)
{
	return TRACK_COOKIE_FLAGS(t->cookie) & TRACK_THROWS;
}

/* What stands in the place of the return address while a return probe is pending. */
static __always_inline __u64 return_trampoline(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 address = task->mm->uprobes_state.xol_area->vaddr;

	barrier_var(address); /* else this load and one of a map become one, which is refused */
	return address;
}

/*
 * is_linked(): whether the stack still holds the call that the thread is in. One that longjmp or an
 * exception has left has its return address overwritten by those that came after it, or its frame
 * is none of those that are linked now.
 */

static __always_inline __u64 expected_return(const struct task *t)
{
	return may_throw(t) ? t->return_to : return_trampoline();
}

#if defined(__TARGET_ARCH_arm64)
/*
 * Whether one of the frames from `at` up to `top` returns to `address`. A global function, with
 * numbers alone: so it is verified by itself, and once; in all its callers the loop takes seconds.
 */
__noinline int has_frame(__u64 at, __u64 top, __u64 address)
{
	struct {
		__u64 next, return_to;
	} record;

	if (memory_hidden)
		return true;
	for (int i = 0; i < FRAMES; i++) {
		if (at >= top)
			return false; /* of those who called it */
		if (bpf_probe_read_user(&record, sizeof(record), (void *)at))
			return true;
		if (same_address(record.return_to, address))
			return true;
		if (record.next <= at)
			return true; /* no chain of frames */
		at = record.next;
	}
	return false; /* no allocator calls itself from as deep as that */
}

/* A jump from one function to another leaves the return probe's address in the register. */
static __always_inline bool is_linked(struct pt_regs *ctx, const struct task *t, __u64 sp)
{
	if (sp == t->sp)
		return same_address(return_register(ctx), return_trampoline());
	return !(TRACK_COOKIE_FLAGS(t->cookie) & TRACK_KEEPS_FRAMES) ||
	       has_frame(PT_REGS_FP(ctx), t->sp, expected_return(t));
}
#else
static __always_inline bool is_linked(struct pt_regs *ctx, const struct task *t, __u64 sp)
{
	__u64 return_to;

	if (memory_hidden)
		return true;
	if (bpf_probe_read_user(&return_to, sizeof(return_to), (void *)t->sp))
		return true; /* not in memory now: nobody has written there lately */
	return return_to == expected_return(t);
}
#endif

/*
 * A call from inside another allocator call is part of that one: operator new, aligned wrappers,
 * realloc(NULL) that jumps to malloc (at the very same stack pointer). A call above the outer one's
 * frame means that the outer one was left.
 */
static __always_inline bool is_nested(struct pt_regs *ctx, const struct task *t, __u64 sp)
{
	if (!t->sp || sp > t->sp || (sp == t->sp && may_throw(t)))
		return false;
	return is_linked(ctx, t, sp);
}

/* The bytes that the program asked for: a wrapper above may have asked for more. */
static __always_inline __u64 wanted_size(struct pt_regs *ctx, struct task *t, __u64 sp, __u64 cookie)
{
	__u64 size = argument(ctx, TRACK_COOKIE_SIZE(cookie));

	if (t->wish_sp) {
		if (sp < t->wish_sp)
			size = t->wish;
		t->wish_sp = 0;
	}
	if (TRACK_COOKIE_FACTOR(cookie) != TRACK_NO_ARG)
		size *= argument(ctx, TRACK_COOKIE_FACTOR(cookie));
	return size;
}

/* Returns whether the call's return is of interest. */
static __always_inline bool enter(struct pt_regs *ctx)
{
	__u64 sp = PT_REGS_SP(ctx), cookie;
	struct task *t;

	if (!tracking)
		return false;
	t = current_task();
	if (!t || is_nested(ctx, t, sp))
		return false;
	cookie = bpf_get_attach_cookie(ctx);
	t->cookie = cookie;
	t->sp = sp;
	t->size = wanted_size(ctx, t, sp, cookie);
	t->block = argument(ctx, TRACK_COOKIE_BLOCK(cookie));
	if (RETURN_IN_REGISTER)
		t->return_to = return_register(ctx);
	else if (may_throw(t) && !memory_hidden)
		bpf_probe_read_user(&t->return_to, sizeof(t->return_to), (void *)sp);
	return true;
}

static __always_inline void tell_failed_realloc(struct task *t)
{
	bool freed = !t->size || TRACK_COOKIE_FLAGS(t->cookie) & TRACK_FREES_ON_FAILURE;

	if (t->block && freed)
		tell_free(t, t->block);
}

static __always_inline void tell(struct task *t, __u64 result)
{
	__u64 kind = TRACK_COOKIE_KIND(t->cookie);

	if (TRACK_COOKIE_FLAGS(t->cookie) & TRACK_INDIRECT) {
		if (result)
			return; /* the call failed */
		if (memory_hidden) {
			__sync_fetch_and_add(&lost_addresses, 1);
			return;
		}
		if (bpf_probe_read_user(&result, sizeof(result), (void *)t->block)) {
			__sync_fetch_and_add(&lost_events, 1); /* the place is not in memory now */
			return;
		}
	}
	if (kind == TRACK_REALLOC) {
		if (result)
			tell_realloc(t, result);
		else
			tell_failed_realloc(t);
	} else if (result) {
		tell_alloc(t, kind, result);
	}
}

/* `sp` as it was at the call's entry: another call's return, or none of ours, differs. */
static __always_inline void leave(struct pt_regs *ctx, __u64 sp)
{
	struct task *t = current_task();

	if (!t || t->sp != sp)
		return;
	t->sp = 0;
	if (tracking)
		tell(t, PT_REGS_RC(ctx));
}

/* A free inside a realloc of the same block is part of that. */
static __always_inline bool is_part_of_realloc(struct pt_regs *ctx, const struct task *t, __u64 sp,
					       __u64 addr)
{
	return is_nested(ctx, t, sp) && TRACK_COOKIE_KIND(t->cookie) == TRACK_REALLOC && t->block == addr;
}

/* The same call of the program has come by another free already, which passed the block on. */
static __always_inline bool was_passed_on(struct pt_regs *ctx, struct task *t, __u64 sp, __u64 addr)
{
	bool same = t->passed_sp && t->passed == addr && sp <= t->passed_sp &&
		    t->passed_ip != PT_REGS_IP(ctx);

	t->passed_sp = 0;
	return same;
}

/* Newer kernels give it an argument; libbpf leaves out of a name what stands behind ___. */
extern bool bpf_session_is_return(void) __ksym __weak;
extern bool bpf_session_is_return___context(void *ctx) __ksym __weak;

static __always_inline bool is_return(void *ctx)
{
	if (bpf_ksym_exists(bpf_session_is_return___context))
		return bpf_session_is_return___context(ctx);
	return bpf_session_is_return();
}

SEC("uprobe.multi") /* made a session before it is loaded, where the kernel has them */
int alloc_session(struct pt_regs *ctx)
{
	if (!is_return(ctx))
		return enter(ctx) ? 0 : 1; /* 1: no return probe for this call */
	leave(ctx, PT_REGS_SP(ctx) - RETURN_ADDRESS);
	return 0;
}

SEC("uprobe.multi")
int alloc_enter(struct pt_regs *ctx)
{
	enter(ctx);
	return 0;
}

SEC("uretprobe.multi")
int alloc_leave(struct pt_regs *ctx)
{
	leave(ctx, PT_REGS_SP(ctx) - RETURN_ADDRESS);
	return 0;
}

/* On the `ret` instructions of a function that may throw: a return probe would break unwinding. */
SEC("uprobe.multi")
int alloc_ret(struct pt_regs *ctx)
{
	leave(ctx, PT_REGS_SP(ctx));
	return 0;
}

SEC("uprobe.multi")
int free_enter(struct pt_regs *ctx)
{
	__u64 sp = PT_REGS_SP(ctx), cookie, addr;
	struct task *t;

	if (!tracking)
		return 0;
	t = current_task();
	if (!t)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	addr = argument(ctx, TRACK_COOKIE_BLOCK(cookie));
	if (!addr || was_passed_on(ctx, t, sp, addr) || is_part_of_realloc(ctx, t, sp, addr))
		return 0;
	if (TRACK_COOKIE_FLAGS(cookie) & TRACK_PASSES_ON) {
		t->passed = addr;
		t->passed_sp = sp;
		t->passed_ip = PT_REGS_IP(ctx);
	}
	tell_free(t, addr);
	return 0;
}

/* A wrapper that will ask for more than it is asked for. */
SEC("uprobe.multi")
int size_enter(struct pt_regs *ctx)
{
	__u64 sp = PT_REGS_SP(ctx);
	struct task *t = tracking ? current_task() : NULL;

	if (!t || is_nested(ctx, t, sp))
		return 0;
	t->wish = argument(ctx, TRACK_COOKIE_SIZE(bpf_get_attach_cookie(ctx)));
	t->wish_sp = sp;
	return 0;
}

/*
 * An exception is being made, whose block comes from the same allocator: it will leave the call
 * that it is made in.
 */
SEC("uprobe.multi")
int throw_enter(struct pt_regs *ctx)
{
	struct task *t = current_task();

	if (t && may_throw(t))
		t->sp = 0;
	return 0;
}

SEC("uprobe.multi")
int unseen_enter(struct pt_regs *ctx)
{
	__u64 place = bpf_get_attach_cookie(ctx);

	if (tracking && current_task() && place < TRACK_UNSEEN_MAX)
		unseen[place] = 1;
	return 0;
}

/* ---- The tree ---- */

/* In the parent, before the child runs. A new thread is the same event. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	if (!find_task(parent))
		return 0;
	if (bpf_task_storage_get(&tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE))
		__sync_fetch_and_add(&alive, 1);
	else
		__sync_fetch_and_add(&lost_tasks, 1);
	return 0;
}

/*
 * Of each thread, when it is not counted any more. Of several that end at once more than one may
 * see that none is left: an end told twice is no harm, and the id stays theirs until then. A thread
 * that executes a program is counted all the time, although its leader ends and gives it its id.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct task *t = find_task(task);

	if (!t)
		return 0;
	if (!(task->flags & FLAG_SIGNALED)) /* killed, it has not gone on */
		see_to_stop(t);
	__sync_fetch_and_add(&alive, -1);
	if (!task->signal->live.counter)
		tell_end(t, TRACK_EXIT);
	return 0;
}

/* ---- Files ---- */

enum { NSEC_BITS = (1 << 30) - 1, NSEC_PER_SECOND = 1000000000 };

/* When the file was changed (ctime), ns; READ(pointer, field) is how the kernel's memory is read. */
#define CHANGED_AT(inode_, READ)                                                                   \
	({                                                                                         \
		struct inode___since_6_6 *since_6_6 = (void *)(inode_);                            \
		struct inode___before_6_6 *before_6_6 = (void *)(inode_);                          \
		__s64 seconds;                                                                     \
		__u64 rest;                                                                        \
                                                                                                   \
		if (bpf_core_field_exists(struct inode, i_ctime_sec)) {                            \
			seconds = READ(inode_, i_ctime_sec);                                       \
			rest = READ(inode_, i_ctime_nsec);                                         \
		} else if (bpf_core_field_exists(struct inode___since_6_6, __i_ctime)) {           \
			seconds = READ(since_6_6, __i_ctime.tv_sec);                               \
			rest = READ(since_6_6, __i_ctime.tv_nsec);                                 \
		} else {                                                                           \
			seconds = READ(before_6_6, i_ctime.tv_sec);                                \
			rest = READ(before_6_6, i_ctime.tv_nsec);                                  \
		}                                                                                  \
		(__u64)seconds * NSEC_PER_SECOND + (rest & NSEC_BITS);                             \
	})
#define FIELD(pointer, field) ((pointer)->field)

/* The new image stands before its first instruction. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct task *t = find_task(task);
	struct track_file file = {};
	struct inode *inode;

	if (!t)
		return 0;
	if (own_user_only && BPF_CORE_READ_BITFIELD(program, secureexec)) {
		leave_alone(t);
		return 0;
	}
	t->sp = t->wish_sp = t->passed_sp = 0;
	t->pid = t->tid = 0; /* a thread that executes takes its leader's id */
	tell_end(t, TRACK_EXEC);
	inode = program->file->f_inode;
	file.device = inode->i_sb->s_dev;
	file.inode = inode->i_ino;
	stop_at_new_file(t, file, CHANGED_AT(inode, FIELD));
	return 0;
}

static __always_inline void look_at_mapping(struct task *t, unsigned int fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file **table, *mapped = NULL;
	struct track_file file = {};
	struct inode *inode;

	if (memory_hidden) {
		if ((int)fd >= 0)
			stop(t, TRACK_STOP_FILE, no_file, 0); /* memtrack will see which it is */
		return;
	}
	if (fd >= BPF_CORE_READ(task, files, fdt, max_fds))
		return; /* no file: an anonymous mapping */
	table = BPF_CORE_READ(task, files, fdt, fd);
	if (bpf_probe_read_kernel(&mapped, sizeof(mapped), &table[fd]) || !mapped) {
		stop(t, TRACK_STOP_FILE, no_file, 0); /* another thread has closed it just now */
		return;
	}
	inode = BPF_CORE_READ(mapped, f_inode);
	file.device = BPF_CORE_READ(inode, i_sb, s_dev);
	file.inode = BPF_CORE_READ(inode, i_ino);
	stop_at_new_file(t, file, CHANGED_AT(inode, BPF_CORE_READ));
}

/* A library was mapped: by the loader, or by dlopen() at any time. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs___kernel *regs, long result)
{
	struct task *t;

	if (SYSCALL_NUMBER(regs) != SYSCALL_MMAP || !(MMAP_PROTECTION(regs) & MAP_EXECUTABLE) ||
	    (unsigned long)result > -4096UL)
		return 0;
	t = current_task();
	if (t)
		look_at_mapping(t, MMAP_FILE(regs));
	return 0;
}
