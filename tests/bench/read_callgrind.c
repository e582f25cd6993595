/* SPDX-License-Identifier: MIT */
/*
 * read_callgrind.c - how fast a callgrind file is read, and with how much memory
 *
 *	read_callgrind [-n] FILE        -n: without the table of functions
 *
 * scripts/bench builds it, linked with build/libcodspeed.a.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base.h"
#include "applets/runner/simulation/callgrind.h"

struct run {
	struct function_costs functions;
	bool collect;
	unsigned parts;
	uint64_t ir, main_inclusive;
};

static struct function_costs *part_begin(void *ctx, const struct callgrind_part *part UNUSED)
{
	struct run *run = ctx;

	return run->collect ? &run->functions : NULL;
}

static int part_end(void *ctx, const struct callgrind_part *part)
{
	struct run *run = ctx;

	run->parts++;
	run->ir += part->costs[CG_IR];
	run->main_inclusive += part->main_inclusive;
	return 0;
}

/* Of this process: a busy machine does not make the reader slower. */
static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void print_top(const struct function_costs *t, enum function_order order)
{
	size_t count;
	struct function_cost *top = function_costs_top(t, order, 12, &count);

	for (size_t i = 0; i < count; i++)
		printf("%15" PRIu64 " %15" PRIu64 "  %.60s [%s]\n", top[i].self, top[i].inclusive,
		       function_costs_name(t, &top[i]), function_costs_object(t, &top[i]));
	free(top);
}

int main(int argc, char **argv)
{
	static const struct callgrind_ops ops = {part_begin, part_end};
	const char *path = argc > 1 ? argv[argc - 1] : "";
	struct run run = {.collect = argc == 2};
	struct rusage usage;
	struct stat st;
	double start;
	int rc;

	function_costs_init(&run.functions);
	if (stat(path, &st))
		return EXIT_FAILURE;
	start = cpu_seconds();
	rc = callgrind_read(path, &ops, &run);
	start = cpu_seconds() - start;
	getrusage(RUSAGE_SELF, &usage);
	printf("result %d %s: %u parts, %" PRIu64 " instructions, main %" PRIu64 ", %zu functions\n",
	       rc, error_text(), run.parts, run.ir, run.main_inclusive, run.functions.rows.len);
	printf("%.1f MB in %.3f s: %.0f MB/s, peak RSS %.1f MB\n", (double)st.st_size / 1e6, start,
	       (double)st.st_size / 1e6 / start, (double)usage.ru_maxrss / 1e3);
	print_top(&run.functions, FUNCTIONS_BY_SELF);
	print_top(&run.functions, FUNCTIONS_BY_INCLUSIVE);
	function_costs_release(&run.functions);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
