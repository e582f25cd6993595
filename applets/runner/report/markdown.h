/* SPDX-License-Identifier: MIT */
/* markdown.h - GitHub's Markdown: any text made harmless, results as tables, where it goes to */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

#include <stddef.h>

#include "applets/runner/results/result.h"
#include "core/buf.h"

/* Append text as it is, so that nothing in it is markup, also within a table. */
void markdown_text(const char *text, struct buf *to);

/* The same as code; the empty text stays empty. */
void markdown_code(const char *text, struct buf *to);

/* Take back what was appended after `len`. */
void markdown_cut(struct buf *to, size_t len);

/* Append a table for each mode, at most `limit` bytes; what does not fit is counted. */
void markdown_results(const struct result *result, size_t limit, struct buf *to);

/* GitHub shows that much of what the steps of a job write to $GITHUB_STEP_SUMMARY: 1 MiB a step. */
enum { STEP_SUMMARY_MAX = 1024 * 1024 };

/* Writes Markdown of at most `limit` bytes about `ctx`. */
typedef void markdown_writer(const void *ctx, size_t limit, struct buf *to);

/*
 * To `path` (NULL: nowhere), and behind what stands in the file that GITHUB_STEP_SUMMARY names,
 * where that is set, as much as has room there. 0 or -errno with a frame; the second is tried also
 * when the first fails.
 */
int markdown_deliver(markdown_writer *write, const void *ctx, const char *path);

#endif
