/* SPDX-License-Identifier: MIT */
/* bpf_engine.h - heap events by uprobes and eBPF */
#ifndef MEMTRACK_BPF_ENGINE_H
#define MEMTRACK_BPF_ENGINE_H

#include "applets/memtrack/engine.h"

struct bpf_engine_options {
	int flavour;       /* enum uprobe_flavour, or -1: the best */
	size_t ring_bytes; /* 0: as much as host and cgroup allow */
};

/* 0 or -errno with a frame that has the remedy; to be made before any other thread. */
int bpf_engine_new(struct engine **to, const struct bpf_engine_options *options);

#endif
