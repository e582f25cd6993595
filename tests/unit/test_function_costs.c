/* SPDX-License-Identifier: MIT */
/* test_function_costs.c - the table of functions: its sums and its order */
#include <setjmp.h>
#include <stdarg.h>

#include "applets/runner/simulation/function_costs.h"
#include "core/base.h"
#include "core/buf.h"
#include <cmocka.h>

static void expect_order(const struct function_costs *t, enum function_order order,
			 const char *expected)
{
	struct function_cost *top;
	struct buf names = BUF_INIT;
	size_t count;

	top = function_costs_top(t, order, 6, &count);
	assert_int_equal(count, 6);
	for (size_t i = 0; i < count; i++)
		buf_printf(&names, "%s@%s ", function_costs_name(t, &top[i]),
			   function_costs_object(t, &top[i]));
	assert_string_equal(names.data, expected);
	buf_release(&names);
	free(top);
}

static void ties_have_an_order(void **state UNUSED)
{
	struct function_costs t;

	function_costs_init(&t);
	function_costs_add(&t, "none", "x", 0, 0);
	function_costs_add(&t, "last", "x", 1, 2);
	function_costs_add(&t, "bb", "y", 5, 9);
	function_costs_add(&t, "b", "z", 5, 9);
	function_costs_add(&t, "b", "a", 5, 9);
	function_costs_add(&t, "a", "x", 5, 7);
	function_costs_add(&t, "first", "x", 4, 4);
	function_costs_add(&t, "first", "x", 2, 2);
	expect_order(&t, FUNCTIONS_BY_SELF, "first@x b@a b@z bb@y a@x last@x ");
	expect_order(&t, FUNCTIONS_BY_INCLUSIVE, "b@a b@z bb@y a@x first@x last@x ");
	function_costs_release(&t);
}

static void tables_are_added_up(void **state UNUSED)
{
	struct function_costs a, b;
	struct function_cost *top;
	size_t count;

	function_costs_init(&a);
	function_costs_init(&b);
	function_costs_add(&a, "f", "x", 1, 2);
	function_costs_add(&b, "g", "x", 3, 4);
	function_costs_add(&b, "f", "x", UINT64_MAX, 5);
	function_costs_merge(&a, &b);
	top = function_costs_top(&a, FUNCTIONS_BY_SELF, SIZE_MAX, &count);
	assert_int_equal(count, 2);
	assert_int_equal(top[0].self, UINT64_MAX);
	assert_int_equal(top[0].inclusive, 7);
	assert_int_equal(top[1].inclusive, 4);
	free(top);
	top = function_costs_top(&a, FUNCTIONS_BY_SELF, 0, &count);
	assert_int_equal(count, 0);
	free(top);
	function_costs_release(&a);
	function_costs_release(&b);
}

static void a_function_is_a_name_in_an_object(void **state UNUSED)
{
	enum { COUNT = 3000 };
	struct function_costs t;
	uint32_t ids[COUNT];

	function_costs_init(&t);
	for (uint32_t i = 0; i < COUNT; i++)
		ids[i] = intern_add(&t.texts, &i, sizeof(i));
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(function_costs_row(&t, ids[i], ids[COUNT - 1 - i]), i);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(function_costs_row(&t, ids[i], ids[COUNT - 1 - i]), i);
	assert_int_equal(function_costs_row(&t, ids[0], ids[0]), COUNT);
	function_costs_release(&t);
	assert_int_equal(t.rows.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ties_have_an_order),
		cmocka_unit_test(tables_are_added_up),
		cmocka_unit_test(a_function_is_a_name_in_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
