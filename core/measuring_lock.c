/* SPDX-License-Identifier: MIT */
/* measuring_lock.c - memory mode and the others keep away from each other */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include "core/measuring_lock.h"

#define LOCKED_FOLDER "/tmp"

/* "N: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE START END", numbers of the device in hex. */
static long read_holder(const char *line, const struct stat *st)
{
	unsigned int device_major, device_minor;
	unsigned long long inode;
	long pid;

	if (sscanf(line, "%*d: FLOCK ADVISORY %*s %ld %x:%x:%llu", &pid, &device_major, &device_minor,
		   &inode) != 4)
		return 0;
	return inode == st->st_ino && device_major == major(st->st_dev) &&
	       device_minor == minor(st->st_dev) ? pid : 0;
}

/* A process that has the lock; 0 when the kernel does not say. */
static long find_holder(const struct stat *st)
{
	struct buf text = BUF_INIT;
	char *save;
	long pid = 0;

	if (read_file("/proc/locks", &text))
		error_clear();
	for (char *line = text.len ? strtok_r(text.data, "\n", &save) : NULL; line && !pid;
	     line = strtok_r(NULL, "\n", &save))
		pid = read_holder(line, st);
	buf_release(&text);
	return pid;
}

static int tell_holder(int fd, enum mode mode)
{
	char who[64] = "another process";
	struct stat st;
	long pid = fstat(fd, &st) ? 0 : find_holder(&st);

	if (pid)
		snprintf(who, sizeof(who), "process %ld", pid);
	if (mode == MODE_MEMORY)
		return fail(-EBUSY, "%s measures on this machine, which memory mode needs for itself (its "
				    "probes crash simulations); try again when it has ended", who);
	return fail(-EBUSY, "%s tracks memory on this machine: its probes would %s; try again when it has "
			    "ended", who, mode == MODE_WALLTIME ? "slow what is timed"
								: "crash a simulation");
}

int measuring_lock_take(enum mode mode)
{
	int how = mode == MODE_MEMORY ? LOCK_EX : LOCK_SH;
	int fd = open(LOCKED_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0) {
		log_debug("no lock: %s: %s", LOCKED_FOLDER, strerror(errno));
		return 0;
	}
	if (!flock(fd, how | LOCK_NB))
		return 0; /* the descriptor stays open, and with it the lock */
	rc = errno == EWOULDBLOCK ? tell_holder(fd, mode) : 0;
	close(fd);
	return rc;
}
