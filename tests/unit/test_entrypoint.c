/* SPDX-License-Identifier: MIT */
/* test_entrypoint.c - shell text or words, and `cargo codspeed` as a command */
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "applets/runner/entrypoint.h"
#include "core/base.h"
#include "core/io.h"
#include "core/path.h"
#include <cmocka.h>
#undef fail

#include "tests/unit/temp_folder.h"

static void expect_text(const char *from, const char *to)
{
	char *text = entrypoint_text(from);

	assert_string_equal(text, to);
	free(text);
}

static void expect_unchanged(const char *text)
{
	expect_text(text, text);
}

static void a_command_is_replaced(void **state UNUSED)
{
	expect_text("cargo codspeed run", "cargo-codspeed run");
	expect_text("cargo codspeed", "cargo-codspeed");
	expect_text("cargo   codspeed\trun", "cargo-codspeed\trun");
	expect_text("cargo\tcodspeed run", "cargo-codspeed run");
	expect_text("  cargo codspeed run", "  cargo-codspeed run");
	expect_text("\ncargo codspeed run\n", "\ncargo-codspeed run\n");
}

static void every_place_of_a_command(void **state UNUSED)
{
	expect_text("cargo codspeed build && cargo codspeed run",
		    "cargo-codspeed build && cargo-codspeed run");
	expect_text("cd x; cargo codspeed run", "cd x; cargo-codspeed run");
	expect_text("false||cargo codspeed run", "false||cargo-codspeed run");
	expect_text("yes | cargo codspeed run", "yes | cargo-codspeed run");
	expect_text("sleep 1 & cargo codspeed run", "sleep 1 & cargo-codspeed run");
	expect_text("(cargo codspeed run)", "(cargo-codspeed run)");
	expect_text("{ cargo codspeed run; }", "{ cargo-codspeed run; }");
	expect_text("echo $(cargo codspeed run)", "echo $(cargo-codspeed run)");
	expect_text("set -e\ncargo codspeed build\ncargo codspeed run",
		    "set -e\ncargo-codspeed build\ncargo-codspeed run");
	expect_text("cargo codspeed;cargo codspeed|cat", "cargo-codspeed;cargo-codspeed|cat");
}

static void the_word_ends_there(void **state UNUSED)
{
	expect_text("cargo codspeed>log", "cargo-codspeed>log");
	expect_text("cargo codspeed 2>&1", "cargo-codspeed 2>&1");
	expect_unchanged("cargo codspeedy run");
	expect_unchanged("cargo codspeed-x run");
	expect_unchanged("cargo codspeed.sh");
	expect_unchanged("cargocodspeed run");
	expect_unchanged("xcargo codspeed run");
	expect_unchanged("./cargo codspeed run");
	expect_unchanged("cargo-codspeed run");
	expect_unchanged("cargo +nightly codspeed run");
	expect_unchanged("cargo\ncodspeed run");
}

static void arguments_and_quotes_stay(void **state UNUSED)
{
	expect_unchanged("echo cargo codspeed run");
	expect_unchanged("echo 'cargo codspeed run'");
	expect_unchanged("echo \"cargo codspeed run\"");
	expect_unchanged("echo '; cargo codspeed run'");
	expect_unchanged("echo \"&& cargo codspeed run\"");
	expect_unchanged("echo \"a\\\"; cargo codspeed run\"");
	expect_unchanged("'cargo codspeed' run");
	expect_unchanged("echo 2>&1 cargo codspeed run");
	expect_unchanged("echo >cargo codspeed run");
	expect_unchanged("grep -r \\; cargo codspeed");
	expect_unchanged("exec-harness - <<X\n[{\"command\":[\"cargo codspeed\"]}]\nX");
	expect_text("echo 'it''s' ; cargo codspeed run", "echo 'it''s' ; cargo-codspeed run");
	expect_text("echo \"\\\\\"; cargo codspeed run", "echo \"\\\\\"; cargo-codspeed run");
	expect_text("echo '\\'; cargo codspeed run", "echo '\\'; cargo-codspeed run");
}

static void comments_stay(void **state UNUSED)
{
	expect_unchanged("# cargo codspeed run");
	expect_unchanged("true # ; cargo codspeed run");
	expect_text("# then\ncargo codspeed run", "# then\ncargo-codspeed run");
	expect_text("# don't build\ncargo codspeed run", "# don't build\ncargo-codspeed run");
	expect_text("echo a#'b;'\ncargo codspeed run", "echo a#'b;'\ncargo-codspeed run");
}

/* Common in CI files; upstream replaces them, too. */
static void words_in_front_of_a_command(void **state UNUSED)
{
	expect_text("RUSTFLAGS=-g cargo codspeed run", "RUSTFLAGS=-g cargo-codspeed run");
	expect_text("A=1 B=\"x y\" C='z' cargo codspeed run",
		    "A=1 B=\"x y\" C='z' cargo-codspeed run");
	expect_text("if cargo codspeed build; then cargo codspeed run; else cargo codspeed; fi",
		    "if cargo-codspeed build; then cargo-codspeed run; else cargo-codspeed; fi");
	expect_text("for i in 1 2; do cargo codspeed run; done",
		    "for i in 1 2; do cargo-codspeed run; done");
	expect_text("! cargo codspeed run", "! cargo-codspeed run");
	expect_text("exec cargo codspeed run", "exec cargo-codspeed run");
	expect_text("time cargo codspeed run", "time cargo-codspeed run");
}

static void odd_texts_end(void **state UNUSED)
{
	expect_unchanged("");
	expect_unchanged("\\");
	expect_unchanged("'");
	expect_unchanged("\"");
	expect_unchanged("cargo");
	expect_unchanged("cargo ");
	expect_unchanged("cargo cod");
	expect_unchanged("echo \xff\xfe '\x80");
}

/* ---- Words ---- */

static void make_program(const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);

	assert_int_equal(write_file_atomic(path, "#!/bin/false\n", 13, 0755), 0);
	assert_int_equal(chmod(path, 0755), 0);
	free(path);
}

static void expect_words(char *const *words, const char *const *expected)
{
	struct strvec argv = STRVEC_INIT;
	size_t count = 0;

	assert_int_equal(entrypoint_words(&argv, words, folder), 0);
	for (; expected[count]; count++) {
		assert_true(count < argv.len);
		assert_string_equal(argv.items[count], expected[count]);
	}
	assert_int_equal(argv.len, count);
	strvec_release(&argv);
}

static void one_word_is_for_bash(void **state UNUSED)
{
	char *words[] = {"echo a; cargo codspeed run", NULL};

	make_program("sh");
	make_program("bash");
	expect_words(words, (const char *[]){"bash", "-c", "echo a; cargo-codspeed run", NULL});
}

static void without_bash_for_sh(void **state UNUSED)
{
	char *words[] = {"echo a", NULL};

	make_program("sh");
	expect_words(words, (const char *[]){"sh", "-c", "echo a", NULL});
}

static void without_a_shell_it_is_told(void **state UNUSED)
{
	char *words[] = {"echo a", NULL};
	struct strvec argv = STRVEC_INIT;

	assert_int_equal(entrypoint_words(&argv, words, folder), -ENOENT);
	assert_non_null(strstr(error_text(), "no shell"));
	error_clear();
	strvec_release(&argv);
}

static void several_words_stay(void **state UNUSED)
{
	char *words[] = {"printf", "%s\n", "", "a b", "$HOME", "*", "'", "\\", "\xff\n",
			 "cargo codspeed", NULL};
	char *with_cargo[] = {"echo", "cargo", "codspeed", NULL};

	expect_words(words, (const char *const *)words);
	expect_words(with_cargo, (const char *const *)with_cargo);
}

static void several_words_of_cargo(void **state UNUSED)
{
	char *words[] = {"cargo", "codspeed", "run", "a b", NULL};
	char *two[] = {"cargo", "codspeed", NULL};
	char *other[] = {"cargo", "codspeedy", NULL};
	char *build[] = {"cargo", "build", NULL};

	expect_words(words, (const char *[]){"cargo-codspeed", "run", "a b", NULL});
	expect_words(two, (const char *[]){"cargo-codspeed", NULL});
	expect_words(other, (const char *const *)other);
	expect_words(build, (const char *const *)build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_replaced),
		cmocka_unit_test(every_place_of_a_command),
		cmocka_unit_test(the_word_ends_there),
		cmocka_unit_test(arguments_and_quotes_stay),
		cmocka_unit_test(comments_stay),
		cmocka_unit_test(words_in_front_of_a_command),
		cmocka_unit_test(odd_texts_end),
		cmocka_unit_test_setup_teardown(one_word_is_for_bash, setup, teardown),
		cmocka_unit_test_setup_teardown(without_bash_for_sh, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_shell_it_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(several_words_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(several_words_of_cargo, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
