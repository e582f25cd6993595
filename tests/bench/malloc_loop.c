/* SPDX-License-Identifier: MIT */
/*
 * malloc_loop.c - malloc and free, as fast as one core can
 *
 *	malloc_loop ROUNDS             prints the least ns a pair of that many rounds of 20000 pairs
 *	malloc_loop seconds N          goes on for N seconds, and prints the pairs a second
 *
 * Pinned to the last core, so that who listens to it has the others. A first round that is not
 * counted takes the page faults.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 20000, BLOCK = 64 };

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ns a pair */
static double run_round(void)
{
	double start = now_ns();

	for (int i = 0; i < PAIRS; i++) {
		void *block = malloc(BLOCK);

		__asm__ volatile("" : : "r"(block) : "memory"); /* else both calls go away */
		free(block);
	}
	return (now_ns() - start) / PAIRS;
}

static void pin(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)(cores > 0 ? cores - 1 : 0), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	double start, least = 0, pairs = 0;

	pin();
	run_round();
	start = now_ns();
	if (argc == 3 && !strcmp(argv[1], "seconds")) {
		for (double end = start + strtod(argv[2], NULL) * 1e9; now_ns() < end; pairs += PAIRS)
			run_round();
		printf("%.0f\n", pairs / (now_ns() - start) * 1e9);
		return 0;
	}
	for (long i = argc == 2 ? strtol(argv[1], NULL, 10) : 0; i > 0; i--) {
		double ns = run_round();

		least = least == 0 || ns < least ? ns : least;
	}
	printf("%.1f\n", least);
	return least == 0;
}
