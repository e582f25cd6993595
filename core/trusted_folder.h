/* SPDX-License-Identifier: MIT */
/*
 * trusted_folder.h - folders whose way from `/` nobody but root and one user can change.
 *
 * Each folder on the way is opened by its name in the one before, so nothing is exchanged between
 * the check and the use. Links are not followed, but for those that root has put into a folder of
 * its own (/home -> /usr/home).
 */
#ifndef CORE_TRUSTED_FOLDER_H
#define CORE_TRUSTED_FOLDER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Whom besides root a folder may belong to. */
struct folder_owner {
	uid_t uid;
	gid_t gid; /* the user's own group may write, too */
};

/*
 * Why a folder with these attributes is not to be trusted: static text, or NULL. `has_acl`: there is
 * an access list, whose members the group bits stand for.
 */
const char *folder_distrust(const struct stat *st, bool has_acl, const struct folder_owner *owner);

/*
 * The folder at the absolute `path`, opened with O_PATH. A descriptor, or -errno with a frame that
 * names the folder and what is wrong with it.
 */
int trusted_folder_open(const char *path, const struct folder_owner *owner);

/* The folder `name` in an open one; `path` is what the whole is called in messages. The same. */
int trusted_folder_enter(int at, const char *name, const char *path,
			 const struct folder_owner *owner);

#endif
