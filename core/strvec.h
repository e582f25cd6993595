/* SPDX-License-Identifier: MIT */
/* strvec.h - a growing, NULL-terminated list of owned strings: argument vectors, environments */
#ifndef CORE_STRVEC_H
#define CORE_STRVEC_H

#include <stdbool.h>
#include <stddef.h>

struct strvec {
	char **items; /* NULL-terminated; NULL itself while nothing was ever added */
	size_t len;
	size_t cap;
};

#define STRVEC_INIT {0}

void strvec_push(struct strvec *v, const char *s); /* copies */
void strvec_take(struct strvec *v, char *s);       /* takes ownership of a malloc'ed string */
void strvec_pushf(struct strvec *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strvec_push_all(struct strvec *v, char *const *items); /* copies up to the NULL */
void strvec_release(struct strvec *v);

bool strvec_contains(const struct strvec *v, const char *s);

/* The words up to the NULL, joined by blanks; the caller frees. */
char *words_join(char *const *words);

#endif
