/* SPDX-License-Identifier: MIT */
/*
 * instruction.h - where an instruction of this processor leads, as code_walk.c asks for it. Behind it
 * stands one file for each processor: instruction_x86_64.c, instruction_aarch64.c.
 */
#ifndef MEMTRACK_INSTRUCTION_H
#define MEMTRACK_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow {
	FLOW_NEXT,          /* on to the next instruction */
	FLOW_JUMP_IF,       /* there or to the next one */
	FLOW_JUMP,
	FLOW_CALL,
	FLOW_RETURN,
	FLOW_JUMP_INDIRECT, /* through a register or memory */
	FLOW_CALL_INDIRECT,
	FLOW_STOP,          /* goes nowhere: a trap */
};

enum { INSTRUCTION_MAX = 15, STUB_MAX = 32 /* bytes */ };

struct instruction {
	uint8_t length;
	uint8_t flow;      /* enum flow */
	bool through_slot; /* an indirect jump or call by the address that stands at `target` */
	bool stores;       /* it may write memory other than the stack; true when in doubt */
	int64_t target;    /* of a direct jump or call, from the instruction's own address */
};

/* Decode what stands at `code`. False for what is cut off, invalid, or not known. */
bool instruction_decode(const uint8_t *code, size_t len, struct instruction *to);

/*
 * Whether a stub of the linkage table stands at `code`, which goes to the address that a slot holds;
 * `slot` is where that is, from the stub's own address `address`.
 */
bool instruction_is_stub(const uint8_t *code, size_t len, uint64_t address, uint64_t *slot);

/*
 * Whether the function has a frame record (the register x29 points to it) wherever it keeps its
 * return address in memory. False where that is not asked for: on x86-64 the address is always where
 * the call has put it.
 */
bool instruction_keeps_frames(const uint8_t *code, size_t len);

#endif
