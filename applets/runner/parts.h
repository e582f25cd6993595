/* SPDX-License-Identifier: MIT */
/*
 * parts.h - a run of several parts: each mode, and each command of the project's file, by a codspeed
 * process of its own, one after the other. What they leave becomes one result and one table.
 *
 *	struct parts parts = PARTS_INIT;
 *
 *	parts_add(&parts, &modes, before.items, after.items, NULL, command);
 *	return parts_run(&parts, &options, command);
 */
#ifndef RUNNER_PARTS_H
#define RUNNER_PARTS_H

#include "core/strvec.h"
#include "core/vec.h"

#include "applets/runner/options.h"

struct part {
	int mode; /* -1: left to the process (enum mode else) */
	struct strvec before; /* "exec" and options */
	struct strvec after;  /* "--" and the command; may be empty */
	char *input;   /* its standard input; NULL: as this process's */
	char *command; /* for people */
};

/* The command line of the process that measures it, appended: its results stand in `folder` then. */
void part_words(const struct part *part, const char *folder, struct strvec *argv);
void part_release(struct part *part);

struct parts {
	VEC(struct part) list;
};

#define PARTS_INIT {0}

/*
 * A command, for each of these modes (for none: for the one that is chosen without -m). `before` are
 * the subcommand and its options, without those that parts_run() adds: mode and folder. All is copied.
 */
void parts_add(struct parts *p, const struct opt_list *modes, char *const *before,
	       char *const *after, const char *input, const char *command);

/*
 * One command in each of the modes of `options`: parts_add() and parts_run(). `before` as there, and
 * the words of the command.
 */
int parts_run_modes(const struct run_options *options, char *const *before, char *const *words);

/*
 * Run them and report; releases the parts. `command` is what was asked for as one line. A failed part
 * does not keep the others from running. The exit status of the whole.
 */
int parts_run(struct parts *p, const struct run_options *options, const char *command);

#endif
