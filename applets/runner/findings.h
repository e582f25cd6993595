/* SPDX-License-Identifier: MIT */
/* findings.h - what reading a run's folder showed besides benchmarks: each mode's loader fills it */
#ifndef RUNNER_FINDINGS_H
#define RUNNER_FINDINGS_H

#include <stdbool.h>

#include "applets/runner/session.h"

struct findings {
	bool damaged;     /* some data could not be read; told already */
	bool unsupported; /* this machine cannot run the mode */
	char *why_empty;  /* why there is no benchmark, for people; the caller frees */
};

/* The folder of a finished run into benchmarks. 0 or -errno with a frame. */
int simulation_load(struct session *s, struct result *r, size_t top, struct findings *found);
int walltime_load(struct session *s, struct result *r, struct findings *found);
int memory_load(struct session *s, struct result *r, struct findings *found);

#endif
