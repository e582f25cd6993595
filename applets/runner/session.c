/* SPDX-License-Identifier: MIT */
/* session.c - one run of the runner */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"
#include "core/benchmark_env.h"
#include "core/buf.h"
#include "core/cleanup.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/exit_code.h"
#include "core/mode.h"
#include "core/path.h"
#include "core/simulation_record.h"
#include "core/units.h"
#include "core/valgrind.h"

#include "applets/runner/python.h"
#include "applets/runner/report/report.h"
#include "applets/runner/session.h"
#include "applets/runner/simulation/perf_map.h"
#include "applets/runner/simulation/profile.h"

extern char **environ;

/* The harness has a second to end its tree, and as long to write down what it has. */
enum { GRACE_SECONDS = 3 };

/* ---- Beginning ---- */

static void check_modes(const struct run_options *o)
{
	for (size_t i = 0; i < o->modes.len; i++)
		if (mode_check_supported((enum mode)o->modes.items[i]))
			die_recorded(EXIT_UNSUPPORTED);
}

static void find_valgrind(struct session *s)
{
	if (valgrind_find(getenv("PATH"), &s->valgrind)) {
		if (s->options->modes.len)
			die(EXIT_UNSUPPORTED, "simulation mode is not possible here");
		/* Without -m the choice would fall on walltime. */
		die(EXIT_UNSUPPORTED, "no mode is possible here: walltime mode is not part of this "
				      "version, and simulation mode needs valgrind");
	}
	if (valgrind_version(s->valgrind, &s->valgrind_version))
		die(EXIT_UNSUPPORTED, "simulation mode is not possible here");
}

static void check_directory(const char *directory)
{
	struct stat st;

	if (!directory)
		return;
	if (stat(directory, &st))
		die(EXIT_USAGE, "--working-directory %s: %s", directory, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		die(EXIT_USAGE, "--working-directory %s: not a directory", directory);
}

/* A shell that changes its directory says so in PWD; a program that trusts it must not be misled. */
static void set_directory(struct strvec *env, const char *directory)
{
	char *path = directory ? realpath(directory, NULL) : NULL;

	if (path)
		env_set(env, "PWD", path);
	free(path);
}

static void make_env(struct strvec *env, const struct run_options *o, const char *folder,
		     const char *program)
{
	strvec_push_all(env, environ);
	set_directory(env, o->working_directory);
	benchmark_env_simulation(env, folder,
				 python_accepts_malloc(env, program, o->working_directory));
}

static void discard_folder(void *session)
{
	profile_folder_discard(&((struct session *)session)->folder);
}

void session_begin(struct session *s, const struct run_options *options, char *const *words,
		   const char *program)
{
	*s = (struct session){.options = options, .began = clock_now(), .began_at = time(NULL)};
	s->watching = (struct supervise)SUPERVISE_INIT;
	check_modes(options);
	if (valgrind_is_above())
		die(EXIT_UNSUPPORTED, "codspeed runs under valgrind itself (inside another codspeed?); "
				      "start it natively");
	check_directory(options->working_directory);
	find_valgrind(s);
	s->command = words_join(words);
	supervise_prepare();
	if (profile_folder_make(&s->folder, options->profile_folder))
		die_recorded(EXIT_FAILED);
	cleanup_push(discard_folder, s);
	make_env(&s->env, options, s->folder.path, program);
}

void session_print_env(const struct run_options *options, const char *program)
{
	struct strvec before = STRVEC_INIT, after = STRVEC_INIT;
	char *folder = options->profile_folder ? path_absolute(options->profile_folder)
					       : profile_folder_pattern();

	if (!folder)
		die_recorded(EXIT_FAILED);
	strvec_push_all(&before, environ);
	make_env(&after, options, folder, program);
	benchmark_env_harness(&after);
	for (size_t i = 0; i < after.len; i++)
		if (i >= before.len || !str_eq(before.items[i], after.items[i]))
			printf("%s\n", after.items[i]);
	strvec_release(&before);
	strvec_release(&after);
	free(folder);
}

/* ---- Running ---- */

static void on_tick(void *session)
{
	progress_tick(&((struct session *)session)->progress);
}

static void on_output(void *session)
{
	progress_hide(&((struct session *)session)->progress);
}

/*
 * The command's output always goes through a pipe: a figure must not depend on whether the runner
 * itself writes to a terminal, a file or a log (programs buffer differently).
 */
static int open_relays(struct session *s, struct spawn *spawn)
{
	bool json_out = s->options->json && str_eq(s->options->json, "-");
	int targets[] = {json_out ? STDERR_FILENO : STDOUT_FILENO, STDERR_FILENO};
	int ends[2];

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		if (pipe2(ends, O_CLOEXEC))
			return fail_errno("cannot create a pipe");
		s->watching.relays[i] = (struct relay){.from = ends[0], .to = targets[i]};
		*(i == 0 ? &spawn->out : &spawn->err) = ends[1];
	}
	return 0;
}

static int start(struct session *s, struct spawn *spawn, struct proctree *tree)
{
	int rc = spawn_start(spawn);

	close(spawn->out);
	close(spawn->err);
	if (rc)
		return rc;
	if (tree)
		rc = proctree_init(tree, spawn->pid, s->command, s->folder.path, true);
	if (!rc)
		rc = spawn_release(spawn);
	if (rc) {
		kill(spawn->pid, SIGKILL);
		waitpid(spawn->pid, NULL, 0);
	}
	return rc;
}

int session_watch(struct session *s, struct spawn *spawn, struct proctree *tree)
{
	struct supervise *w = &s->watching;
	int rc = open_relays(s, spawn);

	if (rc)
		return rc;
	progress_init(&s->progress, s->command);
	spawn->envp = s->env.items;
	spawn->cwd = s->options->working_directory;
	rc = start(s, spawn, tree);
	if (rc) {
		progress_end(&s->progress);
		return rc;
	}
	w->child = s->progress.root = spawn->pid;
	w->tree = tree;
	w->grace_ns = GRACE_SECONDS * NS_PER_SECOND;
	w->linger_ns = NS_PER_SECOND;
	w->deadline = s->options->timeout_ns ? s->began + s->options->timeout_ns : 0;
	w->tick_ns = s->progress.interval_ns;
	w->tick = on_tick;
	w->before_output = on_output;
	w->ctx = s;
	rc = supervise(w);
	progress_end(&s->progress);
	return rc;
}

/* ---- Ending ---- */

static void describe_run(const struct session *s, struct result *r)
{
	r->run.started = result_timestamp_dup(s->began_at);
	r->run.duration_ns = clock_now() - s->began;
	r->run.command = xstrdup(s->command);
	r->run.working_directory = realpath(
		s->options->working_directory ? s->options->working_directory : ".", NULL);
	vec_push(&r->run.modes, xstrdup(mode_name(MODE_SIMULATION)));
	report_describe(r, s->valgrind_version);
}

/* The harness failed before it could record a benchmark; what it lacked it has said itself. */
static bool cannot_measure(const struct session *s)
{
	return !s->entrypoint && status_of_wait(s->watching.status) == EXIT_WRAPPER;
}

/* The usual reasons, in the order in which they happen. */
static void tell_no_benchmark(const struct session *s, const struct profile_summary *summary)
{
	if (cannot_measure(s)) {
		log_error("nothing was measured: exec-harness cannot run the command here (valgrind %s)",
			  s->valgrind_version);
		return;
	}
	if (!s->entrypoint) {
		log_error("nothing was measured");
		return;
	}
	log_error("no benchmark was found: the command reported none%s%s. Usual causes: the benchmarks "
		  "were not started through a CodSpeed integration (pytest needs --codspeed); they ran "
		  "in parallel workers (pytest-xdist: use -n 0); another plugin or a filter left them "
		  "out. A plain program is measured by 'codspeed exec -m simulation -- COMMAND'; "
		  "--allow-empty makes this no error",
		  summary->integration ? " through " : "",
		  summary->integration ? summary->integration : "");
}

static bool all_ok(const struct result *r)
{
	for (size_t i = 0; i < r->benchmarks.len; i++)
		if (r->benchmarks.items[i].status != BENCHMARK_OK)
			return false;
	return true;
}

static bool tell_outcome(const struct session *s)
{
	const struct supervise *w = &s->watching;
	int status = status_of_wait(w->status);

	if (w->timed_out) {
		log_error("timed out after %s: the command was ended",
			  format_duration((char[UNIT_TEXT]){0}, s->options->timeout_ns));
		return false;
	}
	if (s->entrypoint && status && !w->signal) {
		if (WIFSIGNALED(w->status))
			log_error("the command was killed by signal %d (%s)", WTERMSIG(w->status),
				  strsignal(WTERMSIG(w->status)));
		else
			log_error("the command failed: exit status %d", status);
	}
	return status == 0;
}

/* Returns whether everything could be written. */
static bool report(struct session *s, const struct result *r)
{
	char *path = xasprintf("%s/results.json", s->folder.path);
	bool ok = true;

	if (report_json(r, path) || (s->options->json && report_json(r, s->options->json))) {
		log_error("%s", error_text());
		error_clear();
		ok = false;
	}
	if (!s->options->json || !str_eq(s->options->json, "-"))
		report_table(r, s->options->top);
	free(path);
	return ok;
}

/* The raw data stay for `codspeed show`; without a benchmark it has nothing to show. */
static void keep_or_discard(struct session *s, bool measured)
{
	if (!measured)
		profile_folder_discard(&s->folder);
	else if (s->folder.temporary)
		log_info("profile folder: %s", s->folder.path);
	cleanup_drop(discard_folder, s);
}

static void session_release(struct session *s)
{
	profile_folder_release(&s->folder);
	strvec_release(&s->env);
	free(s->command);
	free(s->valgrind);
	free(s->valgrind_version);
}

int session_end(struct session *s)
{
	struct result r = RESULT_INIT;
	struct profile_summary summary;
	size_t top = s->options->top ? s->options->top : PROFILE_TOP_DEFAULT;
	int signal_number = s->watching.signal;
	bool ok = tell_outcome(s);
	int failed = EXIT_FAILED;

	perf_map_harvest(s->folder.path);
	if (profile_load(&r, s->folder.path, top, &summary))
		die_recorded(EXIT_FAILED);
	if (summary.damaged_dumps)
		ok = false;
	if (!r.benchmarks.len && !(s->options->allow_empty && ok)) {
		if (ok || !s->entrypoint) /* of a command that failed, that is the reason */
			tell_no_benchmark(s, &summary);
		failed = cannot_measure(s) ? EXIT_UNSUPPORTED : EXIT_FAILED;
		ok = false;
	} else {
		describe_run(s, &r);
		ok = report(s, &r) && ok;
	}
	ok = all_ok(&r) && ok;
	keep_or_discard(s, r.benchmarks.len > 0);
	result_release(&r);
	free(summary.integration);
	session_release(s);
	if (!signal_number)
		signal_number = supervise_pending_signal();
	if (signal_number)
		supervise_reraise(signal_number);
	return ok ? EXIT_DONE : failed;
}
