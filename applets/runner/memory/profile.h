/* SPDX-License-Identifier: MIT */
/*
 * profile.h - from a memory profile folder to benchmarks of the result model. The folder may be of
 * any age and from any machine, ours or one that upstream's runner left:
 *
 *	results/ExecutionTimestamps.msgpack        when which benchmark ran
 *	results/PID.MemtrackArtifact.msgpack       the events; one file as a rule
 *	results/....msgpack.incomplete             the same, with events missing
 *	results/PID.MemtrackSupplement.txt         what else memtrack knows; not of old ones
 */
#ifndef MEMORY_PROFILE_H
#define MEMORY_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "applets/runner/results/result.h"

struct memory_profile_summary {
	bool no_timestamps; /* the file is missing: no benchmark can be told */
	size_t uris;        /* distinct ones: the benchmarks that were added */
	size_t artifacts;   /* files, incomplete ones included; 0: no benchmark has figures */
	size_t incomplete;  /* of these, files that memtrack itself calls so */
	size_t damaged;     /* of the others, files that cannot be read to their end */
	uint64_t events;
	uint64_t unnamed_windows; /* of benchmarks that told no URI; their events are nobody's */
	const char *integration;  /* always NULL: no file of the folder names it */
};

/* The benchmark with this URI, as an integration reported it; NULL when there is none. */
struct benchmark *memory_profile_find(const struct result *result, const char *uri);

/*
 * Add the benchmarks of `folder` to `result`, one for each URI in the order of their first report.
 * 0 or -errno with a frame where folder or timestamps cannot be read. What is wrong with an artifact
 * is no error: every benchmark is then incomplete and says why (a warning where there is none). A
 * benchmark whose figures would be made up has none: its metrics are null.
 *
 * Not known from a folder, and the caller's to note: windows that overlapped or were closed by the
 * end of the run.
 */
int memory_profile_load(struct result *result, const char *folder,
			struct memory_profile_summary *summary);

#endif
