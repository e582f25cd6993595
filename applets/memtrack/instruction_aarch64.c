/* SPDX-License-Identifier: MIT */
/* instruction_aarch64.c - where an instruction leads, on AArch64 */
#include "applets/memtrack/arm64.h"

bool instruction_decode(const uint8_t *code, size_t len, struct instruction *to)
{
	return arm64_decode(code, len, to);
}

bool instruction_is_stub(const uint8_t *code, size_t len, uint64_t address, uint64_t *slot)
{
	return arm64_is_stub(code, len, address, slot);
}

bool instruction_keeps_frames(const uint8_t *code, size_t len)
{
	return arm64_keeps_frames(code, len);
}
