/* SPDX-License-Identifier: MIT */
/*
 * round_record.h - `rounds-<pid>.json` in the profile folder: every round that an exec-harness ran,
 * with what results/<pid>.json has no place for. A file of our own; the harness writes it, reports
 * read it.
 */
#ifndef CORE_ROUND_RECORD_H
#define CORE_ROUND_RECORD_H

#include <stdint.h>

#include "core/strvec.h"
#include "core/vec.h"

#define ROUND_RECORD_PREFIX "rounds-"
#define ROUND_RECORD_SUFFIX ".json"

/* One run of the command; what it used includes its children that it waited for. */
struct round {
	uint64_t start, end; /* CLOCK_MONOTONIC, ns: just before the spawn, and just after the exit */
	uint64_t user_ns, system_ns;
	uint64_t max_rss_bytes; /* of the largest process */
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
	int64_t status; /* exit status, 128+N for signal N */
};

enum round_outcome {
	ROUNDS_OK,
	ROUNDS_FAILED,      /* a round failed, and ended it; it is not among the rounds */
	ROUNDS_INTERRUPTED, /* all rounds are whole, but there should be more */
};

struct round_benchmark {
	char *uri;  /* UTF-8 */
	char *name; /* UTF-8 */
	enum round_outcome outcome;
	struct strvec notes; /* UTF-8; the first is the reason where the outcome is not ok */
	VEC(struct round) rounds; /* measured ones, in order; not those of the warm-up */
};

struct round_record {
	VEC(struct round_benchmark) benchmarks;
};

void round_record_release(struct round_record *r);
void round_benchmark_release(struct round_benchmark *b);

/* Write the file of this process into `folder`, in one step. 0 or -errno with a frame. */
int round_record_write(const struct round_record *r, const char *folder);

/* Read one such file, and its bytes. 0 or -errno with a frame; `r`, empty before, then still is. */
int round_record_decode(struct round_record *r, const char *name, const char *bytes, size_t len);
int round_record_read(struct round_record *r, const char *path);

#endif
