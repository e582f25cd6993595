/* SPDX-License-Identifier: MIT */
/* words.h - a command written as one text in codspeed.yml, into its words */
#ifndef PROJECT_WORDS_H
#define PROJECT_WORDS_H

#include "core/strvec.h"

/*
 * Split as a POSIX shell would, without expanding anything: blanks and newlines between words,
 * '...' literal, in "..." a backslash before $ ` " \ and newline, elsewhere before anything; `#` at
 * the beginning of a word starts a comment. What would need a shell (operators, variables, ~, an
 * assignment in front) is refused: nothing would run it, and the figures would be of another command.
 *
 * 0; or -EINVAL with a frame that says what is wrong, and where in the text (bytes) in *at.
 */
int words_split(struct strvec *words, const char *text, size_t *at);

#endif
