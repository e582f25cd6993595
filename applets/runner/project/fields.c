/* SPDX-License-Identifier: MIT */
/* fields.c - what may stand in codspeed.yml */
#include "core/base.h"
#include "core/walltime_options.h"

#include "applets/runner/project/fields.h"
#include "applets/runner/project/project.h"

#define LIMIT(key_, index_) \
	{.key = (key_), .type = FIELD_OPTION, .offset = offsetof(struct project_limits, texts[index_])}

/* Named like their options. */
#define LIMITS                                    \
	LIMIT("warmup-time", LIMIT_WARMUP_TIME),  \
	LIMIT("max-time", LIMIT_MAX_TIME),        \
	LIMIT("min-time", LIMIT_MIN_TIME),        \
	LIMIT("max-rounds", LIMIT_MAX_ROUNDS),    \
	LIMIT("min-rounds", LIMIT_MIN_ROUNDS)

static const struct field benchmark_limits[] = {
	LIMITS,
	{0}
};

static const struct field root_options[] = {
	{"working-directory", FIELD_TEXT, offsetof(struct project_options, working_directory), NULL,
	 "where 'codspeed run' runs the benchmarks of this file; relative to the file (default: the "
	 "file's directory)", NULL},
	{"fail-above", FIELD_GATES, offsetof(struct project_options, fail_above), NULL,
	 "limits of metrics, as of the option --fail-above; one or more a line", NULL},
	LIMITS,
	{0}
};

/* The limits come first in what root_options fill. */
_Static_assert(offsetof(struct project_options, limits) == 0, "LIMIT's offsets");

static const struct field benchmark_fields[] = {
	{"name", FIELD_TEXT, offsetof(struct project_benchmark, name), NULL,
	 "name of the benchmark, and its identity (default: the command)", NULL},
	{"id", FIELD_TEXT, offsetof(struct project_benchmark, id), NULL,
	 "for 'codspeed run --bench ID'", NULL},
	{"exec", FIELD_COMMAND, offsetof(struct project_benchmark, exec), NULL,
	 "a program and its arguments, measured as one benchmark; no shell", NULL},
	{"entrypoint", FIELD_COMMAND, offsetof(struct project_benchmark, entrypoint), NULL,
	 "shell text that runs benchmarks written with a CodSpeed integration", NULL},
	{"fail-above", FIELD_GATES, offsetof(struct project_benchmark, fail_above), NULL,
	 "limits of metrics of this 'exec' alone, METRIC=LIMIT,...", NULL},
	{"options", FIELD_GROUP, offsetof(struct project_benchmark, limits), benchmark_limits,
	 "options of this 'exec' alone", NULL},
	{0}
};

const struct field project_fields[] = {
	{"options", FIELD_GROUP, offsetof(struct project, options), root_options,
	 "options of all benchmarks; those given on the command line win", NULL},
	{"benchmarks", FIELD_LIST, offsetof(struct project, benchmarks), benchmark_fields,
	 "what 'codspeed run' without a command runs", "targets"},
	{0}
};

const struct opt *field_option(const struct field *field)
{
	for (const struct opt *row = walltime_option_rows; row->type != OPT_TYPE_END; row++)
		if (row->name && str_eq(row->name, field->key))
			return row;
	BUG("a key of codspeed.yml is named like no option");
}

const char *project_option(const struct project *p, const char *name)
{
	for (const struct field *field = benchmark_limits; field->key; field++)
		if (str_eq(field->key, name))
			return *(const char *const *)((const char *)&p->options.limits + field->offset);
	return NULL;
}
