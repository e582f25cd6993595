/* SPDX-License-Identifier: MIT */
/* exec_harness.c - wrap commands as benchmarks */
//config:config EXEC_HARNESS
//config:	bool "exec-harness (30 kb)"
//config:	default y
//config:	select LIB_YYJSON
//config:	help
//config:	  Makes a benchmark of any command. The runner's exec needs it.
//applet:IF_EXEC_HARNESS(APPLET("exec-harness", exec_harness_main, PRIV_DROP, "wrap commands as benchmarks"))
//usage:[OPTION]... COMMAND [ARG]...
//usage:[OPTION]... -
//example:exec-harness --name sorted sort words.txt
//example:echo '[{"command": ["sort", "words.txt"]}]' | exec-harness -
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applet_prototypes.h"
#include "core/base.h"
#include "core/benchmark_env.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/mode.h"
#include "core/opts.h"
#include "core/path.h"
#include "core/supervise.h"
#include "core/valgrind.h"
#include "core/walltime_options.h"

#include "applets/exec-harness/memory.h"
#include "applets/exec-harness/simulation.h"
#include "applets/exec-harness/targets.h"
#include "applets/exec-harness/walltime.h"

struct cfg {
	const char *name;
	enum mode mode;
	uint64_t runner_pid;
	struct walltime_options walltime;
	const char *timeout;
	uint64_t profile;
	bool alone;
	bool nothing;
};

static const struct opt rows[] = {
	OPT_STRING(0, "name", struct cfg, name, .meta = "NAME",
		   .help = "the benchmark's name (default: the command)"),
	OPT_CHOICE('m', "measurement-mode", struct cfg, mode, mode_words_internal,
		   .env = CODSPEED_RUNNER_MODE, .def = "walltime", .meta = "MODE",
		   .flags = OPT_HIDDEN, .help = "what to measure"),
	OPT_UINT(0, "runner-pid", struct cfg, runner_pid, .flags = OPT_HIDDEN,
		 .help = "end when this process, our parent, has ended"),
	OPT_STRING(0, "timeout", struct cfg, timeout, .meta = "DURATION", .flags = OPT_HIDDEN,
		   .help = "the same as --round-timeout, which exec has beside a --timeout of the run"),
	OPT_UINT(0, "profile", struct cfg, profile, .flags = OPT_HIDDEN, .min = 3, .max = INT_MAX,
		 .help = "the runner takes samples: run rounds for them; a descriptor to tell it more"),
	OPT_FLAG(0, "alone", struct cfg, alone, .flags = OPT_HIDDEN,
		 .help = "look for no runner: FIFOs that are there are another's"),
	OPT_FLAG(0, "nothing", struct cfg, nothing, .flags = OPT_HIDDEN,
		 .help = "end at once: what starting a process costs"),
	OPT_ROWS(struct cfg, walltime, struct walltime_options, walltime_option_rows),
	OPT_END
};

static bool started_by_runner;

static void read_targets(const struct cfg *cfg, const struct opts_args *args,
			 struct targets *targets)
{
	struct buf text = BUF_INIT;
	int rc;

	if (!args->count)
		die_usage("no command is given");
	if (args->count == 1 && str_eq(args->words[0], "-")) {
		if (cfg->name)
			die_usage("--name goes with one command; a list has its names inside");
		rc = read_rest(STDIN_FILENO, &text);
		if (!rc)
			rc = targets_read_json(targets, text.data, text.len);
		buf_release(&text);
	} else {
		rc = targets_add_words(targets, args->words, cfg->name, &cfg->walltime);
	}
	if (rc)
		die_recorded(EXIT_WRAPPER);
}

/* Without the runner around there would be nobody to read what is measured. */
static void require_runner(void)
{
	const char *runner = getenv(CODSPEED_ENV);

	if (!runner || !str_eq(runner, CODSPEED_ENV_RUNNER))
		die(EXIT_WRAPPER, "not instrumented: start it through codspeed "
				  "(codspeed exec -- COMMAND)");
}

static const char *require_folder(void)
{
	const char *folder = getenv(CODSPEED_PROFILE_FOLDER);
	struct stat st;

	if (valgrind_is_above())
		die(EXIT_WRAPPER, "not instrumented: it runs under a valgrind that codspeed did not "
				  "start; start it through codspeed");
	if (!folder || !*folder)
		die(EXIT_WRAPPER, "not instrumented: " CODSPEED_PROFILE_FOLDER " is not set; start it "
				  "through codspeed");
	if (!stat(folder, &st) && !S_ISDIR(st.st_mode))
		die(EXIT_WRAPPER, "the profile folder %s is not a folder", folder);
	if (access(folder, W_OK))
		die(EXIT_WRAPPER, "the profile folder %s cannot be written: %s", folder,
		    strerror(errno));
	return folder;
}

/*
 * Not left to whoever starts us: a signal set before exec is forgotten where the file has
 * capabilities.
 */
static void end_with_runner(uint64_t pid)
{
	if (!pid)
		return;
	started_by_runner = true;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != (pid_t)pid)
		raise(SIGTERM); /* it had ended before */
}

/*
 * One way to measure: how a target is run in it. 0 with the command's status; EXIT_NOT_FOUND or
 * EXIT_NOT_EXECUTABLE with a frame for a command that cannot be run; -ENOSYS with a frame where the
 * machine cannot measure; another -errno with a frame.
 */
typedef int run_target(void *ctx, const struct target *target, int *status, int *interrupted);

/* A runner that started us is told apart that its machine cannot run the mode. */
static int status_of_failure(int rc)
{
	return rc == -ENOSYS && started_by_runner ? (int)EXIT_UNSUPPORTED : (int)EXIT_WRAPPER;
}

/* Every target is run, also after one that failed; the status is the first failure's. */
static int run_all(const struct targets *targets, run_target *run, void *ctx)
{
	int result = 0, interrupted = 0;

	for (size_t i = 0; i < targets->list.len && !interrupted; i++) {
		int status = 0, rc;

		rc = run(ctx, &targets->list.items[i], &status, &interrupted);
		if (rc) {
			log_error("%s", error_text());
			error_clear();
			status = rc > 0 ? rc : status_of_failure(rc);
		}
		if (!result)
			result = status;
	}
	if (interrupted)
		supervise_reraise(interrupted);
	return result;
}

static int simulate(void *ctx, const struct target *target, int *status, int *interrupted)
{
	return simulation_run(ctx, target, status, interrupted);
}

static int run_simulation(const struct targets *targets, const bool *allowed)
{
	struct simulation sim = {.allowed = allowed};
	char *folder = path_absolute(require_folder());
	int status;

	sim.folder = folder;
	if (!folder || simulation_init(&sim))
		die_recorded(EXIT_WRAPPER);
	status = run_all(targets, simulate, &sim);
	simulation_release(&sim);
	free(folder);
	return status;
}

struct memory {
	struct hooks hooks;
	const bool *allowed;
};

static int track(void *ctx, const struct target *target, int *status, int *interrupted)
{
	struct memory *memory = ctx;

	return memory_run(&memory->hooks, target, memory->allowed, status, interrupted);
}

static int run_memory(const struct targets *targets, const bool *allowed)
{
	struct memory memory = {.allowed = allowed};
	struct hooks *hooks = &memory.hooks;
	int status;

	if (hooks_init(hooks, NULL))
		die_recorded(EXIT_WRAPPER);
	if (hooks->peer != HOOKS_ANALYSIS)
		die(EXIT_WRAPPER, "not instrumented: %s; start it through codspeed "
				  "(codspeed exec -m memory -- COMMAND)",
		    hooks->peer == HOOKS_NO_PEER ? hooks->why : "the runner is in another mode");
	if (hooks_set_integration(hooks, HOOKS_INTEGRATION, HOOKS_INTEGRATION_VERSION))
		die_recorded(EXIT_WRAPPER);
	status = run_all(targets, track, &memory);
	hooks_close(hooks);
	return status;
}

static int time_rounds(void *ctx, const struct target *target, int *status, int *interrupted)
{
	return walltime_run(ctx, target, status, interrupted);
}

/* Useful without a runner, too: the results are in a folder where they can be found. */
static int run_walltime(const struct targets *targets, const struct cfg *cfg)
{
	const char *folder = getenv(CODSPEED_PROFILE_FOLDER);
	struct walltime w;
	int status;

	if (valgrind_is_above())
		die(EXIT_WRAPPER, "times under valgrind mean nothing; start it through codspeed "
				  "(codspeed exec -m walltime -- COMMAND)");
	if (walltime_init(&w, folder && *folder ? folder : ".codspeed", &cfg->walltime,
			  cfg->alone))
		die_recorded(EXIT_WRAPPER);
	w.profile = (int)cfg->profile;
	if (w.profile)
		fcntl(w.profile, F_SETFD, FD_CLOEXEC); /* not the command's */
	status = run_all(targets, time_rounds, &w);
	walltime_release(&w);
	return status;
}

int exec_harness_main(int argc, char **argv)
{
	struct cfg cfg = {0};
	struct targets targets = {0};
	bool allowed[STATUSES];
	struct opts_args args;
	int status;

	opts_parse(rows, &cfg, argc, argv, OPTS_STOP_AT_FIRST | OPTS_COMMAND | OPTS_WRAPPER, &args);
	if (cfg.nothing)
		return 0;
	if (cfg.timeout && !cfg.walltime.round_timeout)
		cfg.walltime.round_timeout = cfg.timeout;
	if (parse_allowed_statuses(cfg.walltime.ignore_failure, allowed))
		die_recorded(EXIT_WRAPPER);
	read_targets(&cfg, &args, &targets);
	if (mode_check_supported(cfg.mode))
		die_recorded(EXIT_WRAPPER);
	if (cfg.mode != MODE_WALLTIME)
		require_runner();
	end_with_runner(cfg.runner_pid);
	if (cfg.mode != MODE_WALLTIME)
		supervise_prepare();
	if (ENABLE_WALLTIME && cfg.mode == MODE_WALLTIME)
		status = run_walltime(&targets, &cfg);
	else if (ENABLE_MEMTRACK && cfg.mode == MODE_MEMORY)
		status = run_memory(&targets, allowed);
	else
		status = run_simulation(&targets, allowed);
	targets_release(&targets);
	args_release(&args);
	return status;
}
