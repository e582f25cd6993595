/* SPDX-License-Identifier: MIT */
/*
 * fuzz_elf_allocators.c - any file as an executable: no crash, and sites that make sense. Bytes that
 * do not begin as an ELF file describe one: functions of known names with any code, then bytes of
 * the file that are spoilt.
 */
#include <stdio.h>
#include <unistd.h>

#include "applets/memtrack/allocators.h"
#include "applets/memtrack/x86.h"
#include "tests/unit/make_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t left;
};

static unsigned take(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

static const char *const names[] = {
	"malloc", "calloc", "realloc", "free", "posix_memalign", "aligned_alloc", "pvalloc", "cfree",
	"reallocarray", "_Znwm", "_Znam", "_ZnwmSt11align_val_t", "_ZnwmRKSt9nothrow_t", "_ZdlPv",
	"_ZdlPvm", "tc_malloc", "tc_new", "mi_malloc", "mi_free", "mi_heap_malloc", "mi_new_n",
	"mallocx", "rallocx", "sallocx", "nallocx", "sdallocx", "xallocx", "x_mallocx", "x_rallocx",
	"x_sallocx", "x_nallocx", "x_sdallocx", "abort", "__libc_start_main", "f", "g@V",
};

enum { STUB = 0x80, LOCAL = 0x40, NAME = 0x3f, FUNCTIONS = 24, LONGEST = 63 };

static void add_function(struct make_elf *m, struct input *in)
{
	unsigned what = take(in), len = take(in) % (LONGEST + 1);
	const char *name = names[(what & NAME) % ARRAY_SIZE(names)];

	if (what & STUB) {
		make_elf_import(m, name);
		return;
	}
	if (len > in->left)
		len = (unsigned)in->left;
	make_elf_name(m, name, take(in) % 4 ? len : 2 * len, what & LOCAL ? STB_LOCAL : STB_GLOBAL);
	if (len > in->left)
		len = (unsigned)in->left;
	make_elf_code(m, in->data, len);
	in->data += len;
	in->left -= len;
}

static void describe(struct input *in, struct buf *file)
{
	struct make_elf m = {0};
	unsigned functions = take(in) % FUNCTIONS;

	m.table = functions & 1 ? SHT_SYMTAB : SHT_DYNSYM;
	for (unsigned i = 0; i < functions; i++)
		add_function(&m, in);
	make_elf_bytes(&m, file);
	while (in->left >= 3) {
		size_t at = take(in);

		/* Among the tables, where it matters. */
		at = (MAKE_ELF_TABLES + (at << 8 | take(in))) % (file->len + 64);
		if (at >= file->len)
			at -= file->len; /* the header */
		file->data[at] = (char)take(in);
	}
}

static void check_register(uint8_t r)
{
	if (r != PROBE_NO_REGISTER && (r > X86_R15 || r == X86_RSP))
		BUG("no register for an argument");
}

static void check_site(const struct probe_list *list, const struct probe_site *s)
{
	check_register(s->at.size);
	check_register(s->at.count);
	check_register(s->at.block);
	if (!s->name || !*s->name || s->offset - s->function > 64)
		BUG("a probe outside of its function");
	if (s->return_count > list->returns.len || s->first_return > list->returns.len - s->return_count)
		BUG("returns outside of the list");
	if (s->may_throw && (s->class >= PROBE_FREE || !s->return_count))
		BUG("a call that never ends");
	if (s->class == PROBE_FREE ? s->at.block == PROBE_NO_REGISTER
				   : s->class != PROBE_UNSEEN && s->at.size == PROBE_NO_REGISTER)
		BUG("an argument without a place");
}

static void check(struct elf_file *f, bool moved, size_t *sites)
{
	struct probe_list list;

	probe_list_find(&list, f, moved);
	if (!list.families && (list.sites.len || list.returns.len))
		BUG("sites of no allocator");
	for (size_t i = 0; i < list.sites.len; i++)
		check_site(&list, &list.sites.items[i]);
	*sites = list.sites.len;
	probe_list_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct buf file = BUF_INIT, id = BUF_INIT;
	size_t with, without;
	struct elf_file *f;
	int fd;

	if (size > 4 && !memcmp(data, "\x7f" "ELF", 4))
		buf_add(&file, data, size);
	else
		describe(&in, &file);
	fd = make_elf_file(&file);
	if (!elf_file_open(&f, fd, "fuzz")) {
		elf_file_build_id(f, &id);
		check(f, false, &without);
		check(f, true, &with);
		if (with != without)
			BUG("places change the sites");
		elf_file_close(f);
	} else if (!*error_text()) {
		BUG("refused without a reason");
	}
	error_clear();
	close(fd);
	buf_release(&file);
	buf_release(&id);
	return 0;
}
