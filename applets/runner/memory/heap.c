/* SPDX-License-Identifier: MIT */
/* heap.c - the heap model: from events to the figures of benchmarks */
#include "applets/runner/memory/heap_model.h"
#include "core/base.h"

static int by_start(const void *a, const void *b)
{
	const struct heap_window *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int by_time(const void *a, const void *b)
{
	const struct heap_life *x = a, *y = b;

	return x->timestamp < y->timestamp ? -1 : x->timestamp > y->timestamp;
}

static void copy_windows(struct heap *h, const struct heap_window *windows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (windows[i].end >= windows[i].start && windows[i].benchmark < h->benchmark_count)
			vec_push(&h->windows, windows[i]);
	if (h->windows.len)
		qsort(h->windows.items, h->windows.len, sizeof(*windows), by_start);
	for (size_t i = 0; i + 1 < h->windows.len; i++) {
		struct heap_window *w = &h->windows.items[i];

		if (w->end >= w[1].start && w[1].start > w->start)
			w->end = w[1].start - 1;
		else if (w->end >= w[1].start)
			w->end = w->start; /* both start at once */
	}
}

struct heap *heap_new(const struct heap_window *windows, size_t window_count,
		      size_t benchmark_count)
{
	struct heap *h = xcalloc(1, sizeof(*h));

	h->benchmark_count = benchmark_count;
	h->benchmarks = xcalloc(benchmark_count, sizeof(*h->benchmarks));
	h->timelines = xcalloc(benchmark_count, sizeof(*h->timelines));
	h->elapsed = xcalloc(benchmark_count, sizeof(*h->elapsed));
	h->current = &h->nobody;
	copy_windows(h, windows, window_count);
	for (size_t i = 0; i < HEAP_REORDER_EVENTS; i++)
		h->reorder.order[i] = (uint16_t)i;
	return h;
}

void heap_set_lives(struct heap *h, const struct heap_life *lives, size_t count)
{
	for (size_t i = 0; i < count; i++)
		vec_push(&h->lives, lives[i]);
	if (h->lives.len)
		qsort(h->lives.items, h->lives.len, sizeof(*lives), by_time);
}

void heap_add(struct heap *h, const struct heap_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (heap_reorder_full(&h->reorder))
			heap_replay(h, heap_reorder_take(&h->reorder));
		heap_reorder_put(&h->reorder, &events[i]);
	}
}

void heap_finish(struct heap *h)
{
	while (h->reorder.count)
		heap_replay(h, heap_reorder_take(&h->reorder));
	heap_end_windows(h);
	for (size_t i = 0; i < h->benchmark_count; i++)
		if (h->timelines[i])
			heap_timeline_points(h->timelines[i], &h->benchmarks[i]);
}

const struct heap_benchmark *heap_benchmark(const struct heap *h, size_t index)
{
	return &h->benchmarks[index];
}

struct heap_summary heap_summary(const struct heap *h)
{
	struct heap_summary summary = h->summary;

	summary.processes = h->processes.len;
	return summary;
}

void heap_free(struct heap *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->processes.len; i++) {
		heap_blocks_release(&h->processes.items[i].blocks);
		heap_blocks_release(&h->processes.items[i].threads);
	}
	for (size_t i = 0; i < h->benchmark_count; i++) {
		free(h->timelines[i]);
		vec_release(&h->benchmarks[i].timeline);
	}
	vec_release(&h->windows);
	vec_release(&h->lives);
	vec_release(&h->processes);
	heap_blocks_release(&h->by_pid);
	free(h->benchmarks);
	free(h->timelines);
	free(h->elapsed);
	free(h);
}
