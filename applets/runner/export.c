/* SPDX-License-Identifier: MIT */
/* export.c - a simulation's profile for other tools */
//config:config EXPORT
//config:	bool "export (30 kb)"
//config:	default y
//config:	select LIB_YYJSON
//command:IF_EXPORT(COMMAND("export", NULL, export_main, PRIV_DROP, "write a simulation's profile for other tools"))
//usage:--folded [OPTION]... FOLDER
//usage:--callgrind [OPTION]... FOLDER
//example:codspeed export --folded profile | flamegraph.pl >profile.svg
//example:codspeed export --callgrind -o tree.out profile && kcachegrind tree.out
#include <sys/stat.h>
#include <unistd.h>

#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/opts.h"

#include "applets/runner/simulation/call_graph_write.h"
#include "applets/runner/simulation/profile.h"

struct cfg {
	bool folded, callgrind;
	const char *benchmark;
	const char *output;
};

static const struct opt rows[] = {
	OPT_FLAG(0, "folded", struct cfg, folded,
		 .help = "folded stacks for flame graphs: proportional estimates from the call graph, with "
			 "cycles cut"),
	OPT_FLAG(0, "callgrind", struct cfg, callgrind,
		 .help = "a callgrind file of a benchmark's whole process tree, for KCachegrind"),
	OPT_STRING(0, "benchmark", struct cfg, benchmark, .meta = "NAME",
		   .help = "only that one, by name or URI"),
	OPT_PATH('o', "output", struct cfg, output, .meta = "FILE",
		 .help = "write there instead of to standard output"),
	OPT_END
};

struct exporting {
	const struct cfg *cfg;
	struct buf text;
	struct buf names; /* of benchmarks seen, for messages */
	size_t seen, matched;
};

static void on_benchmark(void *ctx, const struct benchmark *b, const struct function_costs *functions)
{
	struct exporting *e = ctx;
	const char *wanted = e->cfg->benchmark;

	e->seen++;
	buf_printf(&e->names, "%s%s", e->names.len ? ", " : "", b->name);
	if (wanted && !str_eq(wanted, b->name) && !str_eq(wanted, b->uri))
		return;
	e->matched++;
	if (b->status != BENCHMARK_OK)
		log_warn("%s is %s", b->name, benchmark_status_name(b->status));
	if (e->cfg->folded)
		call_graph_fold(functions, b->name, &e->text);
	else
		call_graph_write(functions, b->name, &e->text);
}

static void check(const struct exporting *e, const char *folder)
{
	if (!e->seen)
		die(EXIT_FAILED, "%s holds no benchmark of a simulation with its raw data", folder);
	if (!e->matched)
		die(EXIT_FAILED, "%s holds no benchmark '%s', but %s", folder, e->cfg->benchmark,
		    e->names.data);
	if (e->cfg->callgrind && e->matched > 1)
		die(EXIT_FAILED, "%s holds several benchmarks, a callgrind file is of one: choose with "
				 "--benchmark among %s", folder, e->names.data);
	if (!e->text.len)
		die(EXIT_FAILED, "not one instruction is recorded in %s", folder);
}

static void put(const struct buf *text, const char *output)
{
	if (!output)
		output_text(text->data, text->len);
	else if (write_output(output, text->data, text->len))
		die_recorded(EXIT_FAILED);
}

static void check_folder(const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		fail_errno("cannot open %s", path);
		die_recorded(EXIT_FAILED);
	}
	if (!S_ISDIR(st.st_mode))
		die(EXIT_FAILED, "%s is no profile folder; results alone have no call graph", path);
}

int export_main(int argc, char **argv)
{
	struct cfg cfg = {0};
	struct opts_args args;
	struct exporting e = {.cfg = &cfg};
	struct profile_wanted wanted = {.use = on_benchmark, .ctx = &e};
	struct profile_summary summary = {0};
	struct result r = RESULT_INIT;

	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 1, 1);
	if (cfg.folded == cfg.callgrind)
		die_usage("choose one of --folded and --callgrind");
	check_folder(args.words[0]);
	if (profile_load(&r, args.words[0], &wanted, &summary))
		die_recorded(EXIT_FAILED);
	check(&e, args.words[0]);
	if (cfg.folded)
		log_info("folded stacks are estimates: costs are divided among callers in proportion");
	put(&e.text, cfg.output);
	buf_release(&e.text);
	buf_release(&e.names);
	free(summary.integration);
	result_release(&r);
	args_release(&args);
	return EXIT_DONE;
}
