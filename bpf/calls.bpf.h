/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * calls.bpf.h - of memtrack.bpf.c: from the entry and the return of an allocator's function to one
 * event in the ring, whatever it calls in between
 */
#ifndef BPF_CALLS_H
#define BPF_CALLS_H

enum {
	FRAMES = 64, /* looked at, between an allocator call and another one inside it */
	ASK_EVERY = 64, /* events of a thread between two looks at how full the ring is */
};

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

#endif
