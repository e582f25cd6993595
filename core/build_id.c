/* SPDX-License-Identifier: MIT */
/* build_id.c - the linker's build id of this very binary */
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/build_id.h"

static char *hex_dup(const unsigned char *bytes, size_t len)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < len; i++)
		buf_printf(&text, "%02x", bytes[i]);
	return buf_detach(&text);
}

/* Name and description of a note are padded to 4 bytes. */
static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

static char *search_notes(const char *at, size_t left)
{
	while (left >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		size_t size = sizeof(*note) + padded(note->n_namesz) + padded(note->n_descsz);

		if (size > left)
			return NULL;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(note + 1, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0)
			return hex_dup((const unsigned char *)(note + 1) + padded(note->n_namesz),
				       note->n_descsz);
		at += size;
		left -= size;
	}
	return NULL;
}

/* The kernel hands over where the program headers are; a static program lies where they say. */
char *build_id_dup(void)
{
	const ElfW(Phdr) *headers = (const void *)getauxval(AT_PHDR);
	size_t count = getauxval(AT_PHNUM);
	uintptr_t shift = 0;
	char *id = NULL;

	for (size_t i = 0; headers && i < count; i++)
		if (headers[i].p_type == PT_PHDR)
			shift = (uintptr_t)headers - headers[i].p_vaddr;
	for (size_t i = 0; headers && !id && i < count; i++)
		if (headers[i].p_type == PT_NOTE)
			id = search_notes((const void *)(shift + headers[i].p_vaddr),
					  headers[i].p_memsz);
	return id;
}
