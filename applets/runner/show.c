/* SPDX-License-Identifier: MIT */
/* show.c - print the results of an earlier run */
//config:config SHOW
//config:	bool "show (40 kb)"
//config:	default y
//config:	select LIB_YYJSON
//command:IF_SHOW(COMMAND("show", NULL, show_main, PRIV_DROP, "print the results of an earlier run"))
//usage:[OPTION]... FOLDER|RESULTS.json
//example:codspeed show /tmp/profile.AbCdEf0123.out
#include <stdio.h>
#include <sys/stat.h>

#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/opts.h"

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

static int read_results(struct result *r, const char *path)
{
	struct buf text = BUF_INIT;
	int rc = read_file(path, &text);

	if (!rc)
		rc = result_read_json(r, path, text.data, text.len);
	buf_release(&text);
	return rc;
}

/* What describes the run stands only in results.json; the figures come from the raw data. */
static int load_folder(struct result *r, const char *folder, size_t top)
{
	char *path = xasprintf("%s/results.json", folder);
	struct result saved = RESULT_INIT;
	struct profile_summary summary = {0};
	struct stat st;
	int rc = 0;

	if (stat(path, &st) == 0)
		rc = S_ISREG(st.st_mode) ? read_results(&saved, path)
					 : fail(-EINVAL, "%s is not a plain file", path);
	if (!rc)
		rc = profile_load(r, folder, top, &summary);
	if (!rc && !r->benchmarks.len && saved.benchmarks.len) {
		*r = saved; /* the dumps were removed */
		saved = (struct result)RESULT_INIT;
	} else if (!rc && saved.tool.name) {
		r->tool = saved.tool;
		r->system = saved.system;
		r->run = saved.run;
		saved.tool = (struct result_tool){0};
		saved.system = (struct result_system){0};
		saved.run = (struct result_run){0};
	} else if (!rc) {
		report_describe(r, NULL);
	}
	if (!rc && !r->benchmarks.len)
		rc = fail(-ENODATA, "%s holds no benchmark (%zu dumps, %zu of them empty)", folder,
			  summary.dumps, summary.empty_dumps);
	free(summary.integration);
	free(path);
	result_release(&saved);
	return rc;
}

static int load(struct result *r, const char *path, size_t top)
{
	struct stat st;

	if (stat(path, &st))
		return fail_errno("cannot open %s", path);
	return S_ISDIR(st.st_mode) ? load_folder(r, path, top) : read_results(r, path);
}

int show_main(int argc, char **argv)
{
	struct cfg cfg = {0};
	struct opts_args args;
	struct result r = RESULT_INIT;

	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 1, 1);
	if (load(&r, args.words[0], cfg.top ? cfg.top : PROFILE_TOP_DEFAULT))
		die_recorded(EXIT_FAILED);
	if (cfg.json && report_json(&r, cfg.json))
		die_recorded(EXIT_FAILED);
	if (!cfg.json || !str_eq(cfg.json, "-"))
		report_table(&r, cfg.top);
	result_release(&r);
	args_release(&args);
	return EXIT_DONE;
}
