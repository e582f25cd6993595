/* SPDX-License-Identifier: MIT */
/* mapped_file.h - the files that a process executes from */
#ifndef MEMTRACK_MAPPED_FILE_H
#define MEMTRACK_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/memtrack.h"
#include "core/vec.h"

struct mapped_file {
	struct track_file file; /* device and inode, as the kernel has them inside */
	char *range;     /* "START-END", its name in map_files */
	char *path;      /* as the process sees it; " (deleted)" may follow */
};

struct mapped_files {
	VEC(struct mapped_file) list; /* by address; the parts of a file that lie side by side are one */
};

/*
 * What `pid` has mapped executable. 0, also for a process that is gone (with no files); -errno with
 * a frame when a process that is there cannot be read.
 */
int mapped_files_read(struct mapped_files *files, pid_t pid);
void mapped_files_release(struct mapped_files *files);

/*
 * A process below this one that has the file mapped executable, with its path there (caller frees);
 * 0 when there is none that can be looked into.
 */
pid_t mapped_file_find_user(struct track_file file, char **path);

static inline bool track_file_equal(struct track_file a, struct track_file b)
{
	return a.inode == b.inode && a.device == b.device;
}

/*
 * The file itself, even where it was deleted or replaced, or lies in another mount namespace; never
 * anything but a regular file. The descriptor; -ESRCH without a frame when the process is gone; else
 * -errno with a frame.
 */
int mapped_file_open(const struct mapped_file *m, pid_t pid);

/*
 * Whether an open file of this device (as in struct track_file) may be served by a user's program: it
 * lies on FUSE, or on an overlay that was not mounted here, which may lie on that.
 */
bool mapped_file_is_served(int fd, uint32_t device);

#endif
