/* SPDX-License-Identifier: MIT */
/* heap_blocks.c - live blocks by address */
#include "applets/runner/memory/heap_blocks.h"
#include "core/base.h"

enum { SMALLEST = 16 };

/* Addresses differ in their middle bits; the upper ones of the product depend on all of them. */
static inline size_t home(const struct heap_blocks *t, uint64_t addr)
{
	return (size_t)(addr * 0x9e3779b97f4a7c15u >> t->shift);
}

static inline struct heap_block *slot_of(const struct heap_blocks *t, uint64_t addr)
{
	size_t i = home(t, addr);

	while (t->slots[i].addr && t->slots[i].addr != addr)
		i = (i + 1) & (t->size - 1);
	return &t->slots[i];
}

static void resize(struct heap_blocks *t, size_t size)
{
	struct heap_blocks old = *t;

	t->slots = xcalloc(size, sizeof(*t->slots));
	t->size = size;
	t->shift = 64 - (unsigned)__builtin_ctzll(size);
	for (size_t i = 0; i < old.size; i++)
		if (old.slots[i].addr)
			*slot_of(t, old.slots[i].addr) = old.slots[i];
	free(old.slots);
}

struct heap_block *heap_blocks_find(const struct heap_blocks *t, uint64_t addr)
{
	struct heap_block *block;

	if (!t->used)
		return NULL;
	block = slot_of(t, addr);
	return block->addr ? block : NULL;
}

struct heap_block *heap_blocks_put(struct heap_blocks *t, uint64_t addr)
{
	struct heap_block *block;

	if (t->used + 1 > t->size / 4 * 3)
		resize(t, t->size ? t->size * 2 : SMALLEST);
	block = slot_of(t, addr);
	t->used += !block->addr;
	block->addr = addr;
	return block;
}

/*
 * The blocks behind the gap move up where their way from home leads over it, so no slot need ever
 * be marked as deleted.
 */
void heap_blocks_remove(struct heap_blocks *t, struct heap_block *block)
{
	size_t mask = t->size - 1, gap = (size_t)(block - t->slots), i = gap;

	for (;;) {
		i = (i + 1) & mask;
		if (!t->slots[i].addr)
			break;
		if (((i - home(t, t->slots[i].addr)) & mask) >= ((i - gap) & mask)) {
			t->slots[gap] = t->slots[i];
			gap = i;
		}
	}
	t->slots[gap] = (struct heap_block){0};
	t->used--;
	if (t->size > SMALLEST && t->used < t->size / 8)
		resize(t, t->size / 2);
}

void heap_blocks_release(struct heap_blocks *t)
{
	free(t->slots);
	*t = (struct heap_blocks){0};
}
