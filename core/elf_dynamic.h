/* SPDX-License-Identifier: MIT */
/*
 * elf_dynamic.h - inside elf.c: an ELF file as its loader sees it. Section headers are for linkers
 * and debuggers; a library works without them (sstrip takes them away), and its symbols are then to
 * be found through the dynamic segment alone. Of 64-bit little-endian files.
 */
#ifndef CORE_ELF_DYNAMIC_H
#define CORE_ELF_DYNAMIC_H

#include <elf.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/vec.h"

struct elf_dynamic {
	VEC(Elf64_Phdr) loads; /* PT_LOAD; to be filled in by the caller */
	Elf64_Phdr segment;    /* PT_DYNAMIC; the same. Size 0: none */

	VEC(Elf64_Sym) symbols;
	struct buf strings;
	VEC(Elf64_Rela) relocations;
};

/* Read the tables from the file. What is damaged or missing gives less. */
void elf_dynamic_read(struct elf_dynamic *d, int fd);

void elf_dynamic_release(struct elf_dynamic *d);

#endif
