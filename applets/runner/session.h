/* SPDX-License-Identifier: MIT */
/*
 * session.h - one run of the runner, from the options to the exit status: what `exec` and `run`
 * have in common, whatever the mode.
 *
 *	session_begin(&s, &options, words, program);      ends the process when the mode cannot run
 *	... the command's own preparation ...
 *	session_watch(&s, &spawn, tree);                  runs it to its end
 *	return session_end(&s);                           reports, gives the exit status
 */
#ifndef RUNNER_SESSION_H
#define RUNNER_SESSION_H

#include "core/mode.h"
#include "core/proctree.h"
#include "core/spawn.h"
#include "core/strvec.h"
#include "core/supervise.h"

#include "applets/runner/folder.h"
#include "applets/runner/judging.h"
#include "applets/runner/memory/memtrack_program.h"
#include "applets/runner/options.h"
#include "applets/runner/progress.h"
#include "applets/runner/results/result.h"

struct session {
	const struct run_options *options; /* borrowed */
	enum mode mode;
	char *command;                     /* the words joined by blanks, for people */
	struct profile_folder folder;
	char *json;                        /* as in the options, absolute; "-", or NULL */
	struct judging judging;
	struct strvec env;                 /* of the command */
	char *valgrind;                    /* its path; NULL but in simulation */
	char *valgrind_version;
	struct memtrack_program memtrack; /* in memory mode */
	uint64_t began;
	int64_t began_at; /* seconds since 1970 */
	struct progress progress;
	struct supervise watching; /* its outcome, after session_watch() */
	void (*on_started)(struct session *s, pid_t child); /* it waits to execute; may be NULL */
	void (*on_extra)(struct session *s); /* of watching.extra, which the mode may set before */
	bool entrypoint;           /* the command's own status is the run's; a harness's is not */
};

/*
 * Check the options and the machine, make the folder and the environment, and enter the working
 * directory, from which on all is relative to it. `words` is the command
 * as given, `program` the program that it starts (NULL: not known). Ends the process with the
 * right status when something is missing.
 */
void session_begin(struct session *s, const struct run_options *options, char *const *words,
		   const char *program);

/*
 * Start `spawn` (its output descriptors, environment and directory are set here, and the descriptor
 * that it keeps is closed here once it has it) and see it to its end; with `tree`, follow its
 * processes. 0 or -errno with a frame.
 */
int session_watch(struct session *s, struct spawn *spawn, struct proctree *tree);

/* Read the folder, write and print the results. Returns the exit status, or re-raises a signal. */
int session_end(struct session *s);

/* The mode of a run: the first one given, else what this machine can do best. */
enum mode session_choose_mode(const struct run_options *options);

/* What is added to the environment, for --print-env: no run, no folder made. */
void session_print_env(const struct run_options *options, const char *program);

#endif
