/* SPDX-License-Identifier: MIT */
/* targets.h - the commands to measure: one from the command line, or a JSON list on stdin */
#ifndef EXEC_HARNESS_TARGETS_H
#define EXEC_HARNESS_TARGETS_H

#include "core/strvec.h"
#include "core/vec.h"

#include "applets/exec-harness/round_plan.h"

struct target {
	struct strvec command; /* at least one word, the first not blank */
	char *name;            /* bytes; never NULL */
	char *uri;             /* valid UTF-8, bounded like the name */
	struct round_limits limits;
};

struct targets {
	VEC(struct target) list;
};

void targets_release(struct targets *t);

/*
 * For a failed look-up (path_find_program()): the status that a shell would give, with a frame.
 */
int target_not_found(const char *name, int error);

/*
 * A command given as words, with these options. `name` may be NULL: the words joined by blanks. 0 or
 * -EINVAL with a frame.
 */
int targets_add_words(struct targets *t, char *const *words, const char *name,
		      const struct walltime_options *options);

/*
 * The list on stdin, `[{"command": [...], "name": ..., "walltime_args": {...}}, ...]`: checked
 * whole before anything runs. 0 or -EINVAL with a frame that names the place.
 */
int targets_read_json(struct targets *t, const char *text, size_t len);

#endif
