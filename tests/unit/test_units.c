/* SPDX-License-Identifier: MIT */
/* test_units.c - durations, counts and sizes; the vectors of spec/cli.md 4.2 as ours.md has them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* error.h has one, too */

#include "core/base.h"
#include "core/units.h"

/* Like fail_msg, which needs cmocka's `fail`. */
#define failed(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

struct vector {
	const char *text;
	uint64_t ns;
};

static void test_duration_accepted(void **state UNUSED)
{
	static const struct vector vectors[] = {
		/* seconds */
		{"1", 1000000000},
		{"0", 0},
		{"0.0", 0},
		{"0.5", 500000000},
		{".5", 500000000},
		{"5.", 5000000000},
		{"+2", 2000000000},
		{"1e-3", 1000000},
		{"1E3", 1000000000000},
		{"1e+3", 1000000000000},
		{"1.e0", 1000000000},
		{"0.1", 100000000},
		{"1e400", UINT64_MAX},
		{"18446744073.709551615", UINT64_MAX},
		{"18446744073.709551614", UINT64_MAX - 1},
		{"18446744074", UINT64_MAX},
		{"0e400", 0},
		{"0.000e99999999999999999999", 0},
		{"1e-99999999999999999999", 0},
		{"1e-400", 0},
		{"0.0000000019", 1}, /* truncated */
		{"1234.5678901234", 1234567890123},
		{"000000000000000000000000001", 1000000000},
		/* spans */
		{"0s", 0},
		{"0.0s", 0},
		{" 1s ", 1000000000},
		{"\t1s\n", 1000000000},
		{"1 s", 1000000000},
		{"1.5 s", 1500000000},
		{"1.5s", 1500000000},
		{"500ms", 500000000},
		{"2m", 120000000000},
		{"1h", 3600000000000},
		{"1M", 2630016000000000},
		{"1hour 12min 5s", 4325000000000},
		{"1h30m", 5400000000000},
		{"20 min 17 nsec", 1200000000017},
		{"1s 1s", 2000000000},
		{"3.1us", 3100},
		{"1m1.5s", 61500000000},
		{"1\xc2\xb5s", 1000}, /* micro sign */
		{"1\xce\xbcs", 1000}, /* Greek mu */
		{"1.50000000000000000000000s", 1500000000},
		/* any fraction that is a whole number of nanoseconds */
		{"0.1h", 360000000000},
		{"1.001h", 3603600000000},
		{"0.0001h", 360000000},
		{"0.00000001d", 864000},
		{"0.5w", 302400000000000},
		{"0.5y", 15778800000000000},
		/* saturation */
		{"600y", UINT64_MAX},
		{"584y 584y", UINT64_MAX},
		{"18446744073709551615ns", UINT64_MAX},
		{"18446744073709551615ns 1ns", UINT64_MAX},
		{"18446744073709551615y", UINT64_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		uint64_t ns = 77;

		if (parse_duration(vectors[i].text, &ns) || ns != vectors[i].ns)
			failed("%s: %llu instead of %llu (%s)", vectors[i].text,
				 (unsigned long long)ns, (unsigned long long)vectors[i].ns,
				 error_text());
	}
}

static void test_duration_units(void **state UNUSED)
{
	static const struct {
		const char *words[6];
		uint64_t ns;
	} units[] = {
		{{"ns", "nsec", "nanos"}, 1},
		{{"us", "usec"}, 1000},
		{{"ms", "msec", "millis"}, 1000000},
		{{"s", "sec", "secs", "second", "seconds"}, 1000000000},
		{{"m", "min", "mins", "minute", "minutes"}, 60000000000},
		{{"h", "hr", "hrs", "hour", "hours"}, 3600000000000},
		{{"d", "day", "days"}, 86400000000000},
		{{"w", "wk", "wks", "week", "weeks"}, 604800000000000},
		{{"M", "month", "months"}, 2630016000000000},
		{{"y", "yr", "yrs", "year", "years"}, 31557600000000000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		for (size_t j = 0; units[i].words[j]; j++) {
			char *text = xasprintf("3%s", units[i].words[j]);
			uint64_t ns;

			assert_int_equal(parse_duration(text, &ns), 0);
			assert_int_equal(ns, 3 * units[i].ns);
			free(text);
		}
}

static void test_duration_rejected(void **state UNUSED)
{
	static const char *const texts[] = {
		"", "  ", "\n", "abc", "invalid", "e5", ".", "+", "-", "1x", "1S", "1MS", "1Min",
		"1micros", ".5s", "1.s", "1s.", "1.5.5s", "-1s", "+1s", "1,5s", "1s,2s", "1_000ms",
		"0.5ns", "3.0001us", "0.1234567891s", "1s2", "1e3s", "1e", "1e+", "0x10", "1 m s",
		"2 hours min", "99999999999999999999s", "0.0000000000000000001y",
		/* refused by us */
		"-5", "-.5", "-0", "nan", "NaN", "inf", "infinity", "+inf", "-inf", "1 2s", "1 2",
		"1 . 5s", "1.5 5s", "1\xc2s", "1\xc2\xb5", "1\xff", "1s\xc2\xa0",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		uint64_t ns = 77;

		error_clear();
		if (parse_duration(texts[i], &ns) != -EINVAL)
			failed("'%s' is taken for %llu", texts[i], (unsigned long long)ns);
		assert_int_equal(ns, 77);
		assert_string_not_equal(error_text(), "");
	}
	error_clear();
}

static void test_duration_messages(void **state UNUSED)
{
	uint64_t ns;

	error_clear();
	parse_duration("5 foo", &ns);
	assert_non_null(strstr(error_text(), "no such unit: foo"));
	error_clear();
	parse_duration("-1s", &ns);
	assert_non_null(strstr(error_text(), "negative"));
	error_clear();
	parse_duration("0.5ns", &ns);
	assert_non_null(strstr(error_text(), "whole number of nanoseconds"));
	error_clear();
}

static void test_uint64(void **state UNUSED)
{
	static const char *const bad[] = {"",   "+",   "-1", "1 ",  " 1",  "1.0", "0x1",
					  "1k", "++1", "a",  "1e3", "1_0"};
	uint64_t value;

	assert_int_equal(parse_uint64("0", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(parse_uint64("+12", &value), 0);
	assert_int_equal(value, 12);
	assert_int_equal(parse_uint64("0018", &value), 0);
	assert_int_equal(value, 18);
	assert_int_equal(parse_uint64("18446744073709551615", &value), 0);
	assert_int_equal(value, UINT64_MAX);
	value = 5;
	assert_int_equal(parse_uint64("18446744073709551616", &value), -ERANGE);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_uint64(bad[i], &value), -EINVAL);
	assert_int_equal(value, 5);
	error_clear();
}

static void check_duration(uint64_t ns, const char *expected)
{
	char out[UNIT_TEXT];

	assert_string_equal(format_duration(out, ns), expected);
}

static void test_format_duration(void **state UNUSED)
{
	check_duration(0, "0s");
	check_duration(1, "1ns");
	check_duration(999, "999ns");
	check_duration(1000, "1us");
	check_duration(1250, "1.3us");
	check_duration(12000000, "12ms");
	check_duration(3400000000, "3.4s");
	check_duration(3000000000, "3s");
	check_duration(125000000000, "2m 05s");
	check_duration(3720000000000, "1h 02m");
	check_duration(76ull * 3600 * 1000000000, "3d 04h");
	check_duration(UINT64_MAX, "213504d 00h"); /* 584 years */
	/* rounding that reaches the next step */
	check_duration(9960000, "10ms");
	check_duration(999600, "1ms");
	check_duration(999499, "999us");
	check_duration(59499999999, "59s");
	check_duration(59600000000, "1m 00s");
	check_duration(3599600000000, "1h 00m");
	check_duration(86399ull * 1000000000, "1d 00h");
}

static void check_count(uint64_t n, const char *expected)
{
	char out[UNIT_TEXT];

	assert_string_equal(format_count(out, n), expected);
}

static void test_format_count(void **state UNUSED)
{
	check_count(0, "0");
	check_count(999, "999");
	check_count(1000, "1,000");
	check_count(20481, "20,481");
	check_count(1234567, "1,234,567");
	check_count(UINT64_MAX, "18,446,744,073,709,551,615");
}

static void check_bytes(uint64_t bytes, const char *expected)
{
	char out[UNIT_TEXT];

	assert_string_equal(format_bytes(out, bytes), expected);
}

static void test_format_bytes(void **state UNUSED)
{
	check_bytes(0, "0 B");
	check_bytes(1, "1 B");
	check_bytes(100, "100 B");
	check_bytes(1023, "1023 B");
	check_bytes(1024, "1 KB");
	check_bytes(1263, "1.23 KB");
	check_bytes(1536, "1.5 KB");
	check_bytes(2048, "2 KB");
	check_bytes(1034, "1.01 KB");
	check_bytes(3670016, "3.5 MB");
	check_bytes(19084083, "18.2 MB");
	check_bytes(10485760, "10 MB");
	check_bytes(1288490188, "1.2 GB");
	check_bytes(1048575, "1 MB"); /* not 1024 KB */
	check_bytes(1ull << 40, "1 TB");
	check_bytes(UINT64_MAX, "16384 PB");
}

static void expect_time(uint64_t ns, const char *expected)
{
	char out[UNIT_TEXT];

	assert_string_equal(format_time(out, ns), expected);
}

static void test_format_time(void **state UNUSED)
{
	expect_time(0, "0ns");
	expect_time(7, "7ns");
	expect_time(999, "999ns");
	expect_time(1000, "1.000us");
	expect_time(33400, "33.40us");
	expect_time(494307, "494.3us");
	expect_time(999949, "999.9us");
	expect_time(999950, "1.000ms");
	expect_time(9999499, "9.999ms");
	expect_time(9999500, "10.00ms");
	expect_time(999999999, "1.000s");
	expect_time(12050000000, "12.05s");
	expect_time(1000000000000, "1000s");
	expect_time(1234567890123, "1235s");
	expect_time(UINT64_MAX, "18446744074s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duration_accepted),
		cmocka_unit_test(test_duration_units),
		cmocka_unit_test(test_duration_rejected),
		cmocka_unit_test(test_duration_messages),
		cmocka_unit_test(test_uint64),
		cmocka_unit_test(test_format_duration),
		cmocka_unit_test(test_format_count),
		cmocka_unit_test(test_format_bytes),
		cmocka_unit_test(test_format_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
