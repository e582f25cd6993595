/* SPDX-License-Identifier: MIT */
/*
 * vec.h - a typed growing array.
 *
 *	VEC(int) numbers = VEC_INIT;
 *	vec_push(&numbers, 3);
 *	for (size_t i = 0; i < numbers.len; i++) use(numbers.items[i]);
 *	vec_release(&numbers);
 *
 * Pointers into `items` are good until the next push.
 */
#ifndef CORE_VEC_H
#define CORE_VEC_H

#include "core/mem.h"

#define VEC(type)             \
	struct {              \
		type *items;  \
		size_t len;   \
		size_t cap;   \
	}

#define VEC_INIT {0}

/* Room for one more; grows by half. */
#define vec_grow(v)                                                                               \
	do {                                                                                      \
		if ((v)->len == (v)->cap) {                                                       \
			(v)->cap = (v)->cap ? (v)->cap + (v)->cap / 2 + 1 : 8;                    \
			(v)->items = xreallocarray((v)->items, (v)->cap, sizeof(*(v)->items));    \
		}                                                                                 \
	} while (0)

#define vec_push(v, ...)                                  \
	do {                                              \
		vec_grow(v);                              \
		(v)->items[(v)->len++] = (__VA_ARGS__);   \
	} while (0)

#define vec_last(v) (&(v)->items[(v)->len - 1])

#define vec_release(v)              \
	do {                        \
		free((v)->items);   \
		(v)->items = NULL;  \
		(v)->len = 0;       \
		(v)->cap = 0;       \
	} while (0)

#endif
