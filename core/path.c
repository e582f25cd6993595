/* SPDX-License-Identifier: MIT */
/* path.c - paths: names, look-up on PATH, folders made and removed */
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/path.h"

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_absolute(const char *path)
{
	char *here, *joined;

	if (path[0] == '/')
		return xstrdup(path);
	here = getcwd(NULL, 0);
	if (!here) {
		fail_errno("cannot tell the current directory");
		return NULL;
	}
	joined = xasprintf("%s/%s", str_eq(here, "/") ? "" : here, path);
	free(here);
	return joined;
}

char *path_of_self(void)
{
	char target[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", target, sizeof(target) - 1);

	if (len < 0) {
		fail_errno("cannot read /proc/self/exe (is /proc mounted?)");
		return NULL;
	}
	target[len] = '\0';
	return xstrdup(target);
}

/* 0: a file that may be executed; else -ENOENT or -EACCES. */
static int probe_program(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == EACCES ? -EACCES : -ENOENT;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

int path_find_program(const char *name, const char *search, char **found)
{
	int result = -ENOENT;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		*found = xstrdup(name);
		result = probe_program(name);
		if (result)
			free(*found);
		return result;
	}
	for (const char *at = search ? search : PATH_DEFAULT;; at++) {
		size_t len = strcspn(at, ":");
		/* an empty item is the current directory */
		char *path = len ? xasprintf("%.*s/%s", (int)len, at, name) : xstrdup(name);
		int rc = probe_program(path);

		if (rc == 0) {
			*found = path;
			return 0;
		}
		free(path);
		if (rc == -EACCES)
			result = -EACCES;
		at += len;
		if (!*at)
			return result;
	}
}

/* After a failed mkdir(): whether a folder is there all the same; else errno says why not. */
static bool is_folder(const char *path, int error)
{
	struct stat st;

	if (error == EEXIST && stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return true;
		error = ENOTDIR;
	}
	errno = error;
	return false;
}

int path_make_folder(const char *path, mode_t mode)
{
	char *part = xstrdup(path);
	int rc = 0;

	for (char *at = part + 1;; at++) {
		char end = *at;

		if (end != '/' && end != '\0')
			continue;
		*at = '\0';
		if (mkdir(part, mode) && !is_folder(part, errno)) {
			rc = fail_errno("cannot create the folder %s", part);
			break;
		}
		*at = end;
		if (!end)
			break;
	}
	free(part);
	return rc;
}

static int remove_entry(const char *path, const struct stat *st UNUSED, int type UNUSED,
			struct FTW *ftw UNUSED)
{
	return remove(path);
}

int path_remove_tree(const char *path)
{
	enum { OPEN_FOLDERS = 16 };

	if (nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		return fail_errno("cannot remove %s", path);
	return 0;
}

/* Skip digits; NULL when there are none. */
static const char *skip_digits(const char *at)
{
	size_t len = strspn(at, "0123456789");

	return len ? at + len : NULL;
}

bool path_is_numbered(const char *name, const char *prefix, const char *suffix, uint64_t *number)
{
	const char *first = name + strlen(prefix), *end, *more;

	if (!str_starts(name, prefix))
		return false;
	end = skip_digits(first);
	if (!end)
		return false;
	more = *end == '.' ? skip_digits(end + 1) : NULL;
	if (!str_eq(more ? more : end, suffix))
		return false;
	if (number)
		*number = strtoull(first, NULL, 10);
	return true;
}
