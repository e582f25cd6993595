/* SPDX-License-Identifier: MIT */
/* test_allocators.c - allocators found by their symbols, and what their code does with each other */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include "applets/memtrack/allocators.h"
#include "applets/memtrack/x86.h"
#include "tests/unit/make_elf.h"
#include <cmocka.h>
#undef fail

#define LIBRARIES "/usr/lib/x86_64-linux-gnu/"
#define BYTES(text) text, sizeof(text) - 1

/* A function that does all by itself: push %rbx; mov %rdi,(%rbx); pop %rbx; ret */
#define OWN "\x53\x48\x89\x3b\x5b\xc3"

static void find(struct make_elf *m, bool moved, struct probe_list *list)
{
	struct buf bytes = BUF_INIT;
	struct elf_file *f;
	int fd;

	make_elf_bytes(m, &bytes);
	fd = make_elf_file(&bytes);
	assert_int_equal(elf_file_open(&f, fd, "made.elf"), 0);
	probe_list_find(list, f, moved);
	elf_file_close(f);
	close(fd);
	buf_release(&bytes);
}

static const struct probe_site *site(const struct probe_list *list, const char *name)
{
	for (size_t i = 0; i < list->sites.len; i++)
		if (str_eq(list->sites.items[i].name, name))
			return &list->sites.items[i];
	return NULL;
}

/* Functions of these names that do all by themselves. */
static void own_functions(struct make_elf *m, const char *const *names)
{
	for (; *names; names++)
		make_elf_function(m, *names, BYTES(OWN));
}

#define OWN_FUNCTIONS(m, ...) own_functions(m, (const char *const[]){__VA_ARGS__, NULL})

/* A function whose first instruction is a jump or call (`opcode`) to `target`, then ret. */
static uint64_t branch_function(struct make_elf *m, const char *name, unsigned char opcode,
				uint64_t target)
{
	unsigned char code[6] = {0, 0, 0, 0, 0, 0xc3};

	make_elf_branch(m, code, 0, opcode, target);
	return make_elf_function(m, name, code, opcode == 0xe9 ? 5 : 6);
}

enum { JMP = 0xe9, CALL = 0xe8 };

static void expect_site(const struct probe_list *list, const char *name, enum probe_class class,
			enum heap_event_kind kind, int size, int count, int block)
{
	const struct probe_site *s = site(list, name);

	if (!s)
		print_error("no site: %s\n", name);
	assert_non_null(s);
	assert_int_equal(s->class, class);
	assert_int_equal(s->kind, kind);
	assert_int_equal(s->at.size, size);
	assert_int_equal(s->at.count, count);
	assert_int_equal(s->at.block, block);
}

#define NONE PROBE_NO_REGISTER

/* ---- The standard set ---- */

static void a_libc_has_the_standard_set(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};

	OWN_FUNCTIONS(&m, "malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign",
		      "valloc", "pvalloc", "reallocarray", "free_sized", "__libc_start_main", "strdup");
	find(&m, false, &list);
	assert_int_equal(list.families, 1u << ALLOCATOR_LIBC);
	assert_int_equal(probe_list_family(&list), ALLOCATOR_LIBC);
	assert_true(list.is_libc);
	assert_int_equal(list.missing, 0);
	assert_int_equal(list.sites.len, 10);
	expect_site(&list, "malloc", PROBE_ALLOC, HEAP_MALLOC, X86_RDI, NONE, NONE);
	expect_site(&list, "calloc", PROBE_ALLOC, HEAP_CALLOC, X86_RSI, X86_RDI, NONE);
	expect_site(&list, "realloc", PROBE_REALLOC, HEAP_REALLOC, X86_RSI, NONE, X86_RDI);
	expect_site(&list, "free", PROBE_FREE, HEAP_FREE, NONE, NONE, X86_RDI);
	expect_site(&list, "aligned_alloc", PROBE_ALLOC, HEAP_ALIGNED_ALLOC, X86_RSI, NONE, NONE);
	expect_site(&list, "posix_memalign", PROBE_OUT, HEAP_ALIGNED_ALLOC, X86_RDX, NONE, X86_RDI);
	expect_site(&list, "valloc", PROBE_ALLOC, HEAP_MALLOC, X86_RDI, NONE, NONE);
	expect_site(&list, "pvalloc", PROBE_ALLOC, HEAP_MALLOC, X86_RDI, NONE, NONE);
	expect_site(&list, "reallocarray", PROBE_REALLOC, HEAP_REALLOC, X86_RDX, X86_RSI, X86_RDI);
	expect_site(&list, "free_sized", PROBE_FREE, HEAP_FREE, NONE, NONE, X86_RDI);
	assert_true(site(&list, "malloc")->emulated);
	assert_int_equal(site(&list, "malloc")->function, MAKE_ELF_CODE);
	assert_int_equal(site(&list, "malloc")->offset, MAKE_ELF_CODE);
	probe_list_release(&list);
}

/* cfree is free, memalign is aligned_alloc on glibc: two events each, if it is not seen. */
static void names_of_one_function_are_one_site(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};

	make_elf_name(&m, "cfree", 6, STB_GLOBAL);
	make_elf_name(&m, "__libc_free", 6, STB_GLOBAL);
	make_elf_name(&m, "free", 6, STB_GLOBAL);
	make_elf_code(&m, BYTES(OWN));
	make_elf_name(&m, "memalign", 6, STB_GLOBAL);
	make_elf_name(&m, "aligned_alloc", 6, STB_GLOBAL);
	make_elf_code(&m, BYTES(OWN));
	find(&m, false, &list);
	assert_int_equal(list.sites.len, 2);
	assert_non_null(site(&list, "free"));
	assert_non_null(site(&list, "aligned_alloc"));
	probe_list_release(&list);
}

static void a_file_with_a_stray_malloc_says_what_it_lacks(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};

	OWN_FUNCTIONS(&m, "malloc", "free");
	find(&m, false, &list);
	assert_int_equal(list.missing, 1u << 1 | 1u << 2);
	assert_string_equal(probe_core_names[1], "calloc");
	assert_string_equal(probe_core_names[2], "realloc");
	assert_false(list.is_libc);
	assert_int_equal(list.sites.len, 2);
	probe_list_release(&list);
}

static void a_static_function_may_be_called_free(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {.table = SHT_SYMTAB};

	make_elf_name(&m, "free", 6, STB_LOCAL);
	make_elf_code(&m, BYTES(OWN));
	OWN_FUNCTIONS(&m, "main");
	find(&m, false, &list);
	assert_int_equal(list.families, 0);
	assert_int_equal(list.sites.len, 0);
	probe_list_release(&list);
}

/* In static position-independent glibc programs malloc is a local symbol, free a global one. */
static void hidden_names_count_where_all_are_there(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {.table = SHT_SYMTAB};

	OWN_FUNCTIONS(&m, "free", "calloc", "realloc");
	make_elf_name(&m, "malloc", 6, STB_LOCAL);
	make_elf_code(&m, BYTES(OWN));
	make_elf_name(&m, "free", 6, STB_LOCAL); /* somebody's own */
	make_elf_code(&m, BYTES(OWN));
	find(&m, false, &list);
	assert_int_equal(list.families, 1u << ALLOCATOR_LIBC);
	assert_int_equal(list.sites.len, 4);
	assert_non_null(site(&list, "malloc"));
	probe_list_release(&list);
}

static void other_files_have_no_allocator(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};

	OWN_FUNCTIONS(&m, "main", "my_malloc", "free_list", "mi_strdup", "tc_new", "sdallocx", "xfree");
	make_elf_import(&m, "malloc");
	find(&m, false, &list);
	assert_int_equal(list.families, 0);
	assert_int_equal(list.sites.len, 0);
	assert_int_equal(list.covered, 0);
	probe_list_release(&list);
}

/* ---- The other allocators ---- */

static void a_jemalloc_without_prefix_is_known(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};

	OWN_FUNCTIONS(&m, "malloc", "calloc", "realloc", "free", "mallocx", "rallocx", "xallocx",
		      "sallocx", "nallocx", "dallocx", "sdallocx");
	find(&m, false, &list);
	assert_int_equal(probe_list_family(&list), ALLOCATOR_JEMALLOC);
	assert_string_equal(allocator_family_name(probe_list_family(&list)), "jemalloc");
	expect_site(&list, "mallocx", PROBE_ALLOC, HEAP_MALLOC, X86_RDI, NONE, NONE);
	expect_site(&list, "rallocx", PROBE_REALLOC, HEAP_REALLOC, X86_RSI, NONE, X86_RDI);
	expect_site(&list, "dallocx", PROBE_FREE, HEAP_FREE, NONE, NONE, X86_RDI);
	expect_site(&list, "sdallocx", PROBE_FREE, HEAP_FREE, NONE, NONE, X86_RDI);
	expect_site(&list, "xallocx", PROBE_UNSEEN, HEAP_MALLOC, NONE, NONE, NONE);
	assert_null(site(&list, "nallocx"));
	probe_list_release(&list);
}

static void a_jemalloc_has_any_prefix(void **state UNUSED)
{
	static const char *const prefixes[] = {"je_", "_rjem_", "moz_je_", "x"};
	static const char *const api[] = {"malloc", "calloc", "realloc", "free", "mallocx", "rallocx",
					  "sallocx", "nallocx", "dallocx", "sdallocx"};

	for (size_t p = 0; p < ARRAY_SIZE(prefixes); p++) {
		struct probe_list list;
		struct make_elf m = {.table = SHT_SYMTAB};

		for (size_t i = 0; i < ARRAY_SIZE(api); i++) {
			char *name = xasprintf("%s%s", prefixes[p], api[i]);

			make_elf_name(&m, name, 6, i % 2 ? STB_LOCAL : STB_GLOBAL);
			make_elf_code(&m, BYTES(OWN));
			free(name);
		}
		/* The slow paths of these, which they jump to: seen already. */
		OWN_FUNCTIONS(&m, "je_malloc_default", "je_free_default");
		find(&m, false, &list);
		assert_int_equal(list.families, 1u << ALLOCATOR_JEMALLOC);
		assert_int_equal(list.sites.len, 8);
		probe_list_release(&list);
	}
}

static void mimallocs_sizes_are_where_they_are(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};

	OWN_FUNCTIONS(&m, "mi_malloc", "mi_free", "mi_zalloc", "mi_zalloc_aligned", "mi_calloc",
		      "mi_malloc_aligned", "mi_realloc_aligned", "mi_recalloc", "mi_heap_malloc",
		      "mi_heap_calloc", "mi_heap_recalloc", "mi_heap_strdup", "mi_heap_new",
		      "mi_heap_destroy", "mi_new_n", "mi_reallocf", "mi_usable_size");
	find(&m, false, &list);
	assert_int_equal(probe_list_family(&list), ALLOCATOR_MIMALLOC);
	expect_site(&list, "mi_zalloc", PROBE_ALLOC, HEAP_CALLOC, X86_RDI, NONE, NONE);
	expect_site(&list, "mi_zalloc_aligned", PROBE_ALLOC, HEAP_CALLOC, X86_RDI, NONE, NONE);
	expect_site(&list, "mi_calloc", PROBE_ALLOC, HEAP_CALLOC, X86_RSI, X86_RDI, NONE);
	expect_site(&list, "mi_malloc_aligned", PROBE_ALLOC, HEAP_ALIGNED_ALLOC, X86_RDI, NONE, NONE);
	expect_site(&list, "mi_realloc_aligned", PROBE_REALLOC, HEAP_REALLOC, X86_RSI, NONE, X86_RDI);
	expect_site(&list, "mi_recalloc", PROBE_REALLOC, HEAP_REALLOC, X86_RDX, X86_RSI, X86_RDI);
	expect_site(&list, "mi_heap_malloc", PROBE_ALLOC, HEAP_MALLOC, X86_RSI, NONE, NONE);
	expect_site(&list, "mi_heap_calloc", PROBE_ALLOC, HEAP_CALLOC, X86_RDX, X86_RSI, NONE);
	expect_site(&list, "mi_heap_recalloc", PROBE_REALLOC, HEAP_REALLOC, X86_RCX, X86_RDX, X86_RSI);
	expect_site(&list, "mi_heap_strdup", PROBE_UNSEEN, HEAP_MALLOC, NONE, NONE, NONE);
	expect_site(&list, "mi_heap_destroy", PROBE_UNSEEN, HEAP_MALLOC, NONE, NONE, NONE);
	expect_site(&list, "mi_new_n", PROBE_ALLOC, HEAP_MALLOC, X86_RSI, X86_RDI, NONE);
	assert_true(site(&list, "mi_new_n")->may_throw);
	assert_true(site(&list, "mi_reallocf")->frees_on_failure);
	assert_null(site(&list, "mi_heap_new"));
	assert_null(site(&list, "mi_usable_size"));
	probe_list_release(&list);
}

static void both_tcmallocs_are_known(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf gperftools = {0}, google = {0};

	OWN_FUNCTIONS(&gperftools, "tc_malloc", "tc_free", "tc_new", "tc_delete_sized", "tc_memalign");
	find(&gperftools, false, &list);
	assert_int_equal(list.families, 1u << ALLOCATOR_TCMALLOC);
	assert_int_equal(list.sites.len, 5);
	assert_int_equal(site(&list, "tc_new")->return_count, 1);
	probe_list_release(&list);
	make_elf_name(&google, "TCMallocInternalMalloc", 6, STB_GLOBAL);
	OWN_FUNCTIONS(&google, "malloc", "free", "sdallocx", "_ZnwmSt11align_val_t12__hot_cold_t");
	find(&google, false, &list);
	assert_int_equal(probe_list_family(&list), ALLOCATOR_TCMALLOC);
	assert_int_equal(list.sites.len, 4);
	assert_non_null(site(&list, "malloc")); /* the common name of the two */
	expect_site(&list, "_ZnwmSt11align_val_t12__hot_cold_t", PROBE_ALLOC, HEAP_ALIGNED_ALLOC, X86_RDI,
		    NONE, NONE);
	probe_list_release(&list);
}

/* The start of libmimalloc's malloc: the size has moved to %rsi when a cheap place comes. */
static void arguments_are_found_where_they_have_moved(void **state UNUSED)
{
	static const char code[] = "\x48\x8b\x05\x49\xb4\x00\x00\x48\x89\xfe\x64\x48\x8b\x38"
				   "\x48\x81\xfe\x00\x04\x00\x00\x77\x02\xc3\xc3\xc3\xc3";

	for (int moved = 0; moved < 2; moved++) {
		struct probe_list list;
		struct make_elf m = {0};

		make_elf_function(&m, "mi_malloc", BYTES(code));
		find(&m, moved, &list);
		expect_site(&list, "mi_malloc", PROBE_ALLOC, HEAP_MALLOC, moved ? X86_RSI : X86_RDI, NONE,
			    NONE);
		assert_int_equal(site(&list, "mi_malloc")->emulated, moved);
		assert_int_equal(site(&list, "mi_malloc")->offset, MAKE_ELF_CODE + (moved ? 0x15 : 0));
		probe_list_release(&list);
	}
}

/* ---- Functions that call each other ---- */

/* libstdc++: new calls malloc, the others call each other, none is a site. */
static void operators_that_call_malloc_are_no_sites(void **state UNUSED)
{
	uint64_t malloc_stub, free_stub, aligned_stub, new_stub, delete_stub;
	struct probe_list list;
	struct make_elf m = {0};

	malloc_stub = make_elf_import(&m, "malloc");
	free_stub = make_elf_import(&m, "free");
	aligned_stub = make_elf_import(&m, "aligned_alloc");
	branch_function(&m, "_Znwm", CALL, malloc_stub);
	new_stub = make_elf_stub(&m, m.symbols.len - 1);
	branch_function(&m, "_Znam", JMP, new_stub);
	branch_function(&m, "_ZnwmRKSt9nothrow_t", CALL, new_stub);
	branch_function(&m, "_ZdlPv", JMP, free_stub);
	delete_stub = make_elf_stub(&m, m.symbols.len - 1);
	branch_function(&m, "_ZdaPv", JMP, delete_stub);
	branch_function(&m, "_ZdlPvm", JMP, delete_stub);
	branch_function(&m, "_ZnwmSt11align_val_t", CALL, aligned_stub);
	branch_function(&m, "_ZnamSt11align_val_t", JMP, make_elf_stub(&m, m.symbols.len - 1));
	find(&m, false, &list);
	assert_int_equal(list.families, 1u << ALLOCATOR_CXX);
	assert_int_equal(list.covered, 8);
	/* But the aligned one alone knows the size before it was rounded up. */
	assert_int_equal(list.sites.len, 1);
	expect_site(&list, "_ZnwmSt11align_val_t", PROBE_SIZE, HEAP_ALIGNED_ALLOC, X86_RDI, NONE, NONE);
	probe_list_release(&list);
}

/* A program's own operator new, which comes to malloc over a function of its own. */
static void operators_may_call_malloc_over_others(void **state UNUSED)
{
	uint64_t malloc_stub, free_stub, helper;
	struct probe_list list;
	struct make_elf m = {0};

	malloc_stub = make_elf_import(&m, "malloc");
	free_stub = make_elf_import(&m, "free");
	helper = branch_function(&m, "helper", CALL, malloc_stub);
	branch_function(&m, "_Znwm", CALL, helper);
	helper = branch_function(&m, "other_helper", CALL, free_stub);
	branch_function(&m, "_ZdlPv", CALL, helper);
	find(&m, false, &list);
	assert_int_equal(list.sites.len, 0);
	assert_int_equal(list.covered, 2);
	probe_list_release(&list);
}

/* A program with a pool of its own. */
static void operators_that_do_it_themselves_are_sites(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};

	OWN_FUNCTIONS(&m, "_Znwm", "_ZdlPv");
	find(&m, false, &list);
	assert_int_equal(list.sites.len, 2);
	assert_true(site(&list, "_Znwm")->may_throw);
	assert_int_equal(site(&list, "_Znwm")->return_count, 1);
	assert_int_equal(list.returns.items[0], MAKE_ELF_CODE + 5);
	assert_false(site(&list, "_ZdlPv")->passes_on);
	probe_list_release(&list);
}

/* It does not allocate for the program: an operator new that comes to it and to nothing else. */
static void the_maker_of_exceptions_is_a_site_of_its_own(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};
	uint64_t maker = make_elf_function(&m, "__cxa_allocate_exception", BYTES(OWN));

	branch_function(&m, "_Znwm", CALL, maker);
	OWN_FUNCTIONS(&m, "_ZdlPv");
	find(&m, false, &list);
	assert_int_equal(list.sites.len, 3);
	expect_site(&list, "__cxa_allocate_exception", PROBE_THROW, HEAP_MALLOC, NONE, NONE, NONE);
	expect_site(&list, "_Znwm", PROBE_ALLOC, HEAP_MALLOC, X86_RDI, NONE, NONE);
	probe_list_release(&list);
}

/* tcmalloc's: its own fast path, and a jump to a function without a name when that fails. */
static void returns_are_found_behind_jumps(void **state UNUSED)
{
	/* test %rdi,%rdi; je +1; ret; jmp slow */
	unsigned char code[] = {0x48, 0x85, 0xff, 0x74, 0x01, 0xc3, 0xe9, 0, 0, 0, 0};
	/* push %rbx; test %rdi,%rdi; je +2; pop %rbx; ret; call abort@plt; no code behind it */
	unsigned char slow[] = {0x53, 0x48, 0x85, 0xff, 0x74, 0x02, 0x5b, 0xc3, 0xe8, 0, 0, 0, 0, 0x06};
	struct probe_list list;
	struct make_elf m = {0};
	uint64_t abort_stub, slow_path, at;
	const struct probe_site *s;

	abort_stub = make_elf_import(&m, "abort");
	make_elf_branch(&m, slow + 8, 8, CALL, abort_stub);
	slow_path = make_elf_code(&m, slow, sizeof(slow));
	make_elf_branch(&m, code + 6, 6, JMP, slow_path);
	OWN_FUNCTIONS(&m, "tc_malloc");
	make_elf_branch(&m, code + 6, 6, JMP, slow_path);
	at = make_elf_function(&m, "_Znwm", code, sizeof(code));
	find(&m, false, &list);
	s = site(&list, "_Znwm");
	assert_non_null(s);
	assert_int_equal(s->class, PROBE_ALLOC);
	assert_int_equal(s->return_count, 2);
	assert_int_equal(list.returns.items[s->first_return] + list.returns.items[s->first_return + 1],
			 (at + 5 - MAKE_ELF_BASE) + (slow_path + 7 - MAKE_ELF_BASE));
	assert_int_equal(s->offset, s->function + 3);
	probe_list_release(&list);
}

static void a_function_whose_returns_are_not_known_is_not_seen(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};

	OWN_FUNCTIONS(&m, "tc_malloc");
	make_elf_function(&m, "_Znwm", BYTES("\x53\x5b\xff\xe0"));     /* jmp *%rax */
	make_elf_function(&m, "_Znam", BYTES("\x53\x5b\x0f\x04\xc3")); /* no instruction */
	make_elf_function(&m, "tc_new", BYTES("\x53\xeb\xfd"));        /* no end */
	find(&m, false, &list);
	expect_site(&list, "_Znwm", PROBE_UNSEEN, HEAP_MALLOC, NONE, NONE, NONE);
	expect_site(&list, "_Znam", PROBE_UNSEEN, HEAP_MALLOC, NONE, NONE, NONE);
	expect_site(&list, "tc_new", PROBE_UNSEEN, HEAP_MALLOC, NONE, NONE, NONE);
	assert_int_equal(list.returns.len, 0);
	probe_list_release(&list);
}

/* A throwing name and another one for the same function: no return probe for either. */
static void a_function_throws_if_one_of_its_names_does(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};

	make_elf_name(&m, "tc_newarray", 6, STB_GLOBAL);
	make_elf_name(&m, "malloc", 6, STB_GLOBAL);
	make_elf_code(&m, BYTES(OWN));
	OWN_FUNCTIONS(&m, "tc_free");
	find(&m, false, &list);
	assert_true(site(&list, "malloc")->may_throw);
	assert_int_equal(site(&list, "malloc")->return_count, 1);
	probe_list_release(&list);
}

static void functions_that_pass_a_block_on_say_so(void **state UNUSED)
{
	/* test %rdi,%rdi; je +5; jmp free; ret */
	unsigned char always[] = {0x48, 0x85, 0xff, 0x74, 0x05, 0xe9, 0, 0, 0, 0, 0xc3};
	/* test %rsi,%rsi; je +5; jmp free; mov %rdi,(%rsi); ret */
	unsigned char at_times[] = {0x48, 0x85, 0xf6, 0x74, 0x05, 0xe9, 0, 0, 0, 0,
				    0x48, 0x89, 0x3e, 0xc3};
	struct probe_list list;
	struct make_elf m = {0};
	uint64_t free_at;

	free_at = make_elf_function(&m, "free", BYTES(OWN));
	OWN_FUNCTIONS(&m, "malloc", "calloc", "realloc");
	branch_function(&m, "cfree", JMP, free_at);
	branch_function(&m, "mi_free_size", CALL, free_at);
	make_elf_branch(&m, always + 5, 5, JMP, free_at);
	make_elf_function(&m, "free_sized", always, sizeof(always));
	make_elf_branch(&m, at_times + 5, 5, JMP, free_at);
	make_elf_function(&m, "free_aligned_sized", at_times, sizeof(at_times));
	make_elf_function(&m, "mi_free", BYTES("\x53\x5b\xff\xe0")); /* to who knows where */
	find(&m, false, &list);
	assert_false(site(&list, "free")->passes_on);
	assert_null(site(&list, "cfree"));
	assert_null(site(&list, "mi_free_size"));
	assert_null(site(&list, "free_sized"));
	assert_true(site(&list, "free_aligned_sized")->passes_on);
	assert_true(site(&list, "mi_free")->passes_on);
	probe_list_release(&list);
}

static void wrappers_leave_it_to_what_they_call(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};
	uint64_t realloc_stub, aligned;

	OWN_FUNCTIONS(&m, "malloc", "free", "calloc");
	make_elf_function(&m, "realloc", BYTES(OWN));
	realloc_stub = make_elf_stub(&m, m.symbols.len - 1);
	branch_function(&m, "reallocarray", JMP, realloc_stub);
	aligned = make_elf_function(&m, "aligned_alloc", BYTES(OWN));
	branch_function(&m, "memalign", JMP, aligned);       /* the same arguments, the same kind */
	branch_function(&m, "posix_memalign", CALL, aligned);
	branch_function(&m, "valloc", JMP, aligned);         /* another kind of event */
	branch_function(&m, "pvalloc", JMP, aligned);        /* with another size */
	find(&m, false, &list);
	assert_null(site(&list, "reallocarray"));
	assert_null(site(&list, "memalign"));
	assert_null(site(&list, "posix_memalign"));
	assert_non_null(site(&list, "valloc"));
	assert_non_null(site(&list, "pvalloc"));
	assert_int_equal(list.covered, 3);
	probe_list_release(&list);
}

static void functions_that_call_each_other_in_a_circle_come_to_an_end(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};
	uint64_t first = make_elf_here(&m), second = first + 16;

	OWN_FUNCTIONS(&m, "malloc");
	first = make_elf_here(&m);
	second = first + 16;
	branch_function(&m, "_ZdlPv", JMP, second);
	branch_function(&m, "_ZdaPv", JMP, first);
	branch_function(&m, "_Znwm", JMP, make_elf_here(&m)); /* itself */
	find(&m, false, &list);
	assert_non_null(site(&list, "malloc"));
	probe_list_release(&list);
}

/* Each is looked for among all the others: a crafted file must not hold its process for hours. */
static void a_file_with_thousands_of_names_is_not_understood(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};
	char code[5000];

	memset(code, '\xc3', sizeof(code));
	make_elf_name(&m, "malloc", 1, STB_GLOBAL);
	for (unsigned i = 1; i < sizeof(code); i++)
		make_elf_symbol(&m, "free", make_elf_here(&m) + i, 1, SEC_CODE, STB_LOCAL, STT_FUNC);
	make_elf_code(&m, code, sizeof(code));
	find(&m, false, &list);
	assert_true(list.too_many);
	probe_list_release(&list);
}

static void probes_come_in_the_order_of_the_file(void **state UNUSED)
{
	struct probe_list list;
	struct make_elf m = {0};

	OWN_FUNCTIONS(&m, "realloc", "free", "calloc", "malloc");
	find(&m, false, &list);
	for (size_t i = 1; i < list.sites.len; i++)
		assert_true(list.sites.items[i].function > list.sites.items[i - 1].function);
	probe_list_release(&list);
}

/* ---- The machine's own ---- */

struct library {
	const char *path;
	enum allocator_family family;
	const char *const *names; /* some that must be sites */
};

static void find_in_library(const struct library *library)
{
	int fd = open(library->path, O_RDONLY | O_CLOEXEC);
	struct probe_list list;
	struct elf_file *f;

	if (fd < 0) {
		print_message("not here: %s\n", library->path);
		return;
	}
	assert_int_equal(elf_file_open(&f, fd, library->path), 0);
	probe_list_find(&list, f, true);
	assert_int_equal(probe_list_family(&list), library->family);
	for (const char *const *name = library->names; *name; name++) {
		const struct probe_site *s = site(&list, *name);

		if (!s)
			print_error("%s: no site %s\n", library->path, *name);
		assert_non_null(s);
		assert_int_not_equal(s->class, PROBE_UNSEEN);
		assert_true(s->offset >= s->function && s->offset - s->function <= 64);
		assert_true(s->class != PROBE_ALLOC || s->at.size != PROBE_NO_REGISTER);
		assert_true(!s->may_throw || s->return_count);
	}
	probe_list_release(&list);
	elf_file_close(f);
	close(fd);
}

static void the_machines_libraries_are_read(void **state UNUSED)
{
	static const char *const core[] = {"malloc", "calloc", "realloc", "free", NULL};
	static const char *const operators[] = {"malloc", "calloc", "realloc", "free", "_Znwm", NULL};
	static const char *const mimalloc[] = {"malloc", "free", "_Znwm", "mi_zalloc",
					       "mi_heap_realloc", NULL};
	static const char *const aligned[] = {"_ZnwmSt11align_val_t", NULL};
	static const struct library libraries[] = {
		{"/lib/x86_64-linux-gnu/libc.so.6", ALLOCATOR_LIBC, core},
		{"/usr/lib/x86_64-linux-musl/libc.so", ALLOCATOR_LIBC, core},
		{LIBRARIES "libstdc++.so.6", ALLOCATOR_CXX, aligned},
		{LIBRARIES "libjemalloc.so.2", ALLOCATOR_JEMALLOC, operators},
		{LIBRARIES "libmimalloc.so.2.0", ALLOCATOR_MIMALLOC, mimalloc},
		{LIBRARIES "libtcmalloc.so.4", ALLOCATOR_TCMALLOC, operators},
		{LIBRARIES "libtcmalloc_minimal.so.4", ALLOCATOR_TCMALLOC, operators},
	};

	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		find_in_library(&libraries[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_libc_has_the_standard_set),
		cmocka_unit_test(names_of_one_function_are_one_site),
		cmocka_unit_test(a_file_with_a_stray_malloc_says_what_it_lacks),
		cmocka_unit_test(a_static_function_may_be_called_free),
		cmocka_unit_test(hidden_names_count_where_all_are_there),
		cmocka_unit_test(other_files_have_no_allocator),
		cmocka_unit_test(a_jemalloc_without_prefix_is_known),
		cmocka_unit_test(a_jemalloc_has_any_prefix),
		cmocka_unit_test(mimallocs_sizes_are_where_they_are),
		cmocka_unit_test(both_tcmallocs_are_known),
		cmocka_unit_test(arguments_are_found_where_they_have_moved),
		cmocka_unit_test(operators_that_call_malloc_are_no_sites),
		cmocka_unit_test(operators_may_call_malloc_over_others),
		cmocka_unit_test(operators_that_do_it_themselves_are_sites),
		cmocka_unit_test(the_maker_of_exceptions_is_a_site_of_its_own),
		cmocka_unit_test(returns_are_found_behind_jumps),
		cmocka_unit_test(a_function_whose_returns_are_not_known_is_not_seen),
		cmocka_unit_test(a_function_throws_if_one_of_its_names_does),
		cmocka_unit_test(functions_that_pass_a_block_on_say_so),
		cmocka_unit_test(wrappers_leave_it_to_what_they_call),
		cmocka_unit_test(functions_that_call_each_other_in_a_circle_come_to_an_end),
		cmocka_unit_test(a_file_with_thousands_of_names_is_not_understood),
		cmocka_unit_test(probes_come_in_the_order_of_the_file),
		cmocka_unit_test(the_machines_libraries_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
