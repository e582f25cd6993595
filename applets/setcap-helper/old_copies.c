/* SPDX-License-Identifier: MIT */
/* old_copies.c - copies of other builds, and what interrupted installations left */
#include <dirent.h>
#include <fcntl.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"
#include "core/capabilities.h"

#include "applets/setcap-helper/old_copies.h"

enum { DAY_SECONDS = 24 * 60 * 60 };

struct removal {
	const struct capable_copy *c;
	bool all;
	size_t count;
	int rc; /* of the first failure */
};

static bool is_build_id(const char *name)
{
	size_t len = strspn(name, "0123456789abcdef");

	return len >= 8 && !name[len];
}

static bool is_copy(const char *name)
{
	return str_eq(name, CAPABLE_COPY_NAME) || str_starts(name, "." CAPABLE_COPY_NAME ".");
}

void old_copy_revoke(const struct capable_copy *c, int fd)
{
	struct file_caps caps = file_caps_of(fd);
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid || st.st_gid != c->owner.gid ||
	    (st.st_mode & 07777) != CAPABLE_COPY_MODE)
		return;
	if (caps.permitted && !(caps.permitted & ~CAPS_FULL))
		fremovexattr(fd, FILE_CAPS_ATTRIBUTE);
}

static void remove_file(struct removal *r, int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	bool old;

	if (fd < 0)
		return;
	old = !fstat(fd, &st) && S_ISREG(st.st_mode) && !st.st_uid &&
	      (r->all || st.st_mtime + DAY_SECONDS < time(NULL));
	if (old) {
		old_copy_revoke(r->c, fd);
		if (!unlinkat(folder, name, 0))
			r->count += str_eq(name, CAPABLE_COPY_NAME);
		else if (!r->rc)
			r->rc = -errno;
	}
	close(fd);
}

/* `visit` for each name in an open folder. */
static void for_each(struct removal *r, int folder,
		     void (*visit)(struct removal *r, int folder, const char *name))
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		visit(r, folder, entry->d_name);
	closedir(dir);
}

static void visit_file(struct removal *r, int folder, const char *name)
{
	if (is_copy(name))
		remove_file(r, folder, name);
}

static void visit_build(struct removal *r, int folder, const char *name)
{
	bool own = str_eq(name, r->c->build_id);
	int build;

	if (!is_build_id(name) || (own && !r->all))
		return;
	build = trusted_folder_enter(folder, name, name, &r->c->owner);
	if (build < 0) {
		error_clear();
		return;
	}
	for_each(r, build, visit_file);
	close(build);
	unlinkat(folder, name, AT_REMOVEDIR); /* where it is empty */
}

/* Upwards, as long as they are empty and of root. */
static void remove_folders(const struct capable_copy *c)
{
	for (size_t depth = c->names.len - 1; depth > c->users; depth--) {
		char *path = capable_copy_folder_dup(c, depth - 1);
		int at = trusted_folder_open(path, &c->owner);

		free(path);
		if (at < 0)
			break;
		unlinkat(at, c->names.items[depth - 1], AT_REMOVEDIR);
		close(at);
	}
	error_clear();
}

int old_copies_remove(const struct capable_copy *c, bool all, size_t *count)
{
	struct removal r = {.c = c, .all = all};
	char *path = capable_copy_folder_dup(c, c->names.len - 1);
	int folder = trusted_folder_open(path, &c->owner);
	int rc = folder < 0 ? folder : 0;

	*count = 0;
	if (rc == -ENOENT) {
		error_clear();
		rc = 0;
	} else if (!rc) {
		for_each(&r, folder, visit_build);
		close(folder);
		if (r.rc)
			rc = fail(r.rc, "cannot remove all copies in %s: %s", path, strerror(-r.rc));
		else if (all)
			remove_folders(c);
		*count = r.count;
	}
	free(path);
	return rc;
}
