/* SPDX-License-Identifier: MIT */
/*
 * arm64.h - AArch64 instructions, as far as their flow and what they do to the stack go. All are of
 * four bytes; the encodings are those of the Arm Architecture Reference Manual, chapter C4.
 */
#ifndef MEMTRACK_ARM64_H
#define MEMTRACK_ARM64_H

#include "applets/memtrack/instruction.h"

/* As the functions of instruction.h. */
bool arm64_decode(const uint8_t *code, size_t len, struct instruction *to);
bool arm64_is_stub(const uint8_t *code, size_t len, uint64_t address, uint64_t *slot);

bool arm64_keeps_frames(const uint8_t *code, size_t len);

#endif
