/* SPDX-License-Identifier: MIT */
/* artifact_decode.c - one heap event from msgpack of any form: keys in any order, unknown ones */
#include "core/artifact_reader.h"
#include "core/base.h"

/* What stands at the head of a msgpack value. */
enum token_type {
	TOKEN_UINT,
	TOKEN_NEGATIVE, /* `value` is its two's complement */
	TOKEN_NIL,
	TOKEN_STRING, /* `value` bytes follow */
	TOKEN_BYTES,  /* the same: bin, ext, float */
	TOKEN_ARRAY,  /* `value` values follow */
	TOKEN_MAP,    /* `value` pairs follow */
	TOKEN_BOOL,
};

struct token {
	enum token_type type;
	uint64_t value;
};

enum { LONGEST_TEXT = 12 }; /* of the texts that mean something: AlignedAlloc */

/* An event while its keys come in. */
struct draft {
	struct heap_event *event;
	unsigned seen;       /* bits of enum key */
	bool old_is_integer; /* matters for a realloc alone */
	bool size_is_integer;
};

enum key { KEY_PID, KEY_TID, KEY_TIMESTAMP, KEY_ADDR, KEY_TYPE, KEY_OLD_ADDR, KEY_SIZE, KEYS };

static const char *const key_names[KEYS] = {
	"pid", "tid", "timestamp", "addr", "type", "old_addr", "size",
};

static const char *const kind_names[HEAP_EVENT_KINDS] = {
	[HEAP_MALLOC] = "Malloc", [HEAP_FREE] = "Free",
	[HEAP_CALLOC] = "Calloc", [HEAP_REALLOC] = "Realloc",
	[HEAP_ALIGNED_ALLOC] = "AlignedAlloc", [HEAP_MMAP] = "Mmap",
	[HEAP_MUNMAP] = "Munmap", [HEAP_BRK] = "Brk",
};

/* The next `n` bytes, which are used up with that; NULL when there are no more. */
static const unsigned char *take(struct artifact_reader *r, size_t n)
{
	if (r->len - r->pos < n && !r->ended)
		reader_fill(r);
	if (r->len - r->pos < n)
		return NULL;
	r->pos += n;
	return r->bytes + r->pos - n;
}

static int skip(struct artifact_reader *r, uint64_t n)
{
	while (n) {
		size_t here = r->len - r->pos;

		if (!here && r->ended)
			return -ENODATA;
		here = n < here ? (size_t)n : here;
		r->pos += here;
		n -= here;
		if (n && !r->ended)
			reader_fill(r);
	}
	return 0;
}

static int take_number(struct artifact_reader *r, int bytes, uint64_t *to)
{
	const unsigned char *p = take(r, (size_t)bytes);

	if (!p)
		return -ENODATA;
	*to = 0;
	for (int i = 0; i < bytes; i++)
		*to = *to << 8 | p[i];
	return 0;
}

static int signed_token(struct artifact_reader *r, struct token *t, int bytes)
{
	int shift = 64 - 8 * bytes, rc = take_number(r, bytes, &t->value);

	t->value = (uint64_t)((int64_t)(t->value << shift) >> shift);
	t->type = (int64_t)t->value < 0 ? TOKEN_NEGATIVE : TOKEN_UINT;
	return rc;
}

/* The forms from 0xc0 to 0xdf. */
static int long_token(struct artifact_reader *r, unsigned tag, struct token *t)
{
	static const struct {
		uint8_t type, bytes, constant;
	} forms[32] = {
		[0x00] = {TOKEN_NIL, 0, 0},
		[0x01] = {TOKEN_BOOL, 0, 1}, /* never used in msgpack: refused below */
		[0x02] = {TOKEN_BOOL, 0, 0},    [0x03] = {TOKEN_BOOL, 0, 0},
		[0x04] = {TOKEN_BYTES, 1, 0},   [0x05] = {TOKEN_BYTES, 2, 0},
		[0x06] = {TOKEN_BYTES, 4, 0},
		[0x07] = {TOKEN_BYTES, 1, 1},   [0x08] = {TOKEN_BYTES, 2, 1},
		[0x09] = {TOKEN_BYTES, 4, 1},
		[0x0a] = {TOKEN_BYTES, 0, 4},   [0x0b] = {TOKEN_BYTES, 0, 8},
		[0x0c] = {TOKEN_UINT, 1, 0},    [0x0d] = {TOKEN_UINT, 2, 0},
		[0x0e] = {TOKEN_UINT, 4, 0},    [0x0f] = {TOKEN_UINT, 8, 0},
		[0x10] = {TOKEN_NEGATIVE, 1, 0}, [0x11] = {TOKEN_NEGATIVE, 2, 0},
		[0x12] = {TOKEN_NEGATIVE, 4, 0}, [0x13] = {TOKEN_NEGATIVE, 8, 0},
		[0x14] = {TOKEN_BYTES, 0, 2},   [0x15] = {TOKEN_BYTES, 0, 3},
		[0x16] = {TOKEN_BYTES, 0, 5},   [0x17] = {TOKEN_BYTES, 0, 9},
		[0x18] = {TOKEN_BYTES, 0, 17},
		[0x19] = {TOKEN_STRING, 1, 0},  [0x1a] = {TOKEN_STRING, 2, 0},
		[0x1b] = {TOKEN_STRING, 4, 0},
		[0x1c] = {TOKEN_ARRAY, 2, 0},   [0x1d] = {TOKEN_ARRAY, 4, 0},
		[0x1e] = {TOKEN_MAP, 2, 0},     [0x1f] = {TOKEN_MAP, 4, 0},
	};
	int rc;

	if (tag == 0xc1)
		return -EINVAL;
	t->type = forms[tag & 0x1f].type;
	if (t->type == TOKEN_NEGATIVE)
		return signed_token(r, t, forms[tag & 0x1f].bytes);
	rc = take_number(r, forms[tag & 0x1f].bytes, &t->value);
	t->value += forms[tag & 0x1f].constant; /* ext: the type's byte */
	return rc;
}

static int take_token(struct artifact_reader *r, struct token *t)
{
	const unsigned char *p = take(r, 1);
	unsigned tag;

	if (!p)
		return -ENODATA;
	tag = *p;
	if (tag >= 0xc0 && tag < 0xe0)
		return long_token(r, tag, t);
	if (tag < 0x80)
		*t = (struct token){TOKEN_UINT, tag};
	else if (tag < 0x90)
		*t = (struct token){TOKEN_MAP, tag & 0x0f};
	else if (tag < 0xa0)
		*t = (struct token){TOKEN_ARRAY, tag & 0x0f};
	else if (tag < 0xc0)
		*t = (struct token){TOKEN_STRING, tag & 0x1f};
	else
		*t = (struct token){TOKEN_NEGATIVE, (uint64_t)(int64_t)(int8_t)tag};
	return 0;
}

/* What belongs to a value whose head was taken. A count, not recursion: any depth will do. */
static int skip_value(struct artifact_reader *r, struct token t)
{
	uint64_t values = 0;
	int rc = 0;

	for (;;) {
		if (t.type == TOKEN_STRING || t.type == TOKEN_BYTES)
			rc = skip(r, t.value);
		else if (t.type == TOKEN_ARRAY || t.type == TOKEN_MAP)
			values += t.type == TOKEN_MAP ? 2 * t.value : t.value;
		if (rc || !values)
			return rc;
		values--;
		rc = take_token(r, &t);
		if (rc)
			return rc;
	}
}

/* The index of a text among `count` names, `count` for none of them. */
static int take_name(struct artifact_reader *r, uint64_t len, const char *const *names, int count,
		     int *to)
{
	const unsigned char *p;

	*to = count;
	if (len > LONGEST_TEXT)
		return skip(r, len);
	p = take(r, (size_t)len);
	if (!p)
		return -ENODATA;
	for (int i = 0; i < count; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], p, (size_t)len))
			*to = i;
	return 0;
}

/* ---- The event ---- */

static int32_t *id_of(struct draft *d, int key)
{
	return key == KEY_PID ? &d->event->pid : &d->event->tid;
}

static int take_id(struct draft *d, int key, struct token t, const char **what)
{
	int64_t value = (int64_t)t.value;

	*what = "an id is no 32-bit number";
	if (t.type != TOKEN_UINT && t.type != TOKEN_NEGATIVE)
		return -EINVAL;
	if (value > INT32_MAX || value < INT32_MIN || (value < 0) != (t.type == TOKEN_NEGATIVE))
		return -EINVAL;
	*id_of(d, key) = (int32_t)value;
	return 0;
}

static int take_kind(struct artifact_reader *r, struct draft *d, struct token t, const char **what)
{
	int kind, rc;

	*what = "an unknown type of event";
	if (t.type != TOKEN_STRING)
		return -EINVAL;
	rc = take_name(r, t.value, kind_names, HEAP_EVENT_KINDS, &kind);
	if (!rc && kind == HEAP_EVENT_KINDS)
		rc = -EINVAL;
	d->event->kind = (uint8_t)kind;
	return rc;
}

/* The value of a key that only some kinds have: whether it had to be a number is known later. */
static int take_optional(struct artifact_reader *r, struct token t, uint64_t *to, bool *integer)
{
	*integer = t.type == TOKEN_UINT;
	*to = *integer ? t.value : 0;
	return skip_value(r, t);
}

static int take_value(struct artifact_reader *r, struct draft *d, int key, const char **what)
{
	struct heap_event *e = d->event;
	struct token t;
	int rc = take_token(r, &t);

	if (rc)
		return rc;
	switch (key) {
	case KEY_PID:
	case KEY_TID:
		return take_id(d, key, t, what);
	case KEY_TIMESTAMP:
	case KEY_ADDR:
		*what = "an address or time is no unsigned number";
		*(key == KEY_ADDR ? &e->addr : &e->timestamp) = t.value;
		return t.type == TOKEN_UINT ? 0 : -EINVAL;
	case KEY_TYPE:
		return take_kind(r, d, t, what);
	case KEY_OLD_ADDR:
		e->old_known = t.type != TOKEN_NIL;
		return take_optional(r, t, &e->old_addr, &d->old_is_integer);
	case KEY_SIZE:
		return take_optional(r, t, &e->size, &d->size_is_integer);
	}
	return skip_value(r, t);
}

static int take_pair(struct artifact_reader *r, struct draft *d, const char **what)
{
	struct token t;
	int key, rc = take_token(r, &t);

	*what = "a key is no text";
	if (!rc && t.type != TOKEN_STRING)
		rc = -EINVAL;
	if (!rc)
		rc = take_name(r, t.value, key_names, KEYS, &key);
	if (rc)
		return rc;
	*what = "a key comes twice";
	if (key < KEYS && d->seen & 1u << key)
		return -EINVAL;
	d->seen |= 1u << key;
	*what = "no msgpack value";
	return take_value(r, d, key, what);
}

static int check(struct draft *d, const char **what)
{
	struct heap_event *e = d->event;
	unsigned needed = 1u << KEY_PID | 1u << KEY_TID | 1u << KEY_TIMESTAMP | 1u << KEY_ADDR |
			  1u << KEY_TYPE;

	*what = "a key is missing";
	if ((d->seen & needed) != needed)
		return -EINVAL;
	*what = "the size is missing or no number";
	if (e->kind != HEAP_FREE && !d->size_is_integer)
		return -EINVAL;
	*what = "old_addr is no number";
	if (e->kind == HEAP_REALLOC && e->old_known && !d->old_is_integer)
		return -EINVAL;
	if (e->kind == HEAP_FREE)
		e->size = 0;
	if (e->kind != HEAP_REALLOC) {
		e->old_known = false;
		e->old_addr = 0;
	}
	return 0;
}

int reader_decode(struct artifact_reader *r, struct heap_event *e, const char **what)
{
	struct draft d = {.event = e};
	struct token map;
	int rc = take_token(r, &map);

	memset(e, 0, sizeof(*e));
	*what = "no event";
	if (!rc && map.type != TOKEN_MAP)
		rc = -EINVAL;
	for (uint64_t i = 0; !rc && i < map.value; i++)
		rc = take_pair(r, &d, what);
	if (!rc)
		rc = check(&d, what);
	if (rc == -ENODATA)
		*what = NULL;
	return rc;
}

int reader_decode_array(struct artifact_reader *r, const char **what)
{
	struct token array;
	int rc = take_token(r, &array);

	*what = "no list of events";
	if (!rc && array.type != TOKEN_ARRAY)
		rc = -EINVAL;
	r->left = array.value;
	if (rc == -ENODATA)
		*what = NULL;
	return rc;
}
