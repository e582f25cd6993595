/* SPDX-License-Identifier: MIT */
/* fuzz_elf_dynamic.c - any bytes as a file that begins with its dynamic segment */
#include <unistd.h>

#include "core/base.h"
#include "core/elf_dynamic.h"
#include "tests/unit/make_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESS = 0x10 }; /* small: numbers of the input are addresses */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = BUF_INIT;
	struct elf_dynamic d = {
		.segment = {.p_type = PT_DYNAMIC, .p_vaddr = ADDRESS, .p_filesz = size},
	};
	int fd;

	buf_add(&file, data, size);
	fd = make_elf_file(&file);
	vec_push(&d.loads, (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = ADDRESS, .p_filesz = size});
	elf_dynamic_read(&d, fd);
	if (d.symbols.len > size / sizeof(Elf64_Sym) || d.strings.len > size + 1 ||
	    d.relocations.len > 2 * size / sizeof(Elf64_Rela))
		BUG("more than the file has");
	elf_dynamic_release(&d);
	close(fd);
	buf_release(&file);
	return 0;
}
