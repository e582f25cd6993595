/* SPDX-License-Identifier: MIT */
/* mem.c - memory that is there or ends the program */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base.h"
#include "core/exit_code.h"

/* No buffer and no frame here: both would allocate. */
static void __attribute__((noreturn)) out_of_memory(void)
{
	static const char text[] = "codspeed: error: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	exit(EXIT_FAILED); /* the cleanup stack still runs (atexit) */
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes))
		out_of_memory();
	p = realloc(old, bytes ? bytes : 1);
	if (!p)
		out_of_memory();
	return p;
}

void *xmemdup(const void *data, size_t len)
{
	void *p = xmalloc(len);

	if (len)
		memcpy(p, data, len);
	return p;
}

char *xstrndup(const char *s, size_t len)
{
	char *copy;

	len = strnlen(s, len);
	copy = xmalloc(len + 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s) + 1);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (len < 0)
		out_of_memory();
	return s;
}
