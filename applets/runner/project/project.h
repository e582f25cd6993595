/* SPDX-License-Identifier: MIT */
/*
 * project.h - codspeed.yml: the benchmarks of a project and the options for them.
 *
 *	options:
 *	  working-directory: bench
 *	  max-time: 2s
 *	benchmarks:
 *	  - name: fast
 *	    exec: ./bin --mode fast
 *	    options:
 *	      max-rounds: 20
 *	  - entrypoint: pytest --codspeed tests
 */
#ifndef RUNNER_PROJECT_H
#define RUNNER_PROJECT_H

#include "core/buf.h"
#include "core/strvec.h"
#include "core/vec.h"
#include "core/yaml.h"

#include "applets/runner/results/gate.h"

enum project_limit {
	LIMIT_WARMUP_TIME,
	LIMIT_MAX_TIME,
	LIMIT_MIN_TIME,
	LIMIT_MAX_ROUNDS,
	LIMIT_MIN_ROUNDS,
	PROJECT_LIMITS,
};

/* Texts as for the command line, each checked by its option; NULL: not set. */
struct project_limits {
	const char *texts[PROJECT_LIMITS];
};

struct project_options {
	struct project_limits limits;
	const char *working_directory; /* as written */
	const char *fail_above;        /* lines of limits (gate.h) */
};

struct project_benchmark {
	struct yaml_place place;
	const char *name;       /* NULL: none */
	const char *id;         /* NULL: none */
	const char *exec;       /* as written; exactly one of these two */
	const char *entrypoint;
	const char *fail_above; /* lines of limits of this benchmark; NULL: none */
	struct strvec words;    /* of exec */
	struct project_limits limits; /* of the benchmark and, where it has none, of the project */
};

struct project {
	char *path;      /* as found, for messages */
	char *directory; /* the real one of the file, absolute */
	struct project_options options;
	VEC(struct project_benchmark) benchmarks; /* in the file's order */
	struct yaml_doc doc; /* owns all texts */
};

#define PROJECT_INIT {0}

/*
 * Read the file `wanted` (--config), or where that is NULL the one that belongs to the current
 * directory. 1: read; 0: there is none; -errno with a frame that names the place of what is wrong.
 * Unknown keys are told as warnings. `p` is to be released in every case.
 */
int project_load(struct project *p, const char *wanted);
void project_release(struct project *p);

/* The same from text; `path` stands for the file in messages. 0 or -EINVAL with a frame. */
int project_parse(struct project *p, const char *path, const char *text, size_t len);

/*
 * Where the benchmarks run, absolute: `working-directory` against the file's directory. Caller frees;
 * NULL with a frame when it is no directory.
 */
char *project_directory_dup(const struct project *p);

/* The text of the option of this name in the project's own options; NULL: not set. */
const char *project_option(const struct project *p, const char *name);

/* All limits of metrics in the file, which were checked when it was read; added to `gates`. */
void project_gates(const struct project *p, struct gates *gates);

/* JSON schema of the file (draft 2020-12), for editors; appended. */
void project_schema(struct buf *to);

#endif
