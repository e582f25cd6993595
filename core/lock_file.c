/* SPDX-License-Identifier: MIT */
/* lock_file.c - one process at a time, across users */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/lock_file.h"

enum {
	ATTEMPTS = 100, /* the file may come and go under us, but not for ever */
	PID_TEXT = 24,
	FLAGS = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
};

/*
 * What is there, else a new file. O_CREAT only together with O_EXCL: fs.protected_regular refuses
 * it for a file of another user in /tmp, even to root. -EAGAIN: it came or went in between.
 */
static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | FLAGS);

	if (fd < 0 && (errno == EACCES || errno == EROFS))
		fd = open(path, O_RDONLY | FLAGS); /* another user's: enough for the lock */
	if (fd >= 0)
		return fd;
	if (errno == ELOOP)
		return fail(-ELOOP, "%s is a symbolic link: remove it", path);
	if (errno != ENOENT)
		return fail_errno("cannot open %s", path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | FLAGS, 0644);
	if (fd < 0)
		return errno == EEXIST ? -EAGAIN : fail_errno("cannot create %s", path);
	fchmod(fd, 0644); /* others must be able to read who holds it; a failure costs just that */
	return fd;
}

static int tell_holder(int fd, const char *path, const struct stat *st)
{
	char text[PID_TEXT] = "", *end;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	long pid = n > 0 ? strtol(text, &end, 10) : 0;
	char holder[PID_TEXT + 16] = "another process", user[PID_TEXT + 16] = "";

	if (pid > 0 && *end == '\n')
		snprintf(holder, sizeof(holder), "process %ld", pid);
	if (st->st_uid != geteuid())
		snprintf(user, sizeof(user), " of user id %u", st->st_uid);
	return fail(-EBUSY, "%s is held by %s%s", path, holder, user);
}

static bool is_at(const char *path, const struct stat *st)
{
	struct stat now;

	return !lstat(path, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}

/*
 * The file is locked by us. It must also still be the one at `path`, or others lock another one,
 * and be our own, so that it can be written to and is ours to remove. -EAGAIN: try again.
 */
static int claim(int fd, const char *path, const struct stat *st)
{
	char text[PID_TEXT];
	int len;

	if (!is_at(path, st))
		return -EAGAIN;
	if (st->st_uid != geteuid() || st->st_nlink != 1) {
		if (unlink(path))
			return fail_errno("%s was left behind by user id %u and cannot be removed",
					  path, st->st_uid);
		return -EAGAIN;
	}
	len = snprintf(text, sizeof(text), "%d\n", getpid());
	if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)len, 0) != len)
		log_debug("%s: cannot write: %s", path, strerror(errno)); /* the lock still holds */
	return 0;
}

static int lock(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st))
		return fail_errno("cannot look at %s", path);
	if (!S_ISREG(st.st_mode))
		return fail(-EEXIST, "%s is not a plain file: remove it", path);
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return claim(fd, path, &st);
	return errno == EWOULDBLOCK ? tell_holder(fd, path, &st)
				    : fail_errno("cannot lock %s", path);
}

int lock_file_take(struct lock_file *l, const char *path)
{
	int rc = -EAGAIN, fd = -1;

	*l = (struct lock_file)LOCK_FILE_INIT;
	for (int i = 0; i < ATTEMPTS && rc == -EAGAIN; i++) {
		fd = open_file(path);
		rc = fd < 0 ? fd : lock(fd, path);
		if (rc && fd >= 0)
			close(fd);
	}
	if (rc == -EAGAIN)
		return fail(rc, "%s comes and goes", path);
	if (!rc)
		*l = (struct lock_file){xstrdup(path), fd};
	return rc;
}

void lock_file_drop(struct lock_file *l)
{
	struct stat st;

	if (!l->path)
		return;
	if (!fstat(l->fd, &st) && is_at(l->path, &st))
		unlink(l->path); /* while it is locked: who opened it meanwhile looks again */
	close(l->fd);
	free(l->path);
	*l = (struct lock_file)LOCK_FILE_INIT;
}
