/* SPDX-License-Identifier: MIT */
/* fuzz_walltime.c - any bytes as what a walltime folder holds, and as what a profiler says */
#include "applets/runner/walltime/perf_events.h"
#include "applets/runner/walltime/perf_script.h"
#include "core/base.h"
#include "core/json.h"
#include "core/round_record.h"
#include "core/walltime_results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Refused with a reason, or written and read again to the same bytes. */
static void results(const uint8_t *data, size_t size)
{
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct walltime_results r;

	if (walltime_results_decode(&r, "fuzz", (const char *)data, size)) {
		if (!*error_text())
			BUG("refused without a reason");
		error_clear();
		return;
	}
	walltime_results_encode(&r, &first);
	walltime_results_release(&r);
	if (walltime_results_decode(&r, "again", first.data, first.len))
		die_recorded(1);
	walltime_results_encode(&r, &second);
	walltime_results_release(&r);
	if (first.len != second.len || memcmp(first.data, second.data, first.len))
		BUG("what was written reads differently");
	buf_release(&first);
	buf_release(&second);
}

static void record(const uint8_t *data, size_t size)
{
	struct round_record r = {0};

	if (round_record_decode(&r, "fuzz", (const char *)data, size))
		error_clear();
	round_record_release(&r);
}

static void perf_text(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct stacks s;

	stacks_init(&s);
	perf_script_read(text, 9, &s);
	stacks_release(&s);
	free(text);
}

/* Records one after the other, each as long as it says. */
static void perf_records(const uint8_t *data, size_t size)
{
	struct perf_event_header h;
	struct trace t;
	struct stacks s;

	trace_init(&t);
	while (size >= sizeof(h)) {
		memcpy(&h, data, sizeof(h));
		if (h.size < sizeof(h) || h.size > size)
			break;
		perf_record_read(data, h.size, 0, &t);
		data += h.size;
		size -= h.size;
	}
	/* resolving would open whatever path the records name */
	for (size_t i = 0; i < t.events.len; i++)
		t.events.items[i].change = TRACE_EXEC;
	stacks_init(&s);
	trace_resolve(&t, &s);
	stacks_release(&s);
	trace_release(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	results(data, size);
	record(data, size);
	perf_text(data, size);
	perf_records(data, size);
	return 0;
}
