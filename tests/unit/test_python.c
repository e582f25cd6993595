/* SPDX-License-Identifier: MIT */
/* test_python.c - which interpreters accept PYTHONMALLOC=malloc, found out without running any */
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applets/runner/python.h"
#include "core/base.h"
#include "core/env.h"
#include "core/io.h"
#include "core/path.h"
#include <cmocka.h>
#undef fail

static char *root; /* of every test's own tree */
static struct strvec env;

static char *in_root(const char *path)
{
	return xasprintf("%s/%s", root, path);
}

static void make_file(const char *path, const char *text)
{
	char *full = in_root(path), *folder = xstrndup(full, (size_t)(path_base(full) - full));

	assert_int_equal(path_make_folder(folder, 0755), 0);
	assert_int_equal(write_file_atomic(full, text, strlen(text), 0755), 0);
	assert_int_equal(chmod(full, 0755), 0);
	free(folder);
	free(full);
}

static void make_link(const char *path, const char *target)
{
	char *full = in_root(path), *folder = xstrndup(full, (size_t)(path_base(full) - full));

	assert_int_equal(path_make_folder(folder, 0755), 0);
	assert_int_equal(symlink(target, full), 0);
	free(folder);
	free(full);
}

/* An installation as `make install` leaves it: bin/python3 -> python3.14, lib/python3.14/. */
static void install_python(const char *prefix, const char *version)
{
	char *text = xasprintf("%s/bin/python%s", prefix, version);

	make_file(text, "\x7f" "ELF");
	free(text);
	text = xasprintf("%s/lib/python%s/os.py", prefix, version);
	make_file(text, "");
	free(text);
	for (size_t i = 0; i < 2; i++) {
		char *target = xasprintf("python%s", version);

		text = xasprintf("%s/bin/%s", prefix, i ? "python" : "python3");
		make_link(text, target);
		free(text);
		free(target);
	}
}

static int setup(void **state UNUSED)
{
	root = xstrdup("/tmp/codspeed-test.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	env = (struct strvec)STRVEC_INIT;
	env_set(&env, "PATH", "/nonexistent");
	return 0;
}

static int teardown(void **state UNUSED)
{
	path_remove_tree(root);
	free(root);
	strvec_release(&env);
	return 0;
}

static void set_path(const char *name, const char *below)
{
	char *full = in_root(below);

	env_set(&env, name, full);
	free(full);
}

static bool free_threaded(const char *path)
{
	char *full = in_root(path);
	bool result = python_is_free_threaded(full);

	free(full);
	return result;
}

/* The directory is one without a virtual environment unless the test gives another. */
static bool accepts(const char *program, const char *directory)
{
	char *full = in_root(directory ? directory : "");
	bool result = python_accepts_malloc(&env, program, full);

	free(full);
	return result;
}

static void the_name_tells(void **state UNUSED)
{
	install_python("t", "3.14t");
	install_python("n", "3.14");
	install_python("o", "3.9");
	assert_true(free_threaded("t/bin/python3.14t"));
	assert_true(free_threaded("t/bin/python3"));
	assert_true(free_threaded("t/bin/python"));
	assert_false(free_threaded("n/bin/python3.14"));
	assert_false(free_threaded("n/bin/python3"));
	assert_false(free_threaded("o/bin/python"));
	assert_false(free_threaded("nowhere/bin/python3.14t"));
}

static void other_names_do_not(void **state UNUSED)
{
	make_file("bin/pytest", "");
	make_file("bin/python", "");
	make_file("bin/python3", "");
	make_file("bin/python3.14-config", "");
	make_file("bin/python3.14td", "");
	make_file("bin/mypython3.14t", "");
	assert_false(free_threaded("bin/pytest"));
	assert_false(free_threaded("bin/python"));
	assert_false(free_threaded("bin/python3"));
	assert_false(free_threaded("bin/python3.14-config"));
	assert_false(free_threaded("bin/mypython3.14t"));
}

/* `make install` of a build without the lock also leaves bin/python3.14, the same file. */
static void the_library_folder_tells(void **state UNUSED)
{
	make_file("only-t/bin/python3.14", "");
	make_file("only-t/lib/python3.14t/os.py", "");
	assert_true(free_threaded("only-t/bin/python3.14"));
	make_file("both/bin/python3.14", "");
	make_file("both/lib/python3.14t/os.py", "");
	make_file("both/lib/python3.14/os.py", "");
	assert_false(free_threaded("both/bin/python3.14"));
}

static void a_debug_build_without_the_lock(void **state UNUSED)
{
	make_file("bin/python3.13td", "");
	make_file("lib/python3.13t/os.py", "");
	assert_true(free_threaded("bin/python3.13td"));
}

static void without_any_python_it_is_accepted(void **state UNUSED)
{
	assert_true(accepts(NULL, NULL));
	assert_true(accepts("no-such-program", NULL));
	env_unset(&env, "PATH");
	assert_true(accepts("/bin/true", NULL));
}

static void the_python_on_the_path(void **state UNUSED)
{
	install_python("n", "3.12");
	install_python("t", "3.14t");
	set_path("PATH", "n/bin");
	assert_true(accepts(NULL, NULL));
	set_path("PATH", "t/bin");
	assert_false(accepts(NULL, NULL));
}

static void the_first_of_two_on_the_path(void **state UNUSED)
{
	char *n, *t, *search;

	install_python("n", "3.12");
	install_python("t", "3.14t");
	n = in_root("n/bin");
	t = in_root("t/bin");
	search = xasprintf("%s:%s", n, t);
	env_set(&env, "PATH", search);
	assert_true(accepts(NULL, NULL));
	assert_false(accepts("python3.14t", NULL)); /* found in the second, and named */
	free(search);
	search = xasprintf("%s:%s", t, n);
	env_set(&env, "PATH", search);
	assert_false(accepts(NULL, NULL));
	free(search);
	free(n);
	free(t);
}

static void the_program_itself(void **state UNUSED)
{
	char *path;

	install_python("n", "3.12");
	install_python("t", "3.14t");
	set_path("PATH", "n/bin");
	path = in_root("t/bin/python3.14t");
	assert_false(accepts(path, NULL));
	free(path);
	path = in_root("t/bin/python");
	assert_false(accepts(path, NULL));
	free(path);
	path = in_root("n/bin/python3");
	assert_true(accepts(path, NULL));
	free(path);
}

static void a_virtual_environment(void **state UNUSED)
{
	char *target;

	install_python("n", "3.12");
	install_python("t", "3.14t");
	set_path("PATH", "n/bin");
	target = in_root("t/bin/python3.14t");
	make_link("venv/bin/python", target);
	set_path("VIRTUAL_ENV", "venv");
	assert_false(accepts("pytest", NULL));
	env_unset(&env, "VIRTUAL_ENV");
	assert_true(accepts("pytest", NULL));
	make_link("project/.venv/bin/python", target); /* what `uv run` would take */
	assert_false(accepts("uv", "project"));
	assert_true(accepts("uv", NULL));
	free(target);
}

static void an_empty_virtual_environment(void **state UNUSED)
{
	install_python("n", "3.12");
	set_path("PATH", "n/bin");
	env_set(&env, "VIRTUAL_ENV", "");
	assert_true(accepts("pytest", NULL));
	set_path("VIRTUAL_ENV", "gone");
	assert_true(accepts("pytest", NULL));
}

/* `pytest` is a script; its first line says which interpreter runs it. */
static void the_interpreter_of_a_script(void **state UNUSED)
{
	char *line, *python, *script = in_root("scripts/pytest");

	install_python("n", "3.12");
	install_python("t", "3.14t");
	set_path("PATH", "n/bin");
	python = in_root("t/bin/python3.14t");
	line = xasprintf("#!%s\nimport sys\n", python);
	make_file("scripts/pytest", line);
	assert_false(accepts(script, NULL));
	free(line);
	line = xasprintf("#! %s -X utf8\n", python);
	make_file("scripts/pytest", line);
	assert_false(accepts(script, NULL));
	free(line);
	free(python);
	python = in_root("n/bin/python3");
	line = xasprintf("#!%s\n", python);
	make_file("scripts/pytest", line);
	assert_true(accepts(script, NULL));
	free(line);
	free(python);
	free(script);
}

static void a_script_through_env(void **state UNUSED)
{
	char *n, *t, *search, *script = in_root("scripts/pytest");

	install_python("n", "3.12");
	install_python("t", "3.14t");
	n = in_root("n/bin");
	t = in_root("t/bin");
	search = xasprintf("%s:%s", n, t);
	env_set(&env, "PATH", search);
	make_file("scripts/pytest", "#!/usr/bin/env python3.14t\n");
	assert_false(accepts(script, NULL));
	make_file("scripts/pytest", "#!/usr/bin/env -S python3.14t -X utf8\n");
	assert_false(accepts(script, NULL));
	make_file("scripts/pytest", "#!/usr/bin/env python3\n");
	assert_true(accepts(script, NULL));
	free(search);
	free(n);
	free(t);
	free(script);
}

static void odd_first_lines(void **state UNUSED)
{
	static const char *const texts[] = {"", "#", "#!", "#!\n", "#! \n", "#!\xff\xfe\n", "\n#!x",
		"#!/usr/bin/env", "#!/usr/bin/env python3.14t x"};
	char *script = in_root("odd");
	struct buf line = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		make_file("odd", texts[i]);
		assert_true(accepts(script, NULL));
	}
	buf_addstr(&line, "#!/");
	for (size_t i = 0; i < 100000; i++)
		buf_addch(&line, 'p');
	make_file("odd", line.data);
	assert_true(accepts(script, NULL));
	buf_release(&line);
	free(script);
}

/* One word of `codspeed run` is shell text; it is no program, but must not confuse. */
static void shell_text_is_no_program(void **state UNUSED)
{
	install_python("n", "3.12");
	set_path("PATH", "n/bin");
	assert_true(accepts("pytest tests/ && echo done", NULL));
	assert_true(accepts("", NULL));
	assert_true(accepts("/", NULL));
}

/* The text may still name an interpreter that refuses to start. */
static void shell_text_names_an_interpreter(void **state UNUSED)
{
	char *n, *t, *search;

	install_python("n", "3.12");
	install_python("t", "3.14t");
	n = in_root("n/bin");
	t = in_root("t/bin");
	search = xasprintf("%s:%s", n, t);
	env_set(&env, "PATH", search);
	assert_true(accepts("python3 -m pytest", NULL));
	assert_false(accepts("python3.14t -c 1", NULL));
	assert_false(accepts("cd x && python3.14t -m pytest", NULL));
	free(search);
	free(n);
	free(t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_name_tells),
		TEST(other_names_do_not),
		TEST(the_library_folder_tells),
		TEST(a_debug_build_without_the_lock),
		TEST(without_any_python_it_is_accepted),
		TEST(the_python_on_the_path),
		TEST(the_first_of_two_on_the_path),
		TEST(the_program_itself),
		TEST(a_virtual_environment),
		TEST(an_empty_virtual_environment),
		TEST(the_interpreter_of_a_script),
		TEST(a_script_through_env),
		TEST(odd_first_lines),
		TEST(shell_text_is_no_program),
		TEST(shell_text_names_an_interpreter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
