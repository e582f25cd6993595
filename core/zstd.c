/* SPDX-License-Identifier: MIT */
/* zstd.c - zstd frames; the only file that names the library */
#include <unistd.h>

#include <zstd.h>

#include "core/base.h"
#include "core/exit_code.h"
#include "core/zstd.h"

enum {
	LEVEL = -5,
	OUT_CHUNK = 64 * 1024,
	IN_CHUNK = 128 * 1024,
};

struct zstd_compressor {
	ZSTD_CCtx *ctx;
};

struct zstd_compressor *zstd_compressor_new(void)
{
	struct zstd_compressor *z = xcalloc(1, sizeof(*z));

	z->ctx = ZSTD_createCCtx();
	if (!z->ctx || ZSTD_isError(ZSTD_CCtx_setParameter(z->ctx, ZSTD_c_compressionLevel, LEVEL))) {
		zstd_compressor_free(z);
		return NULL;
	}
	return z;
}

void zstd_compressor_free(struct zstd_compressor *z)
{
	if (!z)
		return;
	ZSTD_freeCCtx(z->ctx);
	free(z);
}

static int push(struct zstd_compressor *z, ZSTD_inBuffer *in, ZSTD_EndDirective how, struct buf *to)
{
	size_t left;

	do {
		ZSTD_outBuffer out = {.dst = buf_reserve(to, OUT_CHUNK), .size = OUT_CHUNK};

		left = ZSTD_compressStream2(z->ctx, &out, in, how);
		if (ZSTD_isError(left)) {
			ZSTD_CCtx_reset(z->ctx, ZSTD_reset_session_only);
			return -EIO;
		}
		to->len += out.pos;
	} while (how == ZSTD_e_end ? left != 0 : in->pos < in->size);
	to->data[to->len] = '\0';
	return 0;
}

/*
 * "continue" even for the only piece: an "end" that comes first tells the library the size of the
 * whole, and it would write that size and shrink the window.
 */
int zstd_compress(struct zstd_compressor *z, const void *data, size_t len, struct buf *to)
{
	ZSTD_inBuffer in = {.src = data, .size = len};

	return push(z, &in, ZSTD_e_continue, to);
}

int zstd_compress_end(struct zstd_compressor *z, struct buf *to)
{
	ZSTD_inBuffer in = {.src = "", .size = 0};

	return push(z, &in, ZSTD_e_end, to);
}

struct zstd_reader {
	ZSTD_DCtx *ctx;
	ZSTD_inBuffer in;
	int fd;
	int rc;         /* of the failure before */
	bool ended;     /* the file gives no more */
	bool mid_frame; /* the last call left a frame unfinished */
	char bytes[IN_CHUNK];
};

struct zstd_reader *zstd_reader_new(int fd, const void *head, size_t len)
{
	struct zstd_reader *r = xcalloc(1, sizeof(*r));

	r->ctx = ZSTD_createDCtx();
	if (!r->ctx)
		die(EXIT_FAILED, "out of memory");
	if (len > sizeof(r->bytes))
		BUG("more bytes than a reader takes back");
	memcpy(r->bytes, head, len);
	r->in = (ZSTD_inBuffer){.src = r->bytes, .size = len};
	r->fd = fd;
	return r;
}

void zstd_reader_free(struct zstd_reader *r)
{
	if (!r)
		return;
	ZSTD_freeDCtx(r->ctx);
	free(r);
}

static int refill(struct zstd_reader *r)
{
	ssize_t n;

	do
		n = read(r->fd, r->bytes, sizeof(r->bytes));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fail_errno("cannot read");
	r->in = (ZSTD_inBuffer){.src = r->bytes, .size = (size_t)n};
	r->ended = n == 0;
	return 0;
}

/*
 * How much the library holds back is not to be seen from outside, so it is asked once more, with
 * no input, when the file has ended.
 */
static ssize_t read_some(struct zstd_reader *r, void *to, size_t len)
{
	ZSTD_outBuffer out = {.dst = to, .size = len};

	for (;;) {
		size_t before = r->in.pos, hint;

		if (r->in.pos == r->in.size && !r->ended) {
			int rc = refill(r);

			if (rc)
				return rc;
			before = 0;
		}
		if (r->ended && !r->mid_frame)
			return 0;
		hint = ZSTD_decompressStream(r->ctx, &out, &r->in);
		if (ZSTD_isError(hint))
			return fail(-EINVAL, "damaged zstd data: %s", ZSTD_getErrorName(hint));
		r->mid_frame = hint != 0;
		if (out.pos)
			return (ssize_t)out.pos;
		if (r->ended && r->mid_frame && r->in.pos == before)
			return fail(-ENODATA, "the file ends in the middle of a zstd frame");
	}
}

ssize_t zstd_read(struct zstd_reader *r, void *to, size_t len)
{
	ssize_t n;

	if (r->rc)
		return fail(r->rc, "damaged before");
	n = len ? read_some(r, to, len) : 0;
	if (n < 0)
		r->rc = (int)n;
	return n;
}
