/* SPDX-License-Identifier: MIT */
/*
 * known_files.h - the files that the tree executes from: each is looked at once, allocators among
 * them get probes.
 *
 * The kernel keeps the instructions that a probe replaced. Whoever writes to such a file in place
 * (`cp new program` does) would run into probes of the old one, so each has a read lease while it is
 * probed: the writer waits in open() until its probes are gone.
 */
#ifndef MEMTRACK_KNOWN_FILES_H
#define MEMTRACK_KNOWN_FILES_H

#include "core/heap_gaps.h"
#include "core/strvec.h"

#include "applets/memtrack/tracker.h"

struct known_file;

struct known_files {
	struct tracker *tracker; /* borrowed */
	VEC(struct known_file) list; /* by file */
	struct heap_gaps gaps; /* what could not be looked at or into */
	VEC(struct track_file) told; /* files that gaps have been told of */
	struct strvec unseen; /* functions whose blocks are not seen, by place */
	unsigned groups;      /* of probes, given so far */
};

/*
 * Look at what the stopped process has mapped: besides the file it was stopped for that is its
 * loader, which for musl is the allocator. 0 or -errno with a frame: an allocator cannot be probed.
 */
int known_files_look(struct known_files *k, const struct track_stop *stop);

/* SIGIO says that somebody waits to write to one; it must be blocked in all threads. */
void known_files_yield(struct known_files *k);

/* Functions that were called, whose blocks are not seen, become gaps. */
void known_files_tell_unseen(struct known_files *k);

/* The probes stay: tracker_free() takes them away. */
void known_files_release(struct known_files *k);

#endif
