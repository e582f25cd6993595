/* SPDX-License-Identifier: MIT */
/* artifact_reader.h - inside artifact_read.c, artifact_decode.c and their tests */
#ifndef CORE_ARTIFACT_READER_H
#define CORE_ARTIFACT_READER_H

#include "core/artifact.h"
#include "core/zstd.h"

/* Who wrote it, as far as the bytes tell. */
enum artifact_layout {
	ARTIFACT_FRAMES, /* zstd (memtrack 1.1.0 and later, ours) */
	ARTIFACT_PLAIN,  /* event after event, not compressed (1.0.x) */
	ARTIFACT_MAP,    /* one map {"events": [...]}, not compressed (before) */
};

struct artifact_reader {
	char *name;
	int fd;
	bool own_fd;
	enum artifact_layout layout;
	struct zstd_reader *zstd; /* NULL: not compressed */
	uint64_t events;          /* decoded */
	uint64_t left;            /* ARTIFACT_MAP: events to come */
	uint64_t good;            /* offset in the content of the first byte that is in no whole event */
	int rc;                   /* of the damage that was found, its text with it */
	char *text;

	int source_rc;    /* the file gave no more because of this; `ended` is set too */
	char *source_text;
	bool ended;       /* `bytes` holds all that is left */
	uint64_t base;    /* offset of bytes[0] in the content */
	size_t pos, len;
	unsigned char bytes[256 * 1024];
};

/* As many bytes as there is room for, behind what is not used up. */
void reader_fill(struct artifact_reader *r);

/*
 * Decode one event of any form. 0, -EINVAL with *what set to the reason, or -ENODATA when the
 * content ends first.
 */
int reader_decode(struct artifact_reader *r, struct heap_event *e, const char **what);

/* ARTIFACT_MAP: the head of the array at r->pos; sets r->left. As above. */
int reader_decode_array(struct artifact_reader *r, const char **what);

#endif
