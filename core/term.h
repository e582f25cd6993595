/* SPDX-License-Identifier: MIT */
/* term.h - what the stream that is written to can show; every answer is about that very stream */
#ifndef CORE_TERM_H
#define CORE_TERM_H

#include <stdbool.h>

/* Numbers of SGR, what stands between ESC [ and m. */
#define TERM_PLAIN "0"
#define TERM_BOLD "1"
#define TERM_DIM "2"
#define TERM_RED "31"
#define TERM_GREEN "32"
#define TERM_YELLOW "33"
#define TERM_CYAN "36"
#define TERM_BOLD_RED "1;31"
#define TERM_BOLD_YELLOW "1;33"

bool term_is_tty(int fd);

/* Columns of the terminal, COLUMNS where it does not say; 0 for no limit: not a terminal. */
unsigned term_width(int fd);

/* Colours wanted: a terminal without NO_COLOR, TERM=dumb, CLICOLOR=0; or CLICOLOR_FORCE. */
bool term_colours(int fd);

/* The locale of the environment is a UTF-8 one; otherwise draw with ASCII. */
bool term_utf8(void);

#endif
