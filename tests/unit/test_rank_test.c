/* SPDX-License-Identifier: MIT */
/* test_rank_test.c - both rank tests against what scipy and numpy give (tests/data says how) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include "applets/runner/results/rank_test.h"
#include "applets/runner/results/signed_rank.h"
#include "core/base.h"
#include "core/io.h"
#include "core/vec.h"
#include <cmocka.h>

#define TOLERANCE 1e-9

struct rounds {
	VEC(uint64_t) items;
};

static struct rounds parse_rounds(char *text)
{
	struct rounds rounds = {.items = VEC_INIT};
	char *number;

	while ((number = strsep(&text, ",")))
		vec_push(&rounds.items, strtoull(number, NULL, 10));
	return rounds;
}

static void expect_close(const char *name, double value, double expected)
{
	if (fabs(value - expected) > TOLERANCE * fabs(expected))
		fail_msg("%s: %.17g instead of %.17g", name, value, expected);
}

static struct rank_test unpaired(const struct rounds *base, const struct rounds *head)
{
	return rank_test(base->items.items, base->items.len, head->items.items, head->items.len);
}

static struct rank_test paired(const struct rounds *base, const struct rounds *head)
{
	assert_int_equal(base->items.len, head->items.len);
	return signed_rank_test(base->items.items, head->items.items, base->items.len);
}

typedef struct rank_test tester(const struct rounds *base, const struct rounds *head);

static void check_line(char *line, tester *run)
{
	const char *name = strsep(&line, "\t");
	struct rounds base = parse_rounds(strsep(&line, "\t"));
	struct rounds head = parse_rounds(strsep(&line, "\t"));
	bool exact = str_eq(strsep(&line, "\t"), "exact");
	struct rank_test test = run(&base, &head);

	if (test.exact != exact)
		fail_msg("%s: the wrong distribution", name);
	expect_close(name, test.p, strtod(strsep(&line, "\t"), NULL));
	expect_close(name, test.ratio, strtod(strsep(&line, "\t"), NULL));
	expect_close(name, test.low, strtod(strsep(&line, "\t"), NULL));
	expect_close(name, test.high, strtod(strsep(&line, "\t"), NULL));
	vec_release(&base.items);
	vec_release(&head.items);
}

static void check_file(const char *file, size_t lines, tester *run)
{
	const char *folder = getenv("DATA");
	char *path = xasprintf("%s/%s", folder ? folder : "tests/data", file), *rest, *line;
	struct buf text = BUF_INIT;
	size_t checked = 0;

	assert_int_equal(read_file(path, &text), 0);
	for (rest = text.data; (line = strsep(&rest, "\n"));) {
		if (!*line || *line == '#')
			continue;
		check_line(line, run);
		checked++;
	}
	assert_int_equal(checked, lines);
	buf_release(&text);
	free(path);
}

static void mann_whitney(void **state UNUSED)
{
	check_file("rank_test.tsv", 10, unpaired);
}

static void signed_rank(void **state UNUSED)
{
	check_file("signed_rank.tsv", 9, paired);
}

/* With the fewest rounds the most extreme order is below alpha, and with one fewer it is not. */
static void fewest_rounds(void **state UNUSED)
{
	static const uint64_t base[] = {1, 2, 3, 4, 5, 6, 7, 8};
	static const uint64_t head[] = {11, 13, 15, 17, 19, 21, 23, 25};
	enum { ROUNDS = RANK_TEST_MIN_ROUNDS, PAIRS = SIGNED_RANK_MIN_PAIRS };

	assert_true(rank_test(base, ROUNDS, head, ROUNDS).p < RANK_TEST_ALPHA);
	assert_false(rank_test(base, ROUNDS - 1, head, ROUNDS - 1).p < RANK_TEST_ALPHA);
	assert_true(signed_rank_test(base, head, PAIRS).p < RANK_TEST_ALPHA);
	assert_false(signed_rank_test(base, head, PAIRS - 1).p < RANK_TEST_ALPHA);
}

static void odd_rounds(void **state UNUSED)
{
	static const uint64_t zeros[] = {0, 0, 0, 0, 0, 0, 0, 0};
	static const uint64_t most[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
					UINT64_MAX, UINT64_MAX, UINT64_MAX};
	struct rank_test test = rank_test(zeros, 8, most, 8);

	expect_close("largest", test.ratio, 18446744073709551616.0);
	assert_true(test.low <= test.ratio && test.ratio <= test.high);
	assert_true(rank_test(zeros, 1, zeros, 1).p == 1);
	test = signed_rank_test(zeros, most, 8);
	expect_close("largest pair", test.ratio, 18446744073709551616.0);
	assert_true(signed_rank_test(zeros, zeros, 1).p == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mann_whitney),
		cmocka_unit_test(signed_rank),
		cmocka_unit_test(fewest_rounds),
		cmocka_unit_test(odd_rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
