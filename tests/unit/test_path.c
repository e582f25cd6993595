/* SPDX-License-Identifier: MIT */
/* test_path.c - names, look-up on PATH, folders made and removed */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"
#include "core/path.h"
#include <cmocka.h>
#undef fail

#include "tests/unit/temp_folder.h"

static char *below(const char *path)
{
	return xasprintf("%s/%s", folder, path);
}

static void make_folder(const char *path)
{
	char *full = below(path);

	assert_int_equal(path_make_folder(full, 0755), 0);
	free(full);
}

static void make_file(const char *path, mode_t mode)
{
	char *full = below(path);

	assert_int_equal(write_file_atomic(full, "", 0, 0644), 0);
	assert_int_equal(chmod(full, mode), 0);
	free(full);
}

static bool exists(const char *path)
{
	char *full = below(path);
	struct stat st;
	bool result = lstat(full, &st) == 0;

	free(full);
	return result;
}

static void the_last_name(void **state UNUSED)
{
	assert_string_equal(path_base("/usr/bin/env"), "env");
	assert_string_equal(path_base("env"), "env");
	assert_string_equal(path_base("./env"), "env");
	assert_string_equal(path_base("/usr/bin/"), "");
	assert_string_equal(path_base("/"), "");
	assert_string_equal(path_base(""), "");
}

static void expect_absolute(const char *path, const char *expected)
{
	char *absolute = path_absolute(path);

	assert_string_equal(absolute, expected);
	free(absolute);
}

static void made_absolute(void **state UNUSED)
{
	char *joined, *here = getcwd(NULL, 0);

	expect_absolute("/a/../b", "/a/../b");
	assert_int_equal(chdir(folder), 0);
	joined = below("a/b");
	expect_absolute("a/b", joined);
	free(joined);
	assert_int_equal(chdir("/"), 0);
	expect_absolute("a", "/a");
	assert_int_equal(chdir(here), 0);
	free(here);
}

static void a_directory_that_is_gone(void **state UNUSED)
{
	char *gone = below("gone"), *here = getcwd(NULL, 0);

	make_folder("gone");
	assert_int_equal(chdir(gone), 0);
	assert_int_equal(rmdir(gone), 0);
	assert_null(path_absolute("x"));
	assert_non_null(strstr(error_text(), "cannot tell the current directory"));
	error_clear();
	assert_int_equal(chdir(here), 0);
	free(here);
	free(gone);
}

static void this_very_program(void **state UNUSED)
{
	char *self = path_of_self();

	assert_string_equal(path_base(self), "test_path");
	free(self);
}

static void expect_found(const char *name, const char *search, const char *expected)
{
	char *found = NULL, *full = below(expected);

	assert_int_equal(path_find_program(name, search, &found), 0);
	assert_string_equal(found, full);
	free(found);
	free(full);
}

static void expect_not_found(const char *name, const char *search, int rc)
{
	char *found = NULL;

	assert_int_equal(path_find_program(name, search, &found), rc);
}

static void programs_on_the_path(void **state UNUSED)
{
	char *search = xasprintf("%s/none:%s/one:%s/two", folder, folder, folder);

	make_folder("one");
	make_folder("two");
	make_file("one/data", 0644);
	make_file("one/both", 0755);
	make_file("two/both", 0755);
	make_file("two/data", 0755);
	make_file("two/second", 0755);
	make_folder("one/second"); /* a folder is no program */
	make_file("one/plain", 0644);
	expect_found("both", search, "one/both");
	expect_found("data", search, "two/data");
	expect_found("second", search, "two/second");
	expect_not_found("plain", search, -EACCES);
	expect_not_found("nothing", search, -ENOENT);
	expect_not_found("", search, -ENOENT);
	expect_not_found("one", folder, -EACCES);
	free(search);
}

static void programs_by_path(void **state UNUSED)
{
	char *path = below("program"), *found;

	expect_not_found(path, NULL, -ENOENT);
	make_file("program", 0644);
	expect_not_found(path, "/bin", -EACCES);
	make_file("program", 0755);
	assert_int_equal(path_find_program(path, "", &found), 0);
	assert_string_equal(found, path);
	free(found);
	free(path);
}

/* POSIX: an empty item is the current directory. */
static void empty_items_of_the_path(void **state UNUSED)
{
	static const char *const searches[] = {"", ":/nonexistent", "/nonexistent:", "/nonexistent::/x"};
	char *here = getcwd(NULL, 0), *found;

	make_file("program", 0755);
	assert_int_equal(chdir(folder), 0);
	for (size_t i = 0; i < ARRAY_SIZE(searches); i++) {
		assert_int_equal(path_find_program("program", searches[i], &found), 0);
		assert_string_equal(path_base(found), "program");
		free(found);
	}
	expect_not_found("program", "/nonexistent:/x", -ENOENT);
	assert_int_equal(chdir(here), 0);
	free(here);
}

static void without_a_path(void **state UNUSED)
{
	char *found;

	assert_int_equal(path_find_program("sh", NULL, &found), 0);
	assert_true(str_ends(found, "/sh"));
	free(found);
}

static void folders_with_their_parents(void **state UNUSED)
{
	char *path = below("a/b//c d/"), *file;

	assert_int_equal(path_make_folder(path, 0755), 0);
	assert_true(exists("a/b/c d"));
	assert_int_equal(path_make_folder(path, 0755), 0); /* there already */
	free(path);
	make_file("file", 0644);
	file = below("file/x");
	assert_true(path_make_folder(file, 0755) < 0);
	assert_non_null(strstr(error_text(), "cannot create the folder"));
	error_clear();
	free(file);
}

/* A file in the way must not look like a folder that is there. */
static void a_file_is_no_folder(void **state UNUSED)
{
	char *file = below("file");

	make_file("file", 0644);
	assert_true(path_make_folder(file, 0755) < 0);
	assert_non_null(strstr(error_text(), file));
	error_clear();
	free(file);
}

static void trees_go_links_stay_unfollowed(void **state UNUSED)
{
	char *tree = below("tree"), *outside = below("outside"), *link = below("tree/deep/link");

	make_folder("tree/deep/deeper");
	make_folder("outside");
	make_file("outside/precious", 0644);
	make_file("tree/deep/file", 0400);
	assert_int_equal(symlink(outside, link), 0);
	assert_int_equal(path_remove_tree(tree), 0);
	assert_false(exists("tree"));
	assert_true(exists("outside/precious"));
	assert_int_equal(path_remove_tree(tree), 0); /* gone already */
	free(link);
	free(outside);
	free(tree);
}

/* Deeper than the number of folders that are held open. */
static void deep_trees_go(void **state UNUSED)
{
	char *tree = below("deep"), *here = getcwd(NULL, 0);

	make_folder("deep");
	assert_int_equal(chdir(tree), 0);
	for (size_t i = 0; i < 200; i++) {
		assert_int_equal(mkdir("d", 0755), 0);
		assert_int_equal(chdir("d"), 0);
	}
	assert_int_equal(chdir(here), 0);
	assert_int_equal(path_remove_tree(tree), 0);
	assert_false(exists("deep"));
	free(here);
	free(tree);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_name),
		TEST(made_absolute),
		TEST(a_directory_that_is_gone),
		cmocka_unit_test(this_very_program),
		TEST(programs_on_the_path),
		TEST(programs_by_path),
		TEST(empty_items_of_the_path),
		cmocka_unit_test(without_a_path),
		TEST(folders_with_their_parents),
		TEST(a_file_is_no_folder),
		TEST(trees_go_links_stay_unfollowed),
		TEST(deep_trees_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
