/* SPDX-License-Identifier: MIT */
/* test_advice.c - each remark where it belongs, and not where what it advises is done */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "applets/exec-harness/advice.h"
#include "core/base.h"
#include "core/io.h"
#include "core/path.h"
#include <cmocka.h>
#undef fail

enum { COUNT = 60 };

#define MS 1000000ull
#define OPTIONS(...) ((struct walltime_options){__VA_ARGS__})

static uint64_t times[COUNT];

/* Rounds of 10 ms, a little apart. */
static void steady(void)
{
	for (size_t i = 0; i < COUNT; i++)
		times[i] = 10 * MS + i % 7 * 10000;
}

static struct advice about(const struct walltime_options *options)
{
	return (struct advice){.times = times, .count = COUNT, .options = options};
}

/* `what` NULL: no remark at all. */
static void expect(const struct advice *a, const char *what)
{
	struct strvec notes = STRVEC_INIT;

	advice_give(a, &notes);
	assert_int_equal(notes.len, what ? 1 : 0);
	if (what)
		assert_non_null(strstr(notes.items[0], what));
	strvec_release(&notes);
}

static void expect_for(struct walltime_options options, const char *what)
{
	struct advice a = about(&options);

	expect(&a, what);
}

static void steady_rounds_get_none(void **state UNUSED)
{
	steady();
	expect_for(OPTIONS(0), NULL);
	expect_for(OPTIONS(.warmup_time = "0"), NULL);
}

static void short_rounds(void **state UNUSED)
{
	struct walltime_options options = OPTIONS(0);
	struct advice a = about(&options);

	for (size_t i = 0; i < COUNT; i++)
		times[i] = 400000 + i % 7 * 100;
	assert_true(advice_wants_empty(times, COUNT));
	a.empty_ns = 300000;
	expect(&a, "let a round do more work");
	a.empty_ns = 100000;
	expect(&a, NULL);
	steady();
	assert_false(advice_wants_empty(times, COUNT));
	assert_false(advice_wants_empty(times, 0));
}

/* A spread of times between two places, so that the outliers move the median. */
static void with_outliers(void)
{
	for (size_t i = 0; i < COUNT; i++)
		times[i] = 10 * MS + i * 20000;
	for (size_t i = 0; i < COUNT; i += 5)
		times[i] = 30 * MS;
}

static void outliers(void **state UNUSED)
{
	with_outliers();
	expect_for(OPTIONS(.warmup_time = "1s"), "--cpu");
	expect_for(OPTIONS(.warmup_time = "1s", .cpu = "0"), NULL);
	steady();
	times[20] = 30 * MS; /* does not move the median */
	expect_for(OPTIONS(0), NULL);
}

static void a_slow_first_round(void **state UNUSED)
{
	steady();
	times[0] = 40 * MS;
	expect_for(OPTIONS(.warmup_time = "0"), "--prepare");
	expect_for(OPTIONS(.warmup_time = "0", .prepare = "true"), NULL);
	expect_for(OPTIONS(0), NULL); /* there was a warm-up */
}

static void drift(void **state UNUSED)
{
	for (size_t i = 0; i < COUNT; i++)
		times[i] = 10 * MS + i * 50000;
	expect_for(OPTIONS(0), "slower");
	expect_for(OPTIONS(.warmup_time = "2s"), NULL);
	for (size_t i = 0; i < COUNT; i++)
		times[i] = 20 * MS - i * 50000;
	expect_for(OPTIONS(0), "faster");
}

static void a_busy_machine(void **state UNUSED)
{
	struct walltime_options options = OPTIONS(0);
	struct advice a = about(&options);

	steady();
	a.before = (struct machine_state){.busy = 1000, .idle = 1000};
	a.after = (struct machine_state){.busy = 1100, .idle = 1100};
	a.cpu_ns = 100 * 10 * MS; /* all of what was busy, at 100 ticks a second */
	expect(&a, NULL);
	a.cpu_ns = 0;
	expect(&a, "other programs used 50 %");
	options.cpu = "0";
	expect(&a, NULL);
	options.cpu = NULL;
	a.after = (struct machine_state){.busy = 1010, .idle = 1010};
	expect(&a, NULL); /* too short to tell */
}

static void a_shared_machine(void **state UNUSED)
{
	struct walltime_options options = OPTIONS(0);
	struct advice a = about(&options);

	steady();
	a.after = (struct machine_state){.idle = 180, .stolen = 20};
	expect(&a, "10 % of the processor time to other machines");
}

static void frequencies(void **state UNUSED)
{
	struct walltime_options options = OPTIONS(0);
	struct advice a = about(&options);

	steady();
	a.before = (struct machine_state){.governor = "powersave"};
	expect(&a, "governor powersave");
	a.before = (struct machine_state){.throttled = 3};
	a.after = (struct machine_state){.throttled = 5};
	expect(&a, "2 times because of their heat");
}

static void quiet_is_quiet(void **state UNUSED)
{
	with_outliers();
	expect_for(OPTIONS(.quiet = true), NULL);
}

/* ---- The machine ---- */

static void put(const char *root, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", root, name), *slash = strrchr(path, '/');

	*slash = '\0';
	assert_int_equal(path_make_folder(path, 0755), 0);
	*slash = '/';
	assert_int_equal(write_file_atomic(path, text, strlen(text), 0644), 0);
	free(path);
}

static void the_machine_is_read(void **state UNUSED)
{
	char root[] = "/tmp/codspeed-test.XXXXXX";
	struct machine_state s;

	assert_non_null(mkdtemp(root));
	machine_state_read(&s, root);
	assert_int_equal(s.busy + s.idle + s.stolen + s.throttled, 0);
	assert_string_equal(s.governor, "");
	put(root, "proc/stat", "cpu  1 2 4 8 16 32 64 128 0 0\ncpu0 9\n");
	put(root, "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7\n");
	put(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
	machine_state_read(&s, root);
	assert_int_equal(s.busy, 1 + 2 + 4 + 32 + 64);
	assert_int_equal(s.idle, 8 + 16);
	assert_int_equal(s.stolen, 128);
	assert_int_equal(s.throttled, 7);
	assert_string_equal(s.governor, "schedutil");
	put(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	machine_state_read(&s, root);
	assert_string_equal(s.governor, "");
	path_remove_tree(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_rounds_get_none),
		cmocka_unit_test(short_rounds),
		cmocka_unit_test(outliers),
		cmocka_unit_test(a_slow_first_round),
		cmocka_unit_test(drift),
		cmocka_unit_test(a_busy_machine),
		cmocka_unit_test(a_shared_machine),
		cmocka_unit_test(frequencies),
		cmocka_unit_test(quiet_is_quiet),
		cmocka_unit_test(the_machine_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
