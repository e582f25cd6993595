/* SPDX-License-Identifier: MIT */
/*
 * zstd.h - zstd frames: made from a buffer, read from a descriptor.
 *
 * A compressor belongs to one thread at a time. It records no error frames, which are not for
 * threads other than the main one.
 */
#ifndef CORE_ZSTD_H
#define CORE_ZSTD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/buf.h"

#define ZSTD_FRAME_MAGIC 0xfd2fb528u /* little-endian: 28 b5 2f fd */

struct zstd_compressor;

/*
 * Level -5, no checksum, no content size, 512 KiB window: what a streaming encoder at this level
 * writes. NULL when the memory is not there.
 */
struct zstd_compressor *zstd_compressor_new(void);
void zstd_compressor_free(struct zstd_compressor *z); /* NULL is fine */

/*
 * Append to the open frame; the first piece opens one. What comes out is appended to `to` as it
 * comes. 0 or -EIO.
 */
int zstd_compress(struct zstd_compressor *z, const void *data, size_t len, struct buf *to);

/* Close the frame; without any piece before, one empty frame. 0 or -EIO. */
int zstd_compress_end(struct zstd_compressor *z, struct buf *to);

struct zstd_reader;

/*
 * The content of frames back to back, as one stream. `fd` stays the caller's; `head` are bytes
 * that were read from it already, copied here. Never NULL.
 */
struct zstd_reader *zstd_reader_new(int fd, const void *head, size_t len);
void zstd_reader_free(struct zstd_reader *r); /* NULL is fine */

/*
 * Up to `len` bytes to `to`. How many, 0 at the end, or -errno with a frame: the file cannot be
 * read (errno), is no zstd (-EINVAL), or ends inside a frame (-ENODATA). Once it failed it goes on
 * failing.
 */
ssize_t zstd_read(struct zstd_reader *r, void *to, size_t len);

#endif
