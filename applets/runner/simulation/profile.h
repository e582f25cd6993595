/* SPDX-License-Identifier: MIT */
/*
 * profile.h - from a simulation's profile folder to benchmarks of the result model. The folder may
 * be of any age and from any machine, ours or one that upstream's runner left.
 *
 * Two kinds of benchmarks live in a folder: those of exec-harness, whole process trees named by
 * simulation.json (tree.c), and those of an integration, parts of dumps named by their URI
 * (uri_parts.c). A dump that the record claims is never looked at for URIs.
 */
#ifndef SIMULATION_PROFILE_H
#define SIMULATION_PROFILE_H

#include "core/simulation_record.h"

#include "applets/runner/results/result.h"
#include "applets/runner/simulation/costs.h"
#include "applets/runner/simulation/function_costs.h"

/* Functions kept for each benchmark when nobody asks for another number. */
enum { PROFILE_TOP_DEFAULT = 20 };

/* What is wanted of each benchmark besides its metrics. */
struct profile_wanted {
	size_t top; /* so many of its most expensive functions */

	/* Called with all its functions, which then have a call graph; NULL: not wanted. */
	void (*use)(void *ctx, const struct benchmark *b, const struct function_costs *functions);
	void *ctx;
};

struct profile_summary {
	size_t dumps;         /* dump files seen */
	size_t empty_dumps;   /* of processes that were killed */
	size_t damaged_dumps; /* told in a warning each */
	char *integration;    /* "codspeed-node 5.7.1", NULL when none announced itself */
};

/*
 * Add the benchmarks of `folder` to `result`.
 * 0 or -errno with a frame for a folder that cannot be read. A damaged dump is no error: its
 * benchmark is incomplete and says why. The summary's `integration` belongs to the caller.
 */
int profile_load(struct result *result, const char *folder, const struct profile_wanted *wanted,
		 struct profile_summary *summary);

/* ---- Inside simulation/ ---- */

/* The benchmarks of the record. Names of dumps that were read go to `claimed`. */
void profile_load_trees(struct result *result, const char *folder,
			const struct profile_wanted *wanted, const struct simulation_record *record,
			struct strvec *claimed, struct profile_summary *summary);

/* The benchmarks that parts of the other dumps name by URI. `dumps` are names in the folder. */
void profile_load_uris(struct result *result, const char *folder,
		       const struct profile_wanted *wanted, const struct strvec *dumps,
		       struct profile_summary *summary);

/* A table for functions, ready for what is wanted; and whether any are. */
void profile_init_functions(struct function_costs *functions, const struct profile_wanted *wanted);
bool profile_wants_functions(const struct profile_wanted *wanted);

/* What is wanted of the table, of a benchmark whose metrics are there already. */
void profile_put_functions(struct benchmark *b, const struct function_costs *functions,
			   const struct profile_wanted *wanted);

/*
 * Read one dump. A flaw of the file is counted in the summary and told to the benchmark, which is
 * then incomplete. Returns false when the file gave nothing at all.
 */
bool profile_read_dump(const char *folder, const char *name, const struct callgrind_ops *ops,
		       void *ctx, struct benchmark *b, struct profile_summary *summary);

#endif
