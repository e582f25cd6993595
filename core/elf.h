/* SPDX-License-Identifier: MIT */
/*
 * elf.h - executables and shared libraries: their symbols as file offsets, where uprobes go, their
 * build id, and what it takes to read code. Any bytes may be given; a damaged file gives less.
 */
#ifndef CORE_ELF_H
#define CORE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

struct elf_file;

/*
 * Open a 64-bit executable or shared library. `fd` stays the caller's and stays open as
 * long as the file is used; its position is of no matter. `name` is for messages.
 *
 * 0; -ENOEXEC with a frame for whatever else it may be; -errno with a frame when it cannot be
 * read.
 */
int elf_file_open(struct elf_file **to, int fd, const char *name);
void elf_file_close(struct elf_file *f); /* NULL is fine */

struct elf_traits {
	bool shared_library_or_pie; /* ET_DYN */
	bool interpreter;           /* starts through a dynamic loader */
	bool dynamic;               /* has a dynamic section */
	bool symbol_table;          /* .symtab: not stripped */
	bool dynamic_symbols;       /* .dynsym with at least one definition */
	bool go;                    /* linked by Go, whose runtime has a heap of its own */
};

struct elf_traits elf_file_traits(const struct elf_file *f);

/*
 * Append the bytes of the build id. False when there is none. For walltime mode, which finds debug
 * information by it.
 */
bool elf_file_build_id(struct elf_file *f, struct buf *to);

/* It is this one, in hex (build_id.h). */
bool elf_file_has_build_id(struct elf_file *f, const char *id);

struct elf_symbol {
	const char *name;    /* without version; until the visit ends */
	uint64_t address;
	uint64_t size;       /* 0 when unknown */
	uint64_t offset;     /* in the file: address - section's address + section's offset */
	unsigned section;    /* index */
	bool code;           /* the section is executable, and it is no indirect function */
	bool local;          /* bound to its file */
	bool dynamic;        /* of .dynsym */
};

/*
 * Call `visit` for every symbol that has a place in the file, those of .dynsym first; undefined
 * and absolute ones, those at address 0 and those in sections without bytes are left out.
 */
void elf_file_symbols(struct elf_file *f, void (*visit)(void *ctx, const struct elf_symbol *s),
		      void *ctx);

/* Whether it leaves a symbol of this name to another file. */
bool elf_file_imports(struct elf_file *f, const char *name);

/* The offset in the file of an address in an executable section; false when it is in none. */
bool elf_file_code_offset(const struct elf_file *f, uint64_t address, uint64_t *offset);

/*
 * Up to `len` bytes (at most 4096) from an address in an executable section, which ends them.
 * Returns how many were copied, 0 for a place that cannot be read.
 */
size_t elf_file_code(struct elf_file *f, uint64_t address, void *to, size_t len);

/* What a slot of the global offset table will hold. */
struct elf_slot {
	const char *name; /* of the symbol, borrowed; NULL when it is told by address */
	uint64_t address; /* in this file; 0: elsewhere */
};

/* False when that is not to be known from the file. */
bool elf_file_slot(struct elf_file *f, uint64_t slot, struct elf_slot *to);

#endif
