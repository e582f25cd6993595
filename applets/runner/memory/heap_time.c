/* SPDX-License-Identifier: MIT */
/* heap_time.c - the heap model's time: windows open and close, processes end */
#include "applets/runner/memory/heap_model.h"
#include "core/base.h"

static struct heap_timeline *timeline_of(struct heap *h)
{
	size_t index;

	if (h->current == &h->nobody)
		return NULL;
	index = (size_t)(h->current - h->benchmarks);
	if (!h->timelines[index]) {
		h->timelines[index] = xmalloc(sizeof(struct heap_timeline));
		heap_timeline_init(h->timelines[index]);
	}
	return h->timelines[index];
}

void heap_set_bytes(struct heap *h, uint64_t bytes)
{
	struct heap_timeline *t = timeline_of(h);

	if (t) {
		const struct heap_window *w = &h->windows.items[h->window - 1];

		heap_timeline_note(t, h->elapsed[w->benchmark] + (h->now - w->start),
				   h->window_bytes, bytes);
	}
	h->window_bytes = bytes;
	if (bytes > h->current->peak_bytes)
		h->current->peak_bytes = bytes;
}

static void open_window(struct heap *h, size_t index)
{
	const struct heap_window *w = &h->windows.items[index];

	h->window = (uint32_t)index + 1;
	h->current = &h->benchmarks[w->benchmark];
	h->now = w->start;
	h->window_bytes = h->window_blocks = 0;
	h->current->windows++;
	heap_set_bytes(h, 0);
}

static void close_window(struct heap *h, uint64_t at)
{
	const struct heap_window *w = &h->windows.items[h->window - 1];

	h->now = at;
	heap_set_bytes(h, h->window_bytes);
	h->elapsed[w->benchmark] += at - w->start;
	h->current->leaked_bytes += h->window_bytes;
	h->current->leaked_blocks += h->window_blocks;
	h->window = 0;
	h->current = &h->nobody;
	h->window_bytes = h->window_blocks = 0;
}

static void pass_windows(struct heap *h, uint64_t to)
{
	for (;;) {
		if (h->window && h->windows.items[h->window - 1].end < to)
			close_window(h, h->windows.items[h->window - 1].end);
		if (h->window || h->next_window == h->windows.len ||
		    h->windows.items[h->next_window].start > to)
			break;
		open_window(h, h->next_window++);
	}
	h->now = to;
}

struct process *heap_process(struct heap *h, int32_t pid)
{
	struct heap_block *known;

	if (h->latest < h->processes.len && h->processes.items[h->latest].pid == pid)
		return &h->processes.items[h->latest];
	known = heap_blocks_put(&h->by_pid, heap_key(pid));
	if (!known->window) {
		known->window = 1;
		known->size = h->processes.len;
		vec_push(&h->processes, (struct process){.pid = pid});
	}
	h->latest = (size_t)known->size;
	return &h->processes.items[h->latest];
}

static void end_life(struct heap *h, const struct heap_life *life)
{
	const struct heap_block *known = heap_blocks_find(&h->by_pid, heap_key(life->pid));
	uint64_t bytes = 0, blocks = 0;
	struct process *p;

	if (!known)
		return; /* it has never allocated */
	p = &h->processes.items[known->size];
	for (size_t i = 0; i < p->blocks.size && h->window; i++)
		if (p->blocks.slots[i].addr && p->blocks.slots[i].window == h->window) {
			bytes += p->blocks.slots[i].size;
			blocks++;
		}
	h->current->leaked_bytes += bytes;
	h->current->leaked_blocks += blocks;
	h->window_blocks -= blocks;
	heap_set_bytes(h, h->window_bytes - bytes);
	heap_blocks_release(&p->blocks);
	heap_blocks_release(&p->threads);
}

void heap_pass_time(struct heap *h, uint64_t to)
{
	while (h->next_life < h->lives.len && h->lives.items[h->next_life].timestamp < to) {
		const struct heap_life *life = &h->lives.items[h->next_life++];

		if (life->timestamp > h->now)
			pass_windows(h, life->timestamp);
		end_life(h, life);
	}
	if (to > h->now)
		pass_windows(h, to);
}

/* Those that are still open or to come; one without an end ends with the last event. */
void heap_end_windows(struct heap *h)
{
	if (h->lives.len)
		heap_pass_time(h, vec_last(&h->lives)->timestamp + 1);
	for (;;) {
		if (h->window) {
			uint64_t end = h->windows.items[h->window - 1].end;

			close_window(h, end == UINT64_MAX ? h->now : end);
		}
		if (h->next_window == h->windows.len)
			break;
		open_window(h, h->next_window++);
	}
}
