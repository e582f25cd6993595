/* SPDX-License-Identifier: MIT */
/* comparing.c - what every command that compares has in common */
#include <stdio.h>

#include "core/base.h"
#include "core/exit_code.h"

#include "applets/runner/comparing.h"
#include "applets/runner/report/comparison_report.h"
#include "applets/runner/report/markdown.h"
#include "applets/runner/report/report.h"

static int parse_gates(const struct opt *row UNUSED, const char *text, void *member)
{
	return gates_parse(member, text);
}

static int parse_threshold(const struct opt *row UNUSED, const char *text, void *member)
{
	return parse_share(text, member);
}

const struct opt comparing_option_rows[] = {
	OPT_GROUP("Comparison"),
	OPT_CALL(0, "fail-above", struct comparing_options, gates, parse_gates, .meta = "LIMITS",
		 .flags = OPT_REPEAT,
		 .help = "exit with 4 where a metric is above its limit: METRIC=LIMIT,... or "
			 "BENCHMARK:METRIC=LIMIT; a LIMIT is how much it may grow (1%, +100), the largest "
			 "value (5000) or off"),
	OPT_CALL(0, "threshold", struct comparing_options, threshold, parse_threshold, .meta = "PERCENT",
		 .help = "changes up to this are none (default: 0%)"),
	OPT_FLAG(0, "across-machines", struct comparing_options, across_machines,
		 .help = "compare although the machines differ in what the figures depend on"),
	OPT_FLAG(0, "all-metrics", struct comparing_options, all_metrics,
		 .help = "show every metric that changed"),
	OPT_UINT(0, "explain", struct comparing_options, functions, .meta = "N", .def = "3",
		 .max = 100000, .help = "list N functions that explain a change of instructions"),
	OPT_GROUP("Reports"),
	OPT_PATH(0, "markdown", struct comparing_options, markdown, .meta = "FILE",
		 .help = "also write the table as Markdown; into the file that GITHUB_STEP_SUMMARY names "
			 "always"),
	OPT_FLAG('q', "quiet", struct comparing_options, quiet, .help = "no table on standard output"),
	OPT_END
};

static void write_markdown(const void *view, size_t limit, struct buf *to)
{
	comparison_markdown(view, limit, to);
}

static void print_table(FILE *to, const void *view, const struct table_style *style)
{
	comparison_print(to, view, style);
}

static void tell_broken(const struct broken_gates *broken)
{
	for (size_t i = 0; i < broken->items.len; i++) {
		struct buf text = BUF_INIT;

		broken_gate_text(&broken->items.items[i], &text);
		log_error("%s", text.data);
		buf_release(&text);
	}
}

/* A name that was mistyped would be a gate that always holds. The file's may be of another run. */
static void tell_unused(const struct comparing_options *options, const struct comparison *c)
{
	struct strvec names = STRVEC_INIT;

	if (!options->stored_gates)
		gates_unused(&options->gates, c, &names);
	for (size_t i = 0; i < names.len; i++)
		log_warn("--fail-above: there is no benchmark '%s', its limit has no effect", names.items[i]);
	strvec_release(&names);
}

/* `quiet`: the table does not say why. */
static void tell_incomparable(const struct comparison *c, bool quiet)
{
	for (size_t i = 0; quiet && i < MODE_COUNT; i++)
		if (c->why[i])
			log_warn("%s of %s and %s: the machines differ (%s)", mode_name((enum mode)i),
				 c->base_name, c->head_name, c->why[i]);
	for (size_t i = 0; quiet && i < c->rows.len; i++)
		if (c->rows.items[i].why)
			log_warn("%s: %s", compared_benchmark(&c->rows.items[i])->name,
				 c->rows.items[i].why);
	if (c->counts[VERDICT_INCOMPARABLE])
		log_error("%zu of %zu benchmarks cannot be compared", c->counts[VERDICT_INCOMPARABLE],
			  c->rows.len);
}

/* Without any pair nothing was judged: no gate may pass in silence. */
static bool is_disjoint(const struct comparison *c)
{
	return !c->baseless &&
	       c->counts[VERDICT_NEW] + c->counts[VERDICT_MISSING] == c->rows.len;
}

int comparing_report(const struct comparison *c, const struct comparing_options *options)
{
	struct broken_gates broken = {.items = VEC_INIT};
	struct comparison_view view = {
		.comparison = c, .broken = &broken, .functions = (size_t)options->functions,
		.shown = c->paired ? METRICS_KNOWN : options->all_metrics ? METRICS_CHANGED : METRICS_NEWS,
	};
	bool incomparable = c->counts[VERDICT_INCOMPARABLE] || is_disjoint(c);
	int status = incomparable ? EXIT_INCOMPARABLE : EXIT_DONE;

	gates_check(&options->gates, c, &broken);
	if (!options->gates_only && markdown_deliver(write_markdown, &view, options->markdown)) {
		log_error("%s", error_text());
		error_clear();
		status = status ? status : EXIT_FAILED;
	}
	if (!options->quiet && !options->gates_only)
		report_print(print_table, &view, table_style_for(stdout));
	tell_incomparable(c, options->quiet);
	if (is_disjoint(c))
		log_error("%s and %s have no benchmark in common", c->base_name, c->head_name);
	tell_unused(options, c);
	tell_broken(&broken);
	if (broken.items.len)
		status = EXIT_REGRESSED;
	vec_release(&broken.items);
	return status;
}
