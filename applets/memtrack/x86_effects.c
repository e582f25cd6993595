/* SPDX-License-Identifier: MIT */
/* x86_effects.c - what the common instructions write */
#include "applets/memtrack/x86.h"
#include "core/base.h"

#define BIT(r) (uint16_t)(1u << (r))

enum { NOT_KNOWN = -1 };

/* The register behind a byte operand: without REX, 4 to 7 are the high bytes of 0 to 3. */
static unsigned byte_register(const struct x86_instruction *i, unsigned r)
{
	return !i->rex && r >= 4 && r < 8 ? r & 3 : r;
}

static int write_rm(const struct x86_instruction *i, bool byte)
{
	if (i->mode != 3)
		return 0;
	return BIT(byte ? byte_register(i, i->rm) : i->rm);
}

static int write_reg(const struct x86_instruction *i, bool byte)
{
	return BIT(byte ? byte_register(i, i->reg) : i->reg);
}

/* 00-3f: eight operations in the same eight forms each; the last one only compares. */
static int arithmetic(const struct x86_instruction *i)
{
	unsigned form = i->opcode & 7;

	if (i->opcode >> 3 == 7)
		return 0;
	if (form < 2)
		return write_rm(i, form == 0);
	return form < 4 ? write_reg(i, form == 2) : BIT(X86_RAX);
}

static int group_3(const struct x86_instruction *i)
{
	unsigned operation = i->reg & 7;

	if (operation < 2)
		return 0; /* test */
	return operation < 4 ? write_rm(i, i->opcode == 0xf6) : BIT(X86_RAX) | BIT(X86_RDX);
}

static int one_byte(const struct x86_instruction *i)
{
	uint8_t op = i->opcode;

	if (op < 0x40)
		return arithmetic(i);
	if (op >= 0xb0 && op <= 0xbf) {
		unsigned r = (op & 7) | (i->rex & 1) << 3;

		return BIT(op < 0xb8 ? byte_register(i, r) : r);
	}
	switch (op) {
	case 0x63: /* movsxd */
	case 0x69: /* imul */
	case 0x6b:
	case 0x8b: /* mov */
	case 0x8d: /* lea */
		return write_reg(i, false);
	case 0x8a:
		return write_reg(i, true);
	case 0x80: /* arithmetic with an immediate; /7 compares */
	case 0x81:
	case 0x83:
		return (i->reg & 7) == 7 ? 0 : write_rm(i, op == 0x80);
	case 0x84: /* test */
	case 0x85:
	case 0xa8:
	case 0xa9:
	case 0xf5: /* flags */
	case 0xf8:
	case 0xf9:
		return 0;
	case 0x88: /* mov */
	case 0x89:
	case 0xc0: /* shifts */
	case 0xc1:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return write_rm(i, !(op & 1));
	case 0xc6:
	case 0xc7:
		return (i->reg & 7) ? NOT_KNOWN : write_rm(i, op == 0xc6);
	case 0x86: /* xchg */
	case 0x87:
		return write_rm(i, op == 0x86) | write_reg(i, op == 0x86);
	case 0x90:
		return i->rex & 1 ? NOT_KNOWN : 0;
	case 0x98:
		return BIT(X86_RAX);
	case 0x99:
		return BIT(X86_RDX);
	case 0xf6:
	case 0xf7:
		return group_3(i);
	case 0xfe: /* inc, dec */
	case 0xff:
		return (i->reg & 7) < 2 ? write_rm(i, op == 0xfe) : NOT_KNOWN;
	}
	return NOT_KNOWN;
}

/* Hints, and the instructions that old processors take for one: endbr64 is f3 0f 1e fa. */
static int hint(const struct x86_instruction *i)
{
	if (i->opcode == 0x1e && i->prefix_f3)
		return i->mode == 3 && i->reg == 7 && i->rm == 2 && !i->rex ? 0 : NOT_KNOWN;
	return i->prefix_f2 || i->prefix_f3 || i->opcode == 0x1a || i->opcode == 0x1b ||
			       i->opcode == 0x1c
		       ? NOT_KNOWN
		       : 0;
}

static int two_byte(const struct x86_instruction *i)
{
	uint8_t op = i->opcode;

	if (op >= 0x18 && op <= 0x1f)
		return hint(i);
	if (op >= 0x40 && op <= 0x4f)
		return write_reg(i, false); /* cmov */
	if (op >= 0x90 && op <= 0x9f)
		return write_rm(i, true); /* set */
	if (op >= 0xc8 && op <= 0xcf)
		return BIT((op & 7) | (i->rex & 1) << 3); /* bswap */
	switch (op) {
	case 0x0d: /* prefetch */
	case 0x10: /* vector registers alone */
	case 0x11:
	case 0x16:
	case 0x28:
	case 0x29:
	case 0x57:
	case 0x6c:
	case 0x6e:
	case 0x6f:
	case 0x7f:
	case 0xc6:
	case 0xef:
	case 0xa3: /* bt */
		return 0;
	case 0xba:
		return (i->reg & 7) == 4 ? 0 : write_rm(i, false);
	case 0xab:
	case 0xb3:
	case 0xbb:
		return write_rm(i, false);
	case 0xaf: /* imul */
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xb8: /* popcnt */
	case 0xbc: /* bit scans */
	case 0xbd:
	case 0xbe:
	case 0xbf:
		return write_reg(i, false);
	}
	return NOT_KNOWN;
}

bool x86_writes(const struct x86_instruction *i, uint16_t *registers)
{
	int written = NOT_KNOWN;

	if (i->flow != X86_NEXT)
		return false;
	if (i->map == X86_ONE_BYTE)
		written = one_byte(i);
	else if (i->map == X86_0F)
		written = two_byte(i);
	if (written == NOT_KNOWN || written & BIT(X86_RSP))
		return false;
	*registers = (uint16_t)written;
	return true;
}

bool x86_stores(const struct x86_instruction *i)
{
	uint8_t op = i->opcode;
	uint16_t registers;

	if (i->map == X86_ONE_BYTE && op >= 0x50 && op <= 0x5f)
		return false; /* push and pop of registers */
	if (i->has_modrm && i->mode == 3)
		return false;
	if (i->map == X86_ONE_BYTE && (op == 0x8a || op == 0x8b || op == 0x8d || op == 0x63 ||
				       op == 0x84 || op == 0x85 || op == 0x69 || op == 0x6b))
		return false;
	if (i->map == X86_ONE_BYTE && op < 0x40)
		return op >> 3 != 7 && (op & 7) < 2; /* to memory, if not a comparison */
	if (i->map == X86_ONE_BYTE && (op == 0x80 || op == 0x81 || op == 0x83))
		return (i->reg & 7) != 7;
	if (i->map == X86_0F && ((op >= 0x18 && op <= 0x1f) || (op >= 0x40 && op <= 0x4f) ||
				 op == 0xaf || op == 0xb6 || op == 0xb7 || op == 0xbe || op == 0xbf))
		return false;
	return i->has_modrm || !x86_writes(i, &registers);
}

bool x86_is_copy(const struct x86_instruction *i, unsigned *from, unsigned *to)
{
	if (i->map != X86_ONE_BYTE || (i->opcode != 0x89 && i->opcode != 0x8b) || i->mode != 3 ||
	    !(i->rex & 8) || i->prefix_66)
		return false;
	*from = i->opcode == 0x89 ? i->reg : i->rm;
	*to = i->opcode == 0x89 ? i->rm : i->reg;
	return true;
}
