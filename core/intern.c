/* SPDX-License-Identifier: MIT */
/* intern.c - each distinct byte string once, known by a small number */
#include "core/base.h"
#include "core/intern.h"

enum {
	FIRST_SLOTS = 64,
	FIRST_BLOCK = 4 * 1024, /* doubles up to the last, so that small tables stay small */
	LAST_BLOCK = 256 * 1024,
};

/* Odd 64-bit constants with well mixed bits (from the digits of e and pi). */
#define MIX_A 0xadf85458a2bb4a9bULL
#define MIX_B 0x243f6a8885a308d3ULL

static inline uint64_t load8(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t load4(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Both halves of the full product: one multiplication mixes 16 bytes. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ MIX_A) * (b ^ MIX_B);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Names are long and mostly hits: eight bytes a step, the last step may overlap the one before. */
static uint32_t hash_bytes(const unsigned char *p, size_t len)
{
	uint64_t h = len * MIX_B, tail;
	size_t left = len;

	for (; left > 8; left -= 8, p += 8)
		h = mix(h, load8(p));
	if (len >= 8)
		tail = load8(p + left - 8);
	else if (left >= 4)
		tail = load4(p) << 32 | load4(p + left - 4);
	else if (left)
		tail = (uint64_t)p[0] << 16 | (uint64_t)p[left / 2] << 8 | p[left - 1];
	else
		tail = 0;
	h = mix(h, tail);
	return (uint32_t)(h ^ h >> 32);
}

void intern_init(struct intern *t)
{
	memset(t, 0, sizeof(*t));
}

void intern_release(struct intern *t)
{
	for (size_t i = 0; i < t->blocks.len; i++)
		free(t->blocks.items[i]);
	vec_release(&t->blocks);
	vec_release(&t->entries);
	free(t->slots);
	intern_init(t);
}

static void grow_slots(struct intern *t)
{
	size_t mask;

	t->slot_count = t->slot_count ? t->slot_count * 2 : FIRST_SLOTS;
	mask = t->slot_count - 1;
	free(t->slots);
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	for (size_t id = 0; id < t->entries.len; id++) {
		size_t i = t->entries.items[id].hash & mask;

		while (t->slots[i])
			i = (i + 1) & mask;
		t->slots[i] = (uint32_t)id + 1;
	}
}

static void add_block(struct intern *t, size_t need)
{
	size_t size = t->block_size ? t->block_size * 2 : FIRST_BLOCK;

	if (size > LAST_BLOCK)
		size = LAST_BLOCK;
	t->block_size = size > need ? size : need;
	vec_push(&t->blocks, xmalloc(t->block_size));
	t->block_used = 0;
}

static const char *keep_bytes(struct intern *t, const void *data, size_t len)
{
	char *copy;

	if (t->block_size - t->block_used < len + 1)
		add_block(t, len + 1);
	copy = *vec_last(&t->blocks) + t->block_used;
	if (len)
		memcpy(copy, data, len);
	copy[len] = '\0';
	t->block_used += len + 1;
	return copy;
}

static bool is_entry(const struct intern_entry *e, uint32_t hash, const void *data, size_t len)
{
	return e->hash == hash && e->len == len && (!len || memcmp(e->text, data, len) == 0);
}

uint32_t intern_add(struct intern *t, const void *data, size_t len)
{
	uint32_t hash = hash_bytes(data, len);
	size_t i;

	if (t->entries.len * 2 >= t->slot_count)
		grow_slots(t);
	for (i = hash & (t->slot_count - 1); t->slots[i]; i = (i + 1) & (t->slot_count - 1)) {
		if (is_entry(&t->entries.items[t->slots[i] - 1], hash, data, len))
			return t->slots[i] - 1;
	}
	vec_push(&t->entries, (struct intern_entry){keep_bytes(t, data, len), len, hash});
	t->slots[i] = (uint32_t)t->entries.len;
	return t->slots[i] - 1;
}
