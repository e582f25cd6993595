/* SPDX-License-Identifier: MIT */
/* merge.c - make one result of the shards of a CI matrix */
//config:config MERGE
//config:	bool "merge (40 kb)"
//config:	default y
//config:	select LIB_YYJSON
//command:IF_MERGE(COMMAND("merge", NULL, merge_main, PRIV_DROP, "make one result of several"))
//usage:[OPTION]... RESULTS.json...
//example:codspeed merge -o all.json shard-1.json shard-2.json
//example:codspeed merge --save main shard-*.json
#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/opts.h"

#include "applets/runner/recorded.h"
#include "applets/runner/report/report.h"
#include "applets/runner/results/merge.h"
#include "applets/runner/results/store.h"

struct cfg {
	const char *output;
	const char *save;
	const char *store;
	bool replace;
	bool across_machines;
};

static const struct opt rows[] = {
	OPT_PATH('o', "output", struct cfg, output, .meta = "FILE",
		 .help = "write there instead of to standard output"),
	OPT_STRING(0, "save", struct cfg, save, .meta = "NAME",
		   .help = "keep it as the baseline NAME; no other output then, unless asked for"),
	OPT_PATH(0, "store", struct cfg, store, .meta = "DIR",
		 .help = "where baselines are (default: .codspeed at the root of the repository)"),
	OPT_FLAG(0, "replace", struct cfg, replace,
		 .help = "of a benchmark that stands in several files the last one counts; else that is an "
			 "error"),
	OPT_FLAG(0, "across-machines", struct cfg, across_machines,
		 .help = "merge although the machines differ in what the figures depend on"),
	OPT_END
};

/* Every file that is missing or damaged is named, not the first one only. */
static void load(struct merge_part *parts, char *const *names, size_t count)
{
	size_t unreadable = 0;

	for (size_t i = 0; i < count; i++) {
		parts[i].name = names[i];
		if (!recorded_read(&parts[i].result, names[i]))
			continue;
		log_error("%s", error_text());
		error_clear();
		unreadable++;
	}
	if (unreadable)
		die(EXIT_FAILED, "%zu of %zu files cannot be read, nothing is merged", unreadable, count);
}

static void check_machines(const struct merge_part *parts, size_t count, bool across)
{
	struct buf why = BUF_INIT;
	char *rest, *line;

	merge_differences(parts, count, &why);
	for (rest = why.data; rest && (line = strsep(&rest, "\n"));)
		log_warn("the machines differ: %s", line);
	if (why.len && !across)
		die(EXIT_INCOMPARABLE, "these results cannot stand in one (--across-machines merges them "
				       "all the same)");
	buf_release(&why);
}

static void put(const struct result *r, const struct cfg *cfg)
{
	char *store;

	if (cfg->output || !cfg->save)
		if (report_json(r, cfg->output ? cfg->output : "-"))
			die_recorded(EXIT_FAILED);
	if (!cfg->save)
		return;
	store = store_folder(cfg->store);
	if (!store || store_save(store, cfg->save, r))
		die_recorded(EXIT_FAILED);
	free(store);
}

int merge_main(int argc, char **argv)
{
	struct cfg cfg = {0};
	struct opts_args args;
	struct result merged = RESULT_INIT;
	struct merge_part *parts;

	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 1, SIZE_MAX);
	if (cfg.save && store_check_name(cfg.save))
		die_usage_recorded();
	parts = xcalloc(args.count, sizeof(*parts));
	load(parts, args.words, args.count);
	check_machines(parts, args.count, cfg.across_machines);
	if (merge(&merged, parts, args.count, cfg.replace))
		die_recorded(EXIT_FAILED);
	put(&merged, &cfg);
	for (size_t i = 0; i < args.count; i++)
		result_release(&parts[i].result);
	free(parts);
	result_release(&merged);
	args_release(&args);
	return EXIT_DONE;
}
