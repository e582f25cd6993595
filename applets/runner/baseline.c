/* SPDX-License-Identifier: MIT */
/* baseline.c - list, show and remove baselines */
//config:config BASELINE
//config:	bool "baseline (40 kb)"
//config:	default y
//config:	select LIB_YYJSON
//command:IF_BASELINE(COMMAND("baseline", NULL, baseline_main, PRIV_DROP, "list, show and remove baselines"))
//usage:[OPTION]... list
//usage:[OPTION]... show NAME
//usage:[OPTION]... rm NAME...
//example:codspeed baseline list
//example:codspeed baseline rm old-main
#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/opts.h"
#include "core/suggest.h"
#include "core/text.h"
#include "core/units.h"

#include "applets/runner/report/grid.h"
#include "applets/runner/report/report.h"
#include "applets/runner/results/store.h"

struct cfg {
	const char *store;
	const char *json;
	uint64_t top;
};

static const struct opt rows[] = {
	OPT_PATH(0, "store", struct cfg, store, .meta = "DIR",
		 .help = "where baselines are (default: .codspeed at the root of the repository)"),
	OPT_UINT(0, "top", struct cfg, top, .meta = "N", .max = 100000,
		 .help = "show: list the N most expensive functions of each benchmark"),
	OPT_PATH(0, "json", struct cfg, json, .meta = "FILE",
		 .help = "show: write the results as JSON to FILE; `-` for standard output"),
	OPT_END
};

static void add_cell(struct grid *grid, const char *text)
{
	struct buf safe = BUF_INIT;

	text_printable(text, strlen(text), &safe);
	grid_cell(grid, NULL, safe.data);
	buf_release(&safe);
}

static void add_baseline(struct grid *grid, const char *name, const struct result *r)
{
	char count[UNIT_TEXT];
	struct buf modes = BUF_INIT;

	buf_addstr(&modes, "");
	for (size_t i = 0; i < r->run.modes.len; i++)
		buf_printf(&modes, "%s%s", i ? " " : "", r->run.modes.items[i]);
	grid_row(grid, NULL);
	add_cell(grid, name);
	add_cell(grid, r->run.started);
	grid_cell(grid, NULL, format_count(count, r->benchmarks.len));
	add_cell(grid, modes.data);
	add_cell(grid, r->system.cpu_model);
	buf_release(&modes);
}

static void print_grid(FILE *to, const void *grid, const struct table_style *style UNUSED)
{
	grid_print((struct grid *)grid, to);
}

/* One that cannot be read does not hide the others. */
static int list(const char *store)
{
	struct table_style style = table_style_for(stdout);
	struct strvec names = STRVEC_INIT;
	struct grid grid;
	int status = EXIT_DONE;

	if (store_list(store, &names))
		die_recorded(EXIT_FAILED);
	grid_init(&grid, &style);
	grid_column(&grid, "Baseline", GRID_LEFT | GRID_CUT);
	grid_column(&grid, "Started", GRID_LEFT);
	grid_column(&grid, "Benchmarks", 0);
	grid_column(&grid, "Modes", GRID_LEFT | GRID_DROP);
	grid_column(&grid, "CPU", GRID_LEFT | GRID_DROP);
	for (size_t i = 0; i < names.len; i++) {
		struct result r = RESULT_INIT;

		if (store_load(store, names.items[i], &r)) {
			log_error("%s", error_text());
			error_clear();
			status = EXIT_FAILED;
			continue;
		}
		add_baseline(&grid, names.items[i], &r);
		result_release(&r);
	}
	if (!names.len)
		log_info("there is no baseline in %s; 'codspeed exec --save NAME' makes one", store);
	else if (grid.rows.len)
		report_print(print_grid, &grid, style);
	grid_release(&grid);
	strvec_release(&names);
	return status;
}

static int show(const char *store, const char *name, const struct cfg *cfg)
{
	struct result r = RESULT_INIT;

	if (store_load(store, name, &r) || (cfg->json && report_json(&r, cfg->json)))
		die_recorded(EXIT_FAILED);
	if (!cfg->json || !str_eq(cfg->json, "-"))
		report_table(&r, cfg->top);
	result_release(&r);
	return EXIT_DONE;
}

static int rm(const char *store, char *const *names)
{
	int status = EXIT_DONE;

	for (; *names; names++) {
		if (!store_remove(store, *names))
			continue;
		log_error("%s", error_text());
		error_clear();
		status = EXIT_FAILED;
	}
	return status;
}

static int act(const char *store, const struct opts_args *args, const struct cfg *cfg)
{
	const char *action = args->words[0];
	struct suggest near = suggest_for(action);
	struct buf hint = BUF_INIT;

	if (str_eq(action, "list") || str_eq(action, "ls")) {
		args_expect(args, 1, 1);
		return list(store);
	}
	if (str_eq(action, "show")) {
		args_expect(args, 2, 2);
		return show(store, args->words[1], cfg);
	}
	if (str_eq(action, "rm")) {
		args_expect(args, 2, SIZE_MAX);
		return rm(store, args->words + 1);
	}
	suggest_add(&near, "list");
	suggest_add(&near, "show");
	suggest_add(&near, "rm");
	suggest_text(&near, ", ", "", &hint);
	die_usage("'%s' is none of list, show, rm%s", action, hint.len ? hint.data : "");
}

int baseline_main(int argc, char **argv)
{
	struct cfg cfg = {0};
	struct opts_args args;
	char *store;
	int status;

	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 1, SIZE_MAX);
	store = store_folder(cfg.store);
	if (!store)
		die_recorded(EXIT_FAILED);
	status = act(store, &args, &cfg);
	args_release(&args);
	free(store);
	return status;
}
