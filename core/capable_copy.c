/* SPDX-License-Identifier: MIT */
/* capable_copy.c - the copy of this binary that carries the rights which memory mode needs */
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/build_id.h"
#include "core/capabilities.h"
#include "core/capable_copy.h"
#include "core/elf.h"

/* ---- Where it is ---- */

/* `/` is what accounts without a home of their own have. Whatever else stat() says, there is one. */
static bool is_home(const char *path)
{
	struct stat st;

	if (*path != '/' || !path[strspn(path, "/")])
		return false;
	return !stat(path, &st) || (errno != ENOENT && errno != ENOTDIR);
}

static int read_entry(struct capable_copy *c)
{
	enum { ENTRY_BYTES = 16 * 1024 };
	char *bytes = xmalloc(ENTRY_BYTES);
	struct passwd entry, *found = NULL;
	int rc = getpwuid_r(c->owner.uid, &entry, bytes, ENTRY_BYTES, &found);

	if (rc)
		rc = fail(-rc, "cannot read the password entry of user id %u: %s",
			  (unsigned)c->owner.uid, strerror(rc));
	if (found)
		c->owner.gid = entry.pw_gid;
	if (found && is_home(entry.pw_dir))
		c->base = xstrdup(entry.pw_dir);
	free(bytes);
	return rc;
}

int capable_copy_locate(struct capable_copy *c, uid_t uid, gid_t gid)
{
	char *folder;
	int rc;

	*c = (struct capable_copy){.owner = {uid, gid}};
	rc = read_entry(c);
	if (rc)
		return rc;
	c->build_id = build_id_dup();
	if (!c->build_id)
		return fail(-ENODATA, "this binary was linked without a build id");
	if (c->base) {
		strvec_push(&c->names, ".cache");
		strvec_push(&c->names, "codspeed");
		c->users = c->names.len;
		strvec_push(&c->names, "memtrack");
	} else {
		c->base = xstrdup("/var/cache");
		strvec_push(&c->names, "codspeed");
		strvec_push(&c->names, "memtrack");
		strvec_pushf(&c->names, "%u", (unsigned)uid);
	}
	strvec_push(&c->names, c->build_id);
	folder = capable_copy_folder_dup(c, c->names.len);
	c->path = xasprintf("%s/%s", folder, CAPABLE_COPY_NAME);
	free(folder);
	return 0;
}

void capable_copy_release(struct capable_copy *c)
{
	strvec_release(&c->names);
	free(c->base);
	free(c->build_id);
	free(c->path);
}

char *capable_copy_folder_dup(const struct capable_copy *c, size_t count)
{
	struct buf path = BUF_INIT;

	buf_addstr(&path, c->base);
	for (size_t i = 0; i < count; i++)
		buf_printf(&path, "/%s", c->names.items[i]);
	return buf_detach(&path);
}

/* ---- Whether it is one ---- */

/* The name of a folder says little: it is the user's to choose. */
static int check_build(const struct capable_copy *c, int fd)
{
	struct elf_file *f;
	int rc = elf_file_open(&f, fd, c->path);

	if (rc)
		return rc;
	if (!elf_file_has_build_id(f, c->build_id))
		rc = fail(-ESTALE, "%s is of another build", c->path);
	elf_file_close(f);
	return rc;
}

static int check(const struct capable_copy *c, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return fail_errno("cannot look at %s", c->path);
	if (!S_ISREG(st.st_mode))
		return fail(-EPERM, "%s is no plain file", c->path);
	if (st.st_uid)
		return fail(-EPERM, "%s belongs to user id %u instead of root", c->path,
			    (unsigned)st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH | S_IROTH | S_IXOTH | S_ISUID | S_ISGID))
		return fail(-EPERM, "%s has the mode %04o instead of %04o", c->path,
			    (unsigned)st.st_mode & 07777, (unsigned)CAPABLE_COPY_MODE);
	return check_build(c, fd);
}

static int open_in(const struct capable_copy *c, int at)
{
	int fd = openat(at, CAPABLE_COPY_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int rc;

	if (fd < 0 && errno == ELOOP)
		return fail(-ELOOP, "%s is a symbolic link", c->path);
	if (fd < 0)
		return fail_errno("cannot open %s", c->path);
	rc = check(c, fd);
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

int capable_copy_open(const struct capable_copy *c)
{
	char *folder = capable_copy_folder_dup(c, c->names.len);
	int at = trusted_folder_open(folder, &c->owner);
	int rc = at;

	free(folder);
	if (at >= 0) {
		rc = open_in(c, at);
		close(at);
	}
	return rc;
}

uint64_t capable_copy_rights(int fd)
{
	uint64_t rights = file_caps_of(fd).permitted & CAPS_FULL;

	return (rights & CAPS_MINIMAL) == CAPS_MINIMAL ? rights : 0;
}
