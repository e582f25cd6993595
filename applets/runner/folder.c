/* SPDX-License-Identifier: MIT */
/* folder.c - the profile folder */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/artifact.h"
#include "core/base.h"
#include "core/execution_timestamps.h"
#include "core/memtrack_supplement.h"
#include "core/mode.h"
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

#define RESULT_BEGINNING "{\n  \"version\": 1,\n  \"tool\": {\n    \"name\": \"codspeed\""

/* What a file of a run is called and how it begins; an empty one is of a killed process. */
static const struct stale {
	const char *prefix, *suffix; /* with a number, or two, in between; suffix NULL: the whole name */
	const char *beginning;
} top_files[] = {
	{"", ".out", "# callgrind format"},
	{"valgrind.", ".log", "=="},
	{"perf-", ".map", ""},
	{"environment-", ".json", "{"},
	{"simulation.json", NULL, "{\n  \"version\": 1,\n  \"benchmarks\": ["},
	{"rounds-", ".json", "{\"version\":"},
	{EXECUTION_TIMESTAMPS_FILE, NULL, ""},
	{"profile-", ".folded", ""},
	{"results.json", NULL, RESULT_BEGINNING},
	{NULL, NULL, NULL},
}, results_files[] = {
	{"", ARTIFACT_SUFFIX, ""},
	{"", ARTIFACT_SUFFIX ARTIFACT_INCOMPLETE, ""},
	{"", SUPPLEMENT_SUFFIX, SUPPLEMENT_BEGINNING},
	{"", ".json", "{"},
	{EXECUTION_TIMESTAMPS_FILE, NULL, ""},
	{NULL, NULL, NULL},
};

static const struct stale *find_stale(const struct stale *table, const char *name)
{
	for (const struct stale *s = table; s->prefix; s++) {
		if (s->suffix ? path_is_numbered(name, s->prefix, s->suffix, NULL) : str_eq(name, s->prefix))
			return s;
	}
	return NULL;
}

static bool begins_like(int folder, const char *name, const char *beginning)
{
	char text[128];
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return false;
	n = !fstat(fd, &st) && S_ISREG(st.st_mode) ? read(fd, text, sizeof(text)) : -1;
	close(fd);
	return n == 0 || (n >= (ssize_t)strlen(beginning) &&
			  memcmp(text, beginning, strlen(beginning)) == 0);
}

/*
 * Dumps of an earlier run would be read as this one's, so they go. A file that has the name of one
 * and is something else is the user's, and would be overwritten: another folder is needed.
 */
static int remove_stale(const char *path, const struct stale *table, size_t *removed)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int rc = 0;

	if (!dir)
		return errno == ENOENT ? 0 : fail_errno("cannot read the profile folder %s", path);
	while (!rc && (entry = readdir(dir))) {
		const struct stale *s = find_stale(table, entry->d_name);

		if (!s)
			continue;
		if (!begins_like(dirfd(dir), entry->d_name, s->beginning))
			rc = fail(-EEXIST, "%s/%s is not of an earlier run and stands in the way; choose "
					   "another profile folder", path, entry->d_name);
		else if (unlinkat(dirfd(dir), entry->d_name, 0))
			rc = fail_errno("cannot remove %s/%s, of an earlier run", path, entry->d_name);
		(*removed)++;
	}
	closedir(dir);
	return rc;
}

static int remove_stale_in(const char *path, size_t *removed)
{
	char *results = xasprintf("%s/results", path);
	int rc = remove_stale(path, top_files, removed);

	if (!rc)
		rc = remove_stale(results, results_files, removed);
	rmdir(results); /* unless it is of somebody else, too */
	free(results);
	return rc;
}

/* MODE-INDEX: the folder of a part (parts.h). */
static bool is_part(int folder, const char *name)
{
	struct stat st;

	for (int mode = 0; mode < MODE_COUNT; mode++) {
		char *prefix = xasprintf("%s-", mode_name((enum mode)mode));
		bool part = path_is_numbered(name, prefix, "", NULL);

		free(prefix);
		if (part)
			return !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
	}
	return false;
}

/* An earlier run may have had more parts than this one. */
static int remove_stale_parts(const char *path, size_t *removed)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int rc = 0;

	if (!dir)
		return fail_errno("cannot read the profile folder %s", path);
	while (!rc && (entry = readdir(dir))) {
		char *part;

		if (!is_part(dirfd(dir), entry->d_name))
			continue;
		part = xasprintf("%s/%s", path, entry->d_name);
		rc = remove_stale_in(part, removed);
		rmdir(part);
		free(part);
	}
	closedir(dir);
	return rc;
}

static int remove_stale_results(const char *path)
{
	size_t removed = 0;
	int rc = remove_stale_in(path, &removed);

	if (!rc)
		rc = remove_stale_parts(path, &removed);
	if (!rc && removed)
		log_info("removed %zu file%s of an earlier run from %s", removed,
			 removed == 1 ? "" : "s", path);
	return rc;
}

char *profile_result_path(const char *folder)
{
	return xasprintf("%s/results.json", folder);
}

static void remove_result(const char *path)
{
	char *target = realpath(path, NULL);
	struct stat st;
	bool stale = target && !stat(target, &st) && st.st_size &&
		     begins_like(AT_FDCWD, target, RESULT_BEGINNING);

	if (stale && !lstat(path, &st) && S_ISLNK(st.st_mode))
		stale = truncate(target, 0) != 0; /* the link stays, and what it leads to */
	if (stale)
		unlink(target);
	free(target);
}

char *profile_result_target(const char *json)
{
	char *path;

	if (str_eq(json, "-"))
		return xstrdup(json);
	path = path_absolute(json);
	if (path)
		remove_result(path);
	return path;
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
