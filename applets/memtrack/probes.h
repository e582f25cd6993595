/* SPDX-License-Identifier: MIT */
/* probes.h - from what allocators.h finds in a file to the probes that the tracker attaches */
#ifndef MEMTRACK_PROBES_H
#define MEMTRACK_PROBES_H

#include "core/heap_gaps.h"
#include "core/strvec.h"
#include "core/vec.h"

#include "applets/memtrack/tracker.h"

struct probes {
	VEC(struct probe) list;
};

/*
 * The probes of a file; none for one that is no allocator. `is_program` says that a process was
 * started from it: one whose allocator nobody can find is a gap. Functions whose blocks cannot be
 * seen are appended to `unseen` as "NAME in FILE", the place there being the probe's. 0 or -errno
 * with a frame: an allocator that cannot be probed must not pass in silence.
 */
int probes_find(struct probes *probes, int fd, const char *name, bool is_program,
		struct strvec *unseen, struct heap_gaps *gaps);

#endif
