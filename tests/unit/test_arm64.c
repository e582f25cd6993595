/* SPDX-License-Identifier: MIT */
/* test_arm64.c - AArch64 instructions, as an assembler makes them */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "applets/memtrack/arm64.h"
#include "core/base.h"
#include <cmocka.h>
#undef fail

enum { WORDS = 8 };

/* Little-endian bytes; returns how many. */
static size_t put(uint8_t *to, const uint32_t *words, size_t count)
{
	for (size_t i = 0; i < 4 * count; i++)
		to[i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
	return 4 * count;
}

static bool decode(uint32_t word, struct instruction *to)
{
	uint8_t code[4];

	return arm64_decode(code, put(code, &word, 1), to);
}

static void instructions_have_a_way_on(void **state UNUSED)
{
	static const struct {
		uint32_t word;
		enum flow flow;
		int64_t target;
	} cases[] = {
		{0x14000010, FLOW_JUMP, 0x40},
		{0x97ffffef, FLOW_CALL, -0x44},
		{0x540007c0, FLOW_JUMP_IF, 0xf8},  /* b.eq */
		{0xb40000a0, FLOW_JUMP_IF, 0x14},  /* cbz x0 */
		{0x35ffff43, FLOW_JUMP_IF, -0x18}, /* cbnz w3 */
		{0xb64000e1, FLOW_JUMP_IF, 0x1c},  /* tbz x1, #40 */
		{0x371ffdc1, FLOW_JUMP_IF, -0x48}, /* tbnz w1, #3 */
		{0xd61f0220, FLOW_JUMP_INDIRECT, 0},
		{0xd71f0a11, FLOW_JUMP_INDIRECT, 0}, /* braa */
		{0xd63f0060, FLOW_CALL_INDIRECT, 0},
		{0xd73f0a11, FLOW_CALL_INDIRECT, 0}, /* blraa */
		{0xd65f03c0, FLOW_RETURN, 0},
		{0xd65f00a0, FLOW_RETURN, 0}, /* ret x5 */
		{0xd65f0bff, FLOW_RETURN, 0}, /* retaa */
		{0xd4200020, FLOW_STOP, 0},   /* brk */
		{0xd4400000, FLOW_STOP, 0},   /* hlt */
		{0x00000000, FLOW_STOP, 0},   /* udf */
		{0xd503201f, FLOW_NEXT, 0},   /* nop */
		{0xd503233f, FLOW_NEXT, 0},   /* paciasp */
		{0xd503245f, FLOW_NEXT, 0},   /* bti c */
		{0xd53bd040, FLOW_NEXT, 0},   /* mrs x0, tpidr_el0 */
		{0xaa0103e0, FLOW_NEXT, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct instruction in;

		assert_true(decode(cases[i].word, &in));
		if (in.flow != cases[i].flow || in.target != cases[i].target)
			print_error("%08x: flow %d, target %ld\n", cases[i].word, in.flow, (long)in.target);
		assert_int_equal(in.flow, cases[i].flow);
		assert_int_equal(in.target, cases[i].target);
		assert_int_equal(in.length, 4);
	}
}

static void what_is_no_instruction_is_refused(void **state UNUSED)
{
	static const uint32_t cases[] = {0x02000000, 0x06000000, 0x00010000};
	uint8_t code[4] = {0xc0, 0x03, 0x5f, 0xd6};
	struct instruction in;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_false(decode(cases[i], &in));
	for (size_t len = 0; len < sizeof(code); len++)
		assert_false(arm64_decode(code, len, &in));
}

static void stores_are_told_from_loads(void **state UNUSED)
{
	static const uint32_t stores[] = {
		0xf9000420, /* str x0, [x1, #8] */
		0xa9000440, /* stp x0, x1, [x2] */
		0x3d800020, /* str q0, [x1] */
		0xbd000420, /* str s0, [x1, #4] */
		0x38226820, /* strb w0, [x1, x2] */
		0x38001420, /* strb w0, [x1], #1 */
		0xc8027c20, /* stxr */
		0xf8200041, /* ldadd */
		0xc8a07c41, /* cas */
		0x4c007000, /* st1 */
		0xd4000001, /* svc */
	};
	static const uint32_t others[] = {
		0xf9400420, /* ldr x0, [x1, #8] */
		0xa9400440, /* ldp */
		0x3dc00020, /* ldr q0, [x1] */
		0x58fffb60, /* ldr x0, LABEL */
		0xb9800020, /* ldrsw */
		0x38626820, /* ldrb w0, [x1, x2] */
		0xf9800000, /* prfm */
		0xf90007e0, /* to the stack: str x0, [sp, #8] */
		0xa9bb7bfd, /* stp x29, x30, [sp, #-80]! */
		0x91001020, /* add */
		0xd503201f, /* nop */
	};
	struct instruction in;

	for (size_t i = 0; i < ARRAY_SIZE(stores); i++) {
		assert_true(decode(stores[i], &in));
		if (!in.stores)
			print_error("%08x\n", stores[i]);
		assert_true(in.stores);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_true(decode(others[i], &in));
		if (in.stores)
			print_error("%08x\n", others[i]);
		assert_false(in.stores);
	}
}

static void stubs_lead_to_a_slot(void **state UNUSED)
{
	static const uint32_t stub[] = {0xd503245f, 0x90000110, 0xf947fe11, 0x913fe210, 0xd61f0220};
	static const uint32_t backwards[] = {0xf0fffff0, 0xf9400211, 0x91000210, 0xd61f0220};
	static const uint32_t other_register[] = {0x90000111, 0xf947fe11, 0x913fe210, 0xd61f0220};
	uint8_t code[4 * WORDS];
	uint64_t slot;
	size_t len = put(code, stub, ARRAY_SIZE(stub));

	assert_true(arm64_is_stub(code, len, 0x400ff8, &slot)); /* adrp in the same page as it */
	assert_int_equal(slot, 0x420ff8);
	assert_true(arm64_is_stub(code + 4, len - 4, 0x401000, &slot)); /* without bti */
	assert_int_equal(slot, 0x421ff8);
	assert_false(arm64_is_stub(code + 4, 7, 0x401000, &slot)); /* cut off */
	len = put(code, backwards, ARRAY_SIZE(backwards));
	assert_true(arm64_is_stub(code, len, 0x401abc, &slot));
	assert_int_equal(slot, 0x400000);
	len = put(code, other_register, ARRAY_SIZE(other_register));
	assert_false(arm64_is_stub(code, len, 0x401000, &slot));
}

#define KEEPS(...)                                                                             \
	({                                                                                     \
		const uint32_t words[] = {__VA_ARGS__};                                        \
		uint8_t bytes[sizeof(words)];                                                  \
												       \
		arm64_keeps_frames(bytes, put(bytes, words, ARRAY_SIZE(words)));                \
	})

static void frames_are_kept_or_not(void **state UNUSED)
{
	enum { RECORD = 0xa9bb7bfd, /* stp x29, x30, [sp, #-80]! */
	       RECORD_ABOVE = 0xa9027bfd, /* stp x29, x30, [sp, #32] */
	       LOWER = 0xd100c3ff, /* sub sp, sp, #48 */
	       POINT = 0x910003fd, /* mov x29, sp */
	       POINT_ABOVE = 0x910043fd, /* add x29, sp, #16 */
	       NOP = 0xd503201f,
	       RET = 0xd65f03c0 };

	assert_true(KEEPS(RECORD, POINT, RET));
	assert_true(KEEPS(0xd503233f, RECORD, NOP, NOP, POINT, RET)); /* paciasp */
	assert_true(KEEPS(LOWER, RECORD_ABOVE, POINT_ABOVE, RET));
	assert_true(KEEPS(NOP, RET, RECORD, POINT, RET)); /* on the slow way only */
	assert_false(KEEPS(RET));
	assert_false(KEEPS(RECORD, RET)); /* x29 may be anything */
	assert_false(KEEPS(RECORD, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, POINT, RET));
	assert_false(KEEPS(0xa9be4ffe, RET)); /* stp x30, x19, [sp, #-32]! */
	assert_false(KEEPS(0xf81e0ffe, RET)); /* str x30, [sp, #-32]! */
	assert_false(KEEPS(RECORD, POINT, RET, 0xf9000bfe, RET)); /* str x30, [sp, #16] */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_have_a_way_on),
		cmocka_unit_test(what_is_no_instruction_is_refused),
		cmocka_unit_test(stores_are_told_from_loads),
		cmocka_unit_test(stubs_lead_to_a_slot),
		cmocka_unit_test(frames_are_kept_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
