/* SPDX-License-Identifier: MIT */
/* mode.h - the ways to measure, and their words on the command line */
#ifndef CORE_MODE_H
#define CORE_MODE_H

#include "core/opts.h"

enum mode { MODE_SIMULATION, MODE_WALLTIME, MODE_MEMORY, MODE_COUNT };

/* For people: the old word `instrumentation` warns. */
extern const struct opt_choice mode_words[];

/* For exec-harness: the runner itself hands over the old word, which integrations know. */
extern const struct opt_choice mode_words_internal[];

/*
 * A runner inside a runner's command finds the old word in its environment, where we have put it
 * ourselves: to be called before options are parsed, or it would warn.
 */
void mode_forgive_own_word(void);

const char *mode_name(enum mode mode);

/*
 * Add the modes of a text ("simulation,memory") that are not in the list yet. 0 or -EINVAL with a
 * frame.
 */
int mode_list_add(struct opt_list *list, const char *text);

/* The list as such a text. Caller frees. */
char *mode_list_text(const struct opt_list *list);

/* 0, or -ENOTSUP with a frame: this build does not measure in this mode. */
int mode_check_supported(enum mode mode);

#endif
