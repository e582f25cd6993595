/* SPDX-License-Identifier: MIT */
/* python.c - what the Python interpreters at hand can do */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/env.h"
#include "core/path.h"

#include "applets/runner/python.h"

/* "3.14" at the start of the text; returns what follows it, NULL for anything else. */
static const char *skip_version(const char *text)
{
	size_t major = strspn(text, "0123456789"), minor;

	if (!major || text[major] != '.')
		return NULL;
	text += major + 1;
	minor = strspn(text, "0123456789");
	return minor ? text + minor : NULL;
}

/*
 * A build without the lock installs `bin/python3.14t` and `lib/python3.14t/`; `bin/python3.14`
 * beside it may be a hard link, so where the name does not tell, the library folder does.
 */
bool python_is_free_threaded(const char *path)
{
	char real[PATH_MAX];
	const char *base, *rest;
	char *with, *without;
	bool result;

	if (!realpath(path, real))
		return false;
	base = path_base(real);
	if (!str_starts(base, "python"))
		return false;
	rest = skip_version(base + strlen("python"));
	if (!rest)
		return false;
	if (*rest)
		return *rest == 't'; /* "t", or "td" of a debug build */
	with = xasprintf("%.*s../lib/%st", (int)(base - real), real, base);
	without = xasprintf("%.*s../lib/%s", (int)(base - real), real, base);
	result = access(with, F_OK) == 0 && access(without, F_OK) != 0;
	free(with);
	free(without);
	return result;
}

static bool found_free_threaded(const char *name, const char *search)
{
	char *path;
	bool result;

	if (path_find_program(name, search, &path))
		return false;
	result = python_is_free_threaded(path);
	free(path);
	return result;
}

static bool in_folder(const char *folder, const char *below)
{
	char *path = xasprintf("%s/%s", folder, below);
	bool result = python_is_free_threaded(path);

	free(path);
	return result;
}

/* The interpreter in the first line of a script: `#!/venv/bin/python` or `#!/usr/bin/env python`. */
static bool script_is_free_threaded(const char *script, const char *search)
{
	char line[PATH_MAX], *word, *save;
	int fd = open(script, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (len < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (word = strtok_r(line + 2, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
		if (str_starts(path_base(word), "python") && found_free_threaded(word, search))
			return true;
	return false;
}

static bool program_is_free_threaded(const char *program, const char *search)
{
	char *path;
	bool result;

	if (!program || path_find_program(program, search, &path))
		return false;
	result = python_is_free_threaded(path) || script_is_free_threaded(path, search);
	free(path);
	return result;
}

/* Of shell text, each word that is called like an interpreter. */
static bool text_is_free_threaded(const char *text, const char *search)
{
	char *copy = xstrdup(text), *save;
	bool result = false;

	for (char *word = strtok_r(copy, " \t\n;&|()\"'", &save); word && !result;
	     word = strtok_r(NULL, " \t\n;&|()\"'", &save))
		result = str_starts(path_base(word), "python") && found_free_threaded(word, search);
	free(copy);
	return result;
}

bool python_accepts_malloc(const struct strvec *env, const char *program, const char *directory)
{
	const char *search = env_get(env, "PATH"), *venv = env_get(env, "VIRTUAL_ENV");

	if (found_free_threaded("python3", search) || found_free_threaded("python", search))
		return false;
	if (venv && *venv && in_folder(venv, "bin/python"))
		return false;
	if (in_folder(directory ? directory : ".", ".venv/bin/python"))
		return false;
	if (program_is_free_threaded(program, search))
		return false;
	return !program || !text_is_free_threaded(program, search);
}
