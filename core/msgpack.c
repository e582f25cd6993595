/* SPDX-License-Identifier: MIT */
/* msgpack.c - writing and reading msgpack */
#include "core/base.h"
#include "core/msgpack.h"

/* ---- Writing ---- */

/* A tag and a number of so many bytes, big endian. */
static uint8_t *put(uint8_t *to, uint8_t tag, uint64_t value, unsigned bytes)
{
	*to++ = tag;
	while (bytes)
		*to++ = (uint8_t)(value >> (8 * --bytes));
	return to;
}

uint8_t *msgpack_uint(uint8_t *to, uint64_t value)
{
	if (value <= 0x7f)
		return put(to, (uint8_t)value, 0, 0);
	if (value <= UINT8_MAX)
		return put(to, 0xcc, value, 1);
	if (value <= UINT16_MAX)
		return put(to, 0xcd, value, 2);
	if (value <= UINT32_MAX)
		return put(to, 0xce, value, 4);
	return put(to, 0xcf, value, 8);
}

uint8_t *msgpack_int(uint8_t *to, int64_t value)
{
	if (value >= 0)
		return msgpack_uint(to, (uint64_t)value);
	if (value >= -32)
		return put(to, (uint8_t)value, 0, 0);
	if (value >= INT8_MIN)
		return put(to, 0xd0, (uint64_t)value, 1);
	if (value >= INT16_MIN)
		return put(to, 0xd1, (uint64_t)value, 2);
	if (value >= INT32_MIN)
		return put(to, 0xd2, (uint64_t)value, 4);
	return put(to, 0xd3, (uint64_t)value, 8);
}

uint8_t *msgpack_str_head(uint8_t *to, uint32_t len)
{
	if (len <= 31)
		return put(to, (uint8_t)(0xa0 | len), 0, 0);
	if (len <= UINT8_MAX)
		return put(to, 0xd9, len, 1);
	return len <= UINT16_MAX ? put(to, 0xda, len, 2) : put(to, 0xdb, len, 4);
}

/* The three forms of a count: in the tag, and `tag16` for 16 bits followed by that for 32. */
static uint8_t *put_count(uint8_t *to, uint8_t fixed, uint8_t tag16, uint32_t count)
{
	if (count <= 15)
		return put(to, (uint8_t)(fixed | count), 0, 0);
	return count <= UINT16_MAX ? put(to, tag16, count, 2) : put(to, tag16 + 1, count, 4);
}

uint8_t *msgpack_array_head(uint8_t *to, uint32_t count)
{
	return put_count(to, 0x90, 0xdc, count);
}

uint8_t *msgpack_map_head(uint8_t *to, uint32_t count)
{
	return put_count(to, 0x80, 0xde, count);
}

static uint32_t fit(size_t n)
{
	if (n > UINT32_MAX)
		BUG("more than msgpack can hold");
	return (uint32_t)n;
}

static uint8_t *room(struct buf *to)
{
	return (uint8_t *)buf_reserve(to, MSGPACK_HEAD_MAX);
}

static void advance(struct buf *to, const uint8_t *end)
{
	to->len = (size_t)(end - (const uint8_t *)to->data);
	to->data[to->len] = '\0';
}

void msgpack_add_uint(struct buf *to, uint64_t value)
{
	advance(to, msgpack_uint(room(to), value));
}

void msgpack_add_int(struct buf *to, int64_t value)
{
	advance(to, msgpack_int(room(to), value));
}

void msgpack_add_str(struct buf *to, const char *text, size_t len)
{
	advance(to, msgpack_str_head(room(to), fit(len)));
	buf_add(to, text, len);
}

void msgpack_add_array(struct buf *to, size_t count)
{
	advance(to, msgpack_array_head(room(to), fit(count)));
}

void msgpack_add_map(struct buf *to, size_t count)
{
	advance(to, msgpack_map_head(room(to), fit(count)));
}

/* ---- Reading ---- */

/* The tags from 0xc0 to 0xdf: what they begin, and the width of the number that follows. */
struct form {
	uint8_t type, width;
};

enum { INVALID = 0xff };

static const struct form forms[] = {
	{MSGPACK_NIL, 0},   {INVALID, 0},       {MSGPACK_BOOL, 0},  {MSGPACK_BOOL, 0},
	{MSGPACK_BIN, 1},   {MSGPACK_BIN, 2},   {MSGPACK_BIN, 4},   {MSGPACK_EXT, 1},
	{MSGPACK_EXT, 2},   {MSGPACK_EXT, 4},   {MSGPACK_FLOAT, 4}, {MSGPACK_FLOAT, 8},
	{MSGPACK_UINT, 1},  {MSGPACK_UINT, 2},  {MSGPACK_UINT, 4},  {MSGPACK_UINT, 8},
	{MSGPACK_INT, 1},   {MSGPACK_INT, 2},   {MSGPACK_INT, 4},   {MSGPACK_INT, 8},
	{MSGPACK_EXT, 0},   {MSGPACK_EXT, 0},   {MSGPACK_EXT, 0},   {MSGPACK_EXT, 0},
	{MSGPACK_EXT, 0},   {MSGPACK_STR, 1},   {MSGPACK_STR, 2},   {MSGPACK_STR, 4},
	{MSGPACK_ARRAY, 2}, {MSGPACK_ARRAY, 4}, {MSGPACK_MAP, 2},   {MSGPACK_MAP, 4},
};

static size_t left(const struct msgpack_reader *r)
{
	return (size_t)(r->end - r->at);
}

static uint64_t number_at(const uint8_t *at, unsigned width)
{
	uint64_t number = 0;

	while (width--)
		number = number << 8 | *at++;
	return number;
}

/* The bytes of a string or an extension, behind its head. */
static int read_bytes(struct msgpack_reader *r, struct msgpack_value *v, uint64_t len)
{
	if (v->type == MSGPACK_EXT) {
		if (!left(r))
			return -EAGAIN;
		v->bytes.kind = (int8_t)*r->at++;
	}
	if (left(r) < len)
		return -EAGAIN;
	v->bytes.data = r->at;
	v->bytes.len = (uint32_t)len;
	r->at += len;
	return 0;
}

static double float_of(uint64_t bits, unsigned width)
{
	uint32_t half = (uint32_t)bits;
	float narrow;
	double wide;

	if (width == sizeof(narrow)) {
		memcpy(&narrow, &half, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, &bits, sizeof(wide));
	return wide;
}

static void set_signed(struct msgpack_value *v, uint64_t bits, unsigned width)
{
	unsigned unused = 64 - 8 * width;

	v->i = (int64_t)(bits << unused) >> unused;
	if (v->i >= 0)
		*v = (struct msgpack_value){.type = MSGPACK_UINT, .u = (uint64_t)v->i};
}

/* The tags that carry their number themselves. */
static int read_fixed(struct msgpack_reader *r, struct msgpack_value *v, uint8_t tag)
{
	if (tag <= 0x7f)
		*v = (struct msgpack_value){.type = MSGPACK_UINT, .u = tag};
	else if (tag <= 0x8f)
		*v = (struct msgpack_value){.type = MSGPACK_MAP, .count = tag & 0x0f};
	else if (tag <= 0x9f)
		*v = (struct msgpack_value){.type = MSGPACK_ARRAY, .count = tag & 0x0f};
	else if (tag >= 0xe0)
		*v = (struct msgpack_value){.type = MSGPACK_INT, .i = (int8_t)tag};
	else {
		*v = (struct msgpack_value){.type = MSGPACK_STR};
		return read_bytes(r, v, tag & 0x1f);
	}
	return 0;
}

static int read_form(struct msgpack_reader *r, struct msgpack_value *v, uint8_t tag)
{
	const struct form *form = &forms[tag - 0xc0];
	uint64_t number;

	if (form->type == INVALID)
		return -EBADMSG;
	if (left(r) < form->width)
		return -EAGAIN;
	number = number_at(r->at, form->width);
	r->at += form->width;
	*v = (struct msgpack_value){.type = (enum msgpack_type)form->type};
	switch (v->type) {
	case MSGPACK_BOOL:
		v->truth = tag == 0xc3;
		break;
	case MSGPACK_UINT:
		v->u = number;
		break;
	case MSGPACK_INT:
		set_signed(v, number, form->width);
		break;
	case MSGPACK_FLOAT:
		v->f = float_of(number, form->width);
		break;
	case MSGPACK_ARRAY:
	case MSGPACK_MAP:
		v->count = (uint32_t)number;
		break;
	case MSGPACK_EXT: /* 0xd4 to 0xd8 are of 1, 2, 4, 8, 16 bytes */
		return read_bytes(r, v, form->width ? number : 1u << (tag - 0xd4));
	case MSGPACK_STR:
	case MSGPACK_BIN:
		return read_bytes(r, v, number);
	case MSGPACK_NIL:
		break;
	}
	return 0;
}

int msgpack_read(struct msgpack_reader *r, struct msgpack_value *v)
{
	struct msgpack_reader next = *r;
	uint8_t tag;
	int rc;

	if (!left(r))
		return -EAGAIN;
	tag = *next.at++;
	rc = tag >= 0xc0 && tag <= 0xdf ? read_form(&next, v, tag) : read_fixed(&next, v, tag);
	if (!rc)
		*r = next;
	return rc;
}

/* The next value, which has to be of this type. */
static int read_typed(struct msgpack_reader *r, enum msgpack_type type, struct msgpack_value *v)
{
	struct msgpack_reader next = *r;
	int rc = msgpack_read(&next, v);

	if (rc)
		return rc;
	if (v->type != type)
		return -EINVAL;
	*r = next;
	return 0;
}

int msgpack_read_u64(struct msgpack_reader *r, uint64_t *value)
{
	struct msgpack_value v;
	int rc = read_typed(r, MSGPACK_UINT, &v);

	*value = rc ? 0 : v.u;
	return rc;
}

int msgpack_read_i64(struct msgpack_reader *r, int64_t *value)
{
	struct msgpack_reader next = *r;
	struct msgpack_value v;
	int rc = msgpack_read(&next, &v);

	*value = 0;
	if (rc)
		return rc;
	if (v.type != MSGPACK_INT && (v.type != MSGPACK_UINT || v.u > INT64_MAX))
		return -EINVAL;
	*value = v.type == MSGPACK_INT ? v.i : (int64_t)v.u;
	*r = next;
	return 0;
}

int msgpack_read_str(struct msgpack_reader *r, const char **text, size_t *len)
{
	struct msgpack_value v;
	int rc = read_typed(r, MSGPACK_STR, &v);

	*text = rc ? "" : (const char *)v.bytes.data;
	*len = rc ? 0 : v.bytes.len;
	return rc;
}

int msgpack_read_array(struct msgpack_reader *r, uint32_t *count)
{
	struct msgpack_value v;
	int rc = read_typed(r, MSGPACK_ARRAY, &v);

	*count = rc ? 0 : v.count;
	return rc;
}

int msgpack_read_map(struct msgpack_reader *r, uint32_t *count)
{
	struct msgpack_value v;
	int rc = read_typed(r, MSGPACK_MAP, &v);

	*count = rc ? 0 : v.count;
	return rc;
}

int msgpack_skip(struct msgpack_reader *r)
{
	struct msgpack_reader next = *r;
	uint64_t open[MSGPACK_DEPTH + 1] = {1}; /* values still to come, on each level */
	size_t depth = 0;

	for (;;) {
		struct msgpack_value v;
		int rc;

		while (!open[depth]) {
			if (!depth)
				goto done;
			depth--;
		}
		rc = msgpack_read(&next, &v);
		if (rc)
			return rc;
		open[depth]--;
		if (v.type != MSGPACK_ARRAY && v.type != MSGPACK_MAP)
			continue;
		if (depth == MSGPACK_DEPTH)
			return -ELOOP;
		open[++depth] = v.type == MSGPACK_MAP ? 2 * (uint64_t)v.count : v.count;
	}
done:
	*r = next;
	return 0;
}
