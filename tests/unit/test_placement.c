/* SPDX-License-Identifier: MIT */
/* test_placement.c - instructions, and the places of probes in recorded functions */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "applets/memtrack/placement.h"
#include "applets/memtrack/x86.h"
#include "core/base.h"
#include "core/buf.h"
#include <cmocka.h>
#undef fail

static void hex_to(struct buf *to, const char *hex)
{
	unsigned byte;

	while (*hex) {
		while (isspace((unsigned char)*hex))
			hex++;
		if (sscanf(hex, "%2x", &byte) != 1)
			break;
		buf_addch(to, (char)byte);
		hex += 2;
	}
}

/* ---- Instructions ---- */

static void instructions_have_a_length_and_a_way_on(void **state UNUSED)
{
	static const struct {
		const char *hex;
		enum x86_flow flow;
		int64_t target;
	} cases[] = {
		{"90", X86_NEXT, 0},
		{"66 90", X86_NEXT, 0},
		{"f3 0f 1e fa", X86_NEXT, 0},
		{"0f 1f 44 00 00", X86_NEXT, 0},
		{"66 2e 0f 1f 84 00 00 00 00 00", X86_NEXT, 0},
		{"41 54", X86_NEXT, 0},
		{"48 8b 05 49 b4 00 00", X86_NEXT, 0xb450},      /* mov 0xb449(%rip),%rax */
		{"64 48 8b 04 25 28 00 00 00", X86_NEXT, 0},     /* mov %fs:0x28,%rax */
		{"48 b8 01 02 03 04 05 06 07 08", X86_NEXT, 0},  /* movabs */
		{"66 b8 01 02", X86_NEXT, 0},
		{"66 48 b8 01 02 03 04 05 06 07 08", X86_NEXT, 0},
		{"a1 01 02 03 04 05 06 07 08", X86_NEXT, 0},     /* movabs from an address */
		{"67 a1 01 02 03 04", X86_NEXT, 0},
		{"48 81 fe 00 04 00 00", X86_NEXT, 0},
		{"66 81 fe 00 04", X86_NEXT, 0},
		{"f6 c1 01", X86_NEXT, 0},                       /* test has an immediate, */
		{"f6 d1", X86_NEXT, 0},                          /* not has none */
		{"f7 c1 01 00 00 00", X86_NEXT, 0},
		{"48 f7 e6", X86_NEXT, 0},
		{"c8 10 00 00", X86_NEXT, 0},
		{"f2 0f 38 f1 c0", X86_NEXT, 0},                 /* crc32 */
		{"66 0f 3a 0f c1 08", X86_NEXT, 0},              /* palignr */
		{"c5 f8 77", X86_NEXT, 0},                       /* vzeroupper */
		{"c5 fd 6f 07", X86_NEXT, 0},
		{"c5 f9 70 c0 1b", X86_NEXT, 0},                 /* vpshufd with an immediate */
		{"c4 e2 7d 18 07", X86_NEXT, 0},
		{"c4 e3 7d 39 c1 01", X86_NEXT, 0},
		{"62 f1 fe 48 6f 47 01", X86_NEXT, 0},           /* vmovdqu64, disp8 */
		{"f0 0f b1 17", X86_NEXT, 0},                    /* lock cmpxchg */
		{"74 07", X86_JUMP_IF, 9},
		{"0f 84 f8 01 00 00", X86_JUMP_IF, 0x1fe},
		{"eb fe", X86_JUMP, 0},
		{"e9 6b 19 00 00", X86_JUMP, 0x1970},
		{"e8 fb ff ff ff", X86_CALL, 0},
		{"66 66 48 e8 00 01 00 00", X86_CALL, 0x108},    /* of thread-local storage */
		{"c3", X86_RETURN, 0},
		{"f3 c3", X86_RETURN, 0},
		{"c2 08 00", X86_RETURN, 0},
		{"ff 25 d0 0f 00 00", X86_JUMP_INDIRECT, 0xfd6},
		{"f2 ff 25 d0 0f 00 00", X86_JUMP_INDIRECT, 0xfd7},
		{"3e ff e0", X86_JUMP_INDIRECT, 0},
		{"ff d0", X86_CALL_INDIRECT, 0},
		{"41 ff 54 24 08", X86_CALL_INDIRECT, 0},
		{"ff 75 08", X86_NEXT, 0},                       /* push memory */
		{"0f 0b", X86_STOP, 0},
		{"cc", X86_STOP, 0},
		{"f4", X86_STOP, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct x86_instruction in;
		struct buf code = BUF_INIT;
		size_t len;

		hex_to(&code, cases[i].hex);
		len = code.len;
		buf_addstr(&code, "behind it");
		if (!x86_decode((uint8_t *)code.data, code.len, &in) || in.length != len ||
		    in.flow != cases[i].flow || in.target != cases[i].target)
			print_error("%s: length %d, flow %d, target %ld\n", cases[i].hex, in.length,
				    in.flow, (long)in.target);
		assert_int_equal(in.length, len);
		assert_int_equal(in.flow, cases[i].flow);
		assert_int_equal(in.target, cases[i].target);
		for (size_t cut = 0; cut < len; cut++) /* "66 90" cut is no whole instruction either */
			assert_false(x86_decode((uint8_t *)code.data, cut, &in));
		buf_release(&code);
	}
}

static void what_is_no_instruction_is_refused(void **state UNUSED)
{
	static const char *const cases[] = {
		"06", "0e", "27", "60", "82 c0 00", "9a 00 00 00 00 00 00", "ce", "d6", "ea",
		"0f 04", "0f 0a", "0f 24 c0", "0f a6 c0", "8f c8 00", "66 e8 00 00 00 00",
		"48 66 90", "48 c5 f8 77", "66 c5 f8 77", "c4 e5 7d 18 07", "c4 ff 7d 18 07",
		"66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", /* too long */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct x86_instruction in;
		struct buf code = BUF_INIT;

		hex_to(&code, cases[i]);
		buf_addstr(&code, "0123456789abcdef");
		if (x86_decode((uint8_t *)code.data, code.len, &in))
			print_error("taken: %s\n", cases[i]);
		assert_false(x86_decode((uint8_t *)code.data, code.len, &in));
		buf_release(&code);
	}
}

#define BIT(r) (1 << X86_##r)

static void instructions_write_registers(void **state UNUSED)
{
	enum { NO = -1 };
	static const struct {
		const char *hex;
		int written;
	} cases[] = {
		{"48 89 fb", BIT(RBX)},          /* mov %rdi,%rbx */
		{"4c 8b 07", BIT(R8)},           /* mov (%rdi),%r8 */
		{"48 89 07", 0},                 /* mov %rax,(%rdi) */
		{"48 85 ff", 0},                 /* test */
		{"48 39 fe", 0},                 /* cmp */
		{"48 01 fe", BIT(RSI)},
		{"48 03 fe", BIT(RDI)},
		{"05 01 00 00 00", BIT(RAX)},
		{"48 83 ff 01", 0},              /* cmp $1,%rdi */
		{"48 83 c7 01", BIT(RDI)},
		{"80 3d 71 0e 14 00 00", 0},     /* cmpb $0,memory */
		{"b4 01", BIT(RAX)},             /* mov $1,%ah */
		{"40 b4 01", NO},                /* mov $1,%spl */
		{"41 b8 01 00 00 00", BIT(R8)},
		{"48 f7 e6", BIT(RAX) | BIT(RDX)},
		{"48 c1 e8 03", BIT(RAX)},
		{"48 0f 45 c7", BIT(RAX)},       /* cmovne */
		{"0f 90 c0", BIT(RAX)},
		{"48 63 c6", BIT(RAX)},
		{"48 8d 47 07", BIT(RAX)},
		{"f3 0f 1e fa", 0},
		{"0f 1f 40 00", 0},
		{"f3 48 0f 1e c8", NO},          /* rdsspq */
		{"0f ef c0", 0},
		{"66 0f 6e c7", 0},              /* movd to a vector register */
		{"66 0f 7e c7", NO},             /* and from it */
		{"48 83 ec 10", NO},             /* sub $16,%rsp */
		{"48 8d 64 24 f8", NO},          /* lea to %rsp */
		{"48 89 e5", BIT(RBP)},
		{"48 87 fe", BIT(RDI) | BIT(RSI)},
		{"53", NO}, {"5b", NO}, {"c3", NO}, {"74 00", NO}, {"e8 00 00 00 00", NO},
		{"0f 05", NO}, {"0f a2", NO}, {"f3 a4", NO}, {"c5 f8 77", NO},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct x86_instruction in;
		struct buf code = BUF_INIT;
		uint16_t written = 0;
		bool known;

		hex_to(&code, cases[i].hex);
		assert_true(x86_decode((uint8_t *)code.data, code.len, &in));
		known = x86_writes(&in, &written);
		if (known != (cases[i].written != NO) || (known && written != cases[i].written))
			print_error("%s: known %d, %x\n", cases[i].hex, known, written);
		assert_int_equal(known, cases[i].written != NO);
		if (known)
			assert_int_equal(written, cases[i].written);
		buf_release(&code);
	}
}

/* ---- Places ---- */

/* Functions of Debian 12, as far as they matter. */
#define GLIBC_MALLOC "4154 55 53 4889fb 4883ec10 803d461b140000 5b 5d 415c c3"
#define GLIBC_FREE "4885ff 0f84bf000000 55 488d77f0 53 4883ec18 5b 5d c3"
#define GLIBC_MEMALIGN                                                                           \
	"803d710e140000 7407 e932f6ffff 6690 4883ec18 4889742408 48893c24 e8bebcffff 488b742408"  \
	"488b3c24 4883c418 e90cf6ffff"
#define GLIBC_POSIX_MEMALIGN                                                                     \
	"803d0102140000 4154 4989d4 55 4889fd 53 4889f3 745a 4889da 48c1ea03 5b 5d 415c c3"
#define LIBSTDCXX_NEW                                                                            \
	"f30f1efa 4885ff b801000000 53 480f45c7 4889c3 4889df e86408ffff 4885c0 7402 5b c3"       \
	"e8a808ffff 4885c0 0f84553fffff ffd0 ebdf"
#define MIMALLOC_MALLOC                                                                          \
	"488b0549b40000 4889fe 64488b38 4881fe00040000 7729 488d4607 48c1e803 488b44c708"         \
	"488b5010 4885d2 7423 488b0a 83401801 48894810 4889d0 c3 0f1f4000 31c9 31d2 e997f9ffff"   \
	"0f1f8000000000 31c9 e989f9ffff"
#define MIMALLOC_REALLOC "488b0549a90000 4889f2 4889fe 64488b00 4889c7 e9f74effff"
#define MIMALLOC_CALLOC "488b15c9ad0000 4889f8 64488b3a 4883f801 7408 48f7e6 4889c6 7064 c3"
#define JEMALLOC_FREE                                                                            \
	"4889f8 488b150e530a00 4889f9 48c1e81a 4881e1000000c0 25f0000000 6448030425 00000000"     \
	"4801d0 483b88b0010000 0f858a000000 4889fe c3"
#define JEMALLOC_RALLOCX "31c9 e9e91cffff"
#define TCMALLOC_CALLOC "488b0d19390100 6480791000 0f857e010000 4157 4889f8 4156 c3"
#define MUSL_MALLOC "e96b190000"

enum { FIRST = 1, SECOND = 2, THIRD = 4 };

#define AT_ENTRY {X86_RDI, X86_RSI, X86_RDX}

static struct placement place(const char *hex, unsigned arguments, unsigned flags)
{
	struct buf code = BUF_INIT;
	struct placement p;

	hex_to(&code, hex);
	p = placement_choose((uint8_t *)code.data, code.len, arguments, flags);
	buf_release(&code);
	return p;
}

static void recorded_functions_have_their_places(void **state UNUSED)
{
	static const struct {
		const char *name, *hex;
		unsigned arguments, flags, offset;
		bool emulated;
		int registers[3]; /* of the arguments asked for */
	} cases[] = {
		{"malloc of glibc", GLIBC_MALLOC, FIRST, 0, 0, true, AT_ENTRY},
		{"free of glibc", GLIBC_FREE, FIRST, 0, 3, true, AT_ENTRY},
		{"the same without null", GLIBC_FREE, FIRST, PLACEMENT_NOT_NULL, 9, true, AT_ENTRY},
		{"memalign of glibc", GLIBC_MEMALIGN, SECOND, 0, 7, true, AT_ENTRY},
		{"posix_memalign of glibc", GLIBC_POSIX_MEMALIGN, FIRST | THIRD, 0, 7, true, AT_ENTRY},
		{"new of libstdc++", LIBSTDCXX_NEW, FIRST, 0, 12, true, AT_ENTRY},
		{"malloc of mimalloc", MIMALLOC_MALLOC, FIRST, 0, 0, false, AT_ENTRY},
		{"the same, moved", MIMALLOC_MALLOC, FIRST, PLACEMENT_MOVED, 0x15, true, {X86_RSI}},
		{"realloc of mimalloc", MIMALLOC_REALLOC, FIRST | SECOND, 0, 0, false, AT_ENTRY},
		{"the same, moved", MIMALLOC_REALLOC, FIRST | SECOND, PLACEMENT_MOVED, 0x14, true,
		 {X86_RSI, X86_RDX}},
		{"calloc of mimalloc", MIMALLOC_CALLOC, FIRST | SECOND, PLACEMENT_MOVED, 0x12, true,
		 {X86_RAX, X86_RSI}},
		{"free of jemalloc", JEMALLOC_FREE, FIRST, 0, 0x30, true, AT_ENTRY},
		{"rallocx of jemalloc", JEMALLOC_RALLOCX, FIRST | SECOND, 0, 2, true, AT_ENTRY},
		{"calloc of tcmalloc", TCMALLOC_CALLOC, FIRST | SECOND, 0, 12, true, AT_ENTRY},
		{"malloc of musl", MUSL_MALLOC, FIRST, 0, 0, true, AT_ENTRY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct placement p = place(cases[i].hex, cases[i].arguments, cases[i].flags);

		if (p.offset != cases[i].offset || p.emulated != cases[i].emulated)
			print_error("%s: %u, %d\n", cases[i].name, p.offset, p.emulated);
		assert_int_equal(p.offset, cases[i].offset);
		assert_int_equal(p.emulated, cases[i].emulated);
		for (int a = 0; a < 3; a++)
			if (cases[i].arguments & 1u << a)
				assert_int_equal(p.registers[a], cases[i].registers[a]);
	}
}

static void expect_start(const char *why, const char *hex)
{
	struct placement p = place(hex, FIRST, PLACEMENT_MOVED | PLACEMENT_NOT_NULL);

	if (p.offset)
		print_error("%s: %u\n", why, p.offset);
	assert_int_equal(p.offset, 0);
	assert_int_equal(p.registers[0], X86_RDI);
}

static void where_it_cannot_be_shown_the_place_is_the_start(void **state UNUSED)
{
	expect_start("nothing emulated", "4889f8 c3");
	expect_start("the argument is overwritten", "31ff 55 5d c3");
	expect_start("half of it is", "89ff 55 5d c3");
	expect_start("only half of it was copied", "89f8 31ff 55 5d c3");
	expect_start("the copy too", "4889f8 31ff 31c0 55 5d c3");
	expect_start("the stack pointer moves", "4883ec08 e800000000 4883c408 c3");
	expect_start("an instruction that is not known", "0fa2 55 5d c3");
	expect_start("no instruction", "4889f8 06 55 5d c3");
	expect_start("a branch through a register", "ffe0 55 5d c3");
	expect_start("a loop that comes back to it", "4885ff 55 5d 48ffcf 75f9 c3");
	expect_start("a loop that comes back before it", "4889f8 4885ff 55 5d 48ffcf 75f7 c3");
	expect_start("code behind it that is not known", "4885ff 55 5d 06 c3");
	expect_start("a 5-byte nop is none", "4885ff 0f1f440000 c3");
	expect_start("a prefixed jump", "4885ff 2e7402 c3 c3");
	expect_start("too far away",
		     "4885ff 4885ff 4885ff 4885ff 4885ff 4885ff 4885ff 4885ff 4885ff 4885ff 4885ff"
		     "4885ff 4885ff 4885ff 4885ff 4885ff 4885ff 4885ff 4885ff 4885ff 4885ff 4885ff"
		     "55 5d c3");
	expect_start("no code at all", "");
}

static void a_jump_to_the_start_does_not_matter(void **state UNUSED)
{
	/* It enters anew, and then the probe is passed again, as at the start. */
	assert_int_equal(place("4885ff 55 5d ebf9", FIRST, 0).offset, 3);
}

static void null_is_only_passed_by_right_after_its_test(void **state UNUSED)
{
	static const struct {
		const char *hex;
		unsigned offset;
	} cases[] = {
		{"4885ff 7402 55 5d c3", 5},
		{"4889f8 4885c0 7402 55 5d c3", 8}, /* of a copy */
		{"85ff 7402 55 5d c3", 2},          /* of half of it */
		{"4885f6 7402 55 5d c3", 3},        /* of another one */
		{"4885ff 7502 55 5d c3", 3},        /* jumps where it is not null */
		{"4885ff 4889f8 7402 55 5d c3", 6}, /* mov keeps the flags, but is not looked at */
		{"4885ff 7402 4889f8 c3", 3},       /* nothing emulated behind it */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(place(cases[i].hex, FIRST, PLACEMENT_NOT_NULL | PLACEMENT_MOVED).offset,
				 cases[i].offset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_have_a_length_and_a_way_on),
		cmocka_unit_test(what_is_no_instruction_is_refused),
		cmocka_unit_test(instructions_write_registers),
		cmocka_unit_test(recorded_functions_have_their_places),
		cmocka_unit_test(where_it_cannot_be_shown_the_place_is_the_start),
		cmocka_unit_test(a_jump_to_the_start_does_not_matter),
		cmocka_unit_test(null_is_only_passed_by_right_after_its_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
