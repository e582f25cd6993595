/* SPDX-License-Identifier: MIT */
/* elf_machine.h - the numbers of the processor that this program is built for, in ELF files */
#ifndef CORE_ELF_MACHINE_H
#define CORE_ELF_MACHINE_H

#include <elf.h>

#if defined(__aarch64__)
#define ELF_MACHINE EM_AARCH64
#define ELF_MACHINE_NAME "64-bit ARM"
#define ELF_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define ELF_GLOB_DAT R_AARCH64_GLOB_DAT
#define ELF_RELATIVE R_AARCH64_RELATIVE
#else
#define ELF_MACHINE EM_X86_64
#define ELF_MACHINE_NAME "64-bit x86"
#define ELF_JUMP_SLOT R_X86_64_JUMP_SLOT
#define ELF_GLOB_DAT R_X86_64_GLOB_DAT
#define ELF_RELATIVE R_X86_64_RELATIVE
#endif

#endif
