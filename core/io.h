/* SPDX-License-Identifier: MIT */
/* io.h - whole reads and writes */
#ifndef CORE_IO_H
#define CORE_IO_H

#include <stddef.h>
#include <sys/types.h>

#include "core/buf.h"

/* All of `data`, through short writes and EINTR. 0 or -errno, no frame recorded. */
int write_full(int fd, const void *data, size_t len);

/*
 * To standard output, behind what stdio holds for it. A failure is kept for the end of main(), with
 * its reason, which stdio forgets when a text is longer than its buffer.
 */
void output_text(const char *text, size_t len);

/* The errno of the first failure of output_text(), or 0. */
int output_error(void);

/* The rest of `fd`, appended to `to`. 0 or -errno with a frame. */
int read_rest(int fd, struct buf *to);

/* The whole file at `path`, appended. 0 or -errno with a frame that names the file. */
int read_file(const char *path, struct buf *to);

/* The same for a plain file only: a FIFO in a folder from elsewhere would wait for ever. */
int read_plain_file(const char *path, struct buf *to);

/*
 * Put `data` at `path` in one step: written beside it under a name nobody can guess, then renamed,
 * so that no reader ever sees half a file. 0 or -errno with a frame.
 */
int write_file_atomic(const char *path, const void *data, size_t len, mode_t mode);

/*
 * A new file of this name in the folder that is open as `folder`, for writing; whatever has the name
 * is removed, not opened, since the folder may be another user's. The descriptor, or -errno with a
 * frame, in which `where` names the folder.
 */
int create_file_in(int folder, const char *where, const char *name);

/*
 * Put `data` where a user asked for it: a plain file, present or not, as above and through links;
 * a device or a FIFO is written to and stays what it is. 0 or -errno with a frame.
 */
int write_output(const char *path, const void *data, size_t len);

#endif
