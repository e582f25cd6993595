/* SPDX-License-Identifier: MIT */
/*
 * lock_file.h - one process at a time, across users: a lock on a file that holds its owner's pid.
 *
 * The lock is the kernel's (flock), so a process that dies loses it whatever it leaves behind. The
 * file may lie in /tmp, where everyone can put anything under its name: links are not followed,
 * and nothing is ever written to a file that is not a plain one of our own.
 */
#ifndef CORE_LOCK_FILE_H
#define CORE_LOCK_FILE_H

struct lock_file {
	char *path; /* NULL: not taken */
	int fd;
};

#define LOCK_FILE_INIT {NULL, -1}

/*
 * 0; -EBUSY with a frame that names the holder ("PATH is held by process 1234"); another -errno
 * with a frame.
 */
int lock_file_take(struct lock_file *l, const char *path);

/* Remove the file and let go. Fine on one that is not taken. */
void lock_file_drop(struct lock_file *l);

#endif
