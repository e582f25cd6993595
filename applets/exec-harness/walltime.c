/* SPDX-License-Identifier: MIT */
/* walltime.c - commands run again and again, and their times kept */
//config:config WALLTIME
//config:	bool "walltime mode (28 kb)"
//config:	default y
//config:	help
//config:	  Runs a command again and again and tells how long it takes.
#include <sched.h>
#include <unistd.h>

#include "core/base.h"
#include "core/benchmark_env.h"
#include "core/clock.h"
#include "core/cpu_list.h"
#include "core/exit_code.h"
#include "core/harness_channel.h"
#include "core/io.h"
#include "core/orphans.h"
#include "core/path.h"
#include "core/text.h"
#include "core/units.h"

#include "applets/exec-harness/interrupts.h"
#include "applets/exec-harness/rounds.h"

/* For a runner that starts perf before it answers. */
#define PATIENCE_NS (10 * NS_PER_SECOND)

extern char **environ;

enum { LONG_NS = 50 * 1000 * 1000 }; /* rounds from here on can be sampled while they are measured */

/* ---- Beginning ---- */

static int pin(const char *list)
{
	cpu_set_t set;
	int rc = list ? parse_cpu_list(list, &set) : 0;

	if (!rc && list && sched_setaffinity(0, sizeof(set), &set))
		return fail_errno("--cpu %s: this process may not run there", list);
	return rc;
}

static int parse_options(struct walltime *w, const struct walltime_options *o)
{
	int rc = parse_allowed_statuses(o->ignore_failure, w->allowed);

	if (!rc && o->round_timeout && parse_duration(o->round_timeout, &w->timeout_ns))
		rc = fail(-EINVAL, "invalid time-out '%s'", o->round_timeout);
	return rc ? rc : pin(o->cpu);
}

static int find_runner(struct hooks *hooks)
{
	int rc = hooks_init(hooks, NULL);

	if (!rc && hooks->peer == HOOKS_ANALYSIS) {
		hooks_close(hooks);
		rc = fail(-EPROTO, "the runner is in memory mode");
	}
	hooks->patience_ns = PATIENCE_NS;
	if (!rc && hooks->peer == HOOKS_WALLTIME)
		rc = hooks_set_integration(hooks, HOOKS_INTEGRATION, HOOKS_INTEGRATION_VERSION);
	return rc;
}

/* Requests to nobody succeed. */
static int hooks_none(struct hooks *hooks)
{
	*hooks = (struct hooks){.control = -1, .answers = -1, .why = "the runner serves none"};
	return 0;
}

int walltime_init(struct walltime *w, const char *folder, const struct walltime_options *options,
		  bool alone)
{
	char *results = xasprintf("%s/results", folder);
	int rc;

	*w = (struct walltime){
		.folder = folder, .options = options,
		.results = {.creator = xstrdup(HOOKS_INTEGRATION),
			    .version = xstrdup(HOOKS_INTEGRATION_VERSION), .pid = (uint64_t)getpid()},
	};
	rc = parse_options(w, options);
	if (!rc)
		rc = path_make_folder(results, 0755);
	free(results);
	if (!rc)
		rc = alone ? hooks_none(&w->hooks) : find_runner(&w->hooks);
	if (!rc)
		rc = round_streams_init(&w->streams, options->input, options->output);
	if (rc)
		return rc;
	strvec_push_all(&w->profiled_env, environ);
	benchmark_env_profiled(&w->profiled_env);
	orphans_adopt();
	interrupts_begin();
	return 0;
}

void walltime_release(struct walltime *w)
{
	interrupts_end();
	hooks_close(&w->hooks);
	strvec_release(&w->profiled_env);
	round_record_release(&w->record);
	walltime_results_release(&w->results);
}

/* ---- One target ---- */

/* All at once and afterwards: a marker takes longer than many a round. */
static int send_markers(struct hooks *hooks, const struct round_benchmark *b)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < b->rounds.len; i++) {
		const struct round *round = &b->rounds.items[i];

		rc = hooks_add_marker(hooks, getpid(), MARKER_ROUND_START, round->start);
		if (!rc)
			rc = hooks_add_marker(hooks, getpid(), MARKER_ROUND_END, round->end);
	}
	return rc;
}

/* A runner that does not listen spoils its profile, not our times. */
static void tell_unheard(int rc)
{
	if (!rc)
		return;
	log_warn("%s; times are not affected", error_text());
	error_clear();
}

static int tell_runner(struct rounds *r, bool measured)
{
	struct hooks *hooks = &r->w->hooks;
	int rc = measured ? send_markers(hooks, r->to) : 0;
	int stopped = hooks_stop_profiler(hooks);

	rc = rc ? rc : stopped;
	return !rc && measured ? hooks_current_benchmark(hooks, getpid(), r->to->uri) : rc;
}

/* Whatever came between, the runner learns that it is over, and what was measured. */
static int leave_window(struct rounds *r, int rc)
{
	char *why = rc ? xstrdup(error_text()) : NULL; /* not that of what comes now */

	error_clear();
	tell_unheard(tell_runner(r, r->to->rounds.len && (!rc || rc == -EINTR)));
	if (rc && *why)
		fail(rc, "%s", why);
	free(why);
	return rc;
}

/* A runner that has gone does not matter here: the hooks tell. */
static void announce(const struct rounds *r, bool sample_apart)
{
	char wish = sample_apart ? HARNESS_SHORT_ROUNDS : HARNESS_LONG_ROUNDS;

	if (r->w->profile && write(r->w->profile, &wish, 1) != 1)
		log_debug("the runner does not listen");
}

/*
 * The window in which the runner samples. Sampling costs each process some 30 microseconds, at its
 * start: nothing for a long round, but short ones are measured before it, and then run once more.
 */
static int measure_in_window(struct rounds *r, bool single)
{
	bool sample_apart = r->w->profile && !single && r->mean < LONG_NS;
	int rc = 0;

	if (sample_apart)
		rc = rounds_measure(r);
	if (rc)
		return rc;
	announce(r, sample_apart);
	if (r->w->hooks.peer == HOOKS_WALLTIME)
		r->command.envp = r->w->profiled_env.items;
	tell_unheard(hooks_start_profiler(&r->w->hooks));
	if (sample_apart)
		rc = rounds_sample(r);
	else if (!single)
		rc = rounds_measure(r);
	return leave_window(r, rc);
}

static int run_rounds(struct rounds *r)
{
	bool single = false;
	int rc = rounds_warm_up(r, &single);

	if (!rc)
		rc = measure_in_window(r, single);
	if (single)
		r->elapsed = r->to->rounds.items[0].end - r->to->rounds.items[0].start;
	return rc;
}

static void keep_result(struct rounds *r)
{
	const struct round_benchmark *b = r->to;
	struct walltime_benchmark result = {.name = xstrdup(b->name), .uri = xstrdup(b->uri)};
	uint64_t *times = xreallocarray(NULL, b->rounds.len, sizeof(*times));

	for (size_t i = 0; i < b->rounds.len; i++)
		times[i] = b->rounds.items[i].end - b->rounds.items[i].start;
	round_statistics_compute(&result.stats, times, NULL, b->rounds.len);
	vec_push(&r->w->results.benchmarks, result);
	if (b->outcome == ROUNDS_OK)
		rounds_advise(r, times);
	free(times);
}

static int write_results(const struct walltime *w)
{
	char *path = xasprintf("%s/results/%d.json", w->folder, getpid());
	struct buf text = BUF_INIT;
	int rc = 0;

	walltime_results_encode(&w->results, &text);
	if (w->results.benchmarks.len)
		rc = write_file_atomic(path, text.data, text.len, 0644);
	buf_release(&text);
	free(path);
	return rc ? rc : round_record_write(&w->record, w->folder);
}

static void begin_run(struct rounds *r, struct walltime *w, const struct target *target,
		      const char *path)
{
	vec_push(&w->record.benchmarks, (struct round_benchmark){
		.uri = xstrdup(target->uri), .name = text_escape_dup(target->name),
	});
	*r = (struct rounds){.w = w, .to = vec_last(&w->record.benchmarks), .phase = "the warm-up"};
	round_plan_init(&r->plan, &target->limits);
	r->command = (struct round_command){
		.path = path, .argv = target->command.items, .envp = environ,
		.err = w->streams.err, .drain = w->streams.drain, .timeout_ns = w->timeout_ns,
	};
}

/* The outcome of the rounds into the record; 0, or what is to be told to the caller. */
static int finish_run(struct rounds *r, int rc, int *status, int *interrupted)
{
	struct round_benchmark *to = r->to;

	*interrupted = interrupts_signal();
	if (rc == -EINTR) {
		to->outcome = ROUNDS_INTERRUPTED;
		rounds_note(r, "interrupted by a signal after %zu rounds", to->rounds.len);
		rc = 0;
	} else if (rc) {
		to->outcome = ROUNDS_FAILED;
		rounds_note(r, "%s", error_text());
		log_error("%s: %s", to->name, error_text());
		error_clear();
		*status = r->status ? r->status : EXIT_WRAPPER;
		rc = 0;
	}
	rounds_describe(r);
	if (to->rounds.len && to->outcome != ROUNDS_FAILED)
		keep_result(r);
	return rc;
}

/* Its end is waited for also after an interruption; who asked for that may end it by asking again. */
static void clean_up(struct rounds *r)
{
	interrupts_leave_time();
	if (!rounds_aside(r, "--cleanup", r->w->options->cleanup, 0))
		return;
	log_warn("%s: %s", r->to->name, error_text());
	error_clear();
}

int walltime_run(struct walltime *w, const struct target *target, int *status, int *interrupted)
{
	struct rounds r;
	char *path;
	int rc = path_find_program(target->command.items[0], getenv("PATH"), &path);

	if (rc)
		return target_not_found(target->command.items[0], rc);
	begin_run(&r, w, target, path);
	rc = run_rounds(&r);
	rc = finish_run(&r, rc, status, interrupted);
	if (write_results(w))
		rc = -EIO;
	clean_up(&r);
	buf_release(&r.of_rounds.names);
	buf_release(&r.of_asides.names);
	free(path);
	return rc;
}
