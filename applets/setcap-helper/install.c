/* SPDX-License-Identifier: MIT */
/* install.c - put the capable copy into its place */
#include <fcntl.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/capabilities.h"
#include "core/io.h"

#include "applets/setcap-helper/install.h"
#include "applets/setcap-helper/old_copies.h"

enum {
	USER_FOLDER_MODE = 0700, /* what others make of ~/.cache */
	ROOT_FOLDER_MODE = 0755,
	ATTEMPTS = 8,
};

/* ---- Folders ---- */

/*
 * In a folder of the user's one for the user is made as the user: made by root and given away,
 * another one might be given away that the user has put in its place meanwhile.
 */
static int make_folder(int at, const char *name, const struct folder_owner *as)
{
	struct stat st;
	int rc;

	if (fstat(at, &st))
		return -errno;
	if (!st.st_uid)
		as = NULL; /* an image build's ~/.cache: nobody but root can make anything there */
	if (as) {
		setfsgid(as->gid);
		setfsuid(as->uid);
	}
	rc = mkdirat(at, name, as ? USER_FOLDER_MODE : ROOT_FOLDER_MODE) ? -errno : 0;
	if (as) {
		setfsuid(0);
		setfsgid(0);
	}
	return rc == -EEXIST ? 0 : rc;
}

static int enter(const struct capable_copy *c, int at, size_t index)
{
	char *path = capable_copy_folder_dup(c, index + 1);
	const char *name = c->names.items[index];
	struct stat st;
	int rc = 0;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW))
		rc = errno == ENOENT ? make_folder(at, name, index < c->users ? &c->owner : NULL)
				     : -errno;
	if (rc)
		rc = fail(rc, "cannot make the folder %s: %s", path, strerror(-rc));
	else
		rc = trusted_folder_enter(at, name, path, &c->owner);
	free(path);
	return rc;
}

static int open_folder(const struct capable_copy *c)
{
	int at = trusted_folder_open(c->base, &c->owner);

	for (size_t i = 0; at >= 0 && i < c->names.len; i++) {
		int inner = enter(c, at, i);

		close(at);
		at = inner;
	}
	return at;
}

/* ---- The file ---- */

static int open_copy(int folder)
{
	return openat(folder, CAPABLE_COPY_NAME,
		      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool has_content(int fd, const struct buf *content)
{
	struct buf text = BUF_INIT;
	bool same;

	if (read_rest(fd, &text))
		error_clear();
	same = text.len == content->len && !memcmp(text.data, content->data, text.len);
	buf_release(&text);
	return same;
}

static bool has_attributes(int fd, gid_t gid, const unsigned char *attribute)
{
	unsigned char now[FILE_CAPS_MOST];
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && !st.st_uid && st.st_gid == gid &&
	       (st.st_mode & 07777) == CAPABLE_COPY_MODE && st.st_nlink == 1 &&
	       fgetxattr(fd, FILE_CAPS_ATTRIBUTE, now, sizeof(now)) == FILE_CAPS_BYTES &&
	       !memcmp(now, attribute, FILE_CAPS_BYTES);
}

/* What is there is exactly what would be written. Its time says when it was last asked for. */
static bool is_there(int folder, gid_t gid, const struct buf *content, const unsigned char *attribute)
{
	int fd = open_copy(folder);
	bool same;

	if (fd < 0)
		return false;
	same = has_attributes(fd, gid, attribute) && has_content(fd, content) && !futimens(fd, NULL);
	close(fd);
	return same;
}

/* In this order: a new owner or new bytes would take the attribute away again. */
static int fill(int fd, gid_t gid, const struct buf *content, const unsigned char *attribute)
{
	int rc = write_full(fd, content->data, content->len);

	if (rc)
		return fail(rc, "cannot write: %s", strerror(-rc));
	if (fchown(fd, 0, gid) || fchmod(fd, CAPABLE_COPY_MODE))
		return fail_errno("cannot set owner and mode");
	if (fsetxattr(fd, FILE_CAPS_ATTRIBUTE, attribute, FILE_CAPS_BYTES, 0))
		return fail_errno("the file system refuses the capabilities");
	return 0;
}

static int create(int folder, char *name, size_t size)
{
	uint64_t number;
	int fd;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return fail_errno("getrandom");
	snprintf(name, size, "." CAPABLE_COPY_NAME ".%016llx", (unsigned long long)number);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? fail_errno("cannot create a file") : fd;
}

static int replace(const struct capable_copy *c, int folder, const struct buf *content,
		   const unsigned char *attribute)
{
	char name[64];
	int fd = create(folder, name, sizeof(name)), before = open_copy(folder), rc = fd;

	if (fd < 0)
		goto out;
	rc = fill(fd, c->owner.gid, content, attribute);
	if (close(fd) && !rc)
		rc = fail_errno("cannot write");
	if (!rc && renameat(folder, name, folder, CAPABLE_COPY_NAME))
		rc = fail_errno("cannot rename");
	if (rc)
		unlinkat(folder, name, 0);
	else if (before >= 0)
		old_copy_revoke(c, before);
out:
	if (before >= 0)
		close(before);
	return rc;
}

static int read_self(struct buf *to)
{
	int rc = read_file("/proc/self/exe", to);

	return rc ? fail(rc, "the running binary cannot be read") : 0;
}

int install_copy(const struct capable_copy *c, uint64_t rights, bool *fresh)
{
	unsigned char attribute[FILE_CAPS_BYTES];
	struct buf content = BUF_INIT;
	int rc = read_self(&content), folder;

	file_caps_encode(rights, attribute);
	*fresh = false;
	if (rc)
		goto out;
	rc = folder = open_folder(c);
	if (folder < 0)
		goto out;
	rc = 0;
	if (!is_there(folder, c->owner.gid, &content, attribute)) {
		rc = replace(c, folder, &content, attribute);
		*fresh = !rc;
	}
	close(folder);
	if (rc)
		rc = fail(rc, "%s", c->path);
out:
	buf_release(&content);
	return rc;
}
