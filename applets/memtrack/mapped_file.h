/* SPDX-License-Identifier: MIT */
/* mapped_file.h - the files that a process executes from */
#ifndef MEMTRACK_MAPPED_FILE_H
#define MEMTRACK_MAPPED_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "core/vec.h"

struct mapped_file {
	uint32_t device; /* as the kernel has it inside: major << 20 | minor */
	uint64_t inode;
	char *range;     /* "START-END", its name in map_files */
	char *path;      /* as the process sees it; " (deleted)" may follow */
};

struct mapped_files {
	VEC(struct mapped_file) list; /* each file once */
};

/*
 * What `pid` has mapped executable. 0, also for a process that is gone (with no files); -errno with
 * a frame when a process that is there cannot be read.
 */
int mapped_files_read(struct mapped_files *files, pid_t pid);
void mapped_files_release(struct mapped_files *files);

/*
 * The file itself, even where it was deleted or replaced, or lies in another mount namespace. The
 * descriptor; -ESRCH without a frame when the process is gone; else -errno with a frame.
 */
int mapped_file_open(const struct mapped_file *file, pid_t pid);

#endif
