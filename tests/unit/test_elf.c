/* SPDX-License-Identifier: MIT */
/* test_elf.c - ELF files: symbols as offsets, code, slots, the build id, and damage */
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include "core/elf.h"
#include "tests/unit/make_elf.h"
#include <cmocka.h>
#undef fail

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

struct seen {
	VEC(struct elf_symbol) symbols;
	VEC(char *) names;
};

static void note(void *ctx, const struct elf_symbol *s)
{
	struct seen *seen = ctx;

	vec_push(&seen->symbols, *s);
	vec_push(&seen->names, xstrdup(s->name));
}

static const struct elf_symbol *named(const struct seen *seen, const char *name)
{
	for (size_t i = 0; i < seen->names.len; i++)
		if (str_eq(seen->names.items[i], name))
			return &seen->symbols.items[i];
	return NULL;
}

static void seen_release(struct seen *seen)
{
	for (size_t i = 0; i < seen->names.len; i++)
		free(seen->names.items[i]);
	vec_release(&seen->names);
	vec_release(&seen->symbols);
}

/* Open what was made; the descriptor goes to *fd. */
static struct elf_file *open_made(struct make_elf *m, int *fd)
{
	struct buf bytes = BUF_INIT;
	struct elf_file *f;

	make_elf_bytes(m, &bytes);
	*fd = make_elf_file(&bytes);
	buf_release(&bytes);
	assert_int_equal(elf_file_open(&f, *fd, "made.elf"), 0);
	return f;
}

static void symbols_are_told_with_their_offsets(void **state UNUSED)
{
	struct make_elf m = {0};
	struct seen seen = {0};
	struct elf_file *f;
	int fd;

	make_elf_function(&m, "first", "\xc3", 1);
	make_elf_name(&m, "hidden", 2, STB_LOCAL);
	make_elf_function(&m, "second@VERSION_1", "\x90\xc3", 2);
	make_elf_symbol(&m, "data", MAKE_ELF_BASE + MAKE_ELF_SLOTS + 8, 8, SEC_SLOTS, STB_GLOBAL,
			STT_OBJECT);
	make_elf_symbol(&m, "indirect", MAKE_ELF_BASE + MAKE_ELF_CODE, 1, SEC_CODE, STB_GLOBAL,
			STT_GNU_IFUNC);
	f = open_made(&m, &fd);
	elf_file_symbols(f, note, &seen);
	assert_int_equal(seen.symbols.len, 5);
	assert_int_equal(named(&seen, "first")->offset, 0x1000);
	assert_int_equal(named(&seen, "first")->address, 0x401000);
	assert_int_equal(named(&seen, "first")->size, 1);
	assert_true(named(&seen, "first")->code);
	assert_true(named(&seen, "first")->dynamic);
	assert_false(named(&seen, "first")->local);
	assert_int_equal(named(&seen, "second")->offset, 0x1010);
	assert_true(named(&seen, "hidden")->local);
	assert_int_equal(named(&seen, "data")->offset, 0x5008);
	assert_false(named(&seen, "data")->code);
	assert_false(named(&seen, "indirect")->code);
	seen_release(&seen);
	elf_file_close(f);
	close(fd);
}

/* X42 */
static void symbols_without_bytes_are_left_out(void **state UNUSED)
{
	struct make_elf m = {0};
	struct seen seen = {0};
	struct elf_file *f;
	int fd;

	make_elf_function(&m, "good", "\xc3", 1);
	make_elf_symbol(&m, "undefined", 0x401000, 1, SHN_UNDEF, STB_GLOBAL, STT_FUNC);
	make_elf_symbol(&m, "absolute", 0x401000, 1, SHN_ABS, STB_GLOBAL, STT_FUNC);
	make_elf_symbol(&m, "common", 0x401000, 1, SHN_COMMON, STB_GLOBAL, STT_FUNC);
	make_elf_symbol(&m, "at_zero", 0, 1, SEC_CODE, STB_GLOBAL, STT_FUNC);
	make_elf_symbol(&m, "in_bss", MAKE_ELF_BASE + 0x100010, 1, SEC_BSS, STB_GLOBAL, STT_FUNC);
	make_elf_symbol(&m, "before", 0x400fff, 1, SEC_CODE, STB_GLOBAL, STT_FUNC);
	make_elf_symbol(&m, "behind", 0x402000, 1, SEC_CODE, STB_GLOBAL, STT_FUNC);
	make_elf_symbol(&m, "no_section", 0x401000, 1, 77, STB_GLOBAL, STT_FUNC);
	make_elf_symbol(&m, "", 0x401000, 1, SEC_CODE, STB_GLOBAL, STT_FUNC);
	make_elf_symbol(&m, "section", 0x401000, 1, SEC_CODE, STB_LOCAL, STT_SECTION);
	f = open_made(&m, &fd);
	elf_file_symbols(f, note, &seen);
	assert_int_equal(seen.symbols.len, 1);
	assert_non_null(named(&seen, "good"));
	seen_release(&seen);
	elf_file_close(f);
	close(fd);
}

static void code_is_read_by_address(void **state UNUSED)
{
	struct make_elf m = {0};
	unsigned char bytes[64];
	struct elf_file *f;
	uint64_t offset;
	int fd;

	make_elf_function(&m, "f", "0123456789abcdef", 16);
	f = open_made(&m, &fd);
	assert_int_equal(elf_file_code(f, 0x401000, bytes, 4), 4);
	assert_memory_equal(bytes, "0123", 4);
	assert_int_equal(elf_file_code(f, 0x40100e, bytes, 64), 2);
	assert_memory_equal(bytes, "ef", 2);
	assert_int_equal(elf_file_code(f, 0x401000, bytes, 64), 16);
	assert_int_equal(elf_file_code(f, 0x401010, bytes, 1), 0);
	assert_int_equal(elf_file_code(f, 0x400fff, bytes, 1), 0);
	assert_int_equal(elf_file_code(f, MAKE_ELF_BASE + MAKE_ELF_SLOTS, bytes, 1), 0);
	assert_int_equal(elf_file_code(f, 0, bytes, 1), 0);
	assert_true(elf_file_code_offset(f, 0x401003, &offset));
	assert_int_equal(offset, 0x1003);
	assert_false(elf_file_code_offset(f, MAKE_ELF_BASE + MAKE_ELF_SLOTS, &offset));
	elf_file_close(f);
	close(fd);
}

static void slots_are_told_by_their_relocations(void **state UNUSED)
{
	uint64_t here, there, relative, outside, other_type;
	struct make_elf m = {0};
	struct elf_slot slot;
	struct elf_file *f;
	size_t symbol;
	int fd;

	make_elf_function(&m, "mine", "\xc3", 1);
	here = make_elf_slot(&m, R_X86_64_GLOB_DAT, m.symbols.len - 1, 0);
	symbol = make_elf_symbol(&m, "theirs", 0, 0, SHN_UNDEF, STB_GLOBAL, STT_FUNC);
	there = make_elf_slot(&m, R_X86_64_JUMP_SLOT, symbol, 0);
	relative = make_elf_slot(&m, R_X86_64_RELATIVE, 0, 0x401000);
	outside = make_elf_slot(&m, R_X86_64_JUMP_SLOT, 99, 0);
	other_type = make_elf_slot(&m, R_X86_64_COPY, symbol, 0);
	f = open_made(&m, &fd);
	assert_true(elf_file_slot(f, here, &slot));
	assert_string_equal(slot.name, "mine");
	assert_int_equal(slot.address, 0x401000);
	assert_true(elf_file_slot(f, there, &slot));
	assert_string_equal(slot.name, "theirs");
	assert_int_equal(slot.address, 0);
	assert_true(elf_file_slot(f, relative, &slot));
	assert_null(slot.name);
	assert_int_equal(slot.address, 0x401000);
	assert_false(elf_file_slot(f, outside, &slot));
	assert_false(elf_file_slot(f, other_type, &slot));
	assert_false(elf_file_slot(f, MAKE_ELF_BASE + MAKE_ELF_SLOTS + 0xff8, &slot)); /* holds 0 */
	assert_false(elf_file_slot(f, MAKE_ELF_BASE + MAKE_ELF_SLOTS + 0xffc, &slot));
	assert_false(elf_file_slot(f, 0x401000, &slot));
	/* Without a relocation it is what stands there. */
	assert_int_equal(pwrite(fd, "\x00\x10\x40\x00\x00\x00\x00\x00", 8, MAKE_ELF_SLOTS + 0x800), 8);
	assert_true(elf_file_slot(f, MAKE_ELF_BASE + MAKE_ELF_SLOTS + 0x800, &slot));
	assert_int_equal(slot.address, 0x401000);
	elf_file_close(f);
	close(fd);
}

/* ---- Without section headers ---- */

static void note_dynamic(void *ctx, const struct elf_symbol *s)
{
	if (s->dynamic)
		note(ctx, s);
}

static void expect_same_symbols(struct elf_file *a, struct elf_file *b)
{
	struct seen x = {0}, y = {0};

	elf_file_symbols(a, note_dynamic, &x);
	elf_file_symbols(b, note_dynamic, &y);
	assert_true(x.symbols.len > 100);
	assert_int_equal(x.symbols.len, y.symbols.len);
	for (size_t i = 0; i < x.symbols.len; i++) {
		const struct elf_symbol *s = &x.symbols.items[i], *t = &y.symbols.items[i];

		assert_string_equal(x.names.items[i], y.names.items[i]);
		assert_int_equal(s->address, t->address);
		assert_int_equal(s->size, t->size);
		assert_int_equal(s->offset, t->offset);
		assert_int_equal(s->code, t->code);
		assert_int_equal(s->local, t->local);
	}
	seen_release(&x);
	seen_release(&y);
}

/* Sections say of a slot in more places what it will hold. */
static void expect_same_slots(struct elf_file *with, struct elf_file *without, uint64_t end)
{
	size_t named = 0;

	for (uint64_t at = 0; at < end; at += 8) {
		struct elf_slot a, b;

		if (!elf_file_slot(with, at, &a))
			continue;
		assert_true(elf_file_slot(without, at, &b));
		assert_int_equal(a.address, b.address);
		assert_int_equal(!a.name, !b.name);
		if (a.name) {
			assert_string_equal(a.name, b.name);
			named++;
		}
	}
	assert_true(named > 0);
}

static void a_library_without_section_headers(void **state UNUSED)
{
	struct buf bytes = BUF_INIT;
	struct elf_file *with, *without;
	int fd, bare;

	if (read_file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", &bytes))
		skip();
	fd = make_elf_file(&bytes);
	memset(bytes.data + offsetof(Elf64_Ehdr, e_shoff), 0, sizeof(Elf64_Off));
	memset(bytes.data + offsetof(Elf64_Ehdr, e_shnum), 0, 2 * sizeof(Elf64_Half));
	bare = make_elf_file(&bytes);
	assert_int_equal(elf_file_open(&with, fd, "with"), 0);
	assert_int_equal(elf_file_open(&without, bare, "without"), 0);
	assert_true(elf_file_traits(without).dynamic_symbols);
	expect_same_symbols(with, without);
	expect_same_slots(with, without, bytes.len);
	elf_file_close(with);
	elf_file_close(without);
	close(fd);
	close(bare);
	buf_release(&bytes);
}

static void the_build_id_is_read(void **state UNUSED)
{
	struct make_elf m = {0};
	struct buf id = BUF_INIT;
	struct elf_file *f;
	int fd;

	f = open_made(&m, &fd);
	assert_true(elf_file_build_id(f, &id));
	assert_int_equal(id.len, 4);
	assert_memory_equal(id.data, "\xde\xad\xbe\xef", 4);
	assert_true(elf_file_has_build_id(f, "deadbeef"));
	assert_false(elf_file_has_build_id(f, "deadbee"));
	assert_false(elf_file_has_build_id(f, ""));
	buf_release(&id);
	elf_file_close(f);
	close(fd);
}

static void expect_refused(struct buf *bytes, const char *why)
{
	int fd = make_elf_file(bytes);
	struct elf_file *f;

	assert_int_equal(elf_file_open(&f, fd, "x"), -ENOEXEC);
	if (!strstr(error_text(), why))
		print_error("not \"%s\", but: %s\n", why, error_text());
	assert_non_null(strstr(error_text(), why));
	error_clear();
	close(fd);
}

static void other_files_are_refused(void **state UNUSED)
{
	struct make_elf m = {0};
	struct buf bytes = BUF_INIT, text = BUF_INIT;

	expect_refused(&text, "x is no");
	buf_addstr(&text, "#!/bin/sh\n");
	expect_refused(&text, "x is no ELF file");
	make_elf_bytes(&m, &bytes);
	bytes.data[EI_CLASS] = ELFCLASS32;
	expect_refused(&bytes, "x is n");
	bytes.data[EI_CLASS] = ELFCLASS64;
	bytes.data[18] = (char)EM_AARCH64;
	expect_refused(&bytes, "x is not for 64-bit x86");
	bytes.data[18] = EM_X86_64;
	bytes.data[16] = ET_REL;
	expect_refused(&bytes, "x is no executable and no shared library");
	buf_release(&bytes);
	buf_release(&text);
}

/* Cut anywhere, or with any byte of the header or the section table spoilt: less, never a crash. */
static void damaged_files_give_less(void **state UNUSED)
{
	struct make_elf m = {0};
	struct buf bytes = BUF_INIT;

	make_elf_function(&m, "f", "\xc3", 1);
	make_elf_import(&m, "malloc");
	make_elf_bytes(&m, &bytes);
	for (size_t i = 0; i < bytes.len; i += i < 64 || i > MAKE_ELF_TABLES ? 1 : 509) {
		for (int spoil = 0; spoil < 3; spoil++) {
			struct buf cut = BUF_INIT, id = BUF_INIT;
			struct seen seen = {0};
			struct elf_file *f;
			struct elf_slot slot;
			int fd;

			buf_add(&cut, bytes.data, spoil ? bytes.len : i);
			if (spoil)
				cut.data[i] = (char)(spoil == 1 ? 0xff : cut.data[i] ^ 0x10);
			fd = make_elf_file(&cut);
			if (!elf_file_open(&f, fd, "x")) {
				elf_file_symbols(f, note, &seen);
				elf_file_build_id(f, &id);
				elf_file_slot(f, MAKE_ELF_BASE + MAKE_ELF_SLOTS, &slot);
				elf_file_code(f, MAKE_ELF_BASE + MAKE_ELF_CODE, &slot, 16);
				elf_file_close(f);
			}
			error_clear();
			seen_release(&seen);
			buf_release(&cut);
			buf_release(&id);
			close(fd);
		}
	}
	buf_release(&bytes);
}

/* The code at the offset is what this process has in memory. */
static void the_machines_libc_is_read(void **state UNUSED)
{
	int fd = open(LIBC, O_RDONLY | O_CLOEXEC);
	/* Not its address as C has it, which may be that of a stub. */
	const void *loaded = dlsym(RTLD_NEXT, "getauxval");
	unsigned char bytes[16];
	struct seen seen = {0};
	const struct elf_symbol *s;
	struct elf_traits traits;
	struct elf_file *f;

	if (fd < 0 || !loaded)
		skip();
	assert_int_equal(elf_file_open(&f, fd, LIBC), 0);
	traits = elf_file_traits(f);
	assert_true(traits.shared_library_or_pie);
	assert_true(traits.dynamic);
	assert_true(traits.dynamic_symbols);
	elf_file_symbols(f, note, &seen);
	s = named(&seen, "getauxval");
	assert_non_null(s);
	assert_true(s->code);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), (off_t)s->offset), sizeof(bytes));
	assert_memory_equal(bytes, loaded, sizeof(bytes));
	assert_int_equal(elf_file_code(f, s->address, bytes, 16), 16);
	assert_memory_equal(bytes, loaded, sizeof(bytes));
	seen_release(&seen);
	elf_file_close(f);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_told_with_their_offsets),
		cmocka_unit_test(symbols_without_bytes_are_left_out),
		cmocka_unit_test(code_is_read_by_address),
		cmocka_unit_test(slots_are_told_by_their_relocations),
		cmocka_unit_test(a_library_without_section_headers),
		cmocka_unit_test(the_build_id_is_read),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(damaged_files_give_less),
		cmocka_unit_test(the_machines_libc_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
