/* SPDX-License-Identifier: MIT */
/* test_table.c - the table that people read, and what a terminal is taken for */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "applets/runner/report/process_tree.h"
#include "applets/runner/report/table.h"
#include "core/base.h"
#include "core/io.h"
#include "core/term.h"
#include <cmocka.h>

static struct result read_recorded(const char *name)
{
	const char *folder = getenv("DATA");
	char *path = xasprintf("%s/%s", folder ? folder : "tests/data", name);
	struct result result = RESULT_INIT;
	struct buf json = BUF_INIT;

	assert_int_equal(read_file(path, &json), 0);
	assert_int_equal(result_read_json(&result, path, json.data, json.len), 0);
	buf_release(&json);
	free(path);
	return result;
}

static struct result recorded(void)
{
	return read_recorded("result_simulation.json");
}

static char *printed(const struct result *result, const struct table_style *style)
{
	size_t len;
	char *text;
	FILE *to = open_memstream(&text, &len);

	table_print(to, result, style);
	fclose(to);
	return text;
}

static void expect_table(struct table_style style, const char *expected)
{
	struct result result = recorded();
	char *text = printed(&result, &style);

	assert_string_equal(text, expected);
	free(text);
	result_release(&result);
}

static void plain(void **state UNUSED)
{
	expect_table((struct table_style){.utf8 = true},
"Benchmark                           Instructions    L1 hits  LL hits  RAM hits  Est. cycles  Startup\n"
"────────────────────────────────────────────────────────────────────────────────────────────────────\n"
"sh -c 'seq 1 1000'                     1,235,024  1,702,133    4,301     2,999    1,828,603  220,101\n"
"└ sh -c 'seq 1 1000'                     867,166\n"
"  ├ seq 1 1000                           367,858\n"
"  │ └ cat a\\xff                                0\n"
"  └ ?                                          -\n"
"bench\\xff \\x1b[2J                              -          -        -         -            -        -\n"
"! failed: exit status 3\n"
"grüß                  18,446,744,073,709,551,615          -        -         -            -        -\n"
"! incomplete: ptrace is not permitted\n"
"  note: one dump is cut short\n"
"\n"
"Estimated cycles = L1 + 5·LL + 35·RAM\n");
}

static void narrow_in_ascii_with_functions(void **state UNUSED)
{
	expect_table((struct table_style){.width = 94, .top = 9},
"Benchmark                     Instructions    L1 hits  LL hits  RAM hits  Est. cycles  Startup\n"
"----------------------------------------------------------------------------------------------\n"
"sh -c 'seq ...                   1,235,024  1,702,133    4,301     2,999    1,828,603  220,101\n"
"+ sh -c 'se...                     867,166\n"
"  + seq 1 1000                     367,858\n"
"  | + cat a...                           0\n"
"  + ?                                    -\n"
"     Self  Inclusive  Percent  Function\n"
"  700,000  1,000,000    56.7%  main [seq]\n"
"    1,235      1,235     0.1%  odd \\xfe\n"
"bench\\xff \\...                           -          -        -         -            -        -\n"
"! failed: exit status 3\n"
"grüß            18,446,744,073,709,551,615          -        -         -            -        -\n"
"! incomplete: ptrace is not permitted\n"
"  note: one dump is cut short\n"
"\n"
"Estimated cycles = L1 + 5*LL + 35*RAM\n");
}

static void narrower_than_the_columns(void **state UNUSED)
{
	expect_table((struct table_style){.width = 60},
"Benchmark                   Instructions    L1 hits  LL hits\n"
"------------------------------------------------------------\n"
"sh -c 'se...                   1,235,024  1,702,133    4,301\n"
"+ sh -c '...                     867,166\n"
"  + seq 1...                     367,858\n"
"  | + cat...                           0\n"
"  + ?                                  -\n"
"bench\\xff...                           -          -        -\n"
"! failed: exit status 3\n"
"grüß          18,446,744,073,709,551,615          -        -\n"
"! incomplete: ptrace is not permitted\n"
"  note: one dump is cut short\n"
"\n"
"No room for: RAM hits, Est. cycles, Startup\n"
"Estimated cycles = L1 + 5*LL + 35*RAM\n");
}

/* A file may claim processes; memory mode has no figure for each. */
static void memory(void **state UNUSED)
{
	struct table_style style = {.utf8 = true, .top = 3};
	struct result result = read_recorded("result_memory.json");
	char *text;

	vec_push(&result.benchmarks.items[0].processes, (struct result_process){.pid = 1,
		.command = xstrdup("sh"), .instructions = MEASURE(7)});
	vec_push(&result.benchmarks.items[0].processes, (struct result_process){.pid = 2, .ppid = 1});
	text = printed(&result, &style);
	assert_string_equal(text,
"Benchmark  Peak bytes  Total bytes  Allocations  Frees  Leaked bytes  Leaked blocks  Temporary\n"
"──────────────────────────────────────────────────────────────────────────────────────────────\n"
"test[a]         4,096    1,048,576        1,000    990           160             10        500\n"
"└ sh\n"
"  └ ?\n"
"true                -            -            -      -             -              -          -\n"
"! incomplete: not one heap call was recorded\n"
"\n"
"Peak = most bytes live at once in a benchmark, leaked = live at its end; over all its processes\n");
	free(text);
	result_release(&result);
}

static void several_modes_are_joined_by_uri(void **state UNUSED)
{
	struct table_style style = {.utf8 = true, .top = 1};
	struct result result = RESULT_INIT;
	struct benchmark *b;
	char *text;

	b = result_add(&result, MODE_SIMULATION, "f::two", "two");
	b->metrics[SIMULATION_INSTRUCTIONS] = MEASURE(1000);
	b->metrics[SIMULATION_ESTIMATED_CYCLES] = MEASURE(2000);
	vec_push(&b->processes, (struct result_process){.pid = 1, .command = xstrdup("sh"),
		.instructions = MEASURE(400)});
	vec_push(&b->processes, (struct result_process){.pid = 2, .ppid = 1, .command = xstrdup("ls"),
		.instructions = MEASURE(600)});
	vec_push(&b->functions, (struct result_function){.name = xstrdup("main"), .self = 500,
		.inclusive = 900});
	result_add(&result, MODE_SIMULATION, "f::alone", "alone");
	b = result_add(&result, MODE_MEMORY, "f::one", "one");
	b->status = BENCHMARK_INCOMPLETE;
	benchmark_note(b, "cut short");
	b = result_add(&result, MODE_MEMORY, "f::two", "two");
	b->metrics[MEMORY_PEAK_BYTES] = MEASURE(4096);
	b->metrics[MEMORY_ALLOCATIONS] = MEASURE(7);
	benchmark_note(b, "odd");
	text = printed(&result, &style);
	assert_string_equal(text,
"Benchmark  Instructions  Est. cycles  Peak bytes  Allocations\n"
"─────────────────────────────────────────────────────────────\n"
"two               1,000        2,000       4,096            7\n"
"  memory note: odd\n"
"└ sh                400\n"
"  └ ls              600\n"
"  Self  Inclusive  Percent  Function\n"
"   500        900    50.0%  main\n"
"alone                 -            -           -            -\n"
"one                   -            -           -            -\n"
"! memory incomplete: cut short\n"
"\n"
"Estimated cycles = L1 + 5·LL + 35·RAM\n"
"Peak = most bytes live at once in a benchmark, leaked = live at its end; over all its processes\n");
	free(text);
	result_release(&result);
}

/* Takes the escape sequences out, in place. */
static void strip_colours(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\033')
			from = strchr(from, 'm');
		else
			*to++ = *from;
	}
	*to = '\0';
}

static void colours_change_no_text(void **state UNUSED)
{
	struct result result = recorded();
	struct table_style style = {.utf8 = true, .top = 2};
	char *bare = printed(&result, &style), *coloured;

	style.colours = true;
	coloured = printed(&result, &style);
	assert_non_null(strstr(coloured, "\033[1;31m! failed\033[0m: exit status 3\n"));
	assert_null(strstr(coloured, "\033[2J"));
	strip_colours(coloured);
	assert_string_equal(coloured, bare);
	free(bare);
	free(coloured);
	result_release(&result);
}

static void one_result_without_anything(void **state UNUSED)
{
	struct table_style style = {.width = 80, .top = 3};
	struct result result = RESULT_INIT;
	char *text = printed(&result, &style);

	assert_string_equal(text, "");
	free(text);
	result_add(&result, MODE_SIMULATION, "u", "")->status = BENCHMARK_FAILED;
	vec_push(&result.benchmarks.items[0].functions, (struct result_function){
		.name = xstrdup(""), .self = 1});
	text = printed(&result, &style);
	assert_string_equal(text,
"Benchmark  Instructions  L1 hits  LL hits  RAM hits  Est. cycles  Startup\n"
"-------------------------------------------------------------------------\n"
"                      -        -        -         -            -        -\n"
"! failed\n"
"  Self  Inclusive  Percent  Function\n"
"     1          0        -  \n"
"\n"
"Estimated cycles = L1 + 5*LL + 35*RAM\n");
	free(text);
	result_release(&result);
}

static void add_process(struct benchmark *benchmark, int64_t pid, int64_t ppid)
{
	vec_push(&benchmark->processes, (struct result_process){.pid = pid, .ppid = ppid});
}

/* The order of a walk, as digits. */
static void expect_order(const struct benchmark *benchmark, const char *expected)
{
	struct process_tree tree;
	struct buf order = BUF_INIT;

	process_tree_init(&tree, benchmark);
	for (int i = tree.first; i != PROCESS_NONE; i = process_tree_next(&tree, i))
		buf_addch(&order, (char)('0' + i));
	assert_string_equal(order.data, expected);
	buf_release(&order);
	process_tree_release(&tree);
}

static void trees_without_circles(void **state UNUSED)
{
	struct benchmark benchmark = {0};

	add_process(&benchmark, 10, 9);
	add_process(&benchmark, 11, 10);
	add_process(&benchmark, 12, 10);
	add_process(&benchmark, 13, 11);
	expect_order(&benchmark, "0132");
	add_process(&benchmark, 11, 12); /* a pid used again, */
	add_process(&benchmark, 14, 11); /* whose children go to the newer process */
	add_process(&benchmark, 20, 20); /* its own parent */
	add_process(&benchmark, 21, 22); /* each other's parent */
	add_process(&benchmark, 22, 21);
	expect_order(&benchmark, "013245678");
	benchmark_release(&benchmark);
}

static void deep_trees_stay_narrow(void **state UNUSED)
{
	struct table_style style = {.utf8 = true};
	struct result result = RESULT_INIT;
	struct benchmark *benchmark = result_add(&result, MODE_SIMULATION, "u", "n");
	char *text;

	for (int i = 0; i < 5000; i++)
		add_process(benchmark, i + 1, i);
	text = printed(&result, &style);
	assert_true(strlen(text) < 5000 * 100);
	assert_non_null(strstr(text, "\n                              └ ?"));
	assert_null(strstr(text, "\n                                └ ?"));
	free(text);
	result_release(&result);
}

static void colours_follow_the_environment(void **state UNUSED)
{
	int file = open("/dev/null", O_WRONLY);

	unsetenv("CLICOLOR_FORCE");
	assert_false(term_colours(file));
	assert_int_equal(term_width(file), 0);
	setenv("CLICOLOR_FORCE", "1", 1);
	assert_true(term_colours(file));
	setenv("CLICOLOR_FORCE", "0", 1);
	assert_false(term_colours(file));
	unsetenv("CLICOLOR_FORCE");
	close(file);
}

static void expect_colours(int terminal, const char *name, const char *value, bool expected)
{
	char *before = getenv(name) ? xstrdup(getenv(name)) : NULL;

	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
	assert_int_equal(term_colours(terminal), expected);
	if (before)
		setenv(name, before, 1);
	else
		unsetenv(name);
	free(before);
}

static void a_terminal_is_asked(void **state UNUSED)
{
	struct winsize size = {.ws_row = 24, .ws_col = 97};
	int host = posix_openpt(O_RDWR | O_NOCTTY), terminal;

	if (host < 0 || grantpt(host) || unlockpt(host))
		skip(); /* no /dev/ptmx */
	terminal = open(ptsname(host), O_RDWR | O_NOCTTY);
	unsetenv("NO_COLOR");
	unsetenv("CLICOLOR");
	setenv("TERM", "xterm", 1);
	assert_true(term_is_tty(terminal));
	assert_true(term_colours(terminal));
	expect_colours(terminal, "NO_COLOR", "1", false);
	expect_colours(terminal, "TERM", "dumb", false);
	expect_colours(terminal, "TERM", NULL, false);
	expect_colours(terminal, "CLICOLOR", "0", false);
	expect_colours(terminal, "CLICOLOR", "1", true);
	ioctl(terminal, TIOCSWINSZ, &size);
	assert_int_equal(term_width(terminal), 97);
	size.ws_col = 0;
	ioctl(terminal, TIOCSWINSZ, &size);
	setenv("COLUMNS", "123", 1);
	assert_int_equal(term_width(terminal), 123);
	setenv("COLUMNS", "-5", 1);
	assert_int_equal(term_width(terminal), 80);
	close(terminal);
	close(host);
}

static void locales_say_utf8(void **state UNUSED)
{
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	unsetenv("LANG");
	assert_false(term_utf8());
	setenv("LANG", "de_DE.UTF-8", 1);
	assert_true(term_utf8());
	setenv("LC_CTYPE", "C", 1);
	assert_false(term_utf8());
	setenv("LC_ALL", "C.utf8", 1);
	assert_true(term_utf8());
	setenv("LC_ALL", "", 1);
	assert_false(term_utf8());
}

/* A time by its unit, the mean with its interval, quartiles only in JSON, and none of a failure. */
static void walltime(void **state UNUSED)
{
	static const uint64_t values[WALLTIME_METRICS] = {
		[WALLTIME_MEAN] = 494307, [WALLTIME_MEDIAN] = 458444, [WALLTIME_MIN] = 434147,
		[WALLTIME_MAX] = 6905079, [WALLTIME_STDEV] = 100000, [WALLTIME_Q1] = 1, [WALLTIME_Q3] = 2,
		[WALLTIME_ROUNDS] = 2500, [WALLTIME_OUTLIERS] = 214, [WALLTIME_USER] = 0,
		[WALLTIME_SYSTEM] = 33398, [WALLTIME_MAX_RSS] = 1138688,
	};
	struct table_style style = {.utf8 = true};
	struct result r = RESULT_INIT;
	struct benchmark *b = result_add(&r, MODE_WALLTIME, "u", "one");
	char *text;

	for (size_t i = 0; i < WALLTIME_METRICS; i++)
		b->metrics[i] = MEASURE(values[i]);
	b = result_add(&r, MODE_WALLTIME, "v", "two");
	b->status = BENCHMARK_FAILED;
	benchmark_note(b, "exit status 3");
	text = printed(&r, &style);
	assert_string_equal(text,
"Benchmark         Mean (95%)   Median      Min      Max    Stdev  Rounds  Outliers  User   System  Max RSS\n"
"──────────────────────────────────────────────────────────────────────────────────────────────────────────\n"
"one        494.3us ± 3.921us  458.4us  434.1us  6.905ms  100.0us   2,500       214   0ns  33.40us  1.09 MB\n"
"two                        -        -        -        -        -       -         -     -        -        -\n"
"! failed: exit status 3\n"
"\n"
"Mean with its 95 % confidence interval; outliers are 1.5 interquartile ranges off the quartiles\n");
	free(text);
	style.utf8 = false;
	text = printed(&r, &style);
	assert_non_null(strstr(text, "494.3us +- 3.921us"));
	free(text);
	result_release(&r);
}

/* ---- Wall time ---- */

static void set(struct benchmark *b, size_t metric, uint64_t value)
{
	b->metrics[metric] = MEASURE(value);
}

/* What is left out has a column in wider tables: not all metrics have. */
static void narrow_walltime_names_what_is_left_out(void **state UNUSED)
{
	struct table_style style = {.width = 48, .utf8 = true};
	struct result result = RESULT_INIT;
	struct benchmark *b = result_add(&result, MODE_WALLTIME, "u", "a long name of a benchmark");
	char *text;

	set(b, WALLTIME_MEAN, 1500);
	set(b, WALLTIME_MEDIAN, 1500);
	set(b, WALLTIME_MIN, 1000);
	text = printed(&result, &style);
	assert_string_equal(text,
"Benchmark      Mean (95%)   Median      Min  Max\n"
"────────────────────────────────────────────────\n"
"a long name …     1.500us  1.500us  1.000us    -\n"
"\n"
"No room for: Stdev, Rounds, Outliers, User, System, Max RSS\n"
"Mean with its 95 % confidence interval; outliers are 1.5 interquartile ranges off the quartiles\n");
	free(text);
	result_release(&result);
}

static void joined_columns_are_as_wide_as_their_titles(void **state UNUSED)
{
	struct table_style style = {0};
	struct result result = RESULT_INIT;
	char *text;

	set(result_add(&result, MODE_SIMULATION, "u", "b"), SIMULATION_INSTRUCTIONS, 7);
	set(result_add(&result, MODE_WALLTIME, "u", "b"), WALLTIME_MEDIAN, 5);
	text = printed(&result, &style);
	assert_memory_equal(text,
"Benchmark  Instructions  Est. cycles  Median\n", 45);
	free(text);
	result_release(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walltime),
		cmocka_unit_test(plain),
		cmocka_unit_test(narrow_in_ascii_with_functions),
		cmocka_unit_test(narrower_than_the_columns),
		cmocka_unit_test(memory),
		cmocka_unit_test(several_modes_are_joined_by_uri),
		cmocka_unit_test(colours_change_no_text),
		cmocka_unit_test(one_result_without_anything),
		cmocka_unit_test(trees_without_circles),
		cmocka_unit_test(deep_trees_stay_narrow),
		cmocka_unit_test(colours_follow_the_environment),
		cmocka_unit_test(a_terminal_is_asked),
		cmocka_unit_test(locales_say_utf8),
		cmocka_unit_test(narrow_walltime_names_what_is_left_out),
		cmocka_unit_test(joined_columns_are_as_wide_as_their_titles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
