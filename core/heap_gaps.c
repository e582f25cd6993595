/* SPDX-License-Identifier: MIT */
/* heap_gaps.c - what of the heap calls nobody could see, and why */
#include <stdarg.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/heap_gaps.h"
#include "core/text.h"

void heap_gaps_add(struct heap_gaps *g, uint64_t from, bool remark, const char *text)
{
	struct buf line = BUF_INIT;

	text_printable(text, strlen(text), &line);
	vec_push(&g->list, (struct heap_gap){.from = from, .remark = remark, .text = buf_detach(&line)});
}

static void add_now(struct heap_gaps *g, bool remark, const char *fmt, va_list args)
{
	struct buf text = BUF_INIT;

	buf_vprintf(&text, fmt, args);
	heap_gaps_add(g, clock_now(), remark, text.data);
	buf_release(&text);
}

void heap_gaps_tell(struct heap_gaps *g, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_now(g, false, fmt, args);
	va_end(args);
	log_warn("%s", vec_last(&g->list)->text);
}

void heap_gaps_remark(struct heap_gaps *g, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_now(g, true, fmt, args);
	va_end(args);
	log_debug("%s", vec_last(&g->list)->text);
}

void heap_gaps_move(struct heap_gaps *g, struct heap_gaps *from)
{
	for (size_t i = 0; i < from->list.len; i++)
		vec_push(&g->list, from->list.items[i]);
	vec_release(&from->list);
}

void heap_gaps_release(struct heap_gaps *g)
{
	for (size_t i = 0; i < g->list.len; i++)
		free(g->list.items[i].text);
	vec_release(&g->list);
}
