/* SPDX-License-Identifier: MIT */
/* heap_replay.c - the heap model's blocks: what each event does to them */
#include "applets/runner/memory/heap_model.h"
#include "core/base.h"

/* No block is larger: sums of such sizes do not wrap where a file is damaged. */
#define LARGEST (1ull << 47)

/* What a thread did last. */
enum thread_act { DID_NOTHING, DID_ALLOCATE, DID_FREE };

/* An event, with all that it is about. */
struct act {
	struct heap *heap;
	struct process *process;
	struct heap_block *thread; /* its last act */
	const struct heap_event *event;
};

/* The block is not there any more; what the window has of it ends. */
static void forget(struct heap *h, struct process *p, struct heap_block *block)
{
	if (h->window && block->window == h->window) {
		h->window_blocks--;
		heap_set_bytes(h, h->window_bytes - block->size);
	}
	heap_blocks_remove(&p->blocks, block);
}

static bool just_did(const struct act *a, enum thread_act what, uint64_t addr)
{
	return a->thread->window == (uint32_t)what && a->thread->size == addr;
}

static void did(struct act *a, enum thread_act what, uint64_t addr)
{
	a->thread->window = (uint32_t)what;
	a->thread->size = addr;
}

static void count_allocation(struct heap_benchmark *b, uint64_t size, int64_t sign)
{
	struct heap_size_class *class = &b->classes[heap_size_class(size)];

	b->allocations += (uint64_t)sign;
	b->total_bytes += (uint64_t)sign * size;
	class->allocations += (uint64_t)sign;
	class->bytes += (uint64_t)sign * size;
}

static bool told_twice(struct act *a, struct heap_block *block, uint64_t size)
{
	struct heap *h = a->heap;

	if (!block || !just_did(a, DID_ALLOCATE, block->addr))
		return false;
	h->summary.twice++;
	if (h->window && block->window == h->window) {
		count_allocation(h->current, block->size, -1);
		count_allocation(h->current, size, 1);
		heap_set_bytes(h, h->window_bytes - block->size + size);
	}
	block->size = size;
	return true;
}

static void allocate(struct act *a, uint64_t addr, uint64_t size)
{
	struct heap *h = a->heap;
	struct heap_block *block = heap_blocks_find(&a->process->blocks, addr);
	bool displaced;

	if (told_twice(a, block, size))
		return;
	displaced = block && block->tid != a->event->tid;
	if (block) {
		h->summary.replaced += !displaced && h->window && block->window == h->window;
		forget(h, a->process, block);
	}
	block = heap_blocks_put(&a->process->blocks, addr);
	block->size = size;
	block->tid = a->event->tid;
	block->window = h->window;
	block->displaced = displaced;
	if (h->window) {
		count_allocation(h->current, size, 1);
		h->window_blocks++;
		heap_set_bytes(h, h->window_bytes + size);
	}
	did(a, DID_ALLOCATE, addr);
}

/*
 * A realloc is seen when it returns, and its old block may by then belong to another thread, whose
 * allocation has displaced it here: that one stays.
 */
static bool is_displaced(struct act *a, struct heap_block *block)
{
	bool other = a->event->kind == HEAP_REALLOC && block->displaced &&
		     block->tid != a->event->tid;

	block->displaced = false;
	return other;
}

static void release(struct act *a, uint64_t addr)
{
	struct heap *h = a->heap;
	struct heap_block *block = heap_blocks_find(&a->process->blocks, addr);

	if (!block && just_did(a, DID_FREE, addr)) {
		h->summary.twice++;
		return;
	}
	h->current->frees++;
	h->current->foreign_frees += !block;
	if (block && !is_displaced(a, block)) {
		h->current->temporary_allocations += block->window == h->window &&
						     just_did(a, DID_ALLOCATE, addr);
		forget(h, a->process, block);
	}
	did(a, DID_FREE, addr);
}

static void reallocate(struct act *a, uint64_t size)
{
	const struct heap_event *e = a->event;

	if (!e->addr && e->size)
		return; /* failed: the old block is as before */
	a->heap->summary.unknown_old += !e->old_known;
	if (e->old_known && e->old_addr)
		release(a, e->old_addr);
	if (e->addr)
		allocate(a, e->addr, size);
}

void heap_replay(struct heap *h, const struct heap_event *e)
{
	uint64_t size = e->size < LARGEST ? e->size : LARGEST;
	struct act a = {.heap = h, .event = e};

	h->summary.events++;
	h->summary.late += e->timestamp < h->now;
	heap_pass_time(h, e->timestamp);
	h->summary.outside += !h->window;
	a.process = heap_process(h, e->pid);
	a.thread = heap_blocks_put(&a.process->threads, heap_key(e->tid));
	switch (e->kind) {
	case HEAP_MALLOC:
	case HEAP_CALLOC:
	case HEAP_ALIGNED_ALLOC:
		if (e->addr)
			allocate(&a, e->addr, size);
		break;
	case HEAP_FREE:
		if (e->addr)
			release(&a, e->addr);
		break;
	case HEAP_REALLOC:
		reallocate(&a, size);
		break;
	default:
		h->current->mmaps++;
	}
}
