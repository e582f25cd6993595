/* SPDX-License-Identifier: MIT */
/* arm64.c - AArch64 instructions, as far as their flow and what they do to the stack go */
#include "applets/memtrack/arm64.h"
#include "core/base.h"

enum {
	LENGTH = 4,
	STACK_POINTER = 31, /* as a base register */
	LINK_REGISTER = 30,
	SCRATCH_16 = 16, /* stubs of the linkage table use these two */
	SCRATCH_17 = 17,
	PROLOGUE = 8, /* instructions from a frame record to the register that points to it */
};

static uint32_t word_at(const uint8_t *code)
{
	return (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
}

/* Bits LOW.. of a word, WIDTH of them. */
static uint32_t bits(uint32_t word, unsigned low, unsigned width)
{
	return word >> low & ((1u << width) - 1);
}

static int64_t signed_bits(uint32_t word, unsigned low, unsigned width)
{
	int64_t value = bits(word, low, width);

	return value >> (width - 1) ? value - ((int64_t)1 << width) : value;
}

static bool matches(uint32_t word, uint32_t mask, uint32_t value)
{
	return (word & mask) == value;
}

/* ---- Flow ---- */

static void direct(struct instruction *to, enum flow flow, int64_t words)
{
	to->flow = flow;
	to->target = words * LENGTH;
}

/* Jumps, calls and returns through a register, with and without authentication. */
static enum flow register_flow(uint32_t word)
{
	switch (bits(word, 21, 4)) {
	case 0:
	case 8:
		return FLOW_JUMP_INDIRECT;
	case 1:
	case 9:
		return FLOW_CALL_INDIRECT;
	case 2:
		return FLOW_RETURN;
	}
	return FLOW_STOP; /* of the kernel */
}

/* Branches, exceptions, system instructions. */
static bool decode_branch(uint32_t word, struct instruction *to)
{
	if (matches(word, 0xfc000000, 0x14000000))
		direct(to, FLOW_JUMP, signed_bits(word, 0, 26));
	else if (matches(word, 0xfc000000, 0x94000000))
		direct(to, FLOW_CALL, signed_bits(word, 0, 26));
	else if (matches(word, 0xff000000, 0x54000000) || matches(word, 0x7e000000, 0x34000000))
		direct(to, FLOW_JUMP_IF, signed_bits(word, 5, 19)); /* b.cond, cbz, cbnz */
	else if (matches(word, 0x7e000000, 0x36000000))
		direct(to, FLOW_JUMP_IF, signed_bits(word, 5, 14)); /* tbz, tbnz */
	else if (matches(word, 0xfe000000, 0xd6000000))
		to->flow = register_flow(word);
	else if (matches(word, 0xffe0001f, 0xd4000001))
		to->stores = true; /* svc: the kernel may */
	else if (matches(word, 0xff000000, 0xd4000000))
		to->flow = FLOW_STOP; /* brk, hlt and the like */
	else if (!matches(word, 0xff000000, 0xd5000000))
		return false;
	return true;
}

/* ---- Memory ---- */

/* Loads and stores; what is not a plain load counts as a store unless it is to the stack. */
static bool may_store(uint32_t word)
{
	if (bits(word, 5, 5) == STACK_POINTER && !matches(word, 0x3b000000, 0x18000000))
		return false;
	switch (bits(word, 27, 3)) {
	case 3: /* of a literal; and others */
		return bits(word, 24, 1);
	case 5: /* pairs */
		return !bits(word, 22, 1);
	case 7: /* single ones; atomic operations have bit 21 and no offset register */
		if (!bits(word, 24, 1) && bits(word, 21, 1) && bits(word, 10, 2) == 0)
			return true;
		return bits(word, 26, 1) ? !bits(word, 22, 1) : !bits(word, 22, 2);
	}
	return true;
}

bool arm64_decode(const uint8_t *code, size_t len, struct instruction *to)
{
	uint32_t word;

	if (len < LENGTH)
		return false;
	word = word_at(code);
	*to = (struct instruction){.length = LENGTH, .flow = FLOW_NEXT};
	switch (bits(word, 25, 4)) {
	case 0:
		to->flow = FLOW_STOP; /* udf */
		return matches(word, 0xffff0000, 0);
	case 1:
	case 3:
		return false; /* unallocated */
	case 2:
		to->stores = true; /* SVE */
		return true;
	case 10:
	case 11:
		return decode_branch(word, to);
	case 4:
	case 6:
	case 12:
	case 14:
		to->stores = may_store(word);
	}
	return true;
}

/* ---- Stubs ---- */

enum { BTI_C = 0xd503245f };

/* `adrp x16, PAGE`, where the slot is, then `ldr x17, [x16, OFFSET]`; what follows goes to x17. */
bool arm64_is_stub(const uint8_t *code, size_t len, uint64_t address, uint64_t *slot)
{
	size_t at = len >= LENGTH && word_at(code) == BTI_C ? LENGTH : 0;
	uint32_t page, load;
	int64_t pages;

	if (len < at + 2 * LENGTH)
		return false;
	page = word_at(code + at);
	load = word_at(code + at + LENGTH);
	if (!matches(page, 0x9f00001f, 0x90000000 | SCRATCH_16) ||
	    !matches(load, 0xffc003ff, 0xf9400000 | SCRATCH_16 << 5 | SCRATCH_17))
		return false;
	pages = signed_bits(page, 5, 19) * 4 + bits(page, 29, 2);
	*slot = ((address + at) & ~(uint64_t)0xfff) + (uint64_t)pages * 0x1000 +
		(uint64_t)bits(load, 10, 12) * 8;
	return true;
}

/* ---- Frames ---- */

/* `stp x29, x30, [sp...]`: the two words of a frame record. */
static bool saves_record(uint32_t word)
{
	return matches(word, 0xffc07fff, 0xa9807bfd) || matches(word, 0xffc07fff, 0xa9007bfd);
}

/* Any other store of the link register to the stack. */
static bool saves_link(uint32_t word)
{
	bool pair = matches(word, 0xfe4003e0, 0xa80003e0) &&
		    (bits(word, 0, 5) == LINK_REGISTER || bits(word, 10, 5) == LINK_REGISTER);

	return pair || matches(word, 0xffe00fff, 0xf8000ffe) || matches(word, 0xffc003ff, 0xf90003fe);
}

/* `add x29, sp, #BYTES`, of which `mov x29, sp` is one. */
static bool sets_frame(uint32_t word)
{
	return matches(word, 0xffc003ff, 0x910003fd);
}

bool arm64_keeps_frames(const uint8_t *code, size_t len)
{
	size_t saved_at = 0;
	bool pending = false, any = false;

	for (size_t at = 0; at + LENGTH <= len; at += LENGTH) {
		uint32_t word = word_at(code + at);

		if (saves_record(word)) {
			saved_at = at;
			pending = true;
		} else if (saves_link(word)) {
			return false;
		} else if (sets_frame(word)) {
			any |= pending;
			pending = false;
		}
		if (pending && at - saved_at > PROLOGUE * LENGTH)
			return false;
	}
	return any && !pending;
}
