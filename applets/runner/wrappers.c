/* SPDX-License-Identifier: MIT */
/* wrappers.c - applets in front of the real programs on PATH */
#include <stdlib.h>
#include <unistd.h>

#include "core/applet.h"
#include "core/base.h"
#include "core/cleanup.h"
#include "core/env.h"
#include "core/path.h"

#include "applets/runner/wrappers.h"

static const char *const names[] = {"node", "go"};

static void remove_folder(void *path)
{
	if (path_remove_tree(path))
		log_warn("%s", error_text());
	free(path);
}

/* Links stand only before what is there: a script that asks for node gets the true answer. */
static bool is_wanted(const char *name, const char *search)
{
	char *path;

	if (!applet_find(name) || path_find_program(name, search, &path))
		return false;
	free(path);
	return true;
}

static int link_applets(const char *folder, const char *self, const char *search)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *path = xasprintf("%s/%s", folder, names[i]);
		int rc = 0;

		if (is_wanted(names[i], search) && symlink(self, path))
			rc = fail_errno("cannot create %s", path);
		free(path);
		if (rc)
			return rc;
	}
	return 0;
}

/* The list is split at colons, and there is no escape: a folder with one in its path is no use. */
static const char *colonless_folder(const struct strvec *env)
{
	static const char *const fallbacks[] = {"/tmp", "/var/tmp"};
	const char *temp = env_get(env, "TMPDIR");

	if (temp && *temp && !strchr(temp, ':'))
		return temp;
	for (size_t i = 0; i < ARRAY_SIZE(fallbacks); i++)
		if (access(fallbacks[i], W_OK) == 0)
			return fallbacks[i];
	return "/tmp";
}

/* The folder in front; without a PATH, what a program without one looks at comes behind. */
static void put_in_front(struct strvec *env, const char *folder)
{
	const char *search = env_get(env, "PATH");
	char *joined = xasprintf("%s:%s", folder, search && *search ? search : PATH_DEFAULT);

	env_set(env, "PATH", joined);
	free(joined);
}

static bool any_wanted(const struct strvec *env)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_wanted(names[i], env_get(env, "PATH")))
			return true;
	return false;
}

int wrappers_install(struct strvec *env)
{
	char *folder, *self = path_of_self();
	int rc = 0;

	if (!self)
		return -ENOENT;
	if (!any_wanted(env))
		goto out;
	folder = xasprintf("%s/codspeed.XXXXXX", colonless_folder(env));
	if (!mkdtemp(folder)) {
		rc = fail_errno("cannot create a folder for wrappers, %s", folder);
		free(folder);
		goto out;
	}
	cleanup_push(remove_folder, folder);
	rc = link_applets(folder, self, env_get(env, "PATH"));
	put_in_front(env, folder);
out:
	free(self);
	return rc;
}
