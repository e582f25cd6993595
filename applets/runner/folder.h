/* SPDX-License-Identifier: MIT */
/* folder.h - the profile folder: where a run leaves its raw data and results */
#ifndef RUNNER_FOLDER_H
#define RUNNER_FOLDER_H

#include <stdbool.h>

struct profile_folder {
	char *path;     /* absolute */
	bool temporary; /* made by us under a name nobody can guess */
};

/* What a new temporary folder would be called, with X for what is random: the same length. */
char *profile_folder_pattern(void);

/*
 * The folder `wanted`, created with its parents and emptied of an earlier run's results; or a new
 * one in TMPDIR for NULL. 0 or -errno with a frame.
 */
int profile_folder_make(struct profile_folder *f, const char *wanted);

/* The result inside a profile folder. Caller frees. */
char *profile_result_path(const char *folder);

/*
 * Where --json writes: absolute, or "-"; caller frees. An earlier run's result is removed from there:
 * a run that fails must not leave it as if it were its own. Anything else at that place stays. NULL
 * and a frame when the current directory cannot be told.
 */
char *profile_result_target(const char *json);

/* Remove a temporary folder again: nothing was measured. */
void profile_folder_discard(struct profile_folder *f);
void profile_folder_release(struct profile_folder *f);

#endif
