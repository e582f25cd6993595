/* SPDX-License-Identifier: MIT */
/*
 * capable_copy.h - the copy of this binary that carries the rights which memory mode needs.
 *
 * Rights belong to a file, so they are not on the binary itself: valgrind could not run it, and
 * every applet would have them. The copy is a file of root in a folder that depends on the user's
 * password entry and on the build alone, never on the environment:
 *
 *	HOME/.cache/codspeed/memtrack/BUILD_ID/codspeed-memtrack
 *	/var/cache/codspeed/memtrack/UID/BUILD_ID/codspeed-memtrack     where there is no home
 */
#ifndef CORE_CAPABLE_COPY_H
#define CORE_CAPABLE_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/strvec.h"
#include "core/trusted_folder.h"

#define CAPABLE_COPY_NAME "codspeed-memtrack"

enum { CAPABLE_COPY_MODE = 0750 };

struct capable_copy {
	struct folder_owner owner; /* the user whose copy it is */
	char *base;          /* what must be there: HOME, or /var/cache */
	struct strvec names; /* of the folders below it, the build id last */
	size_t users;        /* how many of them belong to the user where they are made, the rest to root */
	char *build_id;
	char *path;          /* of the copy */
};

/*
 * Whose password entry says `uid`; `gid` is the group where there is no entry. 0 or -errno with a
 * frame; to be released in any case.
 */
int capable_copy_locate(struct capable_copy *c, uid_t uid, gid_t gid);
void capable_copy_release(struct capable_copy *c);

/* The path of the folder names[0..count-1]. Caller frees. */
char *capable_copy_folder_dup(const struct capable_copy *c, size_t count);

/*
 * Open the copy for reading when it is one to be trusted: way, owner, mode and build id. A
 * descriptor; -ENOENT with a frame when there is none; -errno with a frame that says what is wrong.
 */
int capable_copy_open(const struct capable_copy *c);

/* Which of CAPS_FULL it carries; 0 unless all of CAPS_MINIMAL are among them. */
uint64_t capable_copy_rights(int fd);

/*
 * Append, one text each, what keeps a program that this process starts from getting `rights` from a
 * file: of the open file `fd`, unless it is -1, and of this process.
 */
void capable_copy_obstacles(int fd, uint64_t rights, struct strvec *to);

/* Rights in one are none outside, where probes are. */
bool capable_copy_in_user_namespace(void);

#endif
