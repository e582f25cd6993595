/* SPDX-License-Identifier: MIT */
/* test_free_memory.c - the limits of control groups, of both versions */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"
#include "core/path.h"
#include "applets/memtrack/free_memory.h"
#include <cmocka.h>
#undef fail

#include "tests/unit/temp_folder.h"

static void put(const char *group, const char *name, const char *text)
{
	char *full = xasprintf("%s/%s", folder, group), *file = xasprintf("%s/%s", full, name);

	assert_int_equal(path_make_folder(full, 0755), 0);
	assert_int_equal(write_file_atomic(file, text, strlen(text), 0644), 0);
	free(full);
	free(file);
}

static void put_group(const char *path, const char *limit, const char *usage)
{
	char *group = xasprintf("sys/fs/cgroup/%s", path);

	put(group, "memory.max", limit);
	put(group, "memory.current", usage);
	free(group);
}

static void test_no_limit(void **state UNUSED)
{
	assert_true(cgroup_room(folder) == UINT64_MAX); /* no /proc at all */
	put("proc/self", "cgroup", "0::/\n");
	assert_true(cgroup_room(folder) == UINT64_MAX); /* no /sys */
	put("proc/self", "cgroup", "0::/job\n");
	put_group("job", "max\n", "1000\n");
	assert_true(cgroup_room(folder) == UINT64_MAX);
}

static void test_nearest_of_all_levels(void **state UNUSED)
{
	put("proc/self", "cgroup", "0::/slice/job/step\n");
	put_group("slice", "5000\n", "4900\n");
	put_group("slice/job", "3000\n", "1000\n");
	put_group("slice/job/step", "max\n", "700\n");
	assert_int_equal(cgroup_room(folder), 100);
	put_group("slice", "50000\n", "4900\n");
	assert_int_equal(cgroup_room(folder), 2000);
	put_group("slice/job/step", "600\n", "700\n");
	assert_int_equal(cgroup_room(folder), 0); /* above it already */
}

/* A container's own group is what it sees as the root, whatever path it is told. */
static void test_inside_a_container(void **state UNUSED)
{
	put_group("", "1000\n", "400\n");
	put("proc/self", "cgroup", "0::/\n");
	assert_int_equal(cgroup_room(folder), 600);
	put("proc/self", "cgroup", "0::/../../docker/0123\n");
	assert_int_equal(cgroup_room(folder), 600);
	put("proc/self", "cgroup", "0::/system.slice/docker-0123.scope\n");
	assert_int_equal(cgroup_room(folder), 600);
}

static void test_version_1(void **state UNUSED)
{
	put("proc/self", "cgroup", "7:cpu,cpuacct:/job\n5:hugetlb,memory:/job/step\n1:name=systemd:/x\n"
				   "0::/\n");
	put("sys/fs/cgroup/memory", "memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/memory", "memory.usage_in_bytes", "4096\n");
	put("sys/fs/cgroup/memory/job", "memory.limit_in_bytes", "8192\n");
	put("sys/fs/cgroup/memory/job", "memory.usage_in_bytes", "4096\n");
	assert_int_equal(cgroup_room(folder), 4096);
}

static void test_what_is_not_understood(void **state UNUSED)
{
	put("proc/self", "cgroup", "\n0\n0:\nx:y\n::::\n");
	put_group("", "many\n", "400\n");
	assert_true(cgroup_room(folder) == UINT64_MAX);
	put_group("", "1000\n", "\n");
	assert_true(cgroup_room(folder) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nearest_of_all_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inside_a_container, setup, teardown),
		cmocka_unit_test_setup_teardown(test_version_1, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_not_understood, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
