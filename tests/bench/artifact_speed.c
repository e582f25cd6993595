/* SPDX-License-Identifier: MIT */
/*
 * artifact_speed.c - events a second through the artifact's encoder and reader and through the
 * heap model, and how much memory they take. Not part of the build; from the top folder, after a
 * build has made build/gen/config.h and build/deps:
 *
 *	musl-gcc -std=gnu11 -D_GNU_SOURCE -I. -Ibuild/gen -isystem build/deps/include -Os -static \
 *		-o /tmp/artifact_speed tests/bench/artifact_speed.c core/artifact*.c core/zstd.c \
 *		core/{buf,cleanup,error,io,log,mem,text}.c applets/runner/memory/heap*.c \
 *		-Lbuild/deps/lib -lzstd
 *	/tmp/artifact_speed [MILLIONS [FOLDER]]     # 10, /tmp; each figure is the best of 3
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "applets/runner/memory/heap.h"
#include "core/artifact.h"
#include "core/base.h"

enum { BATCH = 1024, TIMES = 3, LIVE = 50000 };

/* A program's blocks: sizes and lifetimes at random, addresses as an allocator gives them out. */
struct program {
	uint64_t state, now, made;
	uint64_t live[LIVE];
};

static uint64_t next_random(struct program *p)
{
	p->state = p->state * 6364136223846793005u + 1442695040888963407u;
	return p->state >> 33;
}

static void next_event(struct program *p, struct heap_event *e)
{
	uint64_t *slot = &p->live[next_random(p) % LIVE];

	p->now += 200 + next_random(p) % 500;
	*e = (struct heap_event){.timestamp = p->now, .pid = 4242, .tid = 4242 + (int)(p->made % 4)};
	if (*slot) {
		e->kind = HEAP_FREE;
		e->addr = *slot;
		*slot = 0;
	} else {
		e->kind = p->made % 16 ? HEAP_MALLOC : HEAP_CALLOC;
		e->size = 16 + next_random(p) % 500;
		e->addr = *slot = 0x555555550000 + (uint64_t)(slot - p->live) * 512;
	}
	p->made++;
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void print_figure(const char *what, uint64_t events, double wall, double cpu)
{
	printf("%-34s %6.2f million/s, %6.2f a second of CPU\n", what, (double)events / wall / 1e6,
	       (double)events / cpu / 1e6);
}

struct task {
	const char *what;
	const char *folder;
	uint64_t events;
	unsigned workers;
	void (*run)(struct task *t);
};

/* The events of the program are made before the clock starts, again and again the same. */
static struct heap_event *make_events(size_t count)
{
	struct heap_event *events = xreallocarray(NULL, count, sizeof(*events));
	struct program p = {.state = 1, .now = 1000000000000};

	for (size_t i = 0; i < count; i++)
		next_event(&p, &events[i]);
	return events;
}

enum { POOL = 1 << 18 };

static void run_encode(struct task *t)
{
	struct heap_event *pool = make_events(POOL);
	static unsigned char bytes[BATCH * ARTIFACT_EVENT_MAX];
	double wall = seconds(CLOCK_MONOTONIC);
	uint64_t total = 0;

	for (uint64_t i = 0; i < t->events; i += BATCH) {
		unsigned char *p = bytes;

		for (size_t j = 0; j < BATCH; j++)
			p += artifact_encode(&pool[(i + j) % POOL], p);
		total += (uint64_t)(p - bytes);
	}
	wall = seconds(CLOCK_MONOTONIC) - wall;
	print_figure(t->what, t->events, wall, wall);
	printf("%-34s %6.1f bytes an event\n", "", (double)total / (double)t->events);
	free(pool);
}

static void run_write(struct task *t)
{
	struct artifact_writer *w;
	struct heap_event *batch = xcalloc(BATCH, sizeof(*batch));
	struct program *p = xcalloc(1, sizeof(*p));
	double wall, cpu;

	p->state = 1;
	p->now = 1000000000000;
	if (artifact_create(&w, t->folder, 1, t->workers))
		die_recorded(1);
	wall = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (uint64_t i = 0; i < t->events; i += BATCH) {
		for (size_t j = 0; j < BATCH; j++)
			next_event(p, &batch[j]);
		if (artifact_add(w, batch, BATCH))
			die_recorded(1);
	}
	if (artifact_finish(w))
		die_recorded(1);
	print_figure(t->what, t->events, seconds(CLOCK_MONOTONIC) - wall,
		     seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	free(batch);
	free(p);
}

static void read_events(struct task *t, struct heap *heap)
{
	static struct heap_event events[BATCH];
	struct artifact_reader *r;
	char *path = xasprintf("%s/1%s", t->folder, ARTIFACT_SUFFIX);
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t seen = 0;
	ssize_t n;

	if (artifact_open(&r, path))
		die_recorded(1);
	while ((n = artifact_read(r, events, BATCH)) > 0) {
		seen += (uint64_t)n;
		if (heap)
			heap_add(heap, events, (size_t)n);
	}
	if (n < 0)
		die_recorded(1);
	if (heap)
		heap_finish(heap);
	print_figure(t->what, seen, seconds(CLOCK_MONOTONIC) - wall,
		     seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	artifact_close(r);
	free(path);
}

static void run_read(struct task *t)
{
	read_events(t, NULL);
}

static void run_replay(struct task *t)
{
	struct heap_window all = {.start = 0, .end = UINT64_MAX};
	struct heap *heap = heap_new(&all, 1, 1);
	const struct heap_benchmark *b;

	read_events(t, heap);
	b = heap_benchmark(heap, 0);
	printf("%-34s peak %" PRIu64 " bytes, %" PRIu64 " allocations\n", "", b->peak_bytes,
	       b->allocations);
	heap_free(heap);
}

/* A process of its own, so that its peak of memory is its own. */
static void run_apart(struct task *t)
{
	struct rusage usage;
	int status;

	fflush(stdout);
	if (fork() == 0) {
		t->run(t);
		exit(EXIT_SUCCESS);
	}
	wait4(-1, &status, 0, &usage);
	printf("%-34s peak RSS %.1f MB\n", "", (double)usage.ru_maxrss / 1e3);
}

int main(int argc, char **argv)
{
	uint64_t events = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000 / BATCH * BATCH;
	const char *folder = argc > 2 ? argv[2] : "/tmp";
	struct task tasks[] = {
		{"encode, not compressed", folder, events, 0, run_encode},
		{"write, 0 workers", folder, events, 0, run_write},
		{"write, 1 worker", folder, events, 1, run_write},
		{"write, 2 workers", folder, events, 2, run_write},
		{"read", folder, events, 0, run_read},
		{"read and replay", folder, events, 0, run_replay},
	};
	char *path = xasprintf("%s/1%s", folder, ARTIFACT_SUFFIX);
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		for (int n = 0; n < TIMES; n++)
			run_apart(&tasks[i]);
	if (!stat(path, &st))
		printf("%.1f bytes an event in the file\n", (double)st.st_size / (double)events);
	unlink(path);
	free(path);
	return EXIT_SUCCESS;
}
