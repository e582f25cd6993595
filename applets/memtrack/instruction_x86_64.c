/* SPDX-License-Identifier: MIT */
/* instruction_x86_64.c - where an instruction leads, on x86-64 */
#include "applets/memtrack/instruction.h"
#include "applets/memtrack/x86.h"
#include "core/base.h"

enum { STUB_INSTRUCTIONS = 2 }; /* endbr64 and the jump */

bool instruction_decode(const uint8_t *code, size_t len, struct instruction *to)
{
	static const uint8_t flows[] = {
		[X86_NEXT] = FLOW_NEXT,
		[X86_JUMP_IF] = FLOW_JUMP_IF,
		[X86_JUMP] = FLOW_JUMP,
		[X86_CALL] = FLOW_CALL,
		[X86_RETURN] = FLOW_RETURN,
		[X86_JUMP_INDIRECT] = FLOW_JUMP_INDIRECT,
		[X86_CALL_INDIRECT] = FLOW_CALL_INDIRECT,
		[X86_STOP] = FLOW_STOP,
	};
	struct x86_instruction i;

	if (!x86_decode(code, len, &i))
		return false;
	*to = (struct instruction){
		.length = i.length,
		.flow = flows[i.flow],
		.through_slot = i.rip_relative,
		.stores = i.flow == X86_NEXT && x86_stores(&i),
		.target = i.target,
	};
	return true;
}

bool instruction_is_stub(const uint8_t *code, size_t len, uint64_t address, uint64_t *slot)
{
	size_t at = 0;

	for (int n = 0; n < STUB_INSTRUCTIONS; n++) {
		struct x86_instruction i;
		uint16_t written;

		if (!x86_decode(code + at, len - at, &i))
			return false;
		if (i.flow == X86_JUMP_INDIRECT && i.rip_relative) {
			*slot = address + at + (uint64_t)i.target;
			return true;
		}
		if (!x86_writes(&i, &written) || written)
			return false;
		at += i.length;
	}
	return false;
}

bool instruction_keeps_frames(const uint8_t *code UNUSED, size_t len UNUSED)
{
	return false;
}
