/* SPDX-License-Identifier: MIT */
/*
 * heap_blocks.h - live blocks by address: open addressing, 24 bytes a slot, a table that grows and
 * shrinks with what is in it.
 */
#ifndef MEMORY_HEAP_BLOCKS_H
#define MEMORY_HEAP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_block {
	uint64_t addr; /* the key; 0: the slot is free */
	uint64_t size;
	uint32_t window : 31;   /* in which it was allocated; 0: in none */
	uint32_t displaced : 1; /* another thread's block was there before, and had not ended */
	int32_t tid;            /* that allocated it */
};

_Static_assert(sizeof(struct heap_block) == 24, "there may be many");

struct heap_blocks {
	struct heap_block *slots;
	size_t size; /* of the array, a power of two; 0 at first */
	size_t used;
	unsigned shift; /* 64 - log2(size) */
};

/* NULL when it is not there. Pointers are good until the next put or remove. */
struct heap_block *heap_blocks_find(const struct heap_blocks *t, uint64_t addr);

/* The block of this address (not 0), made with all else 0 when there is none. */
struct heap_block *heap_blocks_put(struct heap_blocks *t, uint64_t addr);

void heap_blocks_remove(struct heap_blocks *t, struct heap_block *block);
void heap_blocks_release(struct heap_blocks *t); /* frees the contents; the table is as new */

#endif
