/* SPDX-License-Identifier: MIT */
/* exec.c - measure a command and everything it starts */
//config:config EXEC
//config:	bool "exec (60 kb)"
//config:	default y
//config:	select EXEC_HARNESS
//config:	select LIB_YYJSON
//config:	select LIB_YAML
//config:	help
//config:	  Runs any command as a benchmark and shows what it cost.
//command:IF_EXEC(COMMAND("exec", "x", exec_main, PRIV_DROP, "measure a command and everything it starts"))
//usage:[OPTION]... -- COMMAND [ARG]...
//example:codspeed exec -m simulation -- sort words.txt
//example:codspeed exec --json results.json --top 10 -- sh -c 'seq 1 1000 | wc -l'
#include <stdio.h>
#include <unistd.h>

#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/mode.h"
#include "core/path.h"
#include "core/walltime_options.h"

#include "applets/runner/memory/track.h"
#include "applets/runner/naming.h"
#include "applets/runner/parts.h"
#include "applets/runner/session.h"
#include "applets/runner/settings.h"
#include "applets/runner/walltime/session.h"

struct cfg {
	struct run_options run;
	struct walltime_options walltime;
	const char *name;
	const char *list; /* what to call the commands that come on standard input */
	bool print_env;
};

static const struct opt rows[] = {
	OPT_STRING(0, "name", struct cfg, name, .meta = "NAME",
		   .help = "the benchmark's name (default: the command)"),
	OPT_STRING(0, "list", struct cfg, list, .flags = OPT_HIDDEN,
		   .help = "the commands come as a list for exec-harness on standard input"),
	OPT_FLAG(0, "print-env", struct cfg, print_env,
		 .help = "print what is added to the command's environment, and exit"),
	OPT_ROWS(struct cfg, run, struct run_options, run_option_rows),
	OPT_ROWS(struct cfg, walltime, struct walltime_options, walltime_option_rows),
	OPT_END
};

static void add_harness_words(struct strvec *argv, const struct cfg *cfg, char *const *words)
{
	walltime_options_words(&cfg->walltime, argv);
	if (cfg->list) {
		strvec_push(argv, "-");
		return;
	}
	if (cfg->name)
		strvec_pushf(argv, "--name=%s", cfg->name);
	strvec_push(argv, "--");
	strvec_push_all(argv, words);
}

/* The harness is a child of memtrack then, which ends it should we end. */
static void track_harness(struct session *s, const struct cfg *cfg, char *const *words)
{
	struct strvec argv = STRVEC_INIT;

	strvec_push(&argv, s->memtrack.harness);
	strvec_push(&argv, "exec-harness");
	add_harness_words(&argv, cfg, words);
	memory_session_run(s, argv.items);
	strvec_release(&argv);
}

/* It ends with us by the signal that the session sets; in between may stand others. */
static void time_harness(struct session *s, const struct cfg *cfg, char *const *words)
{
	struct strvec argv = STRVEC_INIT;
	char *self = path_of_self();
	int wishes;

	if (!self)
		die_recorded(EXIT_FAILED);
	strvec_push(&argv, self);
	strvec_push(&argv, "exec-harness");
	wishes = walltime_session_prepare(s);
	if (wishes >= 0)
		strvec_pushf(&argv, "--profile=%d", wishes);
	if (!s->options->profiler)
		strvec_push(&argv, "--alone");
	add_harness_words(&argv, cfg, words);
	walltime_session_run(s, self, argv.items);
	strvec_release(&argv);
	free(self);
}

/* The command goes over as arguments, so that every byte of it arrives. */
static void run_harness(struct session *s, const struct cfg *cfg, char *const *words)
{
	struct strvec argv = STRVEC_INIT;
	struct spawn spawn = SPAWN_INIT;

	strvec_push(&argv, "exec-harness");
	strvec_pushf(&argv, "--runner-pid=%d", getpid());
	add_harness_words(&argv, cfg, words);
	spawn.path = "/proc/self/exe"; /* this very binary; nothing else may choose it */
	spawn.argv = argv.items;
	if (session_watch(s, &spawn, NULL))
		die(EXIT_FAILED, "cannot start exec-harness");
	strvec_release(&argv);
}

/* The same command in each of several modes, each with the options that were given. */
static int run_modes(const struct cfg *cfg, const struct opts_args *args)
{
	struct strvec before = STRVEC_INIT;
	int status;

	strvec_push(&before, "exec");
	run_options_pass_on(args, &before);
	opts_pass_on(args, "name", &before);
	for (const struct opt *row = walltime_option_rows; row->type != OPT_TYPE_END; row++)
		if (row->name)
			opts_pass_on(args, row->name, &before);
	status = parts_run_modes(&cfg->run, before.items, args->words);
	strvec_release(&before);
	return status;
}

/* As other files that are named: from where codspeed was started, not from --working-directory. */
static char *absolute(const char *path)
{
	char *whole = path_absolute(path);

	if (!whole)
		die_recorded(EXIT_FAILED);
	return whole;
}

static void settle_files(struct cfg *cfg)
{
	struct walltime_options *o = &cfg->walltime;

	if (!cfg->run.working_directory)
		return;
	if (o->input)
		o->input = absolute(o->input); /* both live as long as the process */
	if (o->output && output_is_file(o->output))
		o->output = absolute(o->output);
}

static int run_one(struct cfg *cfg, const struct opts_args *args)
{
	char *const title[] = {(char *)cfg->list, NULL};
	struct session session;

	settle_files(cfg);
	session_begin(&session, &cfg->run, cfg->list ? title : args->words,
		      cfg->list ? NULL : args->words[0]);
	if (ENABLE_MEMTRACK && session.mode == MODE_MEMORY)
		track_harness(&session, cfg, args->words);
	else if (ENABLE_WALLTIME && session.mode == MODE_WALLTIME)
		time_harness(&session, cfg, args->words);
	else
		run_harness(&session, cfg, args->words);
	return session_end(&session);
}

static void check_command(const struct cfg *cfg, const struct opts_args *args)
{
	if (cfg->list)
		args_expect(args, 0, 0);
	else if (!args->count || str_is_blank(args->words[0]))
		die_usage("the command is empty%s%s", cfg->name ? ", for the benchmark " : "",
			  cfg->name ? cfg->name : "");
}

/* Before anything is set up, and in every mode: one command line serves all. */
static void check_limits(const struct cfg *cfg, const struct settings *settings)
{
	if (!walltime_limits_check(&cfg->walltime))
		return;
	if (settings->has_project)
		fail(-EINVAL, "limits, here or in %s", settings->project.path);
	die_usage_recorded();
}

/* A baseline is there to be compared with, from other checkouts too. */
static void check_name(const struct cfg *cfg, const struct opts_args *args)
{
	bool kept = cfg->run.save || cfg->run.baseline;
	char *here = getcwd(NULL, 0);

	if (here && kept && !cfg->name && !cfg->list)
		naming_warn(args->words, here, "", "give a name with --name, or a relative path");
	free(here);
}

int exec_main(int argc, char **argv)
{
	struct settings settings = SETTINGS_INIT;
	struct cfg cfg = {0};
	struct opts_args args;
	int status;

	mode_forgive_own_word();
	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED | OPTS_COMMAND, &args);
	settings_load_project(&settings, &cfg.run);
	settings_fill(&settings, &args, &cfg.run);
	if (cfg.print_env) {
		session_print_env(&cfg.run, args.count ? args.words[0] : NULL);
		status = EXIT_DONE;
	} else {
		check_command(&cfg, &args);
		check_limits(&cfg, &settings);
		check_name(&cfg, &args);
		status = cfg.run.modes.len > 1 ? run_modes(&cfg, &args) : run_one(&cfg, &args);
	}
	settings_release(&settings);
	args_release(&args);
	return status;
}
