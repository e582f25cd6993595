/* SPDX-License-Identifier: MIT */
/* fuzz_callgrind.c - any bytes as a callgrind file: refused with a reason, or it adds up */
#include "applets/runner/simulation/call_graph_write.h"
#include "applets/runner/simulation/callgrind.h"
#include "core/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz {
	struct function_costs functions; /* of one part */
	bool collect;
	size_t parts;
};

static struct function_costs *part_begin(void *ctx, const struct callgrind_part *part)
{
	struct fuzz *fuzz = ctx;

	if (!part->file->creator || !part->file->cmd || !part->trigger)
		BUG("a text is missing");
	return fuzz->collect ? &fuzz->functions : NULL;
}

static int part_end(void *ctx, const struct callgrind_part *part)
{
	struct fuzz *fuzz = ctx;
	uint64_t total = part->costs[CG_IR], self = 0;

	fuzz->parts++;
	for (size_t i = 0; i < fuzz->functions.rows.len; i++) {
		const struct function_cost *row = &fuzz->functions.rows.items[i];

		if (row->inclusive < row->self || row->inclusive > total)
			BUG("an inclusive cost out of range");
		self += row->self;
	}
	if (fuzz->collect && self != total)
		BUG("the functions are not the total");
	if (part->main_inclusive > total)
		BUG("main costs more than the total");
	function_costs_release(&fuzz->functions);
	return 0;
}

static int read_once(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
	static const struct callgrind_ops ops = {part_begin, part_end};
	int rc;

	function_costs_init(&fuzz->functions);
	rc = callgrind_read_bytes(data, size, "fuzz", &ops, fuzz);
	if (rc < 0 && !*error_text())
		BUG("refused without a reason");
	if (rc >= 0 && *error_text())
		BUG("a reason without a refusal");
	error_clear();
	function_costs_release(&fuzz->functions);
	return rc;
}

/* Folded stacks sum up to the part, and a written file reads as what it was made of. */

static uint64_t sum_of_stacks(const char *text)
{
	uint64_t sum = 0;

	for (; *text; text = strchr(text, '\n') + 1) {
		const char *end = strchr(text, '\n');

		while (end[-1] != ' ')
			end--;
		sum += strtoull(end, NULL, 10);
	}
	return sum;
}

static int compare_total(void *ctx, const struct callgrind_part *part)
{
	if (part->costs[CG_IR] != *(uint64_t *)ctx)
		BUG("the written file has another total");
	return 0;
}

static void write_graph(const struct function_costs *functions, uint64_t total)
{
	static const struct callgrind_ops ops = {NULL, compare_total};
	struct buf text = BUF_INIT;

	call_graph_fold(functions, "fuzz", &text);
	if (text.len && sum_of_stacks(text.data) != total)
		BUG("the stacks are not the total");
	buf_clear(&text);
	call_graph_write(functions, "fuzz", &text);
	if (callgrind_read_bytes(text.data, text.len, "written", &ops, &total))
		die_recorded(1);
	buf_release(&text);
}

static struct function_costs *graph_begin(void *ctx, const struct callgrind_part *part UNUSED)
{
	struct function_costs *functions = ctx;

	function_costs_init(functions);
	functions->graph = call_graph_new();
	return functions;
}

static int graph_end(void *ctx, const struct callgrind_part *part)
{
	struct function_costs *functions = ctx;

	write_graph(functions, part->costs[CG_IR]);
	function_costs_release(functions);
	return 0;
}

static void read_graph(const uint8_t *data, size_t size)
{
	static const struct callgrind_ops ops = {graph_begin, graph_end};
	struct function_costs functions;

	function_costs_init(&functions);
	callgrind_read_bytes(data, size, "fuzz", &ops, &functions);
	error_clear();
	function_costs_release(&functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz with = {.collect = true}, without = {0};

	if (read_once(&with, data, size) != read_once(&without, data, size))
		BUG("the table changes the result");
	if (with.parts != without.parts)
		BUG("the table changes the parts");
	read_graph(data, size);
	return 0;
}
