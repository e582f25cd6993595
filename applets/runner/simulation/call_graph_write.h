/* SPDX-License-Identifier: MIT */
/* call_graph_write.h - a call graph in formats of other tools */
#ifndef SIMULATION_CALL_GRAPH_WRITE_H
#define SIMULATION_CALL_GRAPH_WRITE_H

#include "applets/runner/simulation/call_graph.h"
#include "core/buf.h"

/* What the first frame of folded stacks says behind the benchmark's name. */
#define FOLDED_LABEL "[estimate]"

/*
 * Append folded stacks, "NAME [estimate];main;f 123" a line: what flamegraph.pl, inferno and
 * speedscope read. callgrind knows callers and callees, but not stacks: what a function has cost is
 * divided among its callers in proportion to what their calls have cost, an estimate (as gprof's
 * is). A call into a function that is on the stack already ends there (cycles are cut); what is
 * below a ten-thousandth of the whole is not followed further. All lines sum up to the graph's
 * instructions.
 */
void call_graph_fold(const struct function_costs *functions, const char *name, struct buf *to);

/*
 * Append a callgrind file of one part (format: valgrind's manual, cl-format), which KCachegrind and
 * callgrind_annotate read. Source files and lines are not in it.
 */
void call_graph_write(const struct function_costs *functions, const char *name, struct buf *to);

#endif
