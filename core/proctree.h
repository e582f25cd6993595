/* SPDX-License-Identifier: MIT */
/*
 * proctree.h - the processes under a valgrind, followed by ptrace from outside, and their dumps
 * kept.
 *
 * callgrind names its file after the process id, and a process that replaces its program through
 * exec keeps the id: the new image would truncate the file. The exec event stops the process at
 * the right moment, and the finished dump is moved to a name of its own. The fork events tell who
 * started whom. No system call is intercepted, so between events everything runs at full speed.
 *
 * One thread only: ptrace belongs to the thread that seized.
 */
#ifndef CORE_PROCTREE_H
#define CORE_PROCTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/strvec.h"
#include "core/vec.h"

#define PROC_NONE SIZE_MAX /* no process: the root's parent */

/* What an image cannot promise. */
enum image_flaw {
	IMAGE_EXACT = 0,
	IMAGE_NO_DUMP = 1 << 0,      /* ended without its dump (SIGKILL): its cost is unknown */
	IMAGE_START_LOST = 1 << 1,   /* the cost before its exec left no dump: a lower bound */
	IMAGE_REPEATS = 1 << 2,      /* forked where no dump could be made: repeats its parent's cost */
	IMAGE_SELF_EXEC = 1 << 3,    /* executed /proc/self/exe, which is valgrind's tool: not run */
	IMAGE_NOT_STARTED = 1 << 4,  /* valgrind's launcher, which never came to run the program */
};

enum image_kind {
	IMAGE_NATIVE,   /* not under valgrind: valgrind's launcher, a program that is skipped */
	IMAGE_MEASURED,
};

/* One program that a process executed. */
struct image {
	enum image_kind kind;
	bool forked;         /* began by fork, not by exec: no start-up of its own */
	unsigned flaws;      /* enum image_flaw */
	char *command;       /* the words joined by blanks */
	struct strvec dumps; /* file names inside the folder, in order */
};

struct proc {
	pid_t pid;
	size_t parent; /* index, or PROC_NONE */
	bool ended;
	bool outlived; /* was still there when the root had ended, and was ended by us */
	int status;    /* as of waitpid, once ended */
	VEC(struct image) images;

	uint64_t dumped; /* bytes of its dump file at the last event */
	bool inherits;   /* forked where the parent left no dump */
};

struct proctree {
	const char *folder; /* borrowed; absolute */
	bool leave_self;    /* leave the children of processes that execute this very binary to them:
	                       they trace for themselves */
	bool root_only;     /* ptrace is not permitted here: only the root is known */
	VEC(struct proc) procs; /* in start order; [0] is the root */
	size_t live;            /* processes that have not ended */

	uint32_t *by_tid; /* thread id -> index of its process + 1 */
	char *self;       /* path of this binary */
};

/*
 * Seize `pid`, a child held before its exec (spawn_start). Where ptrace is forbidden the tree goes
 * on with `root_only` set and the reason logged. 0, or -errno with a frame.
 */
int proctree_init(struct proctree *tree, pid_t pid, const char *command, const char *folder,
		  bool leave_self);
void proctree_release(struct proctree *tree);

/* Handle every event that is pending, without waiting. To be called after each SIGCHLD. */
void proctree_step(struct proctree *tree);

static inline bool proctree_root_ended(const struct proctree *tree)
{
	return tree->procs.items[0].ended;
}

/* The root ended as valgrind's launcher: it never came to run the command. */
bool proctree_never_measured(const struct proctree *tree);

/* Send a signal to every process that has not ended. */
void proctree_kill(struct proctree *tree, int signal);

/* The last command of a process, for messages. Borrowed. */
const char *proc_command(const struct proc *p);

#endif
