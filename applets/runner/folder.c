/* SPDX-License-Identifier: MIT */
/* folder.c - the profile folder */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/path.h"

#include "applets/runner/folder.h"

#define RANDOM_PART "XXXXXXXXXX"

char *profile_folder_pattern(void)
{
	const char *temp = getenv("TMPDIR");
	char *base = path_absolute(temp && *temp ? temp : "/tmp");
	char *path;

	if (!base)
		return NULL;
	path = xasprintf("%s/profile.%s.out", base, RANDOM_PART);
	free(base);
	return path;
}

static void randomize(char *at)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char bytes[sizeof(RANDOM_PART) - 1];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		BUG("getrandom");
	for (size_t i = 0; i < sizeof(bytes); i++)
		at[i] = letters[bytes[i] % (sizeof(letters) - 1)];
}

static int make_temporary(struct profile_folder *f)
{
	f->path = profile_folder_pattern();
	if (!f->path)
		return -ENOENT;
	do {
		randomize(f->path + strlen(f->path) - strlen(RANDOM_PART ".out"));
		if (mkdir(f->path, 0700) == 0) {
			f->temporary = true;
			return 0;
		}
	} while (errno == EEXIST);
	return fail_errno("cannot create the profile folder %s (give one with --profile-folder)",
			  f->path);
}

static bool all_digits(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return len > 0;
}

/* PREFIX, digits (or digits, a dot and digits), SUFFIX: names that only a run of ours writes. */
static bool is_numbered(const char *name, const char *prefix, const char *suffix)
{
	const char *number, *dot;
	size_t len;

	if (!str_starts(name, prefix) || !str_ends(name, suffix) ||
	    strlen(name) < strlen(prefix) + strlen(suffix))
		return false;
	number = name + strlen(prefix);
	len = strlen(number) - strlen(suffix);
	dot = memchr(number, '.', len);
	if (!dot)
		return all_digits(number, len);
	return all_digits(number, (size_t)(dot - number)) &&
	       all_digits(dot + 1, len - (size_t)(dot - number) - 1);
}

static bool is_result_of_a_run(const char *name)
{
	return is_numbered(name, "", ".out") || is_numbered(name, "valgrind.", ".log") ||
	       is_numbered(name, "perf-", ".map") || is_numbered(name, "environment-", ".json") ||
	       str_eq(name, "simulation.json") || str_eq(name, "results.json");
}

/* Dumps of an earlier run would be read as this one's. Other files are the user's and stay. */
static int remove_stale_results(const char *path)
{
	struct dirent *entry;
	size_t removed = 0;
	DIR *dir = opendir(path);
	int rc = 0;

	if (!dir)
		return fail_errno("cannot read the profile folder %s", path);
	while (!rc && (entry = readdir(dir))) {
		if (!is_result_of_a_run(entry->d_name))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0))
			rc = fail_errno("cannot remove %s/%s, of an earlier run", path, entry->d_name);
		removed++;
	}
	closedir(dir);
	if (!rc && removed)
		log_info("removed %zu files of an earlier run from %s", removed, path);
	return rc;
}

int profile_folder_make(struct profile_folder *f, const char *wanted)
{
	int rc;

	*f = (struct profile_folder){0};
	if (!wanted)
		return make_temporary(f);
	f->path = path_absolute(wanted);
	if (!f->path)
		return -ENOENT;
	rc = path_make_folder(f->path, 0755);
	if (!rc)
		rc = remove_stale_results(f->path);
	if (!rc && access(f->path, W_OK))
		rc = fail_errno("the profile folder %s cannot be written", f->path);
	return rc;
}

void profile_folder_discard(struct profile_folder *f)
{
	if (f->temporary && path_remove_tree(f->path)) {
		log_warn("%s", error_text());
		error_clear();
	}
	f->temporary = false;
}

void profile_folder_release(struct profile_folder *f)
{
	free(f->path);
	f->path = NULL;
}
