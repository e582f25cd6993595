/* SPDX-License-Identifier: MIT */
/* store.c - baselines: results kept under a name */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applets/runner/results/store.h"
#include "core/base.h"
#include "core/io.h"
#include "core/path.h"
#include "core/suggest.h"

#define FOLDER ".codspeed"
#define SUFFIX ".json"

enum { NAME_MAX_BYTES = 200 };

/* Cut the path's last part off; false at the root. */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

static bool is_root_of_repository(const char *folder)
{
	char *git = xasprintf("%s/.git", folder);
	bool found = !access(git, F_OK); /* a file in worktrees and submodules */

	free(git);
	return found;
}

char *store_folder(const char *wanted)
{
	char *here, *root, *folder;

	if (wanted)
		return path_absolute(wanted);
	here = getcwd(NULL, 0);
	if (!here) {
		fail_errno("cannot tell the current directory");
		return NULL;
	}
	root = xstrdup(here);
	while (!is_root_of_repository(root) && go_up(root))
		;
	folder = xasprintf("%s/" FOLDER, is_root_of_repository(root) ? root : here);
	free(root);
	free(here);
	return folder;
}

int store_check_name(const char *name)
{
	if (!*name || *name == '.' || strlen(name) > NAME_MAX_BYTES)
		return fail(-EINVAL, "'%.200s' is no name for a baseline: it must not be empty, begin with a "
				     "dot or be longer than %d bytes", name, NAME_MAX_BYTES);
	for (const char *c = name; *c; c++)
		if (*c == '/' || (unsigned char)*c < 0x20 || *c == 0x7f)
			return fail(-EINVAL, "'%s' is no name for a baseline: it becomes the name of a file, "
					     "so write '-' for a slash", name);
	return 0;
}

char *store_path(const char *folder, const char *name)
{
	return xasprintf("%s/%s" SUFFIX, folder, name);
}

bool store_has(const char *folder, const char *name)
{
	char *path = store_path(folder, name);
	bool found = !access(path, F_OK);

	free(path);
	return found;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int store_list(const char *folder, struct strvec *names)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);

	if (!dir)
		return errno == ENOENT ? 0 : fail_errno("cannot read %s", folder);
	while ((entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		if (len > strlen(SUFFIX) && *entry->d_name != '.' && str_ends(entry->d_name, SUFFIX))
			strvec_take(names, xstrndup(entry->d_name, len - strlen(SUFFIX)));
	}
	closedir(dir);
	if (names->len)
		qsort(names->items, names->len, sizeof(*names->items), by_text);
	return 0;
}

int store_save(const char *folder, const char *name, const struct result *result)
{
	struct buf text = BUF_INIT;
	char *path;
	int rc = store_check_name(name);

	if (!rc)
		rc = path_make_folder(folder, 0777);
	if (rc)
		return rc;
	result_write_json(result, &text);
	path = store_path(folder, name);
	rc = write_output(path, text.data, text.len);
	free(path);
	buf_release(&text);
	return rc;
}

static int no_such(const char *folder, const char *name)
{
	struct strvec names = STRVEC_INIT;
	struct suggest near = suggest_for(name);
	struct buf hint = BUF_INIT;
	int rc;

	if (store_list(folder, &names))
		error_clear(); /* that the baseline is not there says enough */
	for (size_t i = 0; i < names.len; i++)
		suggest_add(&near, names.items[i]);
	suggest_text(&near, ", ", "", &hint);
	rc = fail(-ENOENT, "there is no baseline '%s' in %s%s", name, folder,
		hint.len ? hint.data : names.len ? "; 'codspeed baseline list' shows those there are"
						 : "; --save NAME makes one");
	strvec_release(&names);
	buf_release(&hint);
	return rc;
}

/* The file of a baseline that is there; the caller frees. 0 or -errno with a frame. */
static int find(const char *folder, const char *name, char **path)
{
	int rc = store_check_name(name);

	if (rc)
		return rc;
	if (!store_has(folder, name))
		return no_such(folder, name);
	*path = store_path(folder, name);
	return 0;
}

int store_load(const char *folder, const char *name, struct result *result)
{
	struct buf text = BUF_INIT;
	char *path = NULL;
	int rc = find(folder, name, &path);

	if (!rc)
		rc = read_plain_file(path, &text);
	if (!rc)
		rc = result_read_json(result, path, text.data, text.len);
	free(path);
	buf_release(&text);
	return rc;
}

int store_remove(const char *folder, const char *name)
{
	char *path = NULL;
	int rc = find(folder, name, &path);

	if (!rc && unlink(path))
		rc = fail_errno("cannot remove %s", path);
	free(path);
	return rc;
}
