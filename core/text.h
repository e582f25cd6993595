/* SPDX-License-Identifier: MIT */
/*
 * text.h - bytes of any kind as valid UTF-8.
 *
 * Arguments, paths and symbols are bytes. Where they enter JSON, names or URIs they go through
 * text_escape(), which loses nothing; where they go to a terminal, through text_printable().
 * All that append leave a string in the buffer, if only an empty one.
 */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"

/* Length of the valid UTF-8 sequence (RFC 3629) at the start of `s`; 0 where there is none. */
size_t text_sequence(const char *s, size_t len);

bool text_is_utf8(const char *s, size_t len);

/*
 * Append `bytes` as valid UTF-8: a byte outside a valid sequence becomes \xHH (lower-case hex), a
 * backslash becomes two. text_unescape() gives the bytes back; it leaves alone what text_escape()
 * cannot have written.
 */
void text_escape(const char *bytes, size_t len, struct buf *to);
char *text_escape_dup(const char *bytes); /* of a string; the caller frees */
void text_unescape(const char *text, size_t len, struct buf *to);

/*
 * Append `bytes` for people's eyes: invalid bytes and whatever steers a terminal or reorders a
 * line (control characters, bidirectional overrides) become \xHH, all else stays.
 */
void text_printable(const char *bytes, size_t len, struct buf *to);

/* The largest length of at most `max` bytes that cuts no character of `s` in two. */
size_t text_cut(const char *s, size_t len, size_t max);

/* Display columns: one a code point. */
size_t text_width(const char *s, size_t len);

/* The bytes of `s` that fit into so many columns. */
size_t text_fit(const char *s, size_t len, size_t columns);

#endif
