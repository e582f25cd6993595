/* SPDX-License-Identifier: MIT */
/* test_capabilities.c - the attribute security.capability, any bytes of it; sets as text */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#undef fail /* error.h has one, too */

#include "core/base.h"
#include "core/capabilities.h"

/* What `setcap cap_bpf,cap_perfmon+p` writes (getfattr -e hex). */
static const unsigned char bpf_perfmon[FILE_CAPS_BYTES] = {
	0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0,
};

/* cap_sys_admin,cap_dac_read_search+ep, of revision 3 with a root id. */
static const unsigned char in_namespace[24] = {
	1, 0, 0, 3, 4, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe8, 3, 0, 0,
};

/* cap_net_raw+eip, of revision 1. */
static const unsigned char old[12] = {1, 0, 0, 1, 0, 0x20, 0, 0, 0, 0x20, 0, 0};

static void test_encode(void **state UNUSED)
{
	unsigned char bytes[FILE_CAPS_BYTES];

	file_caps_encode(CAPS_MINIMAL, bytes);
	assert_memory_equal(bytes, bpf_perfmon, sizeof(bytes));
}

static void test_decode(void **state UNUSED)
{
	struct file_caps caps;

	assert_true(file_caps_decode(&caps, bpf_perfmon, sizeof(bpf_perfmon)));
	assert_int_equal(caps.permitted, CAPS_MINIMAL);
	assert_int_equal(caps.inheritable, 0);
	assert_false(caps.effective);

	assert_true(file_caps_decode(&caps, in_namespace, sizeof(in_namespace)));
	assert_int_equal(caps.permitted, CAP_BIT(CAP_SYS_ADMIN) | CAP_BIT(CAP_DAC_READ_SEARCH));
	assert_true(caps.effective);

	assert_true(file_caps_decode(&caps, old, sizeof(old)));
	assert_int_equal(caps.permitted, CAP_BIT(CAP_NET_RAW));
	assert_int_equal(caps.inheritable, CAP_BIT(CAP_NET_RAW));
	assert_true(caps.effective);
}

static void test_round_trip(void **state UNUSED)
{
	const uint64_t masks[] = {0, 1, CAPS_FULL, CAP_BIT(31), CAP_BIT(32), CAP_BIT(40), UINT64_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		unsigned char bytes[FILE_CAPS_BYTES];
		struct file_caps caps;

		file_caps_encode(masks[i], bytes);
		assert_true(file_caps_decode(&caps, bytes, sizeof(bytes)));
		assert_true(caps.permitted == masks[i]);
		assert_int_equal(caps.inheritable, 0);
		assert_false(caps.effective);
	}
}

/* Anything that the kernel would not take gives no rights. */
static void test_damaged(void **state UNUSED)
{
	unsigned char bytes[32];
	struct file_caps caps;

	for (size_t len = 0; len <= sizeof(bytes); len++) {
		memset(bytes, 0xff, sizeof(bytes));
		memcpy(bytes, bpf_perfmon, sizeof(bpf_perfmon));
		assert_int_equal(file_caps_decode(&caps, bytes, len), len == sizeof(bpf_perfmon));
		assert_true((caps.permitted != 0) == (len == sizeof(bpf_perfmon)));
	}
	for (unsigned revision = 0; revision < 256; revision++) {
		memcpy(bytes, bpf_perfmon, sizeof(bpf_perfmon));
		bytes[3] = (unsigned char)revision;
		assert_int_equal(file_caps_decode(&caps, bytes, FILE_CAPS_BYTES), revision == 2);
	}
}

static void check_text(uint64_t mask, const char *expected)
{
	struct buf text = BUF_INIT;

	caps_text(mask, &text);
	assert_string_equal(text.data, expected);
	buf_release(&text);
}

static void test_text(void **state UNUSED)
{
	check_text(0, "none");
	check_text(CAPS_MINIMAL, "cap_perfmon,cap_bpf");
	check_text(CAP_BIT(63) | CAP_BIT(CAP_KILL), "cap_kill,cap_63");
}

/* Of this very process: what is not permitted is never in effect. */
static void test_own(void **state UNUSED)
{
	struct cap_sets sets = caps_get();

	assert_true(!(sets.effective & ~sets.permitted));
	assert_true(!(sets.ambient & ~sets.permitted));
	caps_use(0);
	assert_true(!caps_get().effective);
	caps_use(UINT64_MAX);
	assert_true(caps_get().effective == sets.permitted);
	assert_int_equal(caps_keep(CAPS_MINIMAL), 0);
	sets = caps_get();
	assert_true(!sets.effective && !sets.inheritable && !sets.ambient);
	assert_true(!(sets.permitted & ~CAPS_MINIMAL));
	assert_int_equal(caps_keep(UINT64_MAX), 0);
	assert_true(caps_get().permitted == sets.permitted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encode),     cmocka_unit_test(test_decode),
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_text),       cmocka_unit_test(test_own), /* last: for good */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
