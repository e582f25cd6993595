/* SPDX-License-Identifier: MIT */
/* python.h - what the Python interpreters at hand can do */
#ifndef RUNNER_PYTHON_H
#define RUNNER_PYTHON_H

#include <stdbool.h>

#include "core/strvec.h"

/*
 * Whether every interpreter that the command may mean accepts PYTHONMALLOC=malloc: a free-threaded
 * build refuses to start with it. Looked at, without running anything: `python3` and `python` on
 * the environment's PATH, the virtual environments of VIRTUAL_ENV and (for `uv run`) of the working
 * directory, the program itself, the interpreter in its first line, and, where `program` is shell
 * text, its words.
 */
bool python_accepts_malloc(const struct strvec *env, const char *program, const char *directory);

/* The interpreter at `path` is a free-threaded build (python3.14t). */
bool python_is_free_threaded(const char *path);

#endif
