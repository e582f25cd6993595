/* SPDX-License-Identifier: MIT */
/* callgrind.c - feeds callgrind files to the parser, a chunk of whole lines at a time */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "applets/runner/simulation/callgrind_parser.h"

enum {
	CHUNK = 256 * 1024,
	LINE_MAX_BYTES = 64 * 1024 * 1024, /* a command line or a name, far above any real one */
};

/* Fill up the buffer, which has room. Bytes read, 0 at the end, or -errno with a frame. */
static ssize_t read_more(int fd, struct buf *b, const char *name)
{
	ssize_t n;

	do
		n = read(fd, b->data + b->len, b->cap - b->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fail_errno("cannot read %s", name);
	b->len += (size_t)n;
	return n;
}

/* Parse the whole lines of the buffer and move the rest to its start. 0 or the parser's reason. */
static int parse_buffer(struct callgrind_parser *cg, struct buf *b)
{
	const char *nl = memrchr(b->data, '\n', b->len);
	size_t len = nl ? (size_t)(nl + 1 - b->data) : 0;
	int rc;

	rc = callgrind_parse_lines(cg, b->data, b->data + len);
	b->len -= len;
	memmove(b->data, b->data + len, b->len);
	return rc;
}

static int read_lines(struct callgrind_parser *cg, int fd, struct buf *b)
{
	ssize_t n;
	int rc;

	for (;;) {
		if (b->len > LINE_MAX_BYTES)
			return fail(-EBADMSG, "%s: a line is too long", cg->name);
		buf_reserve(b, CHUNK / 2);
		n = read_more(fd, b, cg->name);
		if (n <= 0)
			return (int)n;
		rc = parse_buffer(cg, b);
		if (rc)
			return rc;
	}
}

int callgrind_read_fd(int fd, const char *name, const struct callgrind_ops *ops, void *ctx)
{
	struct callgrind_parser cg;
	struct buf b = BUF_INIT;
	int rc;

	callgrind_parser_init(&cg, name, ops, ctx);
	buf_reserve(&b, CHUNK);
	rc = read_lines(&cg, fd, &b);
	if (!rc)
		rc = callgrind_parser_finish(&cg, b.data, b.len);
	buf_release(&b);
	callgrind_parser_release(&cg);
	return rc;
}

int callgrind_read(const char *path, const struct callgrind_ops *ops, void *ctx)
{
	struct stat st;
	int fd, rc;

	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO would wait for a writer */
	if (fd < 0)
		return fail_errno("cannot open %s", path);
	if (!fstat(fd, &st) && S_ISFIFO(st.st_mode))
		rc = fail(-EBADMSG, "%s is a FIFO, not a file", path);
	else
		rc = callgrind_read_fd(fd, path, ops, ctx);
	close(fd);
	return rc;
}

int callgrind_read_bytes(const void *data, size_t len, const char *name,
			 const struct callgrind_ops *ops, void *ctx)
{
	struct callgrind_parser cg;
	const char *text = data, *nl = len ? memrchr(text, '\n', len) : NULL;
	size_t whole = nl ? (size_t)(nl + 1 - text) : 0;
	int rc;

	callgrind_parser_init(&cg, name, ops, ctx);
	rc = callgrind_parse_lines(&cg, text, text + whole);
	if (!rc)
		rc = callgrind_parser_finish(&cg, text + whole, len - whole);
	callgrind_parser_release(&cg);
	return rc;
}
