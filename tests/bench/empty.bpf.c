// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* empty.bpf.c - what probes cost that do nothing: programs for probed.c, named as memtrack's */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("uprobe.multi") /* loaded as a session where memtrack has those */
int alloc_session(void *ctx)
{
	return 0; /* with its return probe */
}

SEC("uprobe.multi")
int alloc_enter(void *ctx)
{
	return 0;
}

SEC("uretprobe.multi")
int alloc_leave(void *ctx)
{
	return 0;
}

SEC("uprobe.multi")
int free_enter(void *ctx)
{
	return 0;
}
