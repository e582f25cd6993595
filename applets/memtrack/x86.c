/* SPDX-License-Identifier: MIT */
/* x86.c - x86-64 instructions: how long they are and where they lead */
#include "applets/memtrack/x86.h"
#include "core/base.h"

/* What follows an opcode. */
enum form {
	NONE,
	M,       /* ModRM */
	M_I8,    /* ModRM and a byte */
	M_IZ,    /* ModRM and 2 or 4 bytes, by operand size */
	I8,
	I16,
	I24,     /* enter */
	IZ,
	IV,      /* mov to a register: 2, 4 or 8 */
	ADDRESS, /* 8 or 4, by address size */
	REL8,
	REL32,
	GROUP_F6, /* test has an immediate, its neighbours have none */
	GROUP_F7,
	BAD,
};

#define ROW4(f) f, f, f, f
#define ROW8(f) ROW4(f), ROW4(f)
#define ROW16(f) ROW8(f), ROW8(f)
#define ALU ROW4(M), I8, IZ, BAD, BAD

static const uint8_t one_byte[256] = {
	/* 00 */ ALU, ALU, ALU, ALU, ALU, ALU, ALU, ALU, /* prefixes and 0f were taken before */
	/* 40 */ ROW16(BAD),
	/* 50 */ ROW16(NONE),
	/* 60 */ BAD, BAD, BAD, M, ROW4(BAD), IZ, M_IZ, I8, M_I8, ROW4(NONE),
	/* 70 */ ROW16(REL8),
	/* 80 */ M_I8, M_IZ, BAD, M_I8, ROW4(M), ROW8(M),
	/* 90 */ ROW8(NONE), NONE, NONE, BAD, NONE, ROW4(NONE),
	/* a0 */ ROW4(ADDRESS), ROW4(NONE), I8, IZ, NONE, NONE, ROW4(NONE),
	/* b0 */ ROW8(I8), ROW8(IV),
	/* c0 */ M_I8, M_I8, I16, NONE, BAD, BAD, M_I8, M_IZ, I24, NONE, I16, NONE, NONE, I8, BAD, NONE,
	/* d0 */ ROW4(M), BAD, BAD, BAD, NONE, ROW8(M),
	/* e0 */ ROW4(REL8), ROW4(I8), REL32, REL32, BAD, REL8, ROW4(NONE),
	/* f0 */ BAD, NONE, BAD, BAD, NONE, NONE, GROUP_F6, GROUP_F7, ROW4(NONE), NONE, NONE, M, M,
};

static const uint8_t two_byte[256] = {
	/* 00 */ ROW4(M), BAD, NONE, NONE, NONE, NONE, NONE, BAD, NONE, BAD, M, BAD, BAD,
	/* 10 */ ROW16(M),
	/* 20 */ ROW4(M), ROW4(BAD), ROW8(M),
	/* 30 */ ROW4(NONE), ROW4(NONE), ROW8(BAD),
	/* 40 */ ROW16(M),
	/* 50 */ ROW16(M),
	/* 60 */ ROW16(M),
	/* 70 */ ROW4(M_I8), M, M, M, NONE, ROW4(BAD), ROW4(M),
	/* 80 */ ROW16(REL32),
	/* 90 */ ROW16(M),
	/* a0 */ NONE, NONE, NONE, M, M_I8, M, BAD, BAD, NONE, NONE, NONE, M, M_I8, M, M, M,
	/* b0 */ ROW8(M), M, M, M_I8, M, ROW4(M),
	/* c0 */ M, M, M_I8, M, M_I8, M_I8, M_I8, M, ROW8(NONE),
	/* d0 */ ROW16(M),
	/* e0 */ ROW16(M),
	/* f0 */ ROW16(M),
};

/* The bytes, and how far they are used up. */
struct cursor {
	const uint8_t *code;
	size_t len, at;
	bool address_32;
};

static bool take(struct cursor *c, uint8_t *to)
{
	if (c->at >= c->len || c->at >= X86_LENGTH_MAX)
		return false;
	*to = c->code[c->at++];
	return true;
}

static bool take_signed(struct cursor *c, int bytes, int64_t *to)
{
	uint64_t value = 0;
	uint8_t byte;

	for (int i = 0; i < bytes; i++) {
		if (!take(c, &byte))
			return false;
		value |= (uint64_t)byte << 8 * i;
	}
	if (bytes)
		*to = (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
	return true;
}

static bool take_prefixes(struct cursor *c, struct x86_instruction *i, uint8_t *opcode)
{
	for (;;) {
		if (!take(c, opcode))
			return false;
		switch (*opcode) {
		case 0x66:
			i->prefix_66 = true;
			continue;
		case 0xf2:
			i->prefix_f2 = true;
			continue;
		case 0xf3:
			i->prefix_f3 = true;
			continue;
		case 0x67:
			c->address_32 = true;
			i->other_prefix = true;
			continue;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
			i->other_prefix = true;
			continue;
		}
		if ((*opcode & 0xf0) != 0x40)
			return true;
		i->rex = *opcode; /* counts only right before the opcode */
		return take(c, opcode) && (*opcode & 0xf0) != 0x40;
	}
}

static bool take_modrm(struct cursor *c, struct x86_instruction *i)
{
	uint8_t modrm, sib = 0;
	int displacement = 0;
	int64_t value = 0;

	if (!take(c, &modrm))
		return false;
	i->has_modrm = true;
	i->mode = modrm >> 6;
	i->reg = (uint8_t)((modrm >> 3 & 7) | (i->rex & 4) << 1);
	i->rm = (uint8_t)((modrm & 7) | (i->rex & 1) << 3);
	if (i->mode == 3)
		return true;
	if ((modrm & 7) == 4 && !take(c, &sib))
		return false;
	if (i->mode == 1)
		displacement = 1;
	else if (i->mode == 2 || (modrm & 7) == 5 || ((modrm & 7) == 4 && (sib & 7) == 5))
		displacement = 4;
	i->rip_relative = i->mode == 0 && (modrm & 7) == 5;
	if (!take_signed(c, displacement, &value))
		return false;
	i->target = i->rip_relative ? value : 0; /* from the end, which is not known yet */
	return true;
}

/* Immediates of the forms without a jump. */
static int immediate_bytes(const struct cursor *c, const struct x86_instruction *i, enum form form)
{
	int z = i->prefix_66 && !(i->rex & 8) ? 2 : 4;

	switch (form) {
	case M_I8:
	case I8:
		return 1;
	case I16:
		return 2;
	case I24:
		return 3;
	case M_IZ:
	case IZ:
		return z;
	case IV:
		return i->rex & 8 ? 8 : z;
	case ADDRESS:
		return c->address_32 ? 4 : 8;
	case GROUP_F6:
		return (i->reg & 7) < 2 ? 1 : 0;
	case GROUP_F7:
		return (i->reg & 7) < 2 ? z : 0;
	default:
		return 0;
	}
}

static bool take_operands(struct cursor *c, struct x86_instruction *i, enum form form)
{
	int64_t ignored;

	if (form == BAD)
		return false;
	if (form == M || form == M_I8 || form == M_IZ || form == GROUP_F6 || form == GROUP_F7)
		if (!take_modrm(c, i))
			return false;
	if (form == REL8)
		return take_signed(c, 1, &i->target);
	if (form == REL32) /* with 66 alone the processors differ */
		return (!i->prefix_66 || i->rex & 8) && take_signed(c, 4, &i->target);
	return take_signed(c, immediate_bytes(c, i, form), &ignored);
}

/* After c4, c5 or 62: only the map and what follows the opcode matter. */
static bool take_vector(struct cursor *c, struct x86_instruction *i, uint8_t escape)
{
	uint8_t first, skipped = 0, map, opcode;
	bool byte;

	if (i->rex || i->prefix_66 || i->prefix_f2 || i->prefix_f3 || !take(c, &first))
		return false;
	map = escape == 0xc5 ? 1 : first & (escape == 0xc4 ? 0x1f : 7);
	if (escape != 0xc5 && !take(c, &skipped))
		return false;
	if (escape == 0x62 && !take(c, &skipped))
		return false;
	if (!take(c, &opcode) || map < 1 || map > (escape == 0x62 ? 6 : 3) || map == 4)
		return false;
	i->map = X86_VECTOR;
	i->opcode = opcode;
	if (map == 1 && opcode == 0x77)
		return true;
	byte = map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
					 (opcode >= 0xc4 && opcode <= 0xc6)));
	return take_operands(c, i, byte ? M_I8 : M);
}

static bool take_opcode(struct cursor *c, struct x86_instruction *i, uint8_t opcode)
{
	if (opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62)
		return take_vector(c, i, opcode);
	i->map = X86_ONE_BYTE;
	i->opcode = opcode;
	if (opcode == 0x8f && c->at < c->len && c->code[c->at] & 0x38)
		return false; /* XOP */
	if (opcode != 0x0f)
		return take_operands(c, i, one_byte[opcode]);
	if (!take(c, &i->opcode))
		return false;
	if (i->opcode == 0x38 || i->opcode == 0x3a) {
		i->map = i->opcode == 0x38 ? X86_0F38 : X86_0F3A;
		return take(c, &i->opcode) && take_operands(c, i, i->map == X86_0F38 ? M : M_I8);
	}
	i->map = X86_0F;
	return take_operands(c, i, two_byte[i->opcode]);
}

static enum x86_flow flow_of(const struct x86_instruction *i)
{
	uint8_t op = i->opcode;

	if (i->map == X86_0F)
		return op >= 0x80 && op <= 0x8f   ? X86_JUMP_IF
		       : op == 0x0b || op == 0xff ? X86_STOP
						  : X86_NEXT;
	if (i->map != X86_ONE_BYTE)
		return X86_NEXT;
	if ((op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3))
		return X86_JUMP_IF;
	switch (op) {
	case 0xe8:
		return X86_CALL;
	case 0xe9:
	case 0xeb:
		return X86_JUMP;
	case 0xc2:
	case 0xc3:
		return X86_RETURN;
	case 0xca: /* far returns and the like are in no function of interest */
	case 0xcb:
	case 0xcf:
	case 0xcc:
	case 0xf4:
		return X86_STOP;
	case 0xff:
		return (i->reg & 7) == 2 || (i->reg & 7) == 3   ? X86_CALL_INDIRECT
		       : (i->reg & 7) == 4 || (i->reg & 7) == 5 ? X86_JUMP_INDIRECT
								: X86_NEXT;
	}
	return X86_NEXT;
}

bool x86_decode(const uint8_t *code, size_t len, struct x86_instruction *to)
{
	struct cursor c = {.code = code, .len = len};
	uint8_t opcode;

	*to = (struct x86_instruction){0};
	if (!take_prefixes(&c, to, &opcode) || !take_opcode(&c, to, opcode))
		return false;
	to->length = (uint8_t)c.at;
	to->flow = (uint8_t)flow_of(to);
	if (to->rip_relative || to->flow == X86_JUMP_IF || to->flow == X86_JUMP || to->flow == X86_CALL)
		to->target += to->length;
	return true;
}
