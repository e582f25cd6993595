/* SPDX-License-Identifier: MIT */
/*
 * round.h - run a command once and take its time: the instrument of walltime mode. Between the two
 * time stamps are vfork, what the child does until execve, the command, and the wait for it.
 * Nothing is allocated, nothing is written.
 */
#ifndef EXEC_HARNESS_ROUND_H
#define EXEC_HARNESS_ROUND_H

#include <stdint.h>

#include "core/round_record.h"

/* All borrowed. Standard input and output are this process's own. */
struct round_command {
	const char *path;  /* the file to execute, no PATH look-up */
	char *const *argv;
	char *const *envp;
	int err;             /* becomes standard error; -1: ours */
	int drain;           /* read end of a pipe that the command writes to, emptied while it runs; -1 */
	uint64_t timeout_ns; /* 0: none */
};

/*
 * Run it to its end. 0 and the round, whatever the command's status was; or -errno with a frame when
 * it could not be started. interrupts.h says whether it was ended from outside.
 */
int round_run(const struct round_command *c, struct round *to);

#endif
