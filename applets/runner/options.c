/* SPDX-License-Identifier: MIT */
/* options.c - the options that run and exec share */
#include "core/base.h"
#include "core/benchmark_env.h"
#include "core/mode.h"

#include "applets/runner/options.h"

/* What only matters with an upload, an installation or a mode that is not part of this version. */
#define IGNORED_TEXT(name_, env_)                                                              \
	OPT_STRING(0, name_, struct run_options, ignored_text, .env = (env_),                  \
		   .flags = OPT_HIDDEN | OPT_REPEAT, .help = "accepted, without effect")
#define IGNORED_FLAG(name_, env_)                                                              \
	OPT_FLAG(0, name_, struct run_options, ignored_flag, .env = (env_),                    \
		 .flags = OPT_HIDDEN | OPT_REPEAT, .help = "accepted, without effect")

/* Would change what is measured, so it is said. */
#define REFUSED_FLAG(name_, env_)                                                              \
	OPT_FLAG(0, name_, struct run_options, ignored_flag, .env = (env_),                    \
		 .flags = OPT_HIDDEN | OPT_REPEAT, .deprecated = "it has no effect here",        \
		 .help = "without effect")

static const struct opt_choice profiler_words[] = {
	CHOICE("auto", PROFILER_AUTO), /* perf where it works */
	CHOICE("perf", PROFILER_PERF),
	CHOICE("sampler", PROFILER_SAMPLER),
	CHOICE_ALIAS("samply", PROFILER_SAMPLER), /* upstream's own, which ours stands for */
	CHOICE_END,
};

/* How the command is run comes first: a run's parts take that over (run_options_pass_on()). */
const struct opt run_option_rows[] = {
	OPT_CHOICES('m', "mode", struct run_options, modes, mode_words, .meta = "MODE",
		    .env = CODSPEED_RUNNER_MODE,
		    .help = "what to measure; several one after the other (default: what 'codspeed use' has "
			    "set, else simulation, or walltime where there is no valgrind)"),
	OPT_PATH(0, "working-directory", struct run_options, working_directory, .meta = "DIR",
		 .help = "run the command there"),
	OPT_DURATION(0, "timeout", struct run_options, timeout_ns, .min = 1,
		     .help = "end the command after this time; the run has then failed"),
	OPT_FLAG(0, "allow-empty", struct run_options, allow_empty,
		 .help = "no benchmark found is no error"),
	OPT_FLAG(0, "pin-dispatch", struct run_options, pin_dispatch,
		 .help = "set GLIBC_TUNABLES so that simulations do not depend on the processor"),
	OPT_PATH(0, "config", struct run_options, config, .meta = "FILE",
		 .help = "the project's file (default: codspeed.yml here or above, in the repository)"),
	OPT_FLAG(0, "part", struct run_options, part, .flags = OPT_HIDDEN,
		 .help = "do a part of a run, whose results another process prints"),
	OPT_FLAG(0, "enable-profiler", struct run_options, profiler,
		 .env = "CODSPEED_PROFILER_ENABLED", .def = "true", .flags = OPT_REPEAT,
		 .help = "in walltime mode, also sample where benchmarks spend their time"),
	OPT_CHOICE(0, "walltime-profiler", struct run_options, walltime_profiler, profiler_words,
		   .env = "CODSPEED_WALLTIME_PROFILER", .def = "auto", .meta = "WHICH",
		   .help = "what takes the samples"),
	OPT_GROUP("Results"),
	OPT_PATH(0, "profile-folder", struct run_options, profile_folder, .meta = "DIR",
		 .help = "leave the raw data and results.json there, in place of an earlier run's "
			 "(default: a new folder in TMPDIR)"),
	OPT_PATH(0, "json", struct run_options, json, .meta = "FILE",
		 .help = "also write results.json to FILE; `-` for standard output"),
	OPT_UINT(0, "top", struct run_options, top, .meta = "N", .max = 100000,
		 .help = "list the N most expensive functions of each benchmark"),
	OPT_STRING(0, "save", struct run_options, save, .meta = "NAME",
		   .help = "keep the results as the baseline NAME"),
	OPT_STRING(0, "baseline", struct run_options, baseline, .meta = "NAME",
		   .help = "compare the results with that baseline"),
	OPT_PATH(0, "store", struct run_options, store, .meta = "DIR",
		 .help = "where baselines are (default: .codspeed at the root of the repository)"),
	OPT_ROWS(struct run_options, comparing, struct comparing_options, comparing_option_rows),
	IGNORED_FLAG("skip-upload", "CODSPEED_SKIP_UPLOAD"),
	IGNORED_FLAG("skip-setup", NULL),
	IGNORED_FLAG("show-full-output", NULL),
	REFUSED_FLAG("cycle-estimation", "CODSPEED_CYCLE_ESTIMATION"),
	REFUSED_FLAG("exclude-allocations", "CODSPEED_EXCLUDE_ALLOCATIONS"),
	IGNORED_TEXT("token", "CODSPEED_TOKEN"),
	IGNORED_TEXT("upload-url", "CODSPEED_UPLOAD_URL"),
	IGNORED_TEXT("repository", "CODSPEED_REPOSITORY"),
	IGNORED_TEXT("provider", "CODSPEED_PROVIDER"),
	IGNORED_TEXT("go-runner-version", "CODSPEED_GO_RUNNER_VERSION"),
	OPT_END
};

void run_options_pass_on(const struct opts_args *args, struct strvec *to)
{
	static const char *const own[] = {"mode", "config", "part"}; /* parts.c has its own for each */
	const struct opt *row = run_option_rows;

	for (; row->type != OPT_TYPE_GROUP; row++) {
		size_t i = 0;

		while (i < ARRAY_SIZE(own) && !str_eq(own[i], row->name))
			i++;
		if (i == ARRAY_SIZE(own))
			opts_pass_on(args, row->name, to);
	}
	opts_pass_on(args, "top", to);
	opts_pass_on(args, "quiet", to);
}
