/* SPDX-License-Identifier: MIT */
/* test_trusted_folder.c - whom a folder may belong to, and the way to it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#undef fail /* error.h has one, too */

#include "core/base.h"
#include "core/path.h"
#include "core/trusted_folder.h"

static const struct folder_owner user = {1000, 100};

static const char *distrust(mode_t mode, uid_t uid, gid_t gid, bool acl)
{
	struct stat st = {.st_mode = mode, .st_uid = uid, .st_gid = gid};

	return folder_distrust(&st, acl, &user);
}

static void test_owner_and_mode(void **state UNUSED)
{
	static const struct {
		mode_t mode;
		uid_t uid;
		gid_t gid;
		bool acl;
		const char *why;
	} rows[] = {
		{S_IFDIR | 0755, 0, 0, false, NULL},
		{S_IFDIR | 0700, 1000, 100, false, NULL},
		{S_IFDIR | 0000, 1000, 100, false, NULL},
		{S_IFDIR | 0775, 1000, 100, false, NULL},
		{S_IFDIR | 0775, 0, 0, false, NULL},
		{S_IFDIR | 01777, 0, 0, false, NULL},
		{S_IFDIR | 0775, 1000, 100, true, "can be written by other users"},
		{S_IFDIR | 0755, 1000, 100, true, NULL},
		{S_IFDIR | 0775, 1000, 101, false, "can be written by other users"},
		{S_IFDIR | 0775, 0, 101, false, "can be written by other users"},
		{S_IFDIR | 0777, 1000, 100, false, "can be written by every user"},
		{S_IFDIR | 0702, 0, 0, false, "can be written by every user"},
		{S_IFDIR | 0755, 1001, 100, false, "belongs to another user"},
		{S_IFDIR | 01777, 1001, 100, false, "belongs to another user"},
		{S_IFREG | 0644, 0, 0, false, "is no folder"},
		{S_IFLNK | 0777, 0, 0, false, "is no folder"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *why = distrust(rows[i].mode, rows[i].uid, rows[i].gid, rows[i].acl);

		assert_true(!why == !rows[i].why);
		if (why)
			assert_string_equal(why, rows[i].why);
	}
}

/* In a folder of this user's. */
static char place[] = "/tmp/trusted.XXXXXX";

static int set_up(void **state UNUSED)
{
	return !mkdtemp(place) || chdir(place) || mkdir("a", 0755) || mkdir("a/b", 0700) ||
	       symlink("a", "link") || symlink("loop", "loop");
}

static int tear_down(void **state UNUSED)
{
	return path_remove_tree(place);
}

static int walk(const char *below)
{
	struct folder_owner me = {getuid(), getgid()};
	char *path = xasprintf("%s/%s", place, below);
	int fd = trusted_folder_open(path, &me);

	free(path);
	return fd;
}

static void expect_error(const char *below, int code, const char *text)
{
	assert_int_equal(walk(below), code);
	assert_non_null(strstr(error_text(), text));
	error_clear();
}

static void test_way(void **state UNUSED)
{
	struct stat there, opened;
	const char *const ways[] = {"a/b", "a//b/", "./a/./b"};

	assert_int_equal(stat("a/b", &there), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		int fd = walk(ways[i]);

		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &opened), 0);
		assert_true(there.st_ino == opened.st_ino && there.st_dev == opened.st_dev);
		close(fd);
	}
	expect_error("a/none", -ENOENT, "a/none");
	expect_error("a/../a", -EINVAL, "`..`");
}

static void test_links(void **state UNUSED)
{
	if (getuid()) { /* those of root's are followed: only the user's own can be tried here */
		expect_error("link/b", -ELOOP, "link is a symbolic link");
		expect_error("loop", -ELOOP, "loop is a symbolic link");
	} else {
		int fd = walk("link/b");

		assert_true(fd >= 0);
		close(fd);
		expect_error("loop", -ELOOP, "too many links");
		assert_int_equal(lchown("link", 65534, 65534), 0);
		expect_error("link/b", -ELOOP, "link is a symbolic link");
	}
}

static void test_written_by_all(void **state UNUSED)
{
	assert_int_equal(chmod("a", 0777), 0);
	expect_error("a/b", -EPERM, "can be written by every user");
	assert_int_equal(chmod("a", 01777), 0);
	close(walk("a/b"));
	assert_int_equal(chmod("a", 0755), 0);
}

static void test_no_absolute_path(void **state UNUSED)
{
	struct folder_owner me = {getuid(), getgid()};

	assert_int_equal(trusted_folder_open("a", &me), -EINVAL);
	error_clear();
	assert_int_equal(trusted_folder_open("", &me), -EINVAL);
	error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner_and_mode), cmocka_unit_test(test_way),
		cmocka_unit_test(test_links),          cmocka_unit_test(test_written_by_all),
		cmocka_unit_test(test_no_absolute_path),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
