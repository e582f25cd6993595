/* SPDX-License-Identifier: MIT */
/* session.c - run a command whose benchmarks take their own times */
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/base.h"
#include "core/execution_timestamps.h"
#include "core/exit_code.h"
#include "core/harness_channel.h"
#include "core/leftovers.h"
#include "core/orphans.h"
#include "core/path.h"
#include "core/spawn.h"

#include "applets/runner/findings.h"
#include "applets/runner/serving.h"
#include "applets/runner/walltime/isolation.h"
#include "applets/runner/walltime/profile.h"
#include "applets/runner/walltime/profiler.h"
#include "applets/runner/walltime/session.h"

enum { LINGER_NS = 1000 * 1000 * 1000 }; /* for processes that outlive the command */

static struct walltime_session {
	const struct profiler_backend *backend; /* NULL: no profile is taken */
	struct session *session;
	bool attached;
	int wishes, their_end; /* from our harness, see harness_channel.h; -1: none */
} walltime;

/* ---- The profiler ---- */

int walltime_session_prepare(struct session *s)
{
	int ends[2];

	walltime = (struct walltime_session){.session = s, .wishes = -1, .their_end = -1};
	if (ENABLE_FEATURE_PROFILER && s->options->profiler)
		walltime.backend = profiler_choose(s->options->walltime_profiler);
	if (!walltime.backend || s->entrypoint || pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -1;
	walltime.wishes = ends[0];
	walltime.their_end = ends[1];
	return walltime.their_end;
}

/* A profile that cannot be had is no reason to lose times. */
static void give_up_profile(void)
{
	log_warn("the profile is not whole, times are not affected: %s", error_text());
	error_clear();
	walltime.backend->release();
	walltime.backend = NULL;
	walltime.attached = false;
}

/* Our harness says before it starts the profiler when its rounds are short. */
static unsigned wished_frequency(void)
{
	char wish;

	if (walltime.wishes >= 0 && read(walltime.wishes, &wish, 1) == 1 && wish == HARNESS_SHORT_ROUNDS)
		return PROFILER_FAST;
	return PROFILER_FREQUENCY;
}

static void attach(pid_t pid)
{
	struct profiler_target target = {
		.pid = pid, .frequency = wished_frequency(), .ready = walltime.session->watching.extra,
		.without_itself = !walltime.session->entrypoint,
	};

	if (!walltime.backend || walltime.attached)
		return;
	walltime.attached = true;
	if (walltime.backend->attach(&target))
		give_up_profile();
}

static void detach(void)
{
	if (walltime.attached && walltime.backend->detach())
		give_up_profile();
	walltime.attached = false;
}

/* An entrypoint is followed from before its first instruction: who measures there is not known yet. */
static void on_started(struct session *s, pid_t pid)
{
	if (s->entrypoint)
		attach(pid);
}

/* Of our own harness only rounds for the profile are followed: what is followed is slowed. */
static int start_profiler(void *session)
{
	struct session *s = session;

	if (!s->entrypoint)
		attach(s->watching.child);
	if (walltime.backend && walltime.backend->enable())
		give_up_profile();
	return 0;
}

static int stop_profiler(void *session)
{
	if (walltime.backend && walltime.backend->disable())
		give_up_profile();
	if (!((struct session *)session)->entrypoint)
		detach();
	return 0;
}

static int ping_profiler(void *session UNUSED)
{
	return 0;
}

static struct hooks_profiler hooks = {
	.start = start_profiler, .stop = stop_profiler, .ping = ping_profiler,
};

/* ---- The run ---- */

static void serve_all(struct session *s)
{
	if (walltime.backend && walltime.backend->drain)
		walltime.backend->drain();
	serving_serve(s);
}

/* The FIFO and what the profiler adds, as the one descriptor that supervise() takes. */
static void start_serving(struct session *s)
{
	struct epoll_event ready = {.events = EPOLLIN};
	int set = epoll_create1(EPOLL_CLOEXEC);

	hooks.ctx = s;
	serving_start(s, &hooks_mode_walltime, &hooks);
	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fifo_fd(&serving.fifo), &ready))
		die(EXIT_FAILED, "epoll: %s", strerror(errno));
	s->watching.extra = set;
	s->on_extra = serve_all;
	s->on_started = on_started;
}

static void end_leftovers(void)
{
	struct buf names = BUF_INIT;
	size_t count = leftovers_end(LINGER_NS, &names);

	if (count)
		log_warn("still running after the command ended: %s; ended now", names.data);
	buf_release(&names);
}

static void run(struct session *s, const char *path, char *const *words)
{
	struct strvec argv = STRVEC_INIT;
	struct spawn spawn = SPAWN_INIT;
	bool isolated;

	isolation_begin(&argv);
	isolated = argv.len > 0;
	if (isolated) /* what is in front looks for the command itself, so by its path */
		strvec_push(&argv, path);
	strvec_push_all(&argv, words + isolated);
	spawn.path = isolated ? argv.items[0] : path;
	spawn.argv = argv.items;
	spawn.death_signal = SIGTERM;
	spawn.keep = walltime.their_end;
	if (session_watch(s, &spawn, NULL))
		die(EXIT_FAILED, "cannot run the command");
	detach();
	if (walltime.backend && walltime.backend->settle)
		walltime.backend->settle(); /* or it would be taken for something left */
	end_leftovers();
	isolation_end();
	strvec_release(&argv);
}

void walltime_session_run(struct session *s, const char *path, char *const *words)
{
	char *results = xasprintf("%s/results", s->folder.path);
	char *timestamps = xasprintf("%s/" EXECUTION_TIMESTAMPS_FILE, s->folder.path);

	if (path_make_folder(results, 0755))
		die_recorded(EXIT_FAILED);
	orphans_adopt();
	if (s->options->profiler)
		start_serving(s);
	else
		fifo_remove_stale(NULL); /* a client would wait for a runner that does not answer */
	run(s, path, words);
	if (s->options->profiler)
		serving_finish(timestamps);
	free(timestamps);
	free(results);
}

/* ---- Results ---- */

static char *why_empty(const struct session *s, const struct walltime_profile_summary *summary)
{
	char *why;

	if (!s->entrypoint) /* of its own benchmark the harness has told what went wrong */
		return xstrdup("nothing was measured");
	if (summary->files)
		return xasprintf("%s ran, but measured no benchmark", summary->integration);
	why = s->options->profiler ? hooks_server_explain_dup(&serving.server) : NULL;
	if (why)
		return why;
	return xstrdup("benchmarks reported themselves, but left no results: update their integration");
}

static void write_profiles(const struct session *s, struct result *r)
{
	struct stacks stacks;
	int rc;

	if (!walltime.backend)
		return;
	stacks_init(&stacks);
	rc = walltime.backend->collect(&stacks);
	if (!rc)
		rc = stacks_write(&stacks, &serving.server.timestamps, r, s->folder.path);
	if (rc < 0)
		give_up_profile();
	else
		walltime.backend->release();
	if (rc > 0 && s->options->profile_folder)
		log_info("profiles: %s/profile-1.folded%s", s->folder.path, rc > 1 ? ", ..." : "");
	stacks_release(&stacks);
}

int walltime_load(struct session *s, struct result *r, struct findings *found)
{
	struct walltime_profile_summary summary;
	int rc = walltime_profile_load(r, s->folder.path, &summary);

	if (rc)
		return rc;
	if (ENABLE_FEATURE_PROFILER)
		write_profiles(s, r);
	serving_note_windows(r);
	found->why_empty = why_empty(s, &summary);
	if (summary.empty_files && r->benchmarks.len && !s->options->allow_empty) {
		log_error("%zu of %zu result files hold no benchmark (--allow-empty if that is meant)",
			  summary.empty_files, summary.files);
		found->damaged = true;
	}
	free(summary.integration);
	hooks_server_release(&serving.server);
	return 0;
}
