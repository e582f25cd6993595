/* SPDX-License-Identifier: MIT */
/* show.c - print the results of an earlier run */
//config:config SHOW
//config:	bool "show (40 kb)"
//config:	default y
//config:	select LIB_YYJSON
//command:IF_SHOW(COMMAND("show", NULL, show_main, PRIV_DROP, "print the results of an earlier run, or this shell's modes"))
//usage:[OPTION]... [FOLDER|RESULTS.json]
//example:codspeed show /tmp/profile.AbCdEf0123.out
#include <stdio.h>

#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/opts.h"

#include "applets/runner/project/shell_session.h"
#include "applets/runner/recorded.h"
#include "applets/runner/report/report.h"
#include "applets/runner/simulation/profile.h"

struct cfg {
	const char *json;
	uint64_t top;
};

static const struct opt rows[] = {
	OPT_UINT(0, "top", struct cfg, top, .meta = "N", .max = 100000,
		 .help = "list the N most expensive functions of each benchmark"),
	OPT_PATH(0, "json", struct cfg, json, .meta = "FILE",
		 .help = "write the results as JSON to FILE; `-` for standard output"),
	OPT_END
};

/* results.json has as many functions as its run was asked for; a folder has them all. */
static void tell_of_fewer(const struct result *r, uint64_t top)
{
	size_t most = 0;

	for (size_t i = 0; i < r->benchmarks.len; i++)
		if (r->benchmarks.items[i].functions.len > most)
			most = r->benchmarks.items[i].functions.len;
	if (most && most < top)
		log_info("%zu functions are all that is recorded here", most);
}

/* What 'codspeed use' has set. */
static int show_modes(const struct cfg *cfg)
{
	char *modes, *rest;

	if (cfg->json || cfg->top)
		die_usage("an argument is missing: the folder or file to show");
	modes = rest = shell_session_modes();
	if (!modes)
		log_info("no mode is set for this shell; 'codspeed use MODE' sets one");
	for (char *mode = strsep(&rest, ","); mode; mode = strsep(&rest, ","))
		puts(mode);
	free(modes);
	return EXIT_DONE;
}

int show_main(int argc, char **argv)
{
	struct cfg cfg = {0};
	struct opts_args args;
	struct result r = RESULT_INIT;

	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 0, 1);
	if (!args.count) {
		args_release(&args);
		return show_modes(&cfg);
	}
	if (recorded_load(&r, args.words[0], cfg.top ? cfg.top : PROFILE_TOP_DEFAULT))
		die_recorded(EXIT_FAILED);
	tell_of_fewer(&r, cfg.top);
	if (cfg.json && report_json(&r, cfg.json))
		die_recorded(EXIT_FAILED);
	if (!cfg.json || !str_eq(cfg.json, "-"))
		report_table(&r, cfg.top);
	result_release(&r);
	args_release(&args);
	return EXIT_DONE;
}
