/* SPDX-License-Identifier: MIT */
/* temp_folder.h - a folder of every test's own; to be included by a test program once */
#ifndef TESTS_TEMP_FOLDER_H
#define TESTS_TEMP_FOLDER_H

#include "core/base.h"
#include "core/path.h"

static char *folder;

static int setup(void **state UNUSED)
{
	folder = xstrdup("/tmp/codspeed-test.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state UNUSED)
{
	path_remove_tree(folder);
	free(folder);
	return 0;
}

#endif
