/* SPDX-License-Identifier: MIT */
/* entrypoint.h - a command that runs benchmarks by itself, through a CodSpeed integration */
#ifndef RUNNER_ENTRYPOINT_H
#define RUNNER_ENTRYPOINT_H

#include "core/strvec.h"

/*
 * The words that start it. One word is shell text, for bash where there is one, else sh; several
 * are a program and its arguments and stay as they are. `cargo codspeed` as a command becomes
 * `cargo-codspeed`: cargo itself does not pass on a tracing valgrind (before 3.20). 0, or -ENOENT
 * with a frame when there is no shell.
 */
int entrypoint_words(struct strvec *argv, char *const *words, const char *search);

/* The shell text with that replacement. Caller frees. */
char *entrypoint_text(const char *text);

#endif
