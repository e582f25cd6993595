/* SPDX-License-Identifier: MIT */
/* recorded.h - results of an earlier run, from a file or from a profile folder */
#ifndef RUNNER_RECORDED_H
#define RUNNER_RECORDED_H

#include <stddef.h>

#include "applets/runner/results/result.h"

/* Read a result file into `r` (empty before). 0 or -errno with a frame. */
int recorded_read(struct result *r, const char *path);

/*
 * Load `path`, a result file or a profile folder, into `r` (empty before). Of a folder the figures
 * come from the raw data, with the `top` most expensive functions of each benchmark, or from its
 * results.json where these were removed. 0 or -errno with a frame.
 */
int recorded_load(struct result *r, const char *path, size_t top);

#endif
