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
#include "core/fifo.h"
#include "core/measuring_lock.h"
#include "core/path.h"
#include "core/spawn.h"
#include "core/units.h"
#include "core/valgrind.h"

#include "applets/runner/findings.h"
#include "applets/runner/memory/track.h"
#include "applets/runner/python.h"
#include "applets/runner/report/report.h"
#include "applets/runner/results/fingerprint.h"
#include "applets/runner/session.h"
#include "applets/runner/simulation/perf_map.h"
#include "applets/runner/simulation/profile.h"

extern char **environ;

/* The harness has a second to end its tree, and as long to write down what it has. */
enum { GRACE_SECONDS = 3 };

/* ---- Beginning ---- */

/* Without -m: simulation where there is a valgrind. */
static enum mode default_mode(void)
{
	char *valgrind;

	if (!ENABLE_WALLTIME)
		return MODE_SIMULATION;
	if (valgrind_find(getenv("PATH"), &valgrind)) {
		error_clear();
		log_info("there is no valgrind here: walltime mode (install valgrind for simulation, or say "
			 "-m walltime)");
		return MODE_WALLTIME;
	}
	free(valgrind);
	return MODE_SIMULATION;
}

enum mode session_choose_mode(const struct run_options *o)
{
	for (size_t i = 0; i < o->modes.len; i++)
		if (mode_check_supported((enum mode)o->modes.items[i]))
			die_recorded(EXIT_UNSUPPORTED);
	return o->modes.len ? (enum mode)o->modes.items[0] : default_mode();
}

static void find_valgrind(struct session *s)
{
	if (valgrind_find(getenv("PATH"), &s->valgrind)) {
		if (s->options->modes.len || ENABLE_WALLTIME)
			die(EXIT_UNSUPPORTED, "simulation mode is not possible here");
		die(EXIT_UNSUPPORTED, "no mode is possible here: walltime mode is not part of this "
				      "build, and simulation mode needs valgrind");
	}
	if (valgrind_version(s->valgrind, &s->valgrind_version))
		die(EXIT_UNSUPPORTED, "simulation mode is not possible here");
}

static void check_machine(struct session *s)
{
	if (valgrind_is_above())
		die(EXIT_UNSUPPORTED, "codspeed runs under valgrind itself (inside another codspeed?); "
				      "start it natively");
	if (ENABLE_MEMTRACK && s->mode == MODE_MEMORY && memory_session_check(s))
		die(EXIT_UNSUPPORTED, "memory mode is not possible here");
	if (s->mode == MODE_MEMORY)
		return; /* memtrack looks for the rest itself */
	if (s->mode == MODE_SIMULATION) {
		fifo_remove_stale(NULL); /* every client would wait for a runner that was killed */
		find_valgrind(s);
	}
	if (measuring_lock_take(s->mode))
		die_recorded(EXIT_UNSUPPORTED);
}

/* Programs are looked for, and run, from there. */
static void enter_directory(const char *directory)
{
	if (directory && chdir(directory))
		die(EXIT_USAGE, "--working-directory %s: %s", directory, strerror(errno));
}

/* A shell that changes its directory says so in PWD; a program that trusts it must not be misled. */
static void tell_directory(struct strvec *env)
{
	char *path = getcwd(NULL, 0);

	if (path)
		env_set(env, "PWD", path);
	free(path);
}

/* Behind the user's own tunables: of several values for one the last counts. */
static void pin_dispatch(struct strvec *env)
{
	const char *own = env_get(env, "GLIBC_TUNABLES");
	char *joined;

	if (dispatch_is_pinned(own))
		return;
	joined = xasprintf("%s%s%s", own ? own : "", own && *own ? ":" : "", dispatch_tunables);
	env_set(env, "GLIBC_TUNABLES", joined);
	free(joined);
}

static void make_env(struct strvec *env, const struct run_options *o, enum mode mode,
		     const char *folder, const char *program)
{
	bool malloc_python;

	strvec_push_all(env, environ);
	if (o->working_directory)
		tell_directory(env);
	if (o->pin_dispatch)
		pin_dispatch(env);
	malloc_python = mode == MODE_SIMULATION && python_accepts_malloc(env, program, NULL);
	benchmark_env_runner(env, mode, folder, malloc_python);
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
	s->mode = session_choose_mode(options);
	if (options->json && !(s->json = profile_result_target(options->json)))
		die_recorded(EXIT_FAILED);
	judging_begin(&s->judging, options);
	check_machine(s);
	s->command = words_join(words);
	supervise_prepare();
	if (profile_folder_make(&s->folder, options->profile_folder))
		die_recorded(EXIT_FAILED);
	cleanup_push(discard_folder, s);
	enter_directory(options->working_directory);
	make_env(&s->env, options, s->mode, s->folder.path, program);
}

void session_print_env(const struct run_options *options, const char *program)
{
	struct strvec before = STRVEC_INIT, after = STRVEC_INIT;
	char *folder = options->profile_folder ? path_absolute(options->profile_folder)
					       : profile_folder_pattern();
	enum mode mode = session_choose_mode(options);

	if (!folder)
		die_recorded(EXIT_FAILED);
	enter_directory(options->working_directory);
	strvec_push_all(&before, environ);
	make_env(&after, options, mode, folder, program);
	if (mode == MODE_SIMULATION)
		benchmark_env_harness(&after);
	for (size_t i = 0; i < after.len; i++)
		if (i >= before.len || !str_eq(before.items[i], after.items[i]))
			printf("%s\n", after.items[i]);
	strvec_release(&before);
	strvec_release(&after);
	free(folder);
}

/* ---- Running ---- */

static bool is_standard_output(const char *json)
{
	return json && str_eq(json, "-");
}

static void on_tick(void *session)
{
	progress_tick(&((struct session *)session)->progress);
}

static void on_output(void *session)
{
	progress_hide(&((struct session *)session)->progress);
}

static void on_extra(void *session)
{
	((struct session *)session)->on_extra(session);
}

/* 600 years from now is for ever. */
static uint64_t deadline(const struct session *s)
{
	uint64_t at;

	if (!s->options->timeout_ns)
		return 0;
	return __builtin_add_overflow(s->began, s->options->timeout_ns, &at) ? UINT64_MAX : at;
}

/*
 * The command's output always goes through a pipe: a figure must not depend on whether the runner
 * itself writes to a terminal, a file or a log (programs buffer differently).
 */
static int open_relays(struct session *s, struct spawn *spawn)
{
	bool json_out = is_standard_output(s->json);
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
	if (spawn->keep >= 0)
		close(spawn->keep);
	if (rc)
		return rc;
	if (tree)
		rc = proctree_init(tree, spawn->pid, s->command, s->folder.path, true);
	if (!rc && s->on_started)
		s->on_started(s, spawn->pid);
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
	rc = start(s, spawn, tree);
	if (rc) {
		progress_end(&s->progress);
		return rc;
	}
	w->child = s->progress.root = spawn->pid;
	w->tree = tree;
	w->grace_ns = GRACE_SECONDS * NS_PER_SECOND;
	w->linger_ns = NS_PER_SECOND;
	w->deadline = deadline(s);
	w->tick_ns = s->progress.interval_ns;
	w->tick = on_tick;
	w->before_output = on_output;
	w->on_extra = on_extra;
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
	r->run.working_directory = getcwd(NULL, 0);
	strvec_push(&r->run.modes, mode_name(s->mode));
	report_describe(r, s->valgrind_version);
	if (s->valgrind)
		valgrind_add_cache_options(&r->system.valgrind_options);
	if (env_get(&s->env, "GLIBC_TUNABLES"))
		r->system.glibc_tunables = xstrdup(env_get(&s->env, "GLIBC_TUNABLES"));
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

/* Read what the mode has left. `found` says why there may be no benchmark. */
static int load(struct session *s, struct result *r, struct findings *found)
{
	size_t top = s->options->top ? s->options->top : PROFILE_TOP_DEFAULT;

	if (ENABLE_MEMTRACK && s->mode == MODE_MEMORY)
		return memory_load(s, r, found);
	if (ENABLE_WALLTIME && s->mode == MODE_WALLTIME)
		return walltime_load(s, r, found);
	perf_map_harvest(s->folder.path, s->began_at);
	return simulation_load(s, r, top, found);
}

/* What the table would say; of rounds that failed our own harness has told. */
static void tell_troubles(const struct session *s, const struct result *r)
{
	bool told = s->mode == MODE_WALLTIME && !s->entrypoint;

	for (size_t i = 0; i < r->benchmarks.len; i++) {
		const struct benchmark *b = &r->benchmarks.items[i];

		if (b->status != BENCHMARK_OK && !(told && b->status == BENCHMARK_FAILED))
			log_error("%s: %s%s%s", b->name, benchmark_status_name(b->status),
				  b->notes.len ? ": " : "", b->notes.len ? b->notes.items[0] : "");
	}
}

static bool print_results(const struct session *s, const struct result *r)
{
	if (!is_standard_output(s->json)) {
		if (s->options->comparing.quiet)
			tell_troubles(s, r);
		else if (!s->options->part)
			report_table(r, s->options->top);
		return true;
	}
	if (!report_json(r, "-"))
		return true;
	log_error("%s", error_text());
	error_clear();
	return false;
}

/* Results on disk first: printing may wait for a reader, and be ended by a signal. */
static bool write_results(struct session *s, const struct result *r)
{
	char *path = profile_result_path(s->folder.path);
	const char *const targets[] = {path, s->json};
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		if (!targets[i] || is_standard_output(targets[i]) || !report_json(r, targets[i]))
			continue;
		log_error("%s", error_text());
		error_clear();
		ok = false;
	}
	free(path);
	return ok;
}

static bool all_ok(const struct result *r)
{
	for (size_t i = 0; i < r->benchmarks.len; i++)
		if (r->benchmarks.items[i].status != BENCHMARK_OK)
			return false;
	return true;
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
	free(s->json);
	judging_release(&s->judging);
	free(s->valgrind);
	free(s->valgrind_version);
	if (ENABLE_MEMTRACK && s->mode == MODE_MEMORY)
		memtrack_program_release(&s->memtrack);
}

static void end_by_signal(const struct session *s)
{
	if (s->watching.signal)
		supervise_reraise(s->watching.signal);
}

/* What was measured is not thrown away because it cannot be read. */
static void __attribute__((noreturn)) die_with_folder(struct session *s)
{
	cleanup_drop(discard_folder, s);
	die(EXIT_FAILED, "the raw data are kept in %s, but cannot be read", s->folder.path);
}

int session_end(struct session *s)
{
	struct findings found = {0};
	struct result r = RESULT_INIT;
	bool ok = tell_outcome(s), results = false;
	int failed = EXIT_FAILED, judged = EXIT_DONE;

	if (load(s, &r, &found))
		die_with_folder(s);
	ok = ok && !found.damaged;
	if (!r.benchmarks.len && !(s->options->allow_empty && ok)) {
		if (ok || !s->entrypoint) /* of a command that failed, that is the reason */
			log_error("%s", found.why_empty);
		failed = found.unsupported ? EXIT_UNSUPPORTED : EXIT_FAILED;
		ok = false;
	} else {
		describe_run(s, &r);
		ok = write_results(s, &r) && ok;
		results = true;
	}
	keep_or_discard(s, r.benchmarks.len > 0);
	cleanup_run(); /* nothing to undo is left for a signal that ends us while we print */
	supervise_release_signals();
	ok = all_ok(&r) && ok;
	if (results)
		ok = print_results(s, &r) && ok;
	if (results && !s->options->part)
		judged = judging_end(&s->judging, &r, ok && !s->watching.signal,
				     is_standard_output(s->json) || s->options->comparing.quiet);
	end_by_signal(s);
	result_release(&r);
	free(found.why_empty);
	session_release(s);
	return ok ? judged : failed;
}
