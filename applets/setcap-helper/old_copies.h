/* SPDX-License-Identifier: MIT */
/* old_copies.h - copies of other builds, and what interrupted installations left */
#ifndef SETCAP_HELPER_OLD_COPIES_H
#define SETCAP_HELPER_OLD_COPIES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/capable_copy.h"

/*
 * Remove the copies of other builds that nobody has asked for since a day; with `all` every copy,
 * this build's too, and the folders where they are empty then. How many copies in `*count`. 0 or
 * -errno with a frame: what can be removed is. To be called by root.
 */
int old_copies_remove(const struct capable_copy *c, bool all, size_t *count);

/*
 * Take the rights from an open file, if it is a copy of this user's: a hard link that the user made of
 * it would keep those of a program that is given up. Whatever else the user has put there, under the
 * copy's name or by a hard link, is left as it is.
 */
void old_copy_revoke(const struct capable_copy *c, int fd);

#endif
