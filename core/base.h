/* SPDX-License-Identifier: MIT */
/* base.h - the prelude: what every source file may take for granted */
#ifndef CORE_BASE_H
#define CORE_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config.h" /* ENABLE_X and IF_X(...), generated from the configuration */
#include "core/error.h"
#include "core/log.h"
#include "core/mem.h"

#define CODSPEED_VERSION "0.1.0"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define UNUSED __attribute__((unused))

static inline bool str_eq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static inline bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static inline bool str_ends(const char *s, const char *suffix)
{
	size_t len = strlen(s), tail = strlen(suffix);

	return len >= tail && str_eq(s + len - tail, suffix);
}

/* Sums of what a file says end at the largest number, they do not wrap. */
static inline uint64_t add_capped(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Nothing but white space, or nothing at all. */
static inline bool str_is_blank(const char *s)
{
	return s[strspn(s, " \t\n\v\f\r")] == '\0';
}

#endif
