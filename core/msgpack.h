/* SPDX-License-Identifier: MIT */
/*
 * msgpack.h - writing and reading msgpack (no library: the format is 40 lines).
 *
 * Writing takes the smallest form of everything. The functions on a cursor write without a check
 * (MSGPACK_HEAD_MAX bytes of room are enough) and return where the next value goes; the others
 * append to a buffer.
 */
#ifndef CORE_MSGPACK_H
#define CORE_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

enum { MSGPACK_HEAD_MAX = 9, MSGPACK_DEPTH = 16 };

uint8_t *msgpack_uint(uint8_t *to, uint64_t value);
uint8_t *msgpack_int(uint8_t *to, int64_t value);       /* unsigned forms from 0 on */
uint8_t *msgpack_str_head(uint8_t *to, uint32_t len);   /* then the bytes */
uint8_t *msgpack_array_head(uint8_t *to, uint32_t count); /* then the items */
uint8_t *msgpack_map_head(uint8_t *to, uint32_t count);   /* then key, value, key, ... */

void msgpack_add_uint(struct buf *to, uint64_t value);
void msgpack_add_int(struct buf *to, int64_t value);
void msgpack_add_str(struct buf *to, const char *text, size_t len);
void msgpack_add_array(struct buf *to, size_t count);
void msgpack_add_map(struct buf *to, size_t count);

/*
 * Reading from a slice of a stream. Every function below returns 0 and moves the cursor behind what
 * it has read, or leaves it alone and returns, without a frame,
 *
 *	-EAGAIN   the slice ends inside the value: come back with more of the stream
 *	-EINVAL   the value is of another type, or out of the range asked for
 *	-EBADMSG  not msgpack
 *	-ELOOP    (msgpack_skip) nested deeper than MSGPACK_DEPTH
 *
 * A size or count in the input is compared with nothing but the slice: allocate by what is there.
 */
struct msgpack_reader {
	const uint8_t *at, *end;
};

enum msgpack_type {
	MSGPACK_NIL,
	MSGPACK_BOOL,
	MSGPACK_UINT,  /* every integer that is not negative, whatever its form */
	MSGPACK_INT,   /* a negative one */
	MSGPACK_FLOAT,
	MSGPACK_STR,
	MSGPACK_BIN,
	MSGPACK_EXT,
	MSGPACK_ARRAY,
	MSGPACK_MAP,
};

struct msgpack_value {
	enum msgpack_type type;
	union {
		bool truth;
		uint64_t u;
		int64_t i;
		double f;
		uint32_t count; /* ARRAY: items; MAP: pairs */
		struct {        /* STR, BIN, EXT; borrowed from the slice */
			const uint8_t *data;
			uint32_t len;
			int8_t kind; /* EXT only */
		} bytes;
	};
};

/* The next value; of an array or a map just the count, its contents follow. */
int msgpack_read(struct msgpack_reader *r, struct msgpack_value *v);

/* The next value as what it has to be. */
int msgpack_read_u64(struct msgpack_reader *r, uint64_t *value);
int msgpack_read_i64(struct msgpack_reader *r, int64_t *value);
int msgpack_read_str(struct msgpack_reader *r, const char **text, size_t *len);
int msgpack_read_array(struct msgpack_reader *r, uint32_t *count);
int msgpack_read_map(struct msgpack_reader *r, uint32_t *count);

/* Over the next value with everything in it. */
int msgpack_skip(struct msgpack_reader *r);

#endif
