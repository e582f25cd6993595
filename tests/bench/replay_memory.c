/* SPDX-License-Identifier: MIT */
/*
 * replay_memory.c - the peak of memory that reading and replaying an artifact takes
 *
 *	replay_memory FOLDER EVENTS LIVE       writes EVENTS events of a program that has about LIVE
 *	                                       blocks at a time, replays them, prints the peak in KB
 *
 * Statically linked with build/libcodspeed.a by scripts/bench-memory.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "applets/runner/memory/heap.h"
#include "core/artifact.h"
#include "core/base.h"

enum { BATCH = 1024, BLOCK_STEP = 512 };

/* Slot by slot, from one end to the other again and again: half of them are live at any time. */
static void make_batch(struct heap_event *batch, uint64_t from, uint64_t slots)
{
	for (size_t i = 0; i < BATCH; i++) {
		uint64_t n = from + i, slot = n % slots;
		bool frees = (n / slots + slot) % 2;

		batch[i] = (struct heap_event){
			.kind = frees ? HEAP_FREE : HEAP_MALLOC,
			.timestamp = 1000000000000 + n * 500,
			.addr = 0x555555550000 + slot * BLOCK_STEP,
			.size = frees ? 0 : 16 + n % (BLOCK_STEP - 16),
			.pid = 4242,
			.tid = 4242,
		};
	}
}

static void write_events(const char *folder, uint64_t events, uint64_t slots)
{
	static struct heap_event batch[BATCH];
	struct artifact_writer *w;

	if (artifact_create(&w, folder, 1, 1))
		die_recorded(1);
	for (uint64_t n = 0; n < events; n += BATCH) {
		make_batch(batch, n, slots);
		if (artifact_add(w, batch, BATCH))
			die_recorded(1);
	}
	if (artifact_finish(w))
		die_recorded(1);
}

static void replay(const char *path)
{
	struct heap_window all = {.start = 0, .end = UINT64_MAX};
	static struct heap_event batch[BATCH];
	struct heap *heap = heap_new(&all, 1, 1);
	struct artifact_reader *r;
	ssize_t n;

	if (artifact_open(&r, path))
		die_recorded(1);
	while ((n = artifact_read(r, batch, BATCH)) > 0)
		heap_add(heap, batch, (size_t)n);
	if (n < 0)
		die_recorded(1);
	heap_finish(heap);
	heap_free(heap);
	artifact_close(r);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	char *path;
	int status;

	if (argc != 4)
		die(2, "usage: replay_memory FOLDER EVENTS LIVE");
	path = xasprintf("%s/1%s", argv[1], ARTIFACT_SUFFIX);
	if (fork() == 0) { /* apart, so that the memory of the one is not that of the other */
		write_events(argv[1], strtoull(argv[2], NULL, 10), 2 * strtoull(argv[3], NULL, 10));
		exit(EXIT_SUCCESS);
	}
	if (wait(&status) < 0 || status)
		return EXIT_FAILURE;
	if (fork() == 0) {
		replay(path);
		exit(EXIT_SUCCESS);
	}
	if (wait4(-1, &status, 0, &usage) < 0 || status)
		return EXIT_FAILURE;
	printf("%ld\n", usage.ru_maxrss);
	unlink(path);
	free(path);
	return EXIT_SUCCESS;
}
