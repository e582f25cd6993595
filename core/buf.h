/* SPDX-License-Identifier: MIT */
/* buf.h - a growing byte buffer, always NUL-terminated once it holds something */
#ifndef CORE_BUF_H
#define CORE_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
	char *data; /* NULL while nothing was ever added */
	size_t len; /* without the terminating NUL */
	size_t cap;
};

#define BUF_INIT {0}

void buf_release(struct buf *b); /* frees the contents; the buffer is as new */
void buf_clear(struct buf *b);   /* length 0, memory kept */
char *buf_detach(struct buf *b); /* the contents (never NULL), caller frees; the buffer is as new */

/* Make room for `extra` more bytes plus the NUL; returns where they go. */
char *buf_reserve(struct buf *b, size_t extra);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_addstr(struct buf *b, const char *s);
void buf_addch(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

#endif
