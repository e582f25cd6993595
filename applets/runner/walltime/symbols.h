/* SPDX-License-Identifier: MIT */
/* symbols.h - the functions of the files that samples point into */
#ifndef WALLTIME_SYMBOLS_H
#define WALLTIME_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "core/vec.h"

struct function {
	uint64_t offset; /* in the file */
	uint64_t size;   /* 0: up to the next one */
	char *name;
};

struct symbols {
	VEC(struct function) functions; /* by offset */
};

/* Read them; a file that cannot be read has none. */
void symbols_read(struct symbols *s, const char *path);
void symbols_release(struct symbols *s);

/* The function at this offset in the file, borrowed, or NULL. */
const char *symbols_find(const struct symbols *s, uint64_t offset);

#endif
