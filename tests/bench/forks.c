/* SPDX-License-Identifier: MIT */
/* forks.c - `forks N`: fork N children, one after the other, that end at once */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	int status;
	pid_t child;

	while (count-- > 0) {
		child = fork();
		if (child == 0)
			_exit(0);
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			return 1;
	}
	return 0;
}
