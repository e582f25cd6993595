/* SPDX-License-Identifier: MIT */
/*
 * result.h - the result model (schema version 1): what every mode ends in and every report starts
 * from. One result is one run; it owns all its strings, which come from malloc().
 *
 * Strings are of two kinds. Text is UTF-8 and written as it is. Bytes may be anything (command
 * lines, paths, symbols) and are escaped on their way out (core/text.h).
 */
#ifndef RESULTS_RESULT_H
#define RESULTS_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/mode.h"
#include "core/strvec.h"
#include "core/vec.h"

enum { RESULT_VERSION = 1 };

enum simulation_metric {
	SIMULATION_INSTRUCTIONS,
	SIMULATION_L1_HITS,
	SIMULATION_LL_HITS,
	SIMULATION_RAM_HITS,
	SIMULATION_ESTIMATED_CYCLES,
	SIMULATION_STARTUP_INSTRUCTIONS,
	SIMULATION_METRICS,
};

enum memory_metric {
	MEMORY_PEAK_BYTES,
	MEMORY_TOTAL_BYTES,
	MEMORY_ALLOCATIONS,
	MEMORY_FREES,
	MEMORY_LEAKED_BYTES,
	MEMORY_LEAKED_BLOCKS,
	MEMORY_TEMPORARY_ALLOCATIONS,
	MEMORY_METRICS,
};

/* Nanoseconds of a round; a result file of others may have means over many iterations. */
enum walltime_metric {
	WALLTIME_MEAN,
	WALLTIME_MEDIAN,
	WALLTIME_MIN,
	WALLTIME_MAX,
	WALLTIME_STDEV,
	WALLTIME_Q1,
	WALLTIME_Q3,
	WALLTIME_ROUNDS,
	WALLTIME_OUTLIERS, /* rounds further from the quartiles than 1.5 of their distance */
	WALLTIME_USER,     /* mean of a round, all processes */
	WALLTIME_SYSTEM,
	WALLTIME_MAX_RSS,  /* of the largest process of all rounds */
	WALLTIME_METRICS,
};

/* Room in a benchmark; no mode has more. */
enum { RESULT_METRICS_MAX = 16 };

/* How a table shows a number. */
enum metric_unit {
	UNIT_COUNT,
	UNIT_TIME, /* nanoseconds */
	UNIT_MEAN, /* the same, with its confidence interval: walltime's mean */
	UNIT_BYTES,
};

struct metric_info {
	const char *name;  /* key in JSON */
	const char *title; /* where plain numbers are listed */
	enum metric_unit unit;
	const char *column; /* title in the table, where values have their unit; NULL: not there */
};

/* What a mode measures, in the order of its enum. Smaller is better for every metric. */
struct mode_info {
	const struct metric_info *metrics; /* NULL: not part of this version */
	size_t metric_count;
	size_t leading; /* the metric that stands for the benchmark in a comparison */
};

const struct mode_info *result_mode_info(enum mode mode);

/* 0, or -EINVAL without a frame for a name that is no mode's. */
int result_mode_from_name(const char *name, enum mode *to);

/* A number that may be unknown: null in JSON. */
struct measure {
	uint64_t value;
	bool known;
};

#define MEASURE_NULL ((struct measure){0})
#define MEASURE(n) ((struct measure){.value = (n), .known = true})

enum benchmark_status {
	BENCHMARK_OK,
	BENCHMARK_FAILED,     /* the benchmark itself went wrong */
	BENCHMARK_INCOMPLETE, /* it ran, but the figures are lower bounds; the notes say why */
};

const char *benchmark_status_name(enum benchmark_status status);
int benchmark_status_from_name(const char *name, enum benchmark_status *to); /* as above */

struct result_function {
	char *name;   /* bytes */
	char *object; /* bytes, path; NULL when unknown */
	uint64_t self;
	uint64_t inclusive;
};

struct result_process {
	int64_t pid;
	int64_t ppid;
	char *command;         /* bytes; NULL when unknown */
	struct measure status; /* exit status, 128+N for signal N */
	struct measure instructions;
};

/* Allocations of a size: those that a block of `size_class` bytes, a power of two, would hold. */
struct result_size_class {
	uint64_t size_class; /* 0 for those of no byte */
	uint64_t allocations;
	uint64_t bytes;
};

struct result_point {
	uint64_t ns; /* since the benchmark's start */
	uint64_t live_bytes;
};

/* How URIs of exec-harness begin; the name, with its bytes escaped, follows. */
#define RESULT_HARNESS_URI "exec_harness::"

/* Its identity is (uri, mode). */
struct benchmark {
	char *uri;  /* text */
	char *name; /* text */
	enum mode mode;
	enum benchmark_status status;
	struct strvec notes; /* text */
	struct measure metrics[RESULT_METRICS_MAX]; /* by the enum of the mode */
	VEC(uint64_t) rounds;                       /* walltime: ns, in the order they ran */
	VEC(struct result_size_class) histogram;    /* memory: the smallest first, none empty */
	VEC(struct result_point) timeline;          /* memory: by time */
	VEC(struct result_function) functions;      /* simulation: most expensive first */
	VEC(struct result_process) processes;       /* in the order they started */
};

struct result_tool {
	char *name;     /* text */
	char *version;  /* text */
	char *build_id; /* text or NULL */
};

/* Where it ran: what explains a difference between two runs. */
struct result_system {
	char *os; /* text, as are all below */
	char *arch;
	char *cpu_model;
	struct strvec cpu_flags; /* sorted */
	struct measure cores;    /* this process may use */
	struct measure memory_bytes;
	char *kernel;
	char *libc;     /* or NULL */
	char *valgrind; /* or NULL */
	struct strvec valgrind_options; /* those that figures depend on */
	char *governor;       /* of the processor's frequency, or NULL */
	char *glibc_tunables; /* GLIBC_TUNABLES of the command, or NULL */
};

/* What differs from run to run by nature. */
struct result_run {
	char *started; /* text, ISO 8601 in UTC; see result_timestamp_dup() */
	uint64_t duration_ns;
	char *host;              /* bytes */
	char *command;           /* bytes: what was asked for, as one line */
	char *working_directory; /* bytes */
	struct strvec modes;     /* text, names of the modes */
};

struct result {
	struct result_tool tool;
	struct result_system system;
	struct result_run run;
	VEC(struct benchmark) benchmarks;
};

#define RESULT_INIT {0}

/* Free the contents; NULL members are fine, so that a half-filled result can go. */
void result_release(struct result *result);
void benchmark_release(struct benchmark *benchmark);

/*
 * A new last benchmark, all metrics null; `uri` and `name` are copied. Good until the next add.
 */
struct benchmark *result_add(struct result *result, enum mode mode, const char *uri,
	const char *name);

/* Whether a benchmark of it was measured in this mode. */
bool result_has_mode(const struct result *result, enum mode mode);

/*
 * The name that an integration's URI ends in: `file.py::Class::test[a::b]` gives `test[a::b]`, the
 * brackets being the test's own; of `exec_harness::NAME` all of NAME. Borrowed from `uri`, and empty
 * only where that is.
 */
const char *result_name_of_uri(const char *uri);

/* A reason why the status is not ok, or a remark. */
void benchmark_note(struct benchmark *benchmark, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Seconds since 1970 as "2026-01-31T23:59:59Z"; the caller frees. */
char *result_timestamp_dup(int64_t seconds);

/*
 * result_json.c: the bytes of results.json and of --json FILE, appended to `to`.
 */
void result_write_json(const struct result *result, struct buf *to);

/*
 * Fill `result` (empty before) from such bytes; `name` of the file is for messages. 0 or -EINVAL
 * with a frame; the result is empty then.
 */
int result_read_json(struct result *result, const char *name, const char *bytes, size_t len);

#endif
