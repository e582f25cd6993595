// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * field.bpf.c - the scheme that heap trackers in the field use, to compare with (probed.c): arguments
 * go from entry to return by a hash of thread ids, processes are known by a hash of process ids,
 * events have 48 bytes. The reader is woken once 64 KB are waiting.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum { RING_BYTES = 256 * 1024 * 1024, ENTRIES = 10000, WAKE_BYTES = 64 * 1024 };
enum { MALLOC = 1, FREE = 2 };

struct event {
	__u8 type;
	__u64 time;
	__u32 pid;
	__u32 tid;
	__u64 addr;
	__u64 size;
	__u64 unused;
};

_Static_assert(sizeof(struct event) == 48, "the field's size");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ENTRIES);
	__type(key, __u32);
	__type(value, __u8);
} tracked_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ENTRIES);
	__type(key, __u64);
	__type(value, __u64);
} malloc_arg SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8);
} tracking_enabled SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} dropped_events SEC(".maps");

static __always_inline _Bool is_tracked(__u64 ids)
{
	__u32 pid = ids >> 32;

	return bpf_map_lookup_elem(&tracked_pids, &pid) != NULL;
}

static __always_inline _Bool is_enabled(void)
{
	__u32 zero = 0;
	__u8 *on = bpf_map_lookup_elem(&tracking_enabled, &zero);

	return on && *on;
}

static __always_inline void tell(__u64 ids, __u8 type, __u64 addr, __u64 size)
{
	struct event *e;
	__u64 *dropped;
	__u32 zero = 0;

	if (!is_tracked(ids) || !is_enabled())
		return;
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		dropped = bpf_map_lookup_elem(&dropped_events, &zero);
		if (dropped)
			__sync_fetch_and_add(dropped, 1);
		return;
	}
	e->type = type;
	e->time = bpf_ktime_get_ns();
	e->pid = ids >> 32;
	e->tid = (__u32)ids;
	e->addr = addr;
	e->size = size;
	bpf_ringbuf_submit(e, bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) >= WAKE_BYTES
				      ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

SEC("uprobe")
int malloc_enter(struct pt_regs *ctx)
{
	__u64 ids = bpf_get_current_pid_tgid(), tid = (__u32)ids, size = PT_REGS_PARM1(ctx);

	if (is_tracked(ids))
		bpf_map_update_elem(&malloc_arg, &tid, &size, BPF_ANY);
	return 0;
}

SEC("uretprobe")
int malloc_leave(struct pt_regs *ctx)
{
	__u64 ids = bpf_get_current_pid_tgid(), tid = (__u32)ids, size;
	__u64 *found = bpf_map_lookup_elem(&malloc_arg, &tid);

	if (!found)
		return 0;
	size = *found;
	bpf_map_delete_elem(&malloc_arg, &tid);
	if (PT_REGS_RC(ctx))
		tell(ids, MALLOC, PT_REGS_RC(ctx), size);
	return 0;
}

SEC("uprobe")
int free_enter(struct pt_regs *ctx)
{
	if (PT_REGS_PARM1(ctx))
		tell(bpf_get_current_pid_tgid(), FREE, PT_REGS_PARM1(ctx), 0);
	return 0;
}
