/* SPDX-License-Identifier: MIT */
/*
 * simulation_record.h - `simulation.json` beside the dumps: which process of which benchmark left
 * which dump. Written by whoever ran valgrind, read by whoever reports.
 */
#ifndef CORE_SIMULATION_RECORD_H
#define CORE_SIMULATION_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/proctree.h"
#include "core/strvec.h"
#include "core/vec.h"

#define SIMULATION_RECORD_FILE "simulation.json"

struct record_image {
	char *command;
	bool measured;       /* under valgrind; else it was skipped */
	bool forked;         /* began by fork: no start-up of its own */
	unsigned flaws;      /* enum image_flaw (proctree.h) */
	struct strvec dumps; /* names in the folder */
};

struct record_process {
	int64_t pid;
	int64_t parent; /* process id, 0 for the root */
	bool outlived;  /* ended by us after the root */
	int status;     /* exit status, 128+N for signal N, -1 unknown */
	VEC(struct record_image) images;
};

struct record_benchmark {
	char *uri;
	char *name;
	int status;          /* of the root process, as above */
	int signal;          /* that killed the root, 0 for none */
	bool random_addresses; /* address randomisation could not be switched off */
	bool untraced;       /* ptrace was not permitted: exec in place is a lower bound */
	VEC(struct record_process) processes; /* in start order, root first */
};

struct simulation_record {
	VEC(struct record_benchmark) benchmarks;
};

void record_benchmark_release(struct record_benchmark *b);
void simulation_record_release(struct simulation_record *r);

/*
 * Append a benchmark to the record in `folder`, under a lock: harnesses of one entrypoint may run
 * side by side. 0 or -errno with a frame.
 */
int simulation_record_append(const char *folder, const struct record_benchmark *b);

/* Read the record of a folder. 0; -ENOENT without a frame when there is none; else a frame. */
int simulation_record_read(const char *folder, struct simulation_record *r);

#endif
