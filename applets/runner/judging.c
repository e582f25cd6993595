/* SPDX-License-Identifier: MIT */
/* judging.c - what becomes of a run's results */
#include "core/base.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/path.h"

#include "applets/runner/judging.h"
#include "applets/runner/report/markdown.h"
#include "applets/runner/results/store.h"

void judging_begin(struct judging *j, const struct run_options *options)
{
	*j = (struct judging){.options = options, .comparing = options->comparing};
	if (options->save && store_check_name(options->save))
		die_usage_recorded();
	if (gates_need_base(&options->comparing.gates) && !options->baseline &&
	    !options->comparing.stored_gates)
		die_usage("--fail-above with a limit of growth needs --baseline NAME");
	if (options->save || options->baseline) {
		j->store = store_folder(options->store);
		if (!j->store)
			die_recorded(EXIT_FAILED);
	}
	if (options->comparing.markdown) {
		j->markdown = path_absolute(options->comparing.markdown);
		if (!j->markdown)
			die_recorded(EXIT_FAILED);
		j->comparing.markdown = j->markdown;
	}
	if (options->baseline && store_load(j->store, options->baseline, &j->base))
		die_recorded(EXIT_FAILED);
}

static void write_results(const void *result, size_t limit, struct buf *to)
{
	markdown_results(result, limit, to);
}

/* Limits of how large a metric may be need no base: against an empty one every benchmark is new. */
static int compare(const struct judging *j, const struct result *r, bool quiet)
{
	const struct run_options *options = j->options;
	struct comparing_options comparing = j->comparing;
	const struct comparison_options how = {comparing.threshold, comparing.across_machines};
	struct comparison c;
	int status;

	comparing.quiet = quiet;
	comparing.gates_only = !options->baseline;
	if (comparison_make(&c, &j->base, options->baseline ? options->baseline : "nothing", r,
			    "this run", &how)) {
		log_error("%s", error_text());
		error_clear();
		return EXIT_FAILED;
	}
	c.baseless = !options->baseline || (options->allow_empty && !r->benchmarks.len);
	if (!comparing.quiet && !comparing.gates_only)
		output_text("\n", 1);
	status = comparing_report(&c, &comparing);
	comparison_release(&c);
	return status;
}

/* The name is the identity: with a path of this machine in it, another checkout has another one. */
static void warn_of_paths(const struct result *r)
{
	for (size_t i = 0; i < r->benchmarks.len; i++) {
		const char *name = r->benchmarks.items[i].name;

		if (str_starts(r->benchmarks.items[i].uri, RESULT_HARNESS_URI) &&
		    (*name == '/' || strstr(name, " /")))
			log_warn("the benchmark's name holds a path, which may be another one elsewhere: "
				 "%s (--name NAME gives it a name)", name);
	}
}

/* A run that broke a gate must not become what the next one is held against. */
static int keep(const struct judging *j, const struct result *r, bool ok, int status)
{
	const struct run_options *options = j->options;

	if (!ok) {
		log_warn("not kept as the baseline %s: the run failed", options->save);
		return status;
	}
	if (status == EXIT_REGRESSED && options->baseline && str_eq(options->save, options->baseline)) {
		log_warn("not kept as the baseline %s, whose limits it is above", options->save);
		return status;
	}
	if (store_save(j->store, options->save, r)) {
		log_error("%s", error_text());
		error_clear();
		return status ? status : EXIT_FAILED;
	}
	log_info("kept as the baseline %s in %s", options->save, j->store);
	warn_of_paths(r);
	return status;
}

int judging_end(struct judging *j, const struct result *r, bool ok, bool quiet)
{
	int status = EXIT_DONE;

	if (!j->options->baseline && markdown_deliver(write_results, r, j->markdown)) {
		log_error("%s", error_text());
		error_clear();
		status = EXIT_FAILED;
	}
	if (j->options->baseline || j->comparing.gates.items.len) {
		int judged = compare(j, r, quiet);

		status = judged ? judged : status;
	}
	if (j->options->save)
		status = keep(j, r, ok, status);
	return status;
}

void judging_release(struct judging *j)
{
	result_release(&j->base);
	free(j->store);
	free(j->markdown);
}
