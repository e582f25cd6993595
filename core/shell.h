/* SPDX-License-Identifier: MIT */
/* shell.h - commands that are given as shell text, and words in one that people copy */
#ifndef CORE_SHELL_H
#define CORE_SHELL_H

#include "core/buf.h"
#include "core/strvec.h"

/*
 * The words that run `text`: by bash where there is one on `search`, else by sh. 0, or -ENOENT with
 * a frame when there is no shell.
 */
int shell_command(struct strvec *argv, const char *text, const char *search);

/* Append `word` as a shell takes it for one word. */
void shell_quote(const char *word, struct buf *to);

#endif
