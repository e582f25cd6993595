/* SPDX-License-Identifier: MIT */
/* profile.h - the folder of a walltime run into benchmarks */
#ifndef WALLTIME_PROFILE_H
#define WALLTIME_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "applets/runner/results/result.h"

struct walltime_profile_summary {
	size_t files;       /* results/<pid>.json of any integration */
	size_t records;     /* rounds-<pid>.json, of our exec-harness */
	size_t empty_files; /* files without a benchmark */
	char *integration;  /* who wrote the last file, "NAME VERSION"; NULL: nobody. Caller frees */
};

/*
 * Append what the files of the folder say, files in the order of their process ids. 0 or -errno with
 * a frame that names the file: one that cannot be read makes the rest worthless. Where there is no
 * file, `summary` says so.
 */
int walltime_profile_load(struct result *r, const char *folder,
			  struct walltime_profile_summary *summary);

/* Whether there is anything to load. */
bool walltime_profile_exists(const char *folder);

#endif
