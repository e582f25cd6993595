/* SPDX-License-Identifier: MIT */
/*
 * token.h - a BPF token: a mount of bpffs to which an administrator has delegated what programs of a
 * user namespace may do (Linux 6.9). libbpf uses it; here is what it is asked about. Memory mode
 * takes a bpffs that is mounted with
 *
 *	delegate_cmds=map_create:prog_load:btf_load
 *	delegate_maps=hash:array:ringbuf:task_storage
 *	delegate_progs=socket_filter:kprobe:tracing
 *	delegate_attachs=cgroup_inet_ingress:trace_raw_tp:trace_uprobe_multi:trace_uprobe_session
 */
#ifndef MEMTRACK_TOKEN_H
#define MEMTRACK_TOKEN_H

#include "core/buf.h"

#define TOKEN_VARIABLE "LIBBPF_BPF_TOKEN_PATH"

/* What the variable names, when it is a folder; else NULL. Borrowed. */
const char *token_path(void);

/*
 * Append what memtrack needs and such options of a bpffs do not delegate, as options
 * ("delegate_maps=task_storage delegate_progs=kprobe:tracing"); nothing when all is there.
 */
void token_missing(const char *options, struct buf *to);

/* The same for the mount at `path`; "no bpffs is mounted there" where it is none. */
void token_explain(const char *path, struct buf *to);

#endif
