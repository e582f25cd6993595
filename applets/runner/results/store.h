/* SPDX-License-Identifier: MIT */
/*
 * store.h - baselines: results kept under a name, one file each, `.codspeed/NAME.json` at the root
 * of the repository. The files are results.json as any other, fit for git and for CI artifacts.
 */
#ifndef RESULTS_STORE_H
#define RESULTS_STORE_H

#include <stdbool.h>

#include "applets/runner/results/result.h"
#include "core/strvec.h"

/*
 * The store's folder: `wanted` made absolute, or `.codspeed` in the nearest folder above the current
 * one that holds a `.git`, in the current one where there is none. The caller frees; NULL with a
 * frame where the current folder cannot be told. The folder itself may not be there yet.
 */
char *store_folder(const char *wanted);

/* 0, or -EINVAL with a frame for what is no name of a baseline. */
int store_check_name(const char *name);

/* The baseline's file; the caller frees. */
char *store_path(const char *folder, const char *name);

bool store_has(const char *folder, const char *name);

/* Names of all baselines, sorted; none where there is no folder. 0 or -errno with a frame. */
int store_list(const char *folder, struct strvec *names);

/* Write in place of one of that name; the folder is made. 0 or -errno with a frame. */
int store_save(const char *folder, const char *name, const struct result *result);

/* 0 or -errno with a frame that names the baselines there are. */
int store_load(const char *folder, const char *name, struct result *result);
int store_remove(const char *folder, const char *name);

#endif
