/* SPDX-License-Identifier: MIT */
/* test_costs.c - event counts added up, and the metrics made of them */
#include <setjmp.h>
#include <stdarg.h>

#include "applets/runner/simulation/costs.h"
#include "core/base.h"
#include <cmocka.h>

/* The second part of formats.md's vector: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw. */
static const struct callgrind_part part_sum = {
	.costs = {[CG_IR] = 61, [CG_DR] = 7, [CG_DW] = 7, [CG_I1MR] = 2, [CG_D1MR] = 1,
		  [CG_ILMR] = 1},
	.has_event = {true, true, true, true, true, true, true, true, true},
	.below_main_seen = true,
	.main_inclusive = 40,
};

static const struct callgrind_part instructions_only = {
	.costs = {[CG_IR] = 1000},
	.has_event = {[CG_IR] = true},
};

static void expect_metrics(const struct costs *c, const uint64_t expected[5])
{
	struct measure metrics[SIMULATION_METRICS] = {0};

	costs_to_metrics(c, metrics);
	for (size_t i = 0; i < 5; i++) {
		assert_true(metrics[i].known);
		assert_int_equal(metrics[i].value, expected[i]);
	}
	assert_false(metrics[SIMULATION_STARTUP_INSTRUCTIONS].known);
}

static void metrics_of_a_part(void **state UNUSED)
{
	struct costs c = {0};

	/* RAM = 1; LL = 2 + 1 - 1; L1 = 61 + 7 + 7 - 2 - 1; cycles = 72 + 5 * 2 + 35 * 1 */
	costs_add_part(&c, &part_sum);
	assert_int_equal(c.parts, 1);
	expect_metrics(&c, (uint64_t[]){61, 72, 2, 1, 117});
}

static void parts_add_up(void **state UNUSED)
{
	struct costs c = {0}, two = {0};

	costs_add_part(&c, &part_sum);
	costs_add_part(&c, &part_sum);
	costs_add(&two, &c);
	costs_add_part(&two, &part_sum);
	assert_int_equal(two.parts, 3);
	assert_int_equal(two.main_inclusive, 120);
	expect_metrics(&two, (uint64_t[]){183, 216, 6, 3, 351});
	costs_add(&two, &(struct costs){0});
	expect_metrics(&two, (uint64_t[]){183, 216, 6, 3, 351});
}

static void without_the_cache_model(void **state UNUSED)
{
	struct measure metrics[SIMULATION_METRICS] = {0};
	struct costs c = {0};

	costs_add_part(&c, &instructions_only);
	costs_to_metrics(&c, metrics);
	assert_true(metrics[SIMULATION_INSTRUCTIONS].known);
	assert_int_equal(metrics[SIMULATION_INSTRUCTIONS].value, 1000);
	for (size_t i = SIMULATION_L1_HITS; i < SIMULATION_METRICS; i++)
		assert_false(metrics[i].known);
}

/* A sum of parts of which one lacks the cache events must not pretend to know the hits. */
static void parts_with_and_without_the_cache_model(void **state UNUSED)
{
	struct measure metrics[SIMULATION_METRICS] = {0};
	struct costs c = {0};

	costs_add_part(&c, &part_sum);
	costs_add_part(&c, &instructions_only);
	costs_to_metrics(&c, metrics);
	assert_int_equal(metrics[SIMULATION_INSTRUCTIONS].value, 1061);
	assert_false(metrics[SIMULATION_L1_HITS].known);
	assert_false(metrics[SIMULATION_ESTIMATED_CYCLES].known);
}

static void sums_end_at_the_limit(void **state UNUSED)
{
	struct callgrind_part huge = part_sum;
	struct measure metrics[SIMULATION_METRICS] = {0};
	struct costs c = {0};

	for (size_t i = 0; i < CG_EVENT_COUNT; i++)
		huge.costs[i] = UINT64_MAX - 1;
	costs_add_part(&c, &huge);
	costs_add_part(&c, &huge);
	assert_true(c.events[CG_IR] == UINT64_MAX);
	costs_to_metrics(&c, metrics);
	assert_true(metrics[SIMULATION_INSTRUCTIONS].value == UINT64_MAX);
	assert_true(metrics[SIMULATION_ESTIMATED_CYCLES].value == UINT64_MAX);
}

/* A damaged file may claim more misses than accesses. */
static void nothing_is_negative(void **state UNUSED)
{
	struct callgrind_part odd = part_sum;
	struct measure metrics[SIMULATION_METRICS] = {0};
	struct costs c = {0};

	odd.costs[CG_ILMR] = 1000;
	costs_add_part(&c, &odd);
	costs_to_metrics(&c, metrics);
	assert_int_equal(metrics[SIMULATION_RAM_HITS].value, 1000);
	assert_int_equal(metrics[SIMULATION_LL_HITS].value, 0);
	assert_int_equal(metrics[SIMULATION_L1_HITS].value, 0);
	assert_int_equal(metrics[SIMULATION_ESTIMATED_CYCLES].value, 35000);
}

static void startup_is_what_main_has_not_cost(void **state UNUSED)
{
	struct costs c = {0};

	assert_false(costs_startup(&c).known);
	costs_add_part(&c, &part_sum);
	assert_true(costs_startup(&c).known);
	assert_int_equal(costs_startup(&c).value, 21);
	c.main_inclusive = 100;
	assert_int_equal(costs_startup(&c).value, 0);
	c.below_main_seen = false;
	assert_false(costs_startup(&c).known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_of_a_part),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(without_the_cache_model),
		cmocka_unit_test(parts_with_and_without_the_cache_model),
		cmocka_unit_test(sums_end_at_the_limit),
		cmocka_unit_test(nothing_is_negative),
		cmocka_unit_test(startup_is_what_main_has_not_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
