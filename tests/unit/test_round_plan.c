/* SPDX-License-Identifier: MIT */
/* test_round_plan.c - how many rounds are run, by a clock that the test turns itself */
#include <setjmp.h>
#include <stdarg.h>

#include "applets/exec-harness/round_plan.h"
#include "core/base.h"
#include <cmocka.h>
#undef fail

#define MS 1000000ull
#define OPTIONS(...) (&(struct walltime_options){__VA_ARGS__})

static struct round_limits limits_of(const struct walltime_options *options)
{
	struct round_limits limits;

	assert_int_equal(round_limits_parse(&limits, options), 0);
	return limits;
}

/* What a run comes to. */
struct run {
	uint64_t warmup;   /* rounds */
	uint64_t measured; /* rounds; 1 where the warm-up's is the result */
	bool single;
	const char *unmet;
};

/* `later` is the length of measured rounds. */
static struct run play(const struct walltime_options *options, uint64_t round, uint64_t later)
{
	struct round_limits limits = limits_of(options);
	struct round_plan plan;
	struct run run = {0};
	uint64_t elapsed = 0;

	round_plan_init(&plan, &limits);
	while (round_plan_warms_up(&plan, run.warmup, elapsed)) {
		run.warmup++;
		elapsed += round;
	}
	run.single = round_plan_is_single(&plan, run.warmup, round);
	round_plan_aim(&plan, run.warmup, elapsed);
	elapsed = run.single ? round : 0;
	run.measured = run.single;
	while (!run.single) {
		run.measured++;
		elapsed += later;
		if (round_plan_enough(&plan, run.measured, elapsed))
			break;
	}
	run.unmet = round_plan_unmet(&plan, run.measured, elapsed);
	return run;
}

static void expect_rounds(const struct walltime_options *options, uint64_t round, uint64_t warmup,
			  uint64_t measured)
{
	struct run run = play(options, round, round);

	assert_int_equal(run.warmup, warmup);
	assert_int_equal(run.measured, measured);
	assert_null(run.unmet);
}

static void expect_unmet(const struct walltime_options *options, uint64_t measured, const char *what)
{
	struct run run = play(options, 101 * MS, 101 * MS);

	assert_int_equal(run.measured, measured);
	assert_non_null(run.unmet);
	assert_non_null(strstr(run.unmet, what));
}

static void expect_refused(const struct walltime_options *options, const char *why)
{
	struct round_limits limits;

	assert_int_equal(round_limits_parse(&limits, options), -EINVAL);
	assert_non_null(strstr(error_text(), why));
	error_clear();
}

/* The examples of the format's description, rounds of 101 ms. */
static void with_a_warmup(void **state UNUSED)
{
	expect_rounds(OPTIONS(0), 101 * MS, 10, 30);
	expect_rounds(OPTIONS(.warmup_time = "50ms", .max_time = "500ms"), 101 * MS, 1, 5);
	expect_rounds(OPTIONS(.warmup_time = "10ms", .min_time = "1ms", .min_rounds = "15"),
		      101 * MS, 1, 15);
	expect_rounds(OPTIONS(.warmup_time = "100ms", .min_rounds = "5", .max_rounds = "50"),
		      101 * MS, 1, 27);
	expect_rounds(OPTIONS(.min_time = "2s", .max_rounds = "50"), 101 * MS, 10, 35);
	expect_rounds(OPTIONS(.max_time = "10s", .min_rounds = "5"), 101 * MS, 10, 52);
	expect_rounds(OPTIONS(.min_rounds = "3", .max_rounds = "10", .max_time = "500ms"), 101 * MS,
		      10, 4);
	expect_rounds(OPTIONS(.warmup_time = "2s", .max_time = "100ms"), 1010 * MS, 2, 1);
}

static void rounds_that_slow_down(void **state UNUSED)
{
	assert_int_equal(play(OPTIONS(0), 101 * MS, 110 * MS).measured, 28);
}

static void one_round_is_all_that_fits(void **state UNUSED)
{
	struct run run = play(OPTIONS(.warmup_time = "100ms", .max_time = "100ms"), 1000 * MS, 0);

	assert_true(run.single);
	assert_int_equal(run.warmup, 1);
	assert_int_equal(run.measured, 1);
	assert_false(play(OPTIONS(.warmup_time = "50ms", .max_time = "500ms"), 101 * MS,
			  101 * MS).single);
}

static void without_a_warmup(void **state UNUSED)
{
	expect_rounds(OPTIONS(.warmup_time = "0", .max_rounds = "10"), 101 * MS, 0, 10);
	expect_rounds(OPTIONS(.warmup_time = "0", .max_rounds = "10", .max_time = "500ms"), 101 * MS,
		      0, 5);
	expect_rounds(OPTIONS(.warmup_time = "0"), 101 * MS, 0, 30);
	expect_rounds(OPTIONS(.warmup_time = "0", .min_time = "2s", .max_time = "5s"), 101 * MS, 0, 20);
	expect_rounds(OPTIONS(.warmup_time = "0", .max_rounds = "0"), 101 * MS, 0, 1);
}

/* Where upstream looks at one limit only, all of them count here. */
static void all_limits_count_without_a_warmup(void **state UNUSED)
{
	expect_rounds(OPTIONS(.warmup_time = "0", .max_time = "10s", .min_rounds = "5"), 101 * MS, 0,
		      100);
	expect_rounds(OPTIONS(.warmup_time = "0", .min_rounds = "3", .max_rounds = "10",
			      .max_time = "5s"), 101 * MS, 0, 10);
	expect_rounds(OPTIONS(.warmup_time = "0", .min_rounds = "3", .max_rounds = "10",
			      .max_time = "500ms"), 101 * MS, 0, 5);
	expect_rounds(OPTIONS(.warmup_time = "0", .min_rounds = "7"), 101 * MS, 0, 7);
	expect_rounds(OPTIONS(.warmup_time = "0", .min_rounds = "7", .min_time = "2s"), 101 * MS, 0,
		      20);
}

static void a_minimum_that_does_not_fit_is_told(void **state UNUSED)
{
	expect_unmet(OPTIONS(.min_time = "2s", .max_rounds = "10"), 10, "minimum time");
	expect_unmet(OPTIONS(.warmup_time = "0", .min_time = "2s", .max_rounds = "3"), 3,
		     "minimum time");
	expect_unmet(OPTIONS(.warmup_time = "0", .min_rounds = "10", .max_time = "500ms"), 5,
		     "minimum of rounds");
	expect_unmet(OPTIONS(.min_rounds = "10", .max_time = "500ms"), 5, "minimum of rounds");
}

/* The warm-up promised fewer rounds than the time then takes. */
static void a_minimum_holds_where_rounds_get_shorter(void **state UNUSED)
{
	struct run run = play(OPTIONS(.min_time = "2s"), 100 * MS, 10 * MS);

	assert_int_equal(run.measured, 200);
	assert_null(run.unmet);
}

static void a_warmup_of_no_time_divides_by_nothing(void **state UNUSED)
{
	struct round_limits limits = limits_of(OPTIONS(.warmup_time = "1ns", .max_time = "10ns"));
	struct round_plan plan;

	round_plan_init(&plan, &limits);
	assert_true(round_plan_warms_up(&plan, 0, 1));
	assert_false(round_plan_warms_up(&plan, 1, 1));
	round_plan_aim(&plan, 1, 0);
	assert_int_equal(plan.target, 11);
}

static void huge_limits_do_not_wrap(void **state UNUSED)
{
	struct round_limits limits = limits_of(OPTIONS(.warmup_time = "1ns", .min_time = "600y",
						       .max_time = "600y",
						       .max_rounds = "18446744073709551615"));
	struct round_plan plan;

	round_plan_init(&plan, &limits);
	assert_int_equal(limits.min_ns, UINT64_MAX);
	round_plan_aim(&plan, 1, 100 * MS);
	assert_true(plan.target > UINT64_MAX / (101 * MS));
	assert_false(round_plan_enough(&plan, 1000, UINT64_MAX - 1));
	assert_true(round_plan_enough(&plan, 1000, UINT64_MAX));
}

static void an_endless_warmup_is_kept_to(void **state UNUSED)
{
	struct round_limits limits = limits_of(OPTIONS(.warmup_time = "600y"));
	struct round_plan plan;

	round_plan_init(&plan, &limits);
	assert_true(round_plan_warms_up(&plan, 1000000, UINT64_MAX - 1));
}

static void contradictions_are_refused(void **state UNUSED)
{
	expect_refused(OPTIONS(.min_time = "2s", .max_time = "1s"), "minimum time 2s is more than");
	expect_refused(OPTIONS(.min_rounds = "6", .max_rounds = "5"), "6 rounds is more than");
	expect_refused(OPTIONS(.max_time = "0"), "how many rounds");
	expect_refused(OPTIONS(.max_time = "0", .warmup_time = "0"), "how many rounds");
	expect_refused(OPTIONS(.max_time = "0", .min_time = "0"), "how many rounds");
}

static void texts_are_refused(void **state UNUSED)
{
	expect_refused(OPTIONS(.warmup_time = "-5"), "warm-up time '-5'");
	expect_refused(OPTIONS(.max_time = "nan"), "maximum time 'nan'");
	expect_refused(OPTIONS(.min_time = "inf"), "minimum time 'inf'");
	expect_refused(OPTIONS(.max_rounds = "1.5"), "maximum of rounds '1.5'");
	expect_refused(OPTIONS(.min_rounds = "-1"), "minimum of rounds '-1'");
}

static void defaults(void **state UNUSED)
{
	struct round_limits limits = limits_of(OPTIONS(0));

	assert_int_equal(limits.warmup_ns, 1000 * MS);
	assert_int_equal(limits.max_ns, 3000 * MS);
	assert_int_equal(limits_of(OPTIONS(.min_rounds = "3")).max_ns, 0);
	assert_int_equal(limits_of(OPTIONS(.max_time = "0", .max_rounds = "3")).max_ns, 0);
	assert_int_equal(limits_of(OPTIONS(.max_time = "1.001h")).max_ns, 3603600000 * 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_a_warmup),
		cmocka_unit_test(rounds_that_slow_down),
		cmocka_unit_test(one_round_is_all_that_fits),
		cmocka_unit_test(without_a_warmup),
		cmocka_unit_test(all_limits_count_without_a_warmup),
		cmocka_unit_test(a_minimum_that_does_not_fit_is_told),
		cmocka_unit_test(a_minimum_holds_where_rounds_get_shorter),
		cmocka_unit_test(a_warmup_of_no_time_divides_by_nothing),
		cmocka_unit_test(huge_limits_do_not_wrap),
		cmocka_unit_test(an_endless_warmup_is_kept_to),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(texts_are_refused),
		cmocka_unit_test(defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
