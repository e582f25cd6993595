/* SPDX-License-Identifier: MIT */
/* strvec.c - a growing, NULL-terminated list of owned strings */
#include <stdarg.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/strvec.h"

void strvec_take(struct strvec *v, char *s)
{
	if (v->len + 2 > v->cap) {
		v->cap = v->cap ? v->cap * 2 : 16;
		v->items = xreallocarray(v->items, v->cap, sizeof(*v->items));
	}
	v->items[v->len++] = s;
	v->items[v->len] = NULL;
}

void strvec_push(struct strvec *v, const char *s)
{
	strvec_take(v, xstrdup(s));
}

void strvec_pushf(struct strvec *v, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	strvec_take(v, buf_detach(&text));
}

void strvec_push_all(struct strvec *v, char *const *items)
{
	for (; *items; items++)
		strvec_push(v, *items);
}

bool strvec_contains(const struct strvec *v, const char *s)
{
	for (size_t i = 0; i < v->len; i++)
		if (str_eq(v->items[i], s))
			return true;
	return false;
}

void strvec_release(struct strvec *v)
{
	for (size_t i = 0; i < v->len; i++)
		free(v->items[i]);
	free(v->items);
	*v = (struct strvec)STRVEC_INIT;
}

char *words_join(char *const *words)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; words && words[i]; i++) {
		if (i)
			buf_addch(&text, ' ');
		buf_addstr(&text, words[i]);
	}
	return buf_detach(&text);
}
