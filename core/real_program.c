/* SPDX-License-Identifier: MIT */
/* real_program.c - what stands behind a wrapper on PATH */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/cleanup.h"
#include "core/exit_code.h"
#include "core/path.h"
#include "core/real_program.h"
#include "core/spawn.h"

static bool is_same_file(const char *path, const struct stat *other)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == other->st_dev && st.st_ino == other->st_ino;
}

char *real_program_find(const char *name)
{
	const char *search = getenv("PATH");
	struct stat self;
	char *list, *save, *path = path_of_self(); /* valgrind tells the truth here, not in stat() */
	char *found = NULL;
	bool known = path && !stat(path, &self);

	free(path);
	if (!search || !known)
		return NULL;
	list = xstrdup(search);
	for (char *folder = strtok_r(list, ":", &save); folder; folder = strtok_r(NULL, ":", &save)) {
		if (path_find_program(name, folder, &path))
			continue;
		if (is_same_file(path, &self)) {
			free(found); /* that one stood in front of us */
			found = NULL;
			free(path);
		} else if (!found) {
			found = path;
		} else {
			free(path);
		}
	}
	free(list);
	return found;
}

void real_program_exec(const char *path, char *const *words)
{
	cleanup_run();
	spawn_give_back_signals();
	execv(path, words);
	fail_errno("cannot execute %s", path);
	die_recorded(EXIT_WRAPPER);
}
