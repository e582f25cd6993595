/* SPDX-License-Identifier: MIT */
/* mem.h - memory that is there or ends the program; sizes are checked for overflow */
#ifndef CORE_MEM_H
#define CORE_MEM_H

#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len);
void *xmemdup(const void *data, size_t len);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
