/* SPDX-License-Identifier: MIT */
/*
 * placement_aarch64.c - at which instruction of a function an entry probe goes, on AArch64: always
 * the first one. What that is makes little difference there.
 */
#include "applets/memtrack/placement.h"
#include "core/base.h"

struct placement placement_choose(const uint8_t *code UNUSED, size_t len UNUSED,
				  unsigned arguments UNUSED, unsigned flags UNUSED)
{
	struct placement p = {0};

	for (uint8_t a = 0; a < PLACEMENT_ARGUMENTS; a++)
		p.registers[a] = a;
	return p;
}
