/* SPDX-License-Identifier: MIT */
/* io.c - whole reads and writes */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"

enum { READ_CHUNK = 64 * 1024 };

int write_full(int fd, const void *data, size_t len)
{
	const char *from = data;

	while (len) {
		ssize_t n = write(fd, from, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

static int first_output_error;

void output_text(const char *text, size_t len)
{
	int rc = fflush(stdout) ? -errno : write_full(STDOUT_FILENO, text, len);

	if (rc && !first_output_error)
		first_output_error = -rc;
}

int output_error(void)
{
	return first_output_error;
}

int read_rest(int fd, struct buf *to)
{
	for (;;) {
		ssize_t n = read(fd, buf_reserve(to, READ_CHUNK), READ_CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno("cannot read");
		to->len += (size_t)n;
		to->data[to->len] = '\0';
		if (n == 0)
			return 0;
	}
}

int read_file(const char *path, struct buf *to)
{
	int fd, rc;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_errno("cannot open %s", path);
	rc = read_rest(fd, to);
	close(fd);
	return rc ? fail(rc, "%s", path) : 0;
}

int read_plain_file(const char *path, struct buf *to)
{
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return fail(-EINVAL, "%s is not a plain file", path);
	return read_file(path, to);
}

int write_file_atomic(const char *path, const void *data, size_t len, mode_t mode)
{
	char *temp = xasprintf("%s.XXXXXX", path);
	int fd, rc;

	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0) {
		rc = fail_errno("cannot create %s", path);
		goto out;
	}
	rc = write_full(fd, data, len);
	if (!rc && fchmod(fd, mode))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(temp, path))
		rc = -errno;
	if (rc) {
		unlink(temp);
		errno = -rc;
		fail_errno("cannot write %s", path);
	}
out:
	free(temp);
	return rc;
}

int create_file_in(int folder, const char *where, const char *name)
{
	int fd;

	if (unlinkat(folder, name, 0) && errno != ENOENT)
		return fail_errno("cannot replace %s in %s", name, where);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	return fd < 0 ? fail_errno("cannot create %s in %s", name, where) : fd;
}

static mode_t current_umask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

static int write_special(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return fail_errno("cannot open %s", path);
	rc = write_full(fd, data, len);
	if (close(fd) && !rc)
		rc = -errno;
	if (rc) {
		errno = -rc;
		fail_errno("cannot write %s", path);
	}
	return rc;
}

/* /dev/stdout and its like: the file is open already, and others write to it. */
static int own_descriptor(const struct stat *st)
{
	struct stat own;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &own) && own.st_dev == st->st_dev && own.st_ino == st->st_ino)
			return fd;
	return -1;
}

int write_output(const char *path, const void *data, size_t len)
{
	struct stat st;
	char *target;
	int rc, fd;

	if (stat(path, &st)) /* a name that is free, or a link that leads nowhere */
		return write_file_atomic(path, data, len, 0666 & ~current_umask());
	fd = own_descriptor(&st);
	if (fd >= 0) {
		rc = write_full(fd, data, len);
		return rc ? fail(rc, "cannot write %s: %s", path, strerror(-rc)) : 0;
	}
	if (!S_ISREG(st.st_mode))
		return write_special(path, data, len);
	target = realpath(path, NULL);
	if (!target)
		return fail_errno("cannot find %s", path);
	rc = write_file_atomic(target, data, len, st.st_mode & 07777);
	free(target);
	return rc;
}
