/* SPDX-License-Identifier: MIT */
/*
 * perf_map.h - names of code that a runtime made while it ran. callgrind knows only the address of
 * such code; the runtime (node --perf-basic-prof, Python with the perf trampoline) writes names to
 * /tmp/perf-<pid>.map, lines of "START SIZE NAME", numbers in hex, later ones replacing earlier
 * ones (format: Linux, tools/perf/Documentation/jit-interface.txt).
 */
#ifndef SIMULATION_PERF_MAP_H
#define SIMULATION_PERF_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/vec.h"

#include "applets/runner/simulation/function_costs.h"

struct perf_symbol {
	uint64_t start;
	uint64_t size;
	size_t order; /* line in the file */
	char *name;
};

struct perf_map {
	VEC(struct perf_symbol) symbols; /* by start, then by order */
};

/* Read a map; a line that is none is passed over. 0 or -errno with a frame. */
int perf_map_read(struct perf_map *m, const char *path);
void perf_map_release(struct perf_map *m);

/* The name of the code at this address, borrowed, or NULL. */
const char *perf_map_find(const struct perf_map *m, uint64_t address);

/*
 * Move the maps that processes with a dump in `folder` left in /tmp there. Only plain files of
 * this user are touched, and none that was written before `since` (seconds since 1970): process ids
 * are used again, and the names in /tmp can be guessed.
 */
void perf_map_harvest(const char *folder, int64_t since);

/*
 * Add the costs of one dump of process `pid` to a table, code without a name under the name that
 * the folder's map of the process has for it.
 */
void perf_map_merge(struct function_costs *to, const struct function_costs *from,
		    const char *folder, uint64_t pid);

#endif
