/* SPDX-License-Identifier: MIT */
/* artifact_encode.c - one heap event as msgpack, written straight: millions a second */
#include "core/artifact.h"
#include "core/base.h"

/* Fixed widths become plain stores, also under -Os. */
#define PUT_TEXT(p, text) (memcpy(p, text, sizeof(text) - 1), (p) + sizeof(text) - 1)

static inline unsigned char *put_tagged(unsigned char *p, unsigned char tag, uint64_t v, int bytes)
{
	uint64_t be = __builtin_bswap64(v << (64 - 8 * bytes));

	p[0] = tag;
	memcpy(p + 1, &be, sizeof(be)); /* more than needed; the next field overwrites it */
	return p + 1 + bytes;
}

static inline unsigned char *put_uint(unsigned char *p, uint64_t v)
{
	if (v < 0x80) {
		*p = (unsigned char)v;
		return p + 1;
	}
	if (v > UINT32_MAX)
		return put_tagged(p, 0xcf, v, 8);
	if (v > UINT16_MAX)
		return put_tagged(p, 0xce, v, 4);
	return v > UINT8_MAX ? put_tagged(p, 0xcd, v, 2) : put_tagged(p, 0xcc, v, 1);
}

static inline unsigned char *put_int(unsigned char *p, int32_t v)
{
	if (v >= 0)
		return put_uint(p, (uint64_t)v);
	if (v >= -32) {
		*p = (unsigned char)v;
		return p + 1;
	}
	if (v < INT16_MIN)
		return put_tagged(p, 0xd2, (uint32_t)v, 4);
	return v < INT8_MIN ? put_tagged(p, 0xd1, (uint16_t)v, 2) : put_tagged(p, 0xd0, (uint8_t)v, 1);
}

static inline unsigned char *put_kind(unsigned char *p, enum heap_event_kind kind)
{
	switch (kind) {
	case HEAP_MALLOC:
		return PUT_TEXT(p, "\xa6Malloc");
	case HEAP_FREE:
		return PUT_TEXT(p, "\xa4" "Free");
	case HEAP_CALLOC:
		return PUT_TEXT(p, "\xa6" "Calloc");
	case HEAP_REALLOC:
		return PUT_TEXT(p, "\xa7Realloc");
	case HEAP_ALIGNED_ALLOC:
		return PUT_TEXT(p, "\xac" "AlignedAlloc");
	case HEAP_MMAP:
		return PUT_TEXT(p, "\xa4Mmap");
	case HEAP_MUNMAP:
		return PUT_TEXT(p, "\xa6Munmap");
	case HEAP_BRK:
		return PUT_TEXT(p, "\xa3" "Brk");
	case HEAP_EVENT_KINDS:
	case HEAP_EXEC:
	case HEAP_EXIT:
		break;
	}
	BUG("no kind of event");
}

size_t artifact_encode(const struct heap_event *e, unsigned char *to)
{
	bool with_old = e->kind == HEAP_REALLOC && e->old_known;
	unsigned char *p = to;

	*p++ = (unsigned char)(0x86 + with_old - (e->kind == HEAP_FREE));
	p = put_int(PUT_TEXT(p, "\xa3pid"), e->pid);
	p = put_int(PUT_TEXT(p, "\xa3tid"), e->tid);
	p = put_uint(PUT_TEXT(p, "\xa9timestamp"), e->timestamp);
	p = put_uint(PUT_TEXT(p, "\xa4" "addr"), e->addr);
	p = put_kind(PUT_TEXT(p, "\xa4type"), e->kind);
	if (with_old)
		p = put_uint(PUT_TEXT(p, "\xa8old_addr"), e->old_addr);
	if (e->kind != HEAP_FREE)
		p = put_uint(PUT_TEXT(p, "\xa4size"), e->size);
	return (size_t)(p - to);
}
