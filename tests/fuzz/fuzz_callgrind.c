/* SPDX-License-Identifier: MIT */
/* fuzz_callgrind.c - any bytes as a callgrind file: refused with a reason, or it adds up */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz with = {.collect = true}, without = {0};

	if (read_once(&with, data, size) != read_once(&without, data, size))
		BUG("the table changes the result");
	if (with.parts != without.parts)
		BUG("the table changes the parts");
	return 0;
}
