/* SPDX-License-Identifier: MIT */
/* placement_x86_64.c - at which instruction of a function an entry probe goes, on x86-64 */
#include "applets/memtrack/placement.h"
#include "applets/memtrack/x86.h"
#include "core/base.h"

enum { FARTHEST = 64 }; /* a place is not looked for beyond */

static const uint8_t entry_registers[PLACEMENT_ARGUMENTS] = {
	X86_RDI, X86_RSI, X86_RDX, X86_RCX,
};

/* Where the arguments are on the way through the function. */
struct walk {
	const uint8_t *code;
	size_t len;
	unsigned arguments;
	unsigned flags;
	uint16_t holders[PLACEMENT_ARGUMENTS]; /* registers that hold each, as bits */
	bool null_tested; /* the last instruction was `test` of the first argument with itself */
};

/* What was measured to be emulated (bpf.md section 2). Any other prefix: another matter. */
static bool is_emulated(const struct x86_instruction *i)
{
	if (i->map == X86_0F)
		return i->flow == X86_JUMP_IF && i->length == 6;
	if (i->map != X86_ONE_BYTE)
		return false;
	if (i->opcode >= 0x50 && i->opcode <= 0x57)
		return i->length == 1 || (i->length == 2 && i->rex == 0x41);
	if (i->opcode == 0x90)
		return i->length == 1 || (i->length == 2 && i->prefix_66);
	switch (i->opcode) {
	case 0xe8:
	case 0xe9:
		return i->length == 5;
	case 0xeb:
		return i->length == 2;
	}
	return i->opcode >= 0x70 && i->opcode <= 0x7f && i->length == 2;
}

static bool emulated_at(const struct walk *w, size_t at)
{
	struct x86_instruction i;

	return at < w->len && x86_decode(w->code + at, w->len - at, &i) && is_emulated(&i);
}

/* No jump of the function leads to an instruction after its start, up to and with `place`. */
static bool reached_once(const struct walk *w, size_t place)
{
	struct x86_instruction i;

	for (size_t at = 0; at < w->len; at += i.length) {
		int64_t target;

		if (!x86_decode(w->code + at, w->len - at, &i))
			return false;
		target = (int64_t)at + i.target;
		if ((i.flow == X86_JUMP || i.flow == X86_JUMP_IF) && target > 0 &&
		    target <= (int64_t)place)
			return false;
	}
	return true;
}

/* What the skipped instruction does to the arguments. False when one of them is gone. */
static bool step(struct walk *w, const struct x86_instruction *i)
{
	unsigned from = 0, to = 0;
	bool copy = x86_is_copy(i, &from, &to);
	uint16_t written;

	if (!x86_writes(i, &written))
		return false;
	for (int a = 0; a < PLACEMENT_ARGUMENTS; a++) {
		bool copied = copy && w->holders[a] & 1u << from;

		w->holders[a] &= (uint16_t)~written;
		if (copied)
			w->holders[a] |= (uint16_t)(1u << to);
		if (!(w->flags & PLACEMENT_MOVED))
			w->holders[a] &= (uint16_t)(1u << entry_registers[a]);
		if (w->arguments & 1u << a && !w->holders[a])
			return false;
	}
	w->null_tested = i->map == X86_ONE_BYTE && i->opcode == 0x85 && i->mode == 3 &&
			 i->rex & 8 && i->reg == i->rm && w->holders[0] & 1u << i->reg;
	return true;
}

/* The jump of a null argument, right after the test: free() has nothing to do then. */
static bool passes_null(const struct walk *w, const struct x86_instruction *i)
{
	return w->flags & PLACEMENT_NOT_NULL && w->null_tested && i->flow == X86_JUMP_IF &&
	       (i->opcode & 0x0f) == 4 && i->target > 0;
}

/* The first emulated instruction that qualifies; false for none. */
static bool find_place(struct walk *w, size_t *place)
{
	for (size_t at = 0; at < w->len && at <= FARTHEST;) {
		struct x86_instruction i;

		if (!x86_decode(w->code + at, w->len - at, &i))
			return false;
		if (is_emulated(&i)) {
			if (passes_null(w, &i) && emulated_at(w, at + i.length))
				at += i.length;
			*place = at;
			return true;
		}
		if (!step(w, &i))
			return false;
		at += i.length;
	}
	return false;
}

static uint8_t lowest(uint16_t registers)
{
	return (uint8_t)__builtin_ctz(registers);
}

struct placement placement_choose(const uint8_t *code, size_t len, unsigned arguments,
				  unsigned flags)
{
	struct walk w = {.code = code, .len = len, .arguments = arguments, .flags = flags};
	struct placement p = {0};
	size_t place;

	for (int a = 0; a < PLACEMENT_ARGUMENTS; a++) {
		w.holders[a] = (uint16_t)(1u << entry_registers[a]);
		p.registers[a] = entry_registers[a];
	}
	p.emulated = emulated_at(&w, 0);
	if (p.emulated || !find_place(&w, &place) || !reached_once(&w, place))
		return p;
	p.offset = (uint32_t)place;
	p.emulated = true;
	for (int a = 0; a < PLACEMENT_ARGUMENTS; a++)
		if (w.holders[a] && !(w.holders[a] & 1u << p.registers[a]))
			p.registers[a] = lowest(w.holders[a]);
	return p;
}
