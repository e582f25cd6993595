/* SPDX-License-Identifier: MIT */
/* test_semver.c - which texts are versions, and their order */
#include <setjmp.h>
#include <stdarg.h>

#include "core/base.h"
#include "core/semver.h"
#include <cmocka.h>
#undef fail

static void versions_are_strict(void **state UNUSED)
{
	static const char *const good[] = {
		"0.0.0", "1.2.3", "10.20.30", "1.0.0-alpha", "1.0.0-0.3.7", "1.0.0-x.7.z.92",
		"1.0.0-x-y-z.--", "1.0.0+001", "1.0.0-beta+exp.sha.5114f85", "1.0.0-0a",
		"1.0.0+21AF26D3----117B344092BD", "18446744073709551615.0.0", "1.2.3----RC",
	};
	static const char *const bad[] = {
		"", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.02.3", "1.2.03", "1.2.3-",
		"1.2.3+", "1.2.3-01", "1.2.3-a..b", "1.2.3-a.", "1.2.3+a..b", "1.2.3 ", " 1.2.3",
		"1.2.3b1", "1.2.x", "-1.2.3", "1..3", "18446744073709551616.0.0", "1.2.3-a_b",
		"1.2.3+a+b", "1.2.3-\xc3\xa9",
	};
	struct semver v;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (!semver_parse(&v, good[i], strlen(good[i])))
			assert_string_equal(good[i], "to be a version");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (semver_parse(&v, bad[i], strlen(bad[i])))
			assert_string_equal(bad[i], "to be none");
	assert_false(semver_parse(&v, "1.2.3\0", 6));
	assert_true(semver_parse(&v, "1.2.345", 5)); /* the length counts, not the NUL */
	assert_int_equal(v.numbers[2], 3);
}

static struct semver parse(const char *text)
{
	struct semver v;

	assert_true(semver_parse(&v, text, strlen(text)));
	return v;
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static void the_order_of_the_specification(void **state UNUSED)
{
	static const char *const order[] = {"0.9.9", "1.0.0-1", "1.0.0-2", "1.0.0-10",
		"1.0.0-99999999999999999999999", "1.0.0--", "1.0.0-alpha", "1.0.0-alpha.1",
		"1.0.0-alpha.beta", "1.0.0-alpha1", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
		"1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0"};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for (size_t k = 0; k < ARRAY_SIZE(order); k++) {
			struct semver a = parse(order[i]), b = parse(order[k]);

			assert_int_equal(sign(semver_compare(&a, &b)), (i > k) - (i < k));
		}
}

static void build_metadata_counts_nothing(void **state UNUSED)
{
	struct semver a = parse("1.0.0+a"), b = parse("1.0.0+b.2"), c = parse("1.0.0-rc.1+z");
	struct semver d = parse("1.0.0-rc.1");

	assert_int_equal(semver_compare(&a, &b), 0);
	assert_int_equal(semver_compare(&c, &d), 0);
	assert_true(semver_compare(&c, &a) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_strict),
		cmocka_unit_test(the_order_of_the_specification),
		cmocka_unit_test(build_metadata_counts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
