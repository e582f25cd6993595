/* SPDX-License-Identifier: MIT */
/* profile.c - from a memory profile folder to benchmarks */
#include <inttypes.h>

#include "applets/runner/memory/artifacts.h"
#include "applets/runner/memory/heap.h"
#include "applets/runner/memory/profile.h"
#include "core/base.h"
#include "core/execution_timestamps.h"
#include "core/intern.h"
#include "core/text.h"

enum { GAPS_TOLD = 20 }; /* a run of hundreds of odd programs needs no list of them */

/* What the timestamps say of a benchmark, by the id of its URI. */
struct plan {
	size_t windows;
	uint64_t end; /* of the last one */
	bool open;    /* one of them has no end */
};

struct loading {
	struct intern uris;
	VEC(struct plan) plans;
	VEC(struct heap_window) windows;
	struct artifacts artifacts;
	struct heap *heap;
	struct memory_profile_summary *summary;
};

/* ---- When which benchmark ran ---- */

static uint32_t add_uri(struct loading *l, const char *uri)
{
	uint32_t id = intern_add(&l->uris, uri, strlen(uri));

	if (id == l->plans.len)
		vec_push(&l->plans, (struct plan){0});
	return id;
}

static void add_window(struct loading *l, const struct execution_window *w, const char *uri)
{
	uint32_t id = add_uri(l, uri);

	l->plans.items[id].windows++;
	l->plans.items[id].open |= w->end == UINT64_MAX;
	if (w->end > l->plans.items[id].end)
		l->plans.items[id].end = w->end;
	vec_push(&l->windows, (struct heap_window){w->start, w->end, id});
}

static void plan_benchmarks(struct loading *l, const struct execution_timestamps *t)
{
	struct execution_windows found;

	for (size_t i = 0; i < t->uris.len; i++)
		add_uri(l, t->uris.items[i].uri);
	execution_windows_find(t, &found);
	for (size_t i = 0; i < found.list.len; i++) {
		const struct execution_window *w = &found.list.items[i];

		if (w->uri == EXECUTION_NO_URI)
			l->summary->unnamed_windows++;
		else
			add_window(l, w, t->uris.items[w->uri].uri);
	}
	execution_windows_release(&found);
	l->summary->uris = l->plans.len;
}

static int load_timestamps(struct loading *l, const char *folder)
{
	struct execution_timestamps t = EXECUTION_TIMESTAMPS_INIT;
	char *path = xasprintf("%s/results/" EXECUTION_TIMESTAMPS_FILE, folder);
	int rc = execution_timestamps_read(&t, path);

	free(path);
	if (rc == -ENOENT) {
		error_clear();
		l->summary->no_timestamps = true;
		return 0;
	}
	if (!rc)
		plan_benchmarks(l, &t);
	execution_timestamps_release(&t);
	return rc;
}

/* ---- What they allocated ---- */

static void replay(struct loading *l)
{
	const struct heap_event *events;
	size_t n;

	l->heap = heap_new(l->windows.items, l->windows.len, l->plans.len);
	heap_set_lives(l->heap, l->artifacts.supplement.lives.items, l->artifacts.supplement.lives.len);
	while ((n = artifacts_next(&l->artifacts, &events)))
		heap_add(l->heap, events, n);
	heap_finish(l->heap);
	l->summary->artifacts = l->artifacts.count;
	l->summary->incomplete = l->artifacts.incomplete;
	l->summary->damaged = l->artifacts.damaged;
	l->summary->events = heap_summary(l->heap).events;
}

static void put_histogram(struct benchmark *b, const struct heap_benchmark *from)
{
	for (unsigned i = 0; i < HEAP_SIZE_CLASSES; i++)
		if (from->classes[i].allocations)
			vec_push(&b->histogram, (struct result_size_class){
				.size_class = heap_class_bytes(i),
				.allocations = from->classes[i].allocations,
				.bytes = from->classes[i].bytes,
			});
}

static void put_figures(struct benchmark *b, const struct heap_benchmark *from)
{
	b->metrics[MEMORY_PEAK_BYTES] = MEASURE(from->peak_bytes);
	b->metrics[MEMORY_TOTAL_BYTES] = MEASURE(from->total_bytes);
	b->metrics[MEMORY_ALLOCATIONS] = MEASURE(from->allocations);
	b->metrics[MEMORY_FREES] = MEASURE(from->frees);
	b->metrics[MEMORY_LEAKED_BYTES] = MEASURE(from->leaked_bytes);
	b->metrics[MEMORY_LEAKED_BLOCKS] = MEASURE(from->leaked_blocks);
	b->metrics[MEMORY_TEMPORARY_ALLOCATIONS] = MEASURE(from->temporary_allocations);
	put_histogram(b, from);
	for (size_t i = 0; i < from->timeline.len; i++)
		vec_push(&b->timeline, (struct result_point){from->timeline.items[i].ns,
			from->timeline.items[i].live_bytes});
}

/* ---- Into the result ---- */

static void put_reason(struct benchmark *b, const char *reason)
{
	b->status = BENCHMARK_INCOMPLETE;
	benchmark_note(b, "%s", reason);
}

/* What memtrack could not see, unless the benchmark was over by then; returns whether it missed some. */
static bool put_gaps(const struct loading *l, struct benchmark *b, const struct plan *plan)
{
	const struct heap_gaps *gaps = &l->artifacts.supplement.gaps;
	size_t told = 0;
	bool missed = false;

	for (size_t i = 0; i < gaps->list.len; i++) {
		const struct heap_gap *gap = &gaps->list.items[i];

		if (gap->from > plan->end)
			continue;
		missed |= !gap->remark;
		if (told++ < GAPS_TOLD)
			benchmark_note(b, "%s", gap->text);
	}
	if (told > GAPS_TOLD)
		benchmark_note(b, "and %zu more of this kind", told - GAPS_TOLD);
	if (missed)
		b->status = BENCHMARK_INCOMPLETE;
	return missed;
}

/* Why the figures may be too small, or are none; returns whether there are any. */
static bool put_reasons(const struct loading *l, struct benchmark *b, const struct plan *plan)
{
	const struct strvec *flaws = &l->artifacts.flaws;
	bool missed = put_gaps(l, b, plan);

	for (size_t i = 0; i < flaws->len; i++)
		put_reason(b, flaws->items[i]);
	if (!plan->windows)
		put_reason(b, "nothing says when it ran: its SampleStart and SampleEnd are missing");
	else if (!l->artifacts.count)
		put_reason(b, "memtrack's file is missing in the folder results");
	else if (!l->summary->events && !flaws->len && !missed)
		put_reason(b, "not one heap call was recorded: the allocator is unknown, or none "
			      "was called");
	if (plan->open)
		put_reason(b, "nothing says when it ended: what the run did after it counts too");
	return plan->windows && l->summary->events;
}

static bool saw_nothing(const struct heap_benchmark *from)
{
	return !from->allocations && !from->frees && !from->mmaps;
}

static void put_remarks(const struct loading *l, struct benchmark *b, const struct plan *plan,
			const struct heap_benchmark *from)
{
	struct heap_summary heap = heap_summary(l->heap);

	if (saw_nothing(from))
		benchmark_note(b, "no heap call was seen in its window");
	if (plan->windows > 1)
		benchmark_note(b, "ran %zu times; the peak is the highest, all else the sum",
			       plan->windows);
	if (l->artifacts.count > 1)
		benchmark_note(b, "the events of %zu files were merged by their time",
			       l->artifacts.count);
	if (l->artifacts.alone && heap.processes > 1)
		benchmark_note(b, "when its %zu processes ended is not known (an old memtrack): the peak "
				  "is a sum over all of them", heap.processes);
	if (heap.late)
		benchmark_note(b, "events of the run that came too late to be put in order: %" PRIu64
				  "; the figures may be a little off", heap.late);
	if (heap.replaced)
		benchmark_note(b, "blocks of the run that were given out again without a free that was "
				  "seen: %" PRIu64 "; the peak may be too high", heap.replaced);
	if (heap.unknown_old)
		benchmark_note(b, "reallocs of the run that do not say which block they end (an old "
				  "memtrack): %" PRIu64 "; peak and leaked are too high",
			       heap.unknown_old);
}

/* An integration's URI is text of its own; a harness has escaped what it names. As in simulation. */
static char *uri_dup(const char *uri)
{
	return str_starts(uri, RESULT_HARNESS_URI) ? xstrdup(uri) : text_escape_dup(uri);
}

struct benchmark *memory_profile_find(const struct result *result, const char *uri)
{
	char *shown = uri_dup(uri);
	struct benchmark *found = NULL;

	for (size_t i = 0; i < result->benchmarks.len && !found; i++)
		if (str_eq(result->benchmarks.items[i].uri, shown))
			found = &result->benchmarks.items[i];
	free(shown);
	return found;
}

static void put_benchmark(const struct loading *l, struct result *result, uint32_t id)
{
	const struct plan *plan = &l->plans.items[id];
	const struct heap_benchmark *from = heap_benchmark(l->heap, id);
	char *uri = uri_dup(intern_text(&l->uris, id));
	struct benchmark *b = result_add(result, MODE_MEMORY, uri, result_name_of_uri(uri));

	if (put_reasons(l, b, plan)) {
		put_figures(b, from);
		put_remarks(l, b, plan, from);
	}
	free(uri);
}

static void warn_of_flaws(const struct strvec *flaws)
{
	for (size_t i = 0; i < flaws->len; i++)
		log_warn("%s", flaws->items[i]);
}

static void loading_release(struct loading *l)
{
	heap_free(l->heap);
	artifacts_release(&l->artifacts);
	intern_release(&l->uris);
	vec_release(&l->plans);
	vec_release(&l->windows);
}

int memory_profile_load(struct result *result, const char *folder,
			struct memory_profile_summary *summary)
{
	struct loading l = {.summary = summary};
	int rc;

	*summary = (struct memory_profile_summary){0};
	intern_init(&l.uris);
	rc = load_timestamps(&l, folder);
	if (!rc)
		rc = artifacts_open(&l.artifacts, folder);
	if (!rc) {
		replay(&l);
		for (uint32_t id = 0; id < l.plans.len; id++)
			put_benchmark(&l, result, id);
		if (!l.plans.len)
			warn_of_flaws(&l.artifacts.flaws);
	}
	loading_release(&l);
	return rc;
}
