/* SPDX-License-Identifier: MIT */
/*
 * spawn_time.c - wall time and memory of commands, in turn: A B A B ...
 *
 *	spawn_time ROUNDS COMMAND [ARG]... [::: COMMAND [ARG]...]...
 *
 * Prints a line for each command: minimum and median of the wall time in microseconds, from just
 * before the spawn to the end, and the largest peak of resident memory in kilobytes. Programs are
 * given by path; what they print is thrown away. To be linked statically: a child counts the
 * memory of the process that spawned it as its own peak.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS_MAX = 8 };

struct command {
	char **argv;
	double *times; /* microseconds, one a round */
	long peak_kb;
};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Cut the words at the separators; returns the number of commands, 0 when they make no sense. */
static size_t split(char **words, struct command *commands)
{
	size_t count = 0;
	char **first = words;

	for (;; words++) {
		if (*words && strcmp(*words, ":::"))
			continue;
		if (words == first || count == COMMANDS_MAX)
			return 0;
		commands[count++].argv = first;
		if (!*words)
			return count;
		*words = NULL;
		first = words + 1;
	}
}

/* Returns the status as of waitpid(). */
static int run(struct command *c, size_t round, int null)
{
	double start = now_us();
	struct rusage usage;
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		for (int fd = 0; fd <= 2; fd++)
			dup2(null, fd);
		execv(c->argv[0], c->argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return -1;
	c->times[round] = now_us() - start;
	if (usage.ru_maxrss > c->peak_kb)
		c->peak_kb = usage.ru_maxrss;
	return status;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(struct command *c, size_t rounds)
{
	qsort(c->times, rounds, sizeof(*c->times), by_value);
	printf("%.0f %.0f %ld\n", c->times[0],
	       (c->times[(rounds - 1) / 2] + c->times[rounds / 2]) / 2, c->peak_kb);
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 2 ? strtoul(argv[1], NULL, 10) : 0, count;
	struct command commands[COMMANDS_MAX] = {0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), status;

	count = rounds && null >= 0 ? split(argv + 2, commands) : 0;
	if (!count) {
		fprintf(stderr, "usage: spawn_time ROUNDS COMMAND [ARG]... [::: COMMAND...]...\n");
		return 2;
	}
	for (size_t i = 0; i < count; i++)
		commands[i].times = calloc(rounds, sizeof(*commands[i].times));
	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < count; i++)
			if ((status = run(&commands[i], round, null))) {
				fprintf(stderr, "spawn_time: %s: status %d\n", commands[i].argv[0],
					status);
				return 1;
			}
	for (size_t i = 0; i < count; i++)
		print(&commands[i], rounds);
	return 0;
}
