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

static const char *const names[] = {"node"};

static void remove_folder(void *path)
{
	if (path_remove_tree(path))
		log_warn("%s", error_text());
	free(path);
}

static int link_applets(const char *folder, const char *self)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *path = xasprintf("%s/%s", folder, names[i]);
		int rc = 0;

		if (applet_find(names[i]) && symlink(self, path))
			rc = fail_errno("cannot create %s", path);
		free(path);
		if (rc)
			return rc;
	}
	return 0;
}

int wrappers_install(struct strvec *env)
{
	const char *temp = env_get(env, "TMPDIR"), *search = env_get(env, "PATH");
	char *folder = xasprintf("%s/codspeed.XXXXXX", temp && *temp ? temp : "/tmp");
	char *self = path_of_self(), *joined;
	int rc;

	if (!self || !mkdtemp(folder)) {
		rc = self ? fail_errno("cannot create a folder for wrappers, %s", folder) : -ENOENT;
		free(folder);
		goto out;
	}
	cleanup_push(remove_folder, folder);
	rc = link_applets(folder, self);
	joined = search && *search ? xasprintf("%s:%s", folder, search) : xstrdup(folder);
	env_set(env, "PATH", joined);
	free(joined);
out:
	free(self);
	return rc;
}
