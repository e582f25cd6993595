/* SPDX-License-Identifier: MIT */
/* error.c - error frames and the ways to end on them */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/cleanup.h"

/* Outermost first, as printed: a new frame goes in front. Each thread has its own. */
static _Thread_local struct buf frames;

static void push_frame(const char *fmt, va_list ap)
{
	struct buf joined = BUF_INIT;

	buf_vprintf(&joined, fmt, ap);
	if (frames.len) {
		buf_addstr(&joined, ": ");
		buf_add(&joined, frames.data, frames.len);
	}
	buf_release(&frames);
	frames = joined;
}

int fail(int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	push_frame(fmt, ap);
	va_end(ap);
	return rc;
}

int fail_errno(const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	buf_release(&frames);
	buf_addstr(&frames, strerror(saved));
	va_start(ap, fmt);
	push_frame(fmt, ap);
	va_end(ap);
	return saved ? -saved : -EIO;
}

const char *error_text(void)
{
	return frames.len ? frames.data : "";
}

void error_clear(void)
{
	buf_release(&frames);
}

void die_recorded(int code)
{
	log_error("%s", frames.len ? frames.data : "unknown error");
	cleanup_run();
	exit(code);
}

void die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	push_frame(fmt, ap);
	va_end(ap);
	die_recorded(code);
}

void bug_at(const char *file, int line, const char *what)
{
	log_error("bug at %s:%d: %s", file, line, what);
	cleanup_run();
	abort();
}
