/* SPDX-License-Identifier: MIT */
/* test_heap.c - the heap model, against figures that were worked out by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "applets/runner/memory/heap.h"
#include "applets/runner/memory/heap_blocks.h"
#include "applets/runner/memory/heap_timeline.h"
#include "core/base.h"
#include <cmocka.h>
#undef fail

/* A program whose acts follow each other, one every 10 ns. */
struct player {
	struct heap *heap;
	uint64_t now;
	int32_t pid, tid;
};

static void act_at(struct player *p, uint64_t timestamp, enum heap_event_kind kind, uint64_t addr,
		   uint64_t size, uint64_t old_addr)
{
	struct heap_event e = {
		.timestamp = timestamp, .addr = addr, .size = size, .old_addr = old_addr,
		.pid = p->pid, .tid = p->tid, .kind = (uint8_t)kind,
		.old_known = kind == HEAP_REALLOC,
	};

	heap_add(p->heap, &e, 1);
}

static void act(struct player *p, enum heap_event_kind kind, uint64_t addr, uint64_t size,
		uint64_t old_addr)
{
	act_at(p, p->now += 10, kind, addr, size, old_addr);
}

static void allocate(struct player *p, uint64_t addr, uint64_t size)
{
	act(p, HEAP_MALLOC, addr, size, 0);
}

static void release(struct player *p, uint64_t addr)
{
	act(p, HEAP_FREE, addr, 0, 0);
}

static void move(struct player *p, uint64_t from, uint64_t to, uint64_t size)
{
	act(p, HEAP_REALLOC, to, size, from);
}

static struct player one_window(void)
{
	struct heap_window w = {.start = 0, .end = UINT64_MAX};

	return (struct player){.heap = heap_new(&w, 1, 1), .pid = 10, .tid = 10};
}

static const struct heap_benchmark *finish(struct player *p)
{
	heap_finish(p->heap);
	return heap_benchmark(p->heap, 0);
}

#define EXPECT(b, peak, total, made, freed, left, blocks)                                       \
	do {                                                                                    \
		assert_int_equal((b)->peak_bytes, peak);                                        \
		assert_int_equal((b)->total_bytes, total);                                      \
		assert_int_equal((b)->allocations, made);                                       \
		assert_int_equal((b)->frees, freed);                                            \
		assert_int_equal((b)->leaked_bytes, left);                                      \
		assert_int_equal((b)->leaked_blocks, blocks);                                   \
	} while (0)

/* M01: 1000 blocks of 1 to 1000 bytes, every second one freed. */
static void the_allocator_matrix(void **state UNUSED)
{
	struct player p = one_window();
	const struct heap_benchmark *b;

	for (uint64_t i = 1; i <= 1000; i++)
		allocate(&p, 0x1000 * i, i);
	for (uint64_t i = 2; i <= 1000; i += 2)
		release(&p, 0x1000 * i);
	b = finish(&p);
	EXPECT(b, 500500, 500500, 1000, 500, 250000, 500);
	assert_int_equal(b->temporary_allocations, 0);
	assert_int_equal(b->foreign_frees, 0);
	assert_int_equal(b->windows, 1);
	heap_free(p.heap);
}

static void all_kinds_of_allocation_count_the_same(void **state UNUSED)
{
	struct player p = one_window();

	act(&p, HEAP_CALLOC, 0x1000, 100, 0);
	act(&p, HEAP_ALIGNED_ALLOC, 0x2000, 200, 0);
	act(&p, HEAP_REALLOC, 0x3000, 300, 0);
	act(&p, HEAP_MMAP, 0x9000, 4096, 0);
	act(&p, HEAP_MUNMAP, 0x9000, 4096, 0);
	act(&p, HEAP_BRK, 0xa000, 0, 0);
	EXPECT(finish(&p), 600, 600, 3, 0, 600, 3);
	assert_int_equal(heap_benchmark(p.heap, 0)->mmaps, 3);
	heap_free(p.heap);
}

/* M03: grown in steps, shrunk to 1, freed. */
static void a_realloc_ends_the_old_block(void **state UNUSED)
{
	struct player p = one_window();
	const struct heap_benchmark *b;

	move(&p, 0, 0x1000, 123);
	move(&p, 0x1000, 0x1000, 1000); /* in place */
	move(&p, 0x1000, 0x2000, 5000);
	move(&p, 0x2000, 0x3000, 1);
	b = finish(&p);
	EXPECT(b, 5000, 6124, 4, 3, 1, 1);
	assert_int_equal(b->temporary_allocations, 3);
	heap_free(p.heap);
}

static void a_realloc_that_fails_changes_nothing(void **state UNUSED)
{
	struct player p = one_window();

	allocate(&p, 0x1000, 10);
	move(&p, 0x1000, 0, 1ull << 40);
	EXPECT(finish(&p), 10, 10, 1, 0, 10, 1);
	heap_free(p.heap);
}

static void a_realloc_to_nothing_frees(void **state UNUSED)
{
	struct player p = one_window();

	allocate(&p, 0x1000, 10);
	move(&p, 0x1000, 0, 0);
	EXPECT(finish(&p), 10, 10, 1, 1, 0, 0);
	heap_free(p.heap);
}

static void a_realloc_of_old_does_not_tell_the_block_before(void **state UNUSED)
{
	struct player p = one_window();
	struct heap_event e = {.timestamp = 100, .addr = 0x2000, .size = 20, .pid = 10, .tid = 10,
			       .kind = HEAP_REALLOC};

	allocate(&p, 0x1000, 10);
	heap_add(p.heap, &e, 1);
	EXPECT(finish(&p), 30, 30, 2, 0, 30, 2);
	assert_int_equal(heap_summary(p.heap).unknown_old, 1);
	heap_free(p.heap);
}

static void null_is_no_block(void **state UNUSED)
{
	struct player p = one_window();

	allocate(&p, 0, 10);
	release(&p, 0);
	move(&p, 0, 0, 10);
	EXPECT(finish(&p), 0, 0, 0, 0, 0, 0);
	heap_free(p.heap);
}

static void temporary_is_freed_by_the_next_event_of_the_thread(void **state UNUSED)
{
	struct player p = one_window(), other = {.heap = p.heap, .pid = 10, .tid = 11, .now = 5};

	allocate(&p, 0x1000, 10);
	allocate(&other, 0x2000, 10); /* in between, but of another thread */
	release(&p, 0x1000);          /* temporary */
	release(&other, 0x2000);      /* temporary */
	allocate(&p, 0x3000, 10);
	allocate(&p, 0x4000, 10);
	release(&p, 0x3000);     /* not */
	release(&p, 0x4000);     /* not */
	allocate(&p, 0x5000, 10);
	other.now = p.now;
	release(&other, 0x5000); /* not: another thread's next event */
	assert_int_equal(finish(&p)->temporary_allocations, 2);
	heap_free(p.heap);
}

static void told_twice_counts_once(void **state UNUSED)
{
	struct player p = one_window();

	allocate(&p, 0x1000, 112); /* malloc, that operator new called */
	allocate(&p, 0x1000, 100);
	release(&p, 0x1000);
	release(&p, 0x1000); /* free, that operator delete called */
	allocate(&p, 0x1000, 50);
	EXPECT(finish(&p), 112, 150, 2, 1, 50, 1);
	assert_int_equal(heap_summary(p.heap).twice, 2);
	assert_int_equal(heap_summary(p.heap).replaced, 0);
	assert_int_equal(heap_benchmark(p.heap, 0)->classes[heap_size_class(112)].allocations, 1);
	heap_free(p.heap);
}

static void an_allocation_at_a_live_address_replaces_the_block(void **state UNUSED)
{
	struct player p = one_window();

	allocate(&p, 0x1000, 100);
	allocate(&p, 0x2000, 7);
	allocate(&p, 0x1000, 30); /* the free in between was lost */
	EXPECT(finish(&p), 107, 137, 3, 0, 37, 2);
	assert_int_equal(heap_summary(p.heap).replaced, 1);
	heap_free(p.heap);
}

/* A realloc is seen when it returns; by then another thread may have its old block. */
static void a_block_taken_over_during_a_realloc_stays(void **state UNUSED)
{
	struct player p = one_window(), other = {.heap = p.heap, .pid = 10, .tid = 11};
	const struct heap_benchmark *b;

	allocate(&p, 0x1000, 100);
	other.now = p.now;
	allocate(&other, 0x1000, 8);
	p.now = other.now;
	move(&p, 0x1000, 0x2000, 200);
	release(&p, 0x1000);
	b = finish(&p);
	EXPECT(b, 208, 308, 3, 2, 200, 1);
	assert_int_equal(b->foreign_frees, 0);
	heap_free(p.heap);
}

/* ---- Time ---- */

static void events_out_of_order_are_put_right(void **state UNUSED)
{
	struct player p = one_window();

	act_at(&p, 200, HEAP_FREE, 0x1000, 0, 0);
	act_at(&p, 100, HEAP_MALLOC, 0x1000, 10, 0);
	act_at(&p, 300, HEAP_MALLOC, 0x1000, 20, 0);
	act_at(&p, 250, HEAP_MALLOC, 0x2000, 5, 0);
	EXPECT(finish(&p), 25, 35, 3, 1, 25, 2);
	assert_int_equal(heap_summary(p.heap).late, 0);
	assert_int_equal(heap_benchmark(p.heap, 0)->temporary_allocations, 1);
	heap_free(p.heap);
}

static void events_of_one_time_keep_their_order(void **state UNUSED)
{
	struct player p = one_window();

	for (uint64_t i = 0; i < 3; i++) {
		act_at(&p, 100, HEAP_MALLOC, 0x1000, 10, 0);
		act_at(&p, 100, HEAP_FREE, 0x1000, 0, 0);
	}
	EXPECT(finish(&p), 10, 30, 3, 3, 0, 0);
	heap_free(p.heap);
}

static void what_comes_too_late_is_counted_and_taken(void **state UNUSED)
{
	struct player p = one_window();
	const struct heap_benchmark *b;

	p.now = 1000;
	for (uint64_t i = 0; i < HEAP_REORDER_EVENTS + 1; i++)
		allocate(&p, 0x10000 + i * 16, 1);
	act_at(&p, 1, HEAP_MALLOC, 0x1000, 1000, 0);
	act_at(&p, 2, HEAP_FREE, 0x1000, 0, 0);
	b = finish(&p);
	assert_int_equal(heap_summary(p.heap).late, 2);
	assert_int_equal(b->allocations, HEAP_REORDER_EVENTS + 2);
	assert_int_equal(b->frees, 1);
	assert_int_equal(b->leaked_blocks, HEAP_REORDER_EVENTS + 1);
	heap_free(p.heap);
}

static void a_window_counts_what_was_allocated_in_it(void **state UNUSED)
{
	/* Given in the wrong order on purpose. */
	static const struct heap_window windows[] = {{300, 399, 1}, {100, 200, 0}};
	struct player p = {.heap = heap_new(windows, 2, 3), .pid = 10, .tid = 10};
	const struct heap_benchmark *b;

	act_at(&p, 50, HEAP_MALLOC, 0x1000, 1000, 0); /* before */
	act_at(&p, 100, HEAP_MALLOC, 0x2000, 20, 0);
	act_at(&p, 110, HEAP_FREE, 0x1000, 0, 0);
	act_at(&p, 120, HEAP_MALLOC, 0x3000, 30, 0);
	act_at(&p, 200, HEAP_FREE, 0x2000, 0, 0);
	act_at(&p, 250, HEAP_MALLOC, 0x4000, 40, 0); /* between */
	act_at(&p, 300, HEAP_FREE, 0x3000, 0, 0);
	act_at(&p, 310, HEAP_MALLOC, 0x5000, 50, 0);
	act_at(&p, 400, HEAP_FREE, 0x5000, 0, 0); /* after */
	heap_finish(p.heap);
	b = heap_benchmark(p.heap, 0);
	EXPECT(b, 50, 50, 2, 2, 30, 1);
	assert_int_equal(b->foreign_frees, 0);
	assert_int_equal(b->temporary_allocations, 0);
	b = heap_benchmark(p.heap, 1);
	EXPECT(b, 50, 50, 1, 1, 50, 1);
	b = heap_benchmark(p.heap, 2); /* has no window */
	EXPECT(b, 0, 0, 0, 0, 0, 0);
	assert_int_equal(b->windows, 0);
	assert_int_equal(heap_summary(p.heap).outside, 3);
	heap_free(p.heap);
}

static void windows_of_one_benchmark_add_up(void **state UNUSED)
{
	static const struct heap_window windows[] = {{100, 199, 0}, {200, 299, 0}, {900, 999, 0}};
	struct player p = {.heap = heap_new(windows, 3, 1), .pid = 10, .tid = 10};
	const struct heap_benchmark *b;

	act_at(&p, 110, HEAP_MALLOC, 0x1000, 100, 0);
	act_at(&p, 210, HEAP_MALLOC, 0x2000, 60, 0);
	act_at(&p, 220, HEAP_FREE, 0x2000, 0, 0);
	act_at(&p, 230, HEAP_FREE, 0x1000, 0, 0);
	heap_finish(p.heap);
	b = heap_benchmark(p.heap, 0);
	EXPECT(b, 100, 160, 2, 2, 100, 1);
	assert_int_equal(b->windows, 3);
	heap_free(p.heap);
}

static void overlapping_windows_are_cut(void **state UNUSED)
{
	static const struct heap_window windows[] = {
		{100, 500, 0}, {200, 300, 1}, {200, 250, 2}, {700, 600, 1}, {0, 50, 9},
	};
	struct player p = {.heap = heap_new(windows, 5, 3), .pid = 10, .tid = 10};

	act_at(&p, 150, HEAP_MALLOC, 0x1000, 1, 0);
	act_at(&p, 280, HEAP_MALLOC, 0x2000, 2, 0);
	act_at(&p, 450, HEAP_MALLOC, 0x3000, 4, 0);
	heap_finish(p.heap);
	assert_int_equal(heap_benchmark(p.heap, 0)->total_bytes, 1);
	assert_int_equal(heap_benchmark(p.heap, 1)->total_bytes, 2);
	assert_int_equal(heap_benchmark(p.heap, 2)->total_bytes, 0);
	assert_int_equal(heap_summary(p.heap).outside, 1);
	heap_free(p.heap);
}

/* ---- Processes ---- */

/*
 * M14: a parent with 1000 blocks, four children that free 500 of them each and allocate 200; then
 * the parent frees all of its own.
 */
static void children_have_their_own_blocks(void **state UNUSED)
{
	struct player parent = one_window();
	const struct heap_benchmark *b;

	for (uint64_t i = 1; i <= 1000; i++)
		allocate(&parent, 0x1000 * i, 10);
	for (int32_t c = 1; c <= 4; c++) {
		struct player child = {.heap = parent.heap, .pid = 10 + c, .tid = 10 + c};

		child.now = parent.now;
		for (uint64_t i = 1; i <= 500; i++)
			release(&child, 0x1000 * i);
		for (uint64_t i = 1; i <= 200; i++)
			allocate(&child, 0x1000 * i, 1);
		parent.now = child.now;
	}
	for (uint64_t i = 1; i <= 1000; i++)
		release(&parent, 0x1000 * i);
	b = finish(&parent);
	EXPECT(b, 10800, 10800, 1800, 3000, 800, 800);
	assert_int_equal(b->foreign_frees, 2000);
	assert_int_equal(heap_summary(parent.heap).processes, 5);
	assert_int_equal(heap_summary(parent.heap).replaced, 0);
	heap_free(parent.heap);
}

/* Ten children, one after the other, that leave 1000 bytes each to their exit. */
static uint64_t peak_of_children(bool exits_known)
{
	struct heap_life lives[10];
	struct player p = one_window();
	uint64_t peak;

	for (int i = 0; i < 10; i++)
		lives[i] = (struct heap_life){.timestamp = 105 + 100 * (uint64_t)i, .pid = 20 + i};
	if (exits_known)
		heap_set_lives(p.heap, lives, ARRAY_SIZE(lives));
	for (int i = 0; i < 10; i++) {
		p.pid = p.tid = 20 + i;
		p.now = 90 + 100 * (uint64_t)i;
		allocate(&p, 0x1000, 1000);
	}
	peak = finish(&p)->peak_bytes;
	assert_int_equal(heap_benchmark(p.heap, 0)->leaked_bytes, 10000);
	assert_int_equal(heap_benchmark(p.heap, 0)->leaked_blocks, 10);
	heap_free(p.heap);
	return peak;
}

static void blocks_end_with_their_process_where_that_is_known(void **state UNUSED)
{
	assert_int_equal(peak_of_children(true), 1000);
	assert_int_equal(peak_of_children(false), 10000);
}

static void an_exec_makes_the_addresses_new(void **state UNUSED)
{
	struct heap_life exec = {.timestamp = 15, .pid = 10};
	struct player p = one_window();

	heap_set_lives(p.heap, &exec, 1);
	allocate(&p, 0x1000, 100);
	allocate(&p, 0x1000, 30);
	release(&p, 0x1000);
	EXPECT(finish(&p), 100, 130, 2, 1, 100, 1);
	assert_int_equal(heap_summary(p.heap).replaced, 0);
	assert_int_equal(heap_summary(p.heap).twice, 0);
	heap_free(p.heap);
}

/* ---- Sizes and time lines ---- */

static void sizes_have_classes(void **state UNUSED)
{
	static const struct {
		uint64_t size, class;
	} cases[] = {
		{0, 0}, {1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {8, 8}, {1000, 1024}, {1024, 1024},
		{1025, 2048}, {1ull << 63, 1ull << 63}, {UINT64_MAX, 1ull << 63},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(heap_class_bytes(heap_size_class(cases[i].size)), cases[i].class);
}

static void allocations_are_counted_by_class(void **state UNUSED)
{
	struct player p = one_window();
	const struct heap_benchmark *b;

	allocate(&p, 0x1000, 0);
	allocate(&p, 0x2000, 100);
	allocate(&p, 0x3000, 128);
	move(&p, 0x3000, 0x4000, 300);
	b = finish(&p);
	assert_int_equal(b->classes[0].allocations, 1);
	assert_int_equal(b->classes[8].allocations, 2);
	assert_int_equal(b->classes[8].bytes, 228);
	assert_int_equal(b->classes[10].allocations, 1);
	assert_int_equal(b->classes[10].bytes, 300);
	heap_free(p.heap);
}

static void a_size_beyond_all_memory_is_no_overflow(void **state UNUSED)
{
	struct player p = one_window();
	const struct heap_benchmark *b;

	allocate(&p, 0x1000, UINT64_MAX);
	allocate(&p, 0x2000, UINT64_MAX);
	release(&p, 0x1000);
	b = finish(&p);
	assert_int_equal(b->peak_bytes, 1ull << 48);
	assert_int_equal(b->leaked_bytes, 1ull << 47);
	heap_free(p.heap);
}

static void the_time_line_shows_levels_and_returns_to_them(void **state UNUSED)
{
	static const struct heap_window windows[] = {{1000000, 2000000, 0}};
	struct player p = {.heap = heap_new(windows, 1, 1), .pid = 10, .tid = 10};
	const struct heap_benchmark *b;

	act_at(&p, 1100000, HEAP_MALLOC, 0x1000, 100, 0);
	act_at(&p, 1500000, HEAP_MALLOC, 0x2000, 50, 0);
	act_at(&p, 1500001, HEAP_FREE, 0x2000, 0, 0);
	act_at(&p, 1800000, HEAP_FREE, 0x1000, 0, 0);
	heap_finish(p.heap);
	b = heap_benchmark(p.heap, 0);
	/* A millisecond in steps of 4096 ns. */
	assert_int_equal(b->timeline.len, 5);
	assert_int_equal(b->timeline.items[0].ns, 0);
	assert_int_equal(b->timeline.items[0].live_bytes, 0);
	assert_int_equal(b->timeline.items[1].ns, 100000 / 4096 * 4096);
	assert_int_equal(b->timeline.items[1].live_bytes, 100);
	assert_int_equal(b->timeline.items[2].ns, 500000 / 4096 * 4096);
	assert_int_equal(b->timeline.items[2].live_bytes, 150);
	assert_int_equal(b->timeline.items[3].ns, 500000 / 4096 * 4096 + 4096);
	assert_int_equal(b->timeline.items[3].live_bytes, 100);
	assert_int_equal(b->timeline.items[4].ns, 800000 / 4096 * 4096 + 4096);
	assert_int_equal(b->timeline.items[4].live_bytes, 0);
	heap_free(p.heap);
}

static void the_time_line_is_bounded_and_has_the_peak(void **state UNUSED)
{
	struct player p = one_window();
	const struct heap_benchmark *b;
	uint64_t most = 0;

	for (uint64_t i = 1; i <= 20000; i++) {
		p.now += i * 100;
		if (i % 3)
			allocate(&p, 0x1000 * i, i * 7 % 1000);
		else
			release(&p, 0x1000 * (i - 1));
	}
	b = finish(&p);
	assert_true(b->timeline.len <= HEAP_TIMELINE_POINTS);
	assert_true(b->timeline.len > HEAP_TIMELINE_POINTS / 4);
	for (size_t i = 0; i < b->timeline.len; i++) {
		most = b->timeline.items[i].live_bytes > most ? b->timeline.items[i].live_bytes : most;
		assert_true(i == 0 || b->timeline.items[i].ns > b->timeline.items[i - 1].ns);
	}
	assert_int_equal(most, b->peak_bytes);
	heap_free(p.heap);
}

/* ---- The table ---- */

/* Against an array as the plain truth, with addresses that collide and in both directions. */
static void the_table_keeps_what_is_in_it(void **state UNUSED)
{
	enum { ADDRESSES = 3000, ROUNDS = 200000 };
	struct heap_blocks t = {0};
	uint64_t truth[ADDRESSES] = {0}, seed = 1;
	size_t used = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		size_t n;
		uint64_t addr;
		struct heap_block *block;
		bool filling = i / 20000 % 2 == 0;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		n = (size_t)(seed >> 33) % ADDRESSES;
		addr = 0x7f0000000000 + n * 16;
		block = heap_blocks_find(&t, addr);
		assert_int_equal(block ? block->size : 0, truth[n]);
		if (filling || seed >> 60 < 4) {
			block = heap_blocks_put(&t, addr);
			used += !truth[n];
			block->size = truth[n] = i + 1;
		} else if (block) {
			heap_blocks_remove(&t, block);
			truth[n] = 0;
			used--;
		}
		assert_int_equal(t.used, used);
		assert_true(t.size <= 16 || (t.used * 16 >= t.size && t.used * 4 <= t.size * 3));
	}
	heap_blocks_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_allocator_matrix),
		cmocka_unit_test(all_kinds_of_allocation_count_the_same),
		cmocka_unit_test(a_realloc_ends_the_old_block),
		cmocka_unit_test(a_realloc_that_fails_changes_nothing),
		cmocka_unit_test(a_realloc_to_nothing_frees),
		cmocka_unit_test(a_realloc_of_old_does_not_tell_the_block_before),
		cmocka_unit_test(null_is_no_block),
		cmocka_unit_test(temporary_is_freed_by_the_next_event_of_the_thread),
		cmocka_unit_test(told_twice_counts_once),
		cmocka_unit_test(an_allocation_at_a_live_address_replaces_the_block),
		cmocka_unit_test(a_block_taken_over_during_a_realloc_stays),
		cmocka_unit_test(events_out_of_order_are_put_right),
		cmocka_unit_test(events_of_one_time_keep_their_order),
		cmocka_unit_test(what_comes_too_late_is_counted_and_taken),
		cmocka_unit_test(a_window_counts_what_was_allocated_in_it),
		cmocka_unit_test(windows_of_one_benchmark_add_up),
		cmocka_unit_test(overlapping_windows_are_cut),
		cmocka_unit_test(children_have_their_own_blocks),
		cmocka_unit_test(blocks_end_with_their_process_where_that_is_known),
		cmocka_unit_test(an_exec_makes_the_addresses_new),
		cmocka_unit_test(sizes_have_classes),
		cmocka_unit_test(allocations_are_counted_by_class),
		cmocka_unit_test(a_size_beyond_all_memory_is_no_overflow),
		cmocka_unit_test(the_time_line_shows_levels_and_returns_to_them),
		cmocka_unit_test(the_time_line_is_bounded_and_has_the_peak),
		cmocka_unit_test(the_table_keeps_what_is_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
