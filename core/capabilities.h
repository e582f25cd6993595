/* SPDX-License-Identifier: MIT */
/*
 * capabilities.h - the rights of this thread, and those that a file carries.
 *
 * A set is a mask of 1 << CAP_X (<linux/capability.h>). The kernel keeps the sets of each thread
 * apart: what is raised here is raised for the calling thread alone, a new thread starts with what
 * its creator has at that moment.
 */
#ifndef CORE_CAPABILITIES_H
#define CORE_CAPABILITIES_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

#define CAP_BIT(cap) ((uint64_t)1 << (cap))

/* What memory mode takes: from Linux 6.6 on, and where each probe is a perf event of its own. */
#define CAPS_MINIMAL (CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON))
#define CAPS_FULL                                                                                 \
	(CAPS_MINIMAL | CAP_BIT(CAP_SYS_ADMIN) | CAP_BIT(CAP_DAC_READ_SEARCH) |                   \
	 CAP_BIT(CAP_CHECKPOINT_RESTORE))

/* ---- Of this thread ---- */

struct cap_sets {
	uint64_t effective, permitted, inheritable, bounding, ambient;
};

/* All zero but for what the kernel tells. */
struct cap_sets caps_get(void);

/*
 * Give up all but `mask` of the permitted set, and every effective, inheritable and ambient bit. 0
 * or -errno with a frame.
 */
int caps_keep(uint64_t mask);

/* Make those of `mask` effective that are permitted; 0 makes none so. */
void caps_use(uint64_t mask);

/* ---- Of a file: the value of the attribute security.capability ---- */

#define FILE_CAPS_ATTRIBUTE "security.capability"

enum { FILE_CAPS_BYTES = 20, FILE_CAPS_MOST = 24 };

struct file_caps {
	uint64_t permitted, inheritable;
	bool effective;
};

/* Revision 2, permitted only: with the effective bit the exec itself fails where one is missing. */
void file_caps_encode(uint64_t permitted, unsigned char to[FILE_CAPS_BYTES]);

/* Revisions 1 to 3. False for anything else, which gives no rights. */
bool file_caps_decode(struct file_caps *to, const void *bytes, size_t len);

/* Those of an open file; none when it has none or they cannot be read. */
struct file_caps file_caps_of(int fd);

/* ---- For people ---- */

/* "cap_bpf,cap_perfmon"; "none". */
void caps_text(uint64_t mask, struct buf *to);

#endif
