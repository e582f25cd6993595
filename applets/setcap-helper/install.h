/* SPDX-License-Identifier: MIT */
/* install.h - put the capable copy into its place */
#ifndef SETCAP_HELPER_INSTALL_H
#define SETCAP_HELPER_INSTALL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/capable_copy.h"

/*
 * Make the copy with these rights, unless it is there already (`*fresh`). The folders that are
 * missing are made. 0 or -errno with a frame. To be called by root.
 */
int install_copy(const struct capable_copy *c, uint64_t rights, bool *fresh);

#endif
