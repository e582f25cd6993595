/* SPDX-License-Identifier: MIT */
/*
 * spawn.h - start a program, in two steps so that a tracer can take hold of it in between:
 * spawn_start() forks a child that waits, spawn_release() lets it execute the program.
 */
#ifndef CORE_SPAWN_H
#define CORE_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct spawn {
	/* what to run; all borrowed */
	const char *path;  /* the file to execute, no PATH look-up */
	char *const *argv;
	char *const *envp; /* NULL: the environment of this process */
	const char *cwd;   /* NULL: stay */
	int in, out, err;  /* descriptors to become 0, 1, 2; -1: inherit */
	int keep;          /* one more that the program gets, under its number; -1: none */
	bool fixed_addresses; /* switch address randomisation off */
	bool modest_files;    /* at most 65536 descriptors: valgrind cannot live with huge limits */
	bool as_user;         /* become this user and group, with the user's other groups */
	uid_t uid;
	gid_t gid;
	int death_signal;     /* sent to the child when this process dies; 0: none */

	/* filled in by spawn_start() */
	pid_t pid;
	int hold;   /* the child waits for this end to close */
	int report; /* the child writes here why it could not execute */
	gid_t *groups; /* of the user, for the child */
	int group_count;

	/* filled in by spawn_release() */
	bool not_executed; /* it failed because the kernel does not execute the file */
};

#define SPAWN_INIT {.in = -1, .out = -1, .err = -1, .keep = -1, .hold = -1, .report = -1}

/* Fork. 0 or -errno with a frame. The child is a zombie-to-be of this process: wait for it. */
int spawn_start(struct spawn *s);

/*
 * Let the child execute and wait until it has. 0, or -errno of the step that failed (execve,
 * chdir) with a frame; the child has then ended (or is about to) with status 127.
 */
int spawn_release(struct spawn *s);

/* The exit status as a shell shows it: 128+N for signal N. */
int status_of_wait(int wait_status);

/*
 * Block these signals here (they are waited for by descriptor, supervise.h) while children
 * still start with the mask this process was given.
 */
void spawn_hold_signals(const sigset_t *signals);

/* The mask as it was, for a process that is about to execute another program itself. */
void spawn_give_back_signals(void);

/*
 * As many descriptors here as the hard limit allows, where each of many files costs some; children
 * still start with the limit this process was given.
 */
void spawn_raise_files(void);

/* Under sudo: who called it, to whom what is measured belongs. False where we are nobody's root. */
bool sudo_invoker(uid_t *uid, gid_t *gid);

/* Whether `fixed_addresses` has an effect: seccomp profiles of containers refuse personality(). */
bool spawn_can_fix_addresses(void);

#endif
