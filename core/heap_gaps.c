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

void heap_gaps_tell(struct heap_gaps *g, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	heap_gaps_add(g, clock_now(), false, text.data);
	log_warn("%s", vec_last(&g->list)->text);
	buf_release(&text);
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
