/* SPDX-License-Identifier: MIT */
/* compare.c - compare two results, benchmark by benchmark */
//config:config COMPARE
//config:	bool "compare (40 kb)"
//config:	default y
//config:	select LIB_YYJSON
//config:	select LIB_YAML
//command:IF_COMPARE(COMMAND("compare", NULL, compare_main, PRIV_DROP, "compare two results"))
//usage:[OPTION]... BASE [HEAD]
//example:codspeed compare main
//example:codspeed compare --fail-above instructions=1%,peak_bytes=5% base.json head.json
#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/opts.h"

#include "applets/runner/comparing.h"
#include "applets/runner/project/project.h"
#include "applets/runner/recorded.h"
#include "applets/runner/results/store.h"
#include "applets/runner/simulation/profile.h"

struct cfg {
	struct comparing_options comparing;
	const char *store;
};

static const struct opt rows[] = {
	OPT_PATH(0, "store", struct cfg, store, .meta = "DIR",
		 .help = "where baselines are (default: .codspeed at the root of the repository)"),
	OPT_ROWS(struct cfg, comparing, struct comparing_options, comparing_option_rows),
	OPT_END
};

/* A name in the store before a file of that name. */
static void load(struct result *r, const char *store, const char *word)
{
	int rc;

	if (!strchr(word, '/') && store_has(store, word))
		rc = store_load(store, word, r);
	else
		rc = recorded_load(r, word, PROFILE_TOP_DEFAULT);
	if (rc)
		die_recorded(EXIT_FAILED);
}

/* The store's newest result but for `base`. Its name is the caller's to free. */
static char *load_newest(struct result *r, const char *store, const char *base)
{
	struct strvec names = STRVEC_INIT;
	char *newest = NULL;

	if (store_list(store, &names))
		die_recorded(EXIT_FAILED);
	for (size_t i = 0; i < names.len; i++) {
		struct result other = RESULT_INIT;

		if (str_eq(names.items[i], base))
			continue;
		if (store_load(store, names.items[i], &other))
			die_recorded(EXIT_FAILED);
		if (newest && strcmp(other.run.started, r->run.started) <= 0) {
			result_release(&other);
			continue;
		}
		result_release(r);
		*r = other;
		free(newest);
		newest = xstrdup(names.items[i]);
	}
	strvec_release(&names);
	if (!newest)
		die(EXIT_FAILED, "nothing to compare %s with: name a second result, or save one with "
				 "'codspeed exec --save NAME'", base);
	return newest;
}

/* Those of codspeed.yml, where the command line gives none. */
static void take_stored_gates(struct comparing_options *comparing, const struct opts_args *args)
{
	struct project project;
	int rc = opts_given(args, "fail-above") ? 0 : project_load(&project, NULL);

	if (rc < 0)
		die_recorded(EXIT_USAGE);
	if (rc > 0)
		project_gates(&project, &comparing->gates);
	comparing->stored_gates = rc > 0;
	if (rc > 0)
		project_release(&project);
}

int compare_main(int argc, char **argv)
{
	struct cfg cfg = {0};
	struct opts_args args;
	struct result base = RESULT_INIT, head = RESULT_INIT;
	struct comparison comparison;
	char *store, *head_name;

	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 1, 2);
	take_stored_gates(&cfg.comparing, &args);
	store = store_folder(cfg.store);
	if (!store)
		die_recorded(EXIT_FAILED);
	load(&base, store, args.words[0]);
	if (args.count == 2)
		load(&head, store, args.words[1]);
	head_name = args.count == 2 ? xstrdup(args.words[1]) : load_newest(&head, store, args.words[0]);
	if (comparison_make(&comparison, &base, args.words[0], &head, head_name,
			    &(struct comparison_options){cfg.comparing.threshold,
							 cfg.comparing.across_machines}))
		die_recorded(EXIT_FAILED);
	return comparing_report(&comparison, &cfg.comparing); /* the end: nothing is freed bit by bit */
}
