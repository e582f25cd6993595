/* SPDX-License-Identifier: MIT */
/* semver.h - versions by the rules of semver.org 2.0.0 */
#ifndef CORE_SEMVER_H
#define CORE_SEMVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct semver {
	uint64_t numbers[3];    /* major, minor, patch */
	const char *prerelease; /* borrowed from the text, what follows the "-" */
	size_t prerelease_len;  /* 0: a release */
};

/* Strict: "1.2", "v1.2.3" and "01.2.3" are none. Whether the text is a version. */
bool semver_parse(struct semver *v, const char *text, size_t len);

/* By precedence: <0, 0, >0. A pre-release is before its release; build metadata counts nothing. */
int semver_compare(const struct semver *a, const struct semver *b);

#endif
