/* SPDX-License-Identifier: MIT */
/*
 * x86.h - one x86-64 instruction: its length, where it goes on, and for the plain ones which
 * registers it writes. What is not known here is refused, never guessed.
 */
#ifndef MEMTRACK_X86_H
#define MEMTRACK_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_register {
	X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI,
	X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

enum x86_flow {
	X86_NEXT,          /* on to the next instruction */
	X86_JUMP_IF,       /* there or to the next one */
	X86_JUMP,
	X86_CALL,
	X86_RETURN,
	X86_JUMP_INDIRECT, /* through a register or memory */
	X86_CALL_INDIRECT,
	X86_STOP,          /* ud2, hlt, int3 */
};

enum x86_map { X86_ONE_BYTE, X86_0F, X86_0F38, X86_0F3A, X86_VECTOR /* VEX, EVEX */ };

enum { X86_LENGTH_MAX = 15 };

struct x86_instruction {
	uint8_t length;
	uint8_t map;      /* enum x86_map */
	uint8_t opcode;   /* the last byte of it */
	uint8_t flow;     /* enum x86_flow */
	uint8_t rex;      /* 0 without */
	uint8_t mode;     /* ModRM's upper bits; 3: a register, else memory */
	uint8_t reg, rm;  /* of ModRM, with REX's bits */
	bool has_modrm;
	bool prefix_66, prefix_f3, prefix_f2;
	bool other_prefix; /* lock, segment, address size */
	bool rip_relative; /* memory operand; `target` is its address */
	int64_t target;    /* of a direct jump or call, from the instruction's own address */
};

/* Decode what stands at `code`. False for what is cut off, invalid, or not known here. */
bool x86_decode(const uint8_t *code, size_t len, struct x86_instruction *to);

/*
 * The registers that it writes, as bits. False unless it just goes on to the next instruction,
 * leaves the stack pointer alone, and is one of the common ones.
 */
bool x86_writes(const struct x86_instruction *i, uint16_t *registers);

/* Whether it may write memory, as far as is known; true when in doubt. Pushes do not count. */
bool x86_stores(const struct x86_instruction *i);

/* `mov %from,%to` of the whole 64 bits. */
bool x86_is_copy(const struct x86_instruction *i, unsigned *from, unsigned *to);

#endif
