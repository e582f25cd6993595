/* SPDX-License-Identifier: MIT */
/* trusted_folder.c - folders whose way from `/` nobody but root and one user can change */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/trusted_folder.h"

enum { LINKS_MOST = 8 };

const char *folder_distrust(const struct stat *st, bool has_acl, const struct folder_owner *owner)
{
	bool group_trusted = !has_acl && (st->st_gid == 0 || st->st_gid == owner->gid);

	if (!S_ISDIR(st->st_mode))
		return "is no folder";
	if (st->st_uid != 0 && st->st_uid != owner->uid)
		return "belongs to another user";
	if (st->st_mode & S_ISVTX) /* as in /tmp: what is inside is safe from all but its owner */
		return NULL;
	if (st->st_mode & S_IWOTH)
		return "can be written by every user";
	if (st->st_mode & S_IWGRP && !group_trusted)
		return "can be written by other users";
	return NULL;
}

/* Extended attributes are not to be had from an O_PATH descriptor. */
static bool has_acl(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

int trusted_folder_enter(int at, const char *name, const char *path,
			 const struct folder_owner *owner)
{
	int fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *why;
	struct stat st;

	if (fd < 0 && errno == ENOTDIR && !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) &&
	    S_ISLNK(st.st_mode))
		return fail(-ELOOP, "%s is a symbolic link", path);
	if (fd < 0)
		return fail_errno("cannot enter the folder %s", path);
	why = fstat(fd, &st) ? strerror(errno) : folder_distrust(&st, has_acl(fd), owner);
	if (!why)
		return fd;
	close(fd);
	return fail(-EPERM, "%s %s (user id %u, mode %04o)", path, why, (unsigned)st.st_uid,
		    (unsigned)st.st_mode & 07777);
}

/* What is left to walk, and how it is told. */
struct walk {
	const struct folder_owner *owner;
	char *rest;        /* names to come */
	struct buf passed; /* path of `fd` */
	int fd;
	int links;
};

/* A link is as good as the password entry where only root could have put it. */
static bool is_roots_link(int at, const char *name)
{
	struct stat folder, st;

	return !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode) && !st.st_uid &&
	       !fstat(at, &folder) && !folder.st_uid && !(folder.st_mode & (S_IWGRP | S_IWOTH));
}

static int go_to_root(struct walk *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	buf_clear(&w->passed);
	return w->fd < 0 ? fail_errno("cannot open /") : 0;
}

/* What is left becomes the link's target and the rest behind it. */
static int follow(struct walk *w, const char *name, const char *rest)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(w->fd, name, target, sizeof(target) - 1);
	char *all;

	if (len <= 0 || ++w->links > LINKS_MOST)
		return fail(-ELOOP, "%s/%s: too many links", w->passed.data ? w->passed.data : "", name);
	target[len] = '\0';
	all = xasprintf("%s/%s", target, rest);
	free(w->rest);
	w->rest = all;
	return *target == '/' ? go_to_root(w) : 0;
}

/* The next name of what is left. */
static int step(struct walk *w)
{
	char *name = xstrdup(w->rest + strspn(w->rest, "/"));
	size_t len = strcspn(name, "/");
	char *rest = xstrdup(name + len), *path;
	int rc = 0, fd;

	name[len] = '\0';
	path = xasprintf("%s/%s", w->passed.data ? w->passed.data : "", name);
	if (str_eq(name, "..")) {
		rc = fail(-EINVAL, "%s: `..` is not followed", path);
	} else if (!*name || str_eq(name, ".")) {
		free(w->rest);
		w->rest = xstrdup(rest);
	} else if (is_roots_link(w->fd, name)) {
		rc = follow(w, name, rest);
	} else if ((fd = trusted_folder_enter(w->fd, name, path, w->owner)) < 0) {
		rc = fd;
	} else {
		close(w->fd);
		w->fd = fd;
		buf_clear(&w->passed);
		buf_addstr(&w->passed, path);
		free(w->rest);
		w->rest = xstrdup(rest);
	}
	free(path);
	free(rest);
	free(name);
	return rc;
}

int trusted_folder_open(const char *path, const struct folder_owner *owner)
{
	struct walk w = {.owner = owner, .fd = -1};
	int rc;

	if (*path != '/')
		return fail(-EINVAL, "%s is no absolute path", path);
	w.rest = xstrdup(path);
	rc = go_to_root(&w);
	while (!rc && w.rest[strspn(w.rest, "/")])
		rc = step(&w);
	if (rc && w.fd >= 0)
		close(w.fd);
	free(w.rest);
	buf_release(&w.passed);
	return rc ? rc : w.fd;
}
