/* SPDX-License-Identifier: MIT */
/* report.h - a result to where it was asked for */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "applets/runner/report/table.h"
#include "applets/runner/results/result.h"

/* Fill in tool and system. `valgrind` is its version, or NULL. */
void report_describe(struct result *r, const char *valgrind);

/* As JSON to a file, or to standard output for "-". 0 or -errno with a frame. */
int report_json(const struct result *r, const char *path);

/* What `print` writes about `ctx`, to standard output, in one go. */
typedef void report_printer(FILE *to, const void *ctx, const struct table_style *style);
void report_print(report_printer *print, const void *ctx, struct table_style style);

/* As a table to standard output, with `top` functions for each benchmark. */
void report_table(const struct result *r, size_t top);

#endif
