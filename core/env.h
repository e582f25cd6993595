/* SPDX-License-Identifier: MIT */
/*
 * env.h - environments for child processes, as lists of NAME=VALUE.
 *
 * The order and the size of an environment are part of what a simulation measures (about 640
 * instructions a variable), so changing a variable keeps its place and a new one goes to the end.
 */
#ifndef CORE_ENV_H
#define CORE_ENV_H

#include "core/strvec.h"

/* The value in `env`, borrowed, or NULL. */
const char *env_get(const struct strvec *env, const char *name);
void env_set(struct strvec *env, const char *name, const char *value);
void env_unset(struct strvec *env, const char *name);

#endif
