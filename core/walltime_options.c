/* SPDX-License-Identifier: MIT */
/* walltime_options.c - the options that exec and exec-harness share */
#include "core/base.h"
#include "core/cpu_list.h"
#include "core/exit_code.h"
#include "core/units.h"
#include "core/walltime_options.h"

bool output_is_file(const char *output)
{
	return !str_eq(output, OUTPUT_INHERIT) && !str_eq(output, OUTPUT_NULL) &&
	       !str_eq(output, OUTPUT_PIPE);
}

static int check_duration(const struct opt *row UNUSED, const char *text, void *member UNUSED)
{
	uint64_t ns;

	return parse_duration(text, &ns);
}

static int check_timeout(const struct opt *row UNUSED, const char *text, void *member UNUSED)
{
	uint64_t ns;
	int rc = parse_duration(text, &ns);

	return rc || ns ? rc : fail(-EINVAL, "expected more than 0");
}

static int check_count(const struct opt *row UNUSED, const char *text, void *member UNUSED)
{
	uint64_t count;

	return parse_uint64(text, &count);
}

static int check_pair(const char *low_name, const char *low, const char *high_name, const char *high,
		      int (*parse)(const char *text, uint64_t *value))
{
	uint64_t min, max;

	if (!low || !high || parse(low, &min) || parse(high, &max) || !max || min <= max)
		return 0;
	return fail(-EINVAL, "%s (%s) is above %s (%s)", low_name, low, high_name, high);
}

int walltime_limits_check(const struct walltime_options *o)
{
	int rc = check_pair("min-time", o->min_time, "max-time", o->max_time, parse_duration);

	return rc ? rc : check_pair("min-rounds", o->min_rounds, "max-rounds", o->max_rounds, parse_uint64);
}

int parse_statuses(const char *text, bool *set)
{
	char *list = xstrdup(text), *rest = list, *word;
	int rc = 0;

	while (!rc && (word = strsep(&rest, ","))) {
		uint64_t status = 0;

		rc = parse_uint64(word, &status);
		if (!rc && status >= STATUSES)
			rc = fail(-EINVAL, "expected exit statuses of at most %d", STATUSES - 1);
		if (!rc)
			set[status] = true;
	}
	free(list);
	return rc;
}

int parse_allowed_statuses(const char *ignore_failure, bool *set)
{
	memset(set, false, STATUSES);
	set[0] = true;
	if (!ignore_failure)
		return 0;
	if (*ignore_failure)
		return parse_statuses(ignore_failure, set);
	memset(set, true, EXIT_SIGNAL_BASE); /* a signal is asked for by its number */
	return 0;
}

static int check_statuses(const struct opt *row UNUSED, const char *text, void *member UNUSED)
{
	bool set[STATUSES];

	return *text ? parse_statuses(text, set) : 0;
}

static int check_cpus(const struct opt *row UNUSED, const char *text, void *member UNUSED)
{
	cpu_set_t set;

	return parse_cpu_list(text, &set);
}

#define TEXT(name_, member_, meta_, check_, help_)                                      \
	OPT_STRING(0, name_, struct walltime_options, member_, .meta = (meta_),         \
		   .parse = (check_), .help = (help_))

#define NOT_EMPTY(name_, member_, meta_, help_)                                         \
	OPT_PATH(0, name_, struct walltime_options, member_, .meta = (meta_), .help = (help_))

const struct opt walltime_option_rows[] = {
	OPT_GROUP("Walltime mode"),
	TEXT("warmup-time", warmup_time, "DURATION", check_duration,
	     "run unmeasured rounds for this long first (default: 1s; 0: none)"),
	TEXT("max-time", max_time, "DURATION", check_duration,
	     "stop measuring at the first round that ends past this (default: 3s where no other "
	     "limit is given)"),
	TEXT("min-time", min_time, "DURATION", check_duration, "measure at least this long"),
	TEXT("max-rounds", max_rounds, "COUNT", check_count, "at most this many rounds"),
	TEXT("min-rounds", min_rounds, "COUNT", check_count, "at least this many rounds"),
	TEXT("round-timeout", round_timeout, "DURATION", check_timeout,
	     "end a round that takes longer than this; it has then failed"),
	OPT_STRING('i', "ignore-failure", struct walltime_options, ignore_failure, .bare = "",
		   .meta = "STATUS,...", .parse = check_statuses,
		   .help = "in every mode: any exit status, or one of these, is no failure (128+N: killed "
			   "by signal N, only if listed)"),
	NOT_EMPTY("prepare", prepare, "SHELL-TEXT", "run this before each round, not timed"),
	NOT_EMPTY("cleanup", cleanup, "SHELL-TEXT", "run this after the last round"),
	NOT_EMPTY("input", input, "FILE",
		  "standard input of each round, from its start (default: /dev/null)"),
	NOT_EMPTY("output", output, "WHERE",
		  "standard output of the rounds: inherit (the default: it is shown), null, pipe "
		  "(read and thrown away), or a file; but for inherit, standard error is dropped"),
	TEXT("cpu", cpu, "LIST", check_cpus, "run the rounds on these processors, as in 0,2-3"),
	OPT_FLAG(0, "no-advice", struct walltime_options, quiet,
		 .help = "no advice on how to measure better"),
	OPT_END
};

void walltime_options_words(const struct walltime_options *o, struct strvec *to)
{
	for (const struct opt *row = walltime_option_rows; row->type != OPT_TYPE_END; row++) {
		const char *text;

		if (row->type != OPT_TYPE_STRING && row->type != OPT_TYPE_PATH)
			continue;
		memcpy(&text, (const char *)o + row->offset, sizeof(text));
		if (!text)
			continue;
		if (row->bare && str_eq(text, row->bare))
			strvec_pushf(to, "--%s", row->name);
		else
			strvec_pushf(to, "--%s=%s", row->name, text);
	}
	if (o->quiet)
		strvec_push(to, "--no-advice");
}
