/* SPDX-License-Identifier: MIT */
/* build_id.h - the linker's build id of this very binary */
#ifndef CORE_BUILD_ID_H
#define CORE_BUILD_ID_H

/* In hex; caller frees. NULL when the binary was linked without one. */
char *build_id_dup(void);

#endif
