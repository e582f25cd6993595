/* SPDX-License-Identifier: MIT */
/* find.c - which codspeed.yml belongs to the current directory */
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"

#include "applets/runner/project/find.h"

/* `..` steps to the root of the repository that the current directory is in; 0 outside of any. */
static size_t levels_to_root(void)
{
	char *directory = getcwd(NULL, 0);
	size_t levels = 0;
	struct stat st;

	for (char *end; directory; levels++) {
		char *git = xasprintf("%s/.git", directory);
		bool found = !lstat(git, &st);

		free(git);
		if (found)
			break;
		end = strrchr(directory, '/');
		if (!end || !end[1]) { /* nothing is above */
			levels = 0;
			break;
		}
		end[end == directory] = '\0'; /* of "/x" the slash stays */
	}
	free(directory);
	return levels;
}

/* In the directory `to` (ends in a slash, or is empty): what was found is appended. */
static bool find_here(struct buf *to)
{
	static const char *const names[] = {
		"codspeed.yaml", "codspeed.yml", ".codspeed.yaml", ".codspeed.yml",
	};
	size_t len = to->len;
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		buf_addstr(to, names[i]);
		if (!stat(to->data, &st) && S_ISREG(st.st_mode))
			return true;
		to->len = len;
		to->data[len] = '\0';
	}
	return false;
}

char *project_find(void)
{
	size_t levels = levels_to_root();
	struct buf path = BUF_INIT;

	for (size_t i = 0; i <= levels; i++) {
		if (i)
			buf_addstr(&path, "../");
		if (find_here(&path))
			return buf_detach(&path);
	}
	buf_release(&path);
	return NULL;
}
