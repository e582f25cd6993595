/* SPDX-License-Identifier: MIT */
/* run.c - run a command whose benchmarks report through a CodSpeed integration */
//config:config RUN
//config:	bool "run (60 kb)"
//config:	default y
//config:	select LIB_YYJSON
//config:	select LIB_YAML
//config:	help
//config:	  Runs benchmarks that are written with a CodSpeed integration
//config:	  (pytest, vitest, cargo, ...) and shows what each cost.
//command:IF_RUN(COMMAND("run", "r", run_main, PRIV_DROP, "run benchmarks written with a CodSpeed integration"))
//usage:[OPTION]... -- COMMAND [ARG]...
//usage:[OPTION]... -- 'SHELL TEXT'
//usage:[OPTION]...
//example:codspeed run -m simulation -- pytest tests/ --codspeed
//example:codspeed run -- 'cargo codspeed build && cargo codspeed run'
//example:codspeed run --bench fast
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "applet_prototypes.h"
#include "core/applet.h"
#include "core/base.h"
#include "core/env.h"
#include "core/exit_code.h"
#include "core/mode.h"
#include "core/path.h"
#include "core/valgrind.h"

#include "applets/runner/entrypoint.h"
#include "applets/runner/memory/track.h"
#include "applets/runner/parts.h"
#include "applets/runner/run_project.h"
#include "applets/runner/session.h"
#include "applets/runner/settings.h"
#include "applets/runner/walltime/session.h"
#include "applets/runner/wrappers.h"

struct cfg {
	struct run_options run;
	struct bench_list benches; /* --bench: of the project's file only these */
	bool track_subprocess;
};

static int add_bench(const struct opt *row UNUSED, const char *text, void *member)
{
	vec_push((struct bench_list *)member, text);
	return 0;
}

static const struct opt rows[] = {
	OPT_CALL(0, "bench", struct cfg, benches, add_bench, .meta = "ID", .flags = OPT_REPEAT,
		 .help = "without a command: only the benchmark of the project's file that has this id or "
			 "name; may be given again"),
	OPT_FLAG(0, "simulation-track-subprocess", struct cfg, track_subprocess,
		 .env = "CODSPEED_SIMULATION_TRACK_SUBPROCESS",
		 .help = "also count programs that a benchmark starts (CodSpeed's valgrind only)"),
	OPT_ROWS(struct cfg, run, struct run_options, run_option_rows),
	OPT_END
};

/* A benchmark that such a process was in is lost; those before it were on disk already. */
static void tell_lost(const struct proctree *tree)
{
	for (size_t i = 0; i < tree->procs.len; i++) {
		const struct proc *p = &tree->procs.items[i];

		if (vec_last(&p->images)->flaws & IMAGE_NO_DUMP)
			log_warn("%s (pid %d) %s before it could write its dump: what it measured since its "
				 "last benchmark is lost", proc_command(p), p->pid,
				 WIFSIGNALED(p->status) ? "was killed" : "ended");
	}
}

/* Found out before valgrind is started, whose words for it are its own. */
static void check_program(const char *name, const char *search)
{
	char *path;
	int rc = path_find_program(name, search, &path);

	if (rc == -ENOENT)
		die(EXIT_FAILED, "%s: command not found", name);
	if (rc)
		die(EXIT_FAILED, "%s: not executable", name);
	free(path);
}

/* The whole command under one valgrind; where it counts, the integration says. */
static void run_under_valgrind(struct session *s, const struct strvec *command,
			       bool track_subprocess)
{
	struct valgrind_setup setup = {
		.use = VALGRIND_ENTRYPOINT, .program = s->valgrind, .folder = s->folder.path,
		.inherit = track_subprocess,
	};
	struct strvec argv = STRVEC_INIT;
	struct spawn spawn = SPAWN_INIT;
	struct proctree tree = {0};
	char *go = NULL;

	if (!path_find_program("go", env_get(&s->env, "PATH"), &go))
		setup.untraced = go;
	if (valgrind_command(&argv, &setup))
		die_recorded(EXIT_FAILED);
	free(go);
	strvec_push_all(&argv, command->items);
	spawn.path = s->valgrind;
	spawn.argv = argv.items;
	spawn.modest_files = true;
	spawn.death_signal = SIGKILL;
	spawn.fixed_addresses = spawn_can_fix_addresses();
	if (!spawn.fixed_addresses)
		log_warn("address randomisation cannot be switched off here; figures may differ a "
			 "little from run to run");
	if (session_watch(s, &spawn, &tree))
		die(EXIT_FAILED, "cannot run the command under valgrind");
	if (proctree_never_measured(&tree))
		die(EXIT_UNSUPPORTED, "valgrind %s did not run the command, see its message; a valgrind "
				      "from 3.16 on is needed", s->valgrind_version);
	tell_lost(&tree);
	proctree_release(&tree);
	strvec_release(&argv);
}

/*
 * Whether the command must stay outside valgrind: this very binary, an exec-harness, for valgrind
 * would trace its first program; or go, which benchmarks nothing here and builds natively in a tenth
 * of the time. The wrapper of node is this binary, too, but belongs under valgrind.
 */
static bool stays_native(const char *program, const char *search, char **path)
{
	const char *base = path_base(program);
	const struct applet *applet = applet_find(base);
	struct stat self, st;

	if (path_find_program(program, search, path))
		return false;
	if (str_eq(base, "exec-harness") || str_eq(base, "go")) /* a copy or another's, too */
		return true;
	if ((!applet || applet->summary) && !stat(*path, &st) && !stat("/proc/self/exe", &self) &&
	    st.st_dev == self.st_dev && st.st_ino == self.st_ino)
		return true;
	free(*path);
	return false;
}

/* A harness starts a valgrind of its own. */
static void run_natively(struct session *s, const struct strvec *command, const char *path)
{
	struct spawn spawn = SPAWN_INIT;

	spawn.path = path;
	spawn.argv = command->items;
	spawn.death_signal = SIGTERM;
	if (session_watch(s, &spawn, NULL))
		die(EXIT_FAILED, "cannot run the command");
}

static void run_timed(struct session *s, const struct strvec *command)
{
	char *path;

	if (path_find_program(command->items[0], env_get(&s->env, "PATH"), &path))
		die(EXIT_FAILED, "%s: command not found", command->items[0]);
	walltime_session_prepare(s);
	walltime_session_run(s, path, command->items);
	free(path);
}

static void run_entrypoint(struct session *s, const struct strvec *command, bool track_subprocess)
{
	char *path;

	if (ENABLE_MEMTRACK && s->mode == MODE_MEMORY) {
		memory_session_run(s, command->items);
		return;
	}
	if (ENABLE_WALLTIME && s->mode == MODE_WALLTIME) {
		run_timed(s, command);
		return;
	}
	if (stays_native(command->items[0], env_get(&s->env, "PATH"), &path)) {
		run_natively(s, command, path);
		free(path);
	} else {
		run_under_valgrind(s, command, track_subprocess);
	}
}

static void check_track_subprocess(const struct cfg *cfg, const struct session *s)
{
	if (cfg->track_subprocess && s->mode == MODE_SIMULATION && !strstr(s->valgrind_version, "codspeed"))
		die(EXIT_UNSUPPORTED, "--simulation-track-subprocess needs CodSpeed's valgrind, this is "
				      "%s, which measures only processes that an integration runs in; "
				      "leave the option out, or measure the program whole with "
				      "'codspeed exec'", s->valgrind_version);
}

static int run_one(const struct cfg *cfg, const struct opts_args *args)
{
	struct strvec command = STRVEC_INIT;
	struct session session;
	int status;

	session_begin(&session, &cfg->run, args->words, args->words[0]);
	session.entrypoint = true;
	check_track_subprocess(cfg, &session);
	if (wrappers_install(&session.env) ||
	    entrypoint_words(&command, args->words, env_get(&session.env, "PATH")))
		die_recorded(EXIT_FAILED);
	check_program(command.items[0], env_get(&session.env, "PATH"));
	run_entrypoint(&session, &command, cfg->track_subprocess);
	status = session_end(&session);
	strvec_release(&command);
	return status;
}

static int run_modes(const struct cfg *cfg, const struct opts_args *args)
{
	struct strvec before = STRVEC_INIT;
	int status;

	strvec_push(&before, "run");
	run_options_pass_on(args, &before);
	opts_pass_on(args, "simulation-track-subprocess", &before);
	status = parts_run_modes(&cfg->run, before.items, args->words);
	strvec_release(&before);
	return status;
}

static int run_listed(const struct cfg *cfg, const struct opts_args *args,
		      const struct settings *settings)
{
	struct strvec common = STRVEC_INIT, entry = STRVEC_INIT;
	int status;

	run_options_pass_on(args, &common);
	opts_pass_on(args, "simulation-track-subprocess", &entry);
	status = run_project(settings, &cfg->run, &cfg->benches, &common, &entry);
	strvec_release(&common);
	strvec_release(&entry);
	return status;
}

/* What a command and the options for the project's file have to do with each other. */
static void check_usage(const struct cfg *cfg, const struct opts_args *args)
{
	if (args->count && str_is_blank(args->words[0]))
		die_usage("the benchmark command is empty");
	if (args->count && cfg->benches.len)
		die_usage("--bench chooses among the benchmarks of the project's file; it goes without a "
			  "command");
	if (args->count && cfg->run.config)
		log_warn("--config has no effect: there is a command");
}

int run_main(int argc, char **argv)
{
	struct settings settings = SETTINGS_INIT;
	struct cfg cfg = {0};
	struct opts_args args;
	int status;

	mode_forgive_own_word();
	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED | OPTS_COMMAND, &args);
	check_usage(&cfg, &args);
	if (!args.count)
		settings_load_project(&settings, &cfg.run);
	settings_fill(&settings, &args, &cfg.run);
	if (!args.count)
		status = run_listed(&cfg, &args, &settings);
	else
		status = cfg.run.modes.len > 1 ? run_modes(&cfg, &args) : run_one(&cfg, &args);
	settings_release(&settings);
	vec_release(&cfg.benches);
	args_release(&args);
	return status;
}
