/* SPDX-License-Identifier: MIT */
/*
 * make_elf.h - small ELF files made of given functions, for tests. Addresses are not offsets:
 * the file begins at MAKE_ELF_BASE.
 */
#ifndef TESTS_MAKE_ELF_H
#define TESTS_MAKE_ELF_H

#include <elf.h>
#include <sys/mman.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include "core/vec.h"

#define MAKE_ELF_BASE 0x400000u

enum {
	MAKE_ELF_CODE = 0x1000, /* offsets of the parts */
	MAKE_ELF_SLOTS = 0x5000,
	MAKE_ELF_TABLES = 0x6000,
};

enum make_elf_section { SEC_NULL, SEC_CODE, SEC_SLOTS, SEC_BSS, SEC_SYMBOLS, SEC_STRINGS, SEC_RELOCATIONS,
			SEC_NOTE, SEC_NAMES, SECTIONS };

struct make_elf {
	struct buf code, strings;
	VEC(Elf64_Sym) symbols;
	VEC(Elf64_Rela) relocations;
	uint32_t table; /* SHT_DYNSYM (0: the default) or SHT_SYMTAB */
};

static inline uint64_t make_elf_here(const struct make_elf *m)
{
	return MAKE_ELF_BASE + MAKE_ELF_CODE + m->code.len;
}

/* A symbol of any kind. */
static inline size_t make_elf_symbol(struct make_elf *m, const char *name, uint64_t value,
				     uint64_t size, unsigned section, unsigned bind, unsigned type)
{
	if (!m->symbols.len) {
		vec_push(&m->symbols, (Elf64_Sym){0});
		buf_addch(&m->strings, '\0');
	}
	vec_push(&m->symbols, (Elf64_Sym){
		.st_name = (uint32_t)m->strings.len,
		.st_info = (unsigned char)ELF64_ST_INFO(bind, type),
		.st_shndx = (uint16_t)section,
		.st_value = value,
		.st_size = size,
	});
	buf_add(&m->strings, name, strlen(name) + 1);
	return m->symbols.len - 1;
}

/* A name for the `len` bytes that come next. */
static inline void make_elf_name(struct make_elf *m, const char *name, size_t len, unsigned bind)
{
	make_elf_symbol(m, name, make_elf_here(m), len, SEC_CODE, bind, STT_FUNC);
}

/* Code; returns its address. */
static inline uint64_t make_elf_code(struct make_elf *m, const void *code, size_t len)
{
	uint64_t address = make_elf_here(m);

	buf_add(&m->code, code, len);
	while (m->code.len % 16)
		buf_addch(&m->code, '\xcc');
	return address;
}

/* A function with a global name. */
static inline uint64_t make_elf_function(struct make_elf *m, const char *name, const void *code,
					 size_t len)
{
	make_elf_name(m, name, len, STB_GLOBAL);
	return make_elf_code(m, code, len);
}

static inline uint64_t make_elf_slot(struct make_elf *m, uint32_t type, size_t symbol, uint64_t addend)
{
	uint64_t slot = MAKE_ELF_BASE + MAKE_ELF_SLOTS + 8 * m->relocations.len;

	vec_push(&m->relocations, (Elf64_Rela){
		.r_offset = slot,
		.r_info = ELF64_R_INFO(symbol, type),
		.r_addend = (int64_t)addend,
	});
	return slot;
}

/* endbr64; jmp *slot(%rip), as in a linkage table, to the symbol of this index. */
static inline uint64_t make_elf_stub(struct make_elf *m, size_t symbol)
{
	uint64_t slot = make_elf_slot(m, R_X86_64_JUMP_SLOT, symbol, 0);
	uint64_t address = make_elf_here(m);
	unsigned char stub[10] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25};
	uint32_t distance = (uint32_t)(slot - (address + sizeof(stub)));

	memcpy(stub + 6, &distance, sizeof(distance));
	return make_elf_code(m, stub, sizeof(stub));
}

/* The same for a function of another file. */
static inline uint64_t make_elf_import(struct make_elf *m, const char *name)
{
	return make_elf_stub(m, make_elf_symbol(m, name, 0, 0, SHN_UNDEF, STB_GLOBAL, STT_FUNC));
}

/* `opcode` (e8 call, e9 jmp) to `target`, behind the `before` bytes of the function that starts here. */
static inline void make_elf_branch(const struct make_elf *m, unsigned char *at, size_t before,
				   unsigned char opcode, uint64_t target)
{
	uint32_t distance = (uint32_t)(target - (make_elf_here(m) + before + 5));

	at[0] = opcode;
	memcpy(at + 1, &distance, sizeof(distance));
}

static inline void make_elf_put(struct buf *file, Elf64_Shdr *section, const void *data, size_t len)
{
	while (file->len % 16)
		buf_addch(file, '\0');
	section->sh_offset = file->len;
	section->sh_size = len;
	buf_add(file, data, len);
}

static inline void make_elf_tables(const struct make_elf *m, struct buf *file, Elf64_Shdr *s)
{
	static const unsigned char note[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef";
	static const char names[] = "\0.text";

	s[SEC_CODE] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				   .sh_addr = MAKE_ELF_BASE + MAKE_ELF_CODE, .sh_offset = MAKE_ELF_CODE,
				   .sh_size = m->code.len, .sh_name = 1};
	s[SEC_SLOTS] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_WRITE,
				    .sh_addr = MAKE_ELF_BASE + MAKE_ELF_SLOTS,
				    .sh_offset = MAKE_ELF_SLOTS, .sh_size = 0x1000};
	s[SEC_BSS] = (Elf64_Shdr){.sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				  .sh_addr = MAKE_ELF_BASE + 0x100000, .sh_size = 0x1000};
	s[SEC_SYMBOLS] = (Elf64_Shdr){.sh_type = m->table ? m->table : SHT_DYNSYM, .sh_flags = SHF_ALLOC,
				      .sh_link = SEC_STRINGS, .sh_entsize = sizeof(Elf64_Sym)};
	s[SEC_STRINGS] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_flags = SHF_ALLOC};
	s[SEC_RELOCATIONS] = (Elf64_Shdr){.sh_type = SHT_RELA, .sh_flags = SHF_ALLOC,
					  .sh_link = SEC_SYMBOLS, .sh_entsize = sizeof(Elf64_Rela)};
	s[SEC_NOTE] = (Elf64_Shdr){.sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_addralign = 4};
	s[SEC_NAMES] = (Elf64_Shdr){.sh_type = SHT_STRTAB};
	make_elf_put(file, &s[SEC_SYMBOLS], m->symbols.items, m->symbols.len * sizeof(Elf64_Sym));
	make_elf_put(file, &s[SEC_STRINGS], m->strings.data, m->strings.len);
	make_elf_put(file, &s[SEC_RELOCATIONS], m->relocations.items,
		     m->relocations.len * sizeof(Elf64_Rela));
	make_elf_put(file, &s[SEC_NOTE], note, sizeof(note) - 1);
	make_elf_put(file, &s[SEC_NAMES], names, sizeof(names));
}

/* The bytes of the file, appended to `file`, which is empty; `m` is released. */
static inline void make_elf_bytes(struct make_elf *m, struct buf *file)
{
	Elf64_Shdr sections[SECTIONS] = {0}, place = {0};
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(header), .e_phentsize = sizeof(Elf64_Phdr), .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS, .e_shstrndx = SEC_NAMES,
	};

	if (!m->symbols.len)
		make_elf_symbol(m, "nothing", 0, 0, SHN_UNDEF, STB_GLOBAL, STT_NOTYPE);
	memset(buf_reserve(file, MAKE_ELF_TABLES), 0, MAKE_ELF_TABLES);
	file->len = MAKE_ELF_TABLES;
	if (m->code.len)
		memcpy(file->data + MAKE_ELF_CODE, m->code.data, m->code.len);
	make_elf_tables(m, file, sections);
	make_elf_put(file, &place, sections, sizeof(sections));
	header.e_shoff = place.sh_offset;
	memcpy(file->data, &header, sizeof(header));
	buf_release(&m->code);
	buf_release(&m->strings);
	vec_release(&m->symbols);
	vec_release(&m->relocations);
}

static inline int make_elf_file(const struct buf *bytes)
{
	int fd = memfd_create("made.elf", MFD_CLOEXEC);

	if (fd < 0 || write_full(fd, bytes->data, bytes->len))
		abort();
	return fd;
}

#endif
