/* SPDX-License-Identifier: MIT */
/* test_env.c - lists of strings, environments, and what is added to a benchmark's */
#include <setjmp.h>
#include <stdarg.h>
#include <sys/utsname.h>

#include "core/base.h"
#include "core/benchmark_env.h"
#include "core/env.h"
#include "core/strvec.h"
#include <cmocka.h>

static void expect_list(const struct strvec *v, const char *const *expected)
{
	size_t len = 0;

	for (; expected[len]; len++) {
		assert_true(len < v->len);
		assert_string_equal(v->items[len], expected[len]);
	}
	assert_int_equal(v->len, len);
	if (v->items)
		assert_null(v->items[v->len]);
}

static void a_list_grows_and_ends_in_null(void **state UNUSED)
{
	struct strvec v = STRVEC_INIT;

	assert_null(v.items);
	for (size_t i = 0; i < 1000; i++) {
		strvec_pushf(&v, "%zu", i);
		assert_int_equal(v.len, i + 1);
		assert_null(v.items[i + 1]);
	}
	assert_string_equal(v.items[999], "999");
	strvec_release(&v);
	assert_null(v.items);
	assert_int_equal(v.len, 0);
	strvec_release(&v); /* once more is fine */
}

static void copies_are_copies(void **state UNUSED)
{
	struct strvec v = STRVEC_INIT;
	char text[] = "abc";
	char *const all[] = {(char *)"x", (char *)"", NULL};
	char *const none[] = {NULL};

	strvec_push(&v, text);
	text[0] = 'z';
	strvec_take(&v, xstrdup("taken"));
	strvec_push_all(&v, all);
	strvec_push_all(&v, none);
	expect_list(&v, (const char *[]){"abc", "taken", "x", "", NULL});
	strvec_release(&v);
}

static void a_variable_keeps_its_place(void **state UNUSED)
{
	struct strvec v = STRVEC_INIT;

	env_set(&v, "A", "1");
	env_set(&v, "B", "2");
	env_set(&v, "C", "3");
	env_set(&v, "B", "a longer value = with=signs");
	expect_list(&v, (const char *[]){"A=1", "B=a longer value = with=signs", "C=3", NULL});
	assert_string_equal(env_get(&v, "B"), "a longer value = with=signs");
	strvec_release(&v);
}

static void names_are_whole(void **state UNUSED)
{
	struct strvec v = STRVEC_INIT;

	strvec_push(&v, "PATHS=no");
	strvec_push(&v, "XPATH=no");
	strvec_push(&v, "PATH");
	strvec_push(&v, "PATH=yes");
	assert_string_equal(env_get(&v, "PATH"), "yes");
	assert_null(env_get(&v, "PAT"));
	assert_null(env_get(&v, "path"));
	env_unset(&v, "PATH");
	expect_list(&v, (const char *[]){"PATHS=no", "XPATH=no", "PATH", NULL});
	assert_null(env_get(&v, "PATH"));
	env_set(&v, "EMPTY", "");
	assert_string_equal(env_get(&v, "EMPTY"), "");
	strvec_release(&v);
}

static void a_variable_goes(void **state UNUSED)
{
	struct strvec v = STRVEC_INIT;

	env_unset(&v, "A");
	assert_null(env_get(&v, "A"));
	env_set(&v, "A", "1");
	env_set(&v, "B", "2");
	env_set(&v, "C", "3");
	env_unset(&v, "A");
	env_unset(&v, "C");
	env_unset(&v, "D");
	expect_list(&v, (const char *[]){"B=2", NULL});
	env_unset(&v, "B");
	expect_list(&v, (const char *[]){NULL});
	strvec_release(&v);
}

/* executors.md 1.5, in a fixed order: the environment is part of the figure. */
static void what_the_runner_adds(void **state UNUSED)
{
	struct strvec v = STRVEC_INIT;
	struct utsname host;
	char *arch;

	assert_int_equal(uname(&host), 0);
	arch = xasprintf("ARCH=%s", host.machine);
	strvec_push(&v, "HOME=/root");
	strvec_push(&v, "ODD");
	strvec_push(&v, "BYTES=\xff\n'\"$(x)");
	benchmark_env_runner(&v, MODE_SIMULATION, "/p q", true);
	expect_list(&v, (const char *[]){
		"HOME=/root", "ODD", "BYTES=\xff\n'\"$(x)", "PYTHONHASHSEED=0",
		"PYTHON_PERF_JIT_SUPPORT=0", arch, "CODSPEED_ENV=runner",
		"CODSPEED_RUNNER_MODE=instrumentation", "CODSPEED_PROFILE_FOLDER=/p q",
		"PYTHONMALLOC=malloc", NULL});
	strvec_release(&v);
	free(arch);
}

static void pythonmalloc_is_the_users_or_left_out(void **state UNUSED)
{
	struct strvec v = STRVEC_INIT;

	benchmark_env_runner(&v, MODE_SIMULATION, "/p", false);
	assert_null(env_get(&v, "PYTHONMALLOC"));
	strvec_release(&v);
	env_set(&v, "PYTHONMALLOC", "pymalloc_debug");
	benchmark_env_runner(&v, MODE_SIMULATION, "/p", true);
	assert_string_equal(env_get(&v, "PYTHONMALLOC"), "pymalloc_debug");
	strvec_release(&v);
	env_set(&v, "PYTHONMALLOC", "");
	benchmark_env_runner(&v, MODE_SIMULATION, "/p", true);
	assert_string_equal(env_get(&v, "PYTHONMALLOC"), "");
	strvec_release(&v);
}

static void values_of_ours_replace(void **state UNUSED)
{
	struct strvec v = STRVEC_INIT;

	env_set(&v, "CODSPEED_ENV", "other");
	env_set(&v, "X", "1");
	env_set(&v, "PYTHONHASHSEED", "random");
	benchmark_env_runner(&v, MODE_SIMULATION, "/p", true);
	assert_string_equal(v.items[0], "CODSPEED_ENV=runner");
	assert_string_equal(v.items[1], "X=1");
	assert_string_equal(v.items[2], "PYTHONHASHSEED=0");
	strvec_release(&v);
}

static void expect_node_options(const char *before, const char *after)
{
	struct strvec v = STRVEC_INIT;

	if (before)
		env_set(&v, "NODE_OPTIONS", before);
	benchmark_env_harness(&v);
	assert_string_equal(env_get(&v, "NODE_OPTIONS"), after);
	assert_string_equal(env_get(&v, "PYTHONPERFSUPPORT"), "1");
	strvec_release(&v);
}

static void what_the_harness_adds(void **state UNUSED)
{
	expect_node_options(NULL, "--perf-basic-prof");
	expect_node_options("", "--perf-basic-prof");
	expect_node_options("--max-old-space-size=512", "--max-old-space-size=512 --perf-basic-prof");
	expect_node_options("--perf-basic-prof", "--perf-basic-prof");
	expect_node_options("-r x --perf-basic-prof -r y", "-r x --perf-basic-prof -r y");
	expect_node_options("--perf-basic-prof-only-functions",
			    "--perf-basic-prof-only-functions --perf-basic-prof");
	expect_node_options("--no-perf-basic-prof", "--no-perf-basic-prof --perf-basic-prof");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_grows_and_ends_in_null),
		cmocka_unit_test(copies_are_copies),
		cmocka_unit_test(a_variable_keeps_its_place),
		cmocka_unit_test(names_are_whole),
		cmocka_unit_test(a_variable_goes),
		cmocka_unit_test(what_the_runner_adds),
		cmocka_unit_test(pythonmalloc_is_the_users_or_left_out),
		cmocka_unit_test(values_of_ours_replace),
		cmocka_unit_test(what_the_harness_adds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
