/* SPDX-License-Identifier: MIT */
/* watcher.c - has what stopped processes have mapped looked at, and lets them go on */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/vec.h"

#include "applets/memtrack/known_files.h"
#include "applets/memtrack/process.h"
#include "applets/memtrack/watcher.h"

enum {
	CHUNK = 64,
	LAST_STOP_NS = 1000 * 1000, /* until a probe that is under way has told of its stop */
	DRAIN_DEADLINE_SECONDS = 10, /* for a full ring to be read */
	PARENT_MS = 500,             /* for a parent to stop because its child did */
	PARENT_POLL_MS = 10,
	ROOM_PAUSE_NS = 50 * 1000,
};

/* Of a process that was held. */
struct parent {
	pid_t pid;
	uint64_t until;
};

struct watcher {
	struct tracker *tracker;
	pthread_t thread;
	atomic_bool end;
	_Atomic(char *) failure; /* set once, by the thread */
	VEC(struct track_stop) stops; /* the batch at hand */
	VEC(pid_t) held;              /* to be let go at its end */
	VEC(struct parent) parents;   /* that may follow it */
	struct known_files files;
	int wake;    /* eventfd: see what `end` says */
	int writers; /* signalfd: somebody wants to write to one of the files */
};

/* ---- Parents that stop when their child does ---- */

static void watch_parent(struct watcher *w, pid_t child)
{
	struct parent parent = {process_parent(child), clock_now() + PARENT_MS * NS_PER_MS};

	if (parent.pid <= 1 || parent.pid == getpid())
		return;
	for (size_t i = 0; i < w->parents.len; i++) {
		if (w->parents.items[i].pid == parent.pid) {
			w->parents.items[i] = parent;
			return;
		}
	}
	vec_push(&w->parents, parent);
}

/* ---- Stops ---- */

static bool is_held(const struct watcher *w, pid_t pid)
{
	for (size_t i = 0; i < w->held.len; i++)
		if (w->held.items[i] == pid)
			return true;
	return false;
}

/* The reader has half a ring to go before the producer may. */
static void wait_for_room(struct watcher *w)
{
	uint64_t deadline = clock_now() + DRAIN_DEADLINE_SECONDS * NS_PER_SECOND;

	while (tracker_unread(w->tracker) > tracker_high(w->tracker) / 2 && clock_now() < deadline &&
	       !atomic_load(&w->end))
		nanosleep(&(struct timespec){.tv_nsec = ROOM_PAUSE_NS}, NULL);
}

static int answer(struct watcher *w, const struct track_stop *stop)
{
	if (stop->reason == TRACK_STOP_FULL) {
		wait_for_room(w);
		return 0;
	}
	return known_files_look(&w->files, stop);
}

/* Take what was asked for into the batch. Returns how many there were. */
static size_t take(struct watcher *w)
{
	struct track_stop chunk[CHUNK];
	size_t n = tracker_take_stops(w->tracker, chunk, CHUNK);

	for (size_t i = 0; i < n; i++)
		vec_push(&w->stops, chunk[i]);
	return n;
}

/*
 * Until all who asked stand and nobody asks any more: a process of several threads that is let go
 * while the stop of a second one is on its way would run on without its answer.
 */
static int collect(struct watcher *w)
{
	size_t at = 0;
	int rc = 0;

	do {
		for (; !rc && at < w->stops.len; at++) {
			pid_t pid = (pid_t)w->stops.items[at].pid;

			if (is_held(w, pid))
				continue;
			vec_push(&w->held, pid);
			rc = process_wait_stopped(pid, &w->files.gaps);
			watch_parent(w, pid);
		}
	} while (!rc && take(w));
	return rc;
}

/* One that does not stand any more has been let go by somebody else, before its answer. */
static void say_answered(struct watcher *w)
{
	for (size_t i = 0; i < w->stops.len; i++)
		if (process_state((pid_t)w->stops.items[i].pid) == 'T')
			tracker_answered(w->tracker, &w->stops.items[i]);
}

static void let_go(struct watcher *w)
{
	for (size_t i = 0; i < w->held.len; i++)
		kill(w->held.items[i], SIGCONT);
	w->held.len = 0;
	w->stops.len = 0;
}

static int handle(struct watcher *w)
{
	int rc = collect(w);

	for (size_t i = 0; !rc && i < w->stops.len; i++)
		rc = answer(w, &w->stops.items[i]);
	if (!rc)
		say_answered(w);
	if (rc == -EMFILE)
		rc = fail(rc, "every file with an allocator takes some descriptors: raise the hard limit "
			      "of descriptors (ulimit -Hn)");
	return rc;
}

/*
 * su and runuser stop themselves when the shell below does, as if by ^Z, and nobody would let them
 * go on. One that has asked for a stop itself has told so before it stands: that comes first.
 */
static void continue_parents(struct watcher *w)
{
	size_t left = 0;

	for (size_t i = 0; i < w->parents.len; i++) {
		bool stands = process_state(w->parents.items[i].pid) == 'T';

		if (take(w))
			return;
		if (stands)
			kill(w->parents.items[i].pid, SIGCONT);
	}
	for (size_t i = 0; i < w->parents.len; i++)
		if (clock_now() < w->parents.items[i].until)
			w->parents.items[left++] = w->parents.items[i];
	w->parents.len = left;
}

/* Unanswered, for let_go(): the watcher has failed or ends, and nobody may be left standing. */
static void take_over_all_asking(struct watcher *w)
{
	for (size_t i = 0; i < w->stops.len; i++)
		vec_push(&w->held, (pid_t)w->stops.items[i].pid);
}

/* Until somebody asks for a stop, wants to write, or says that this is the end. */
static void wait_for_work(struct watcher *w)
{
	struct pollfd ready[] = {
		{.fd = tracker_stops_fd(w->tracker), .events = POLLIN},
		{.fd = w->writers, .events = POLLIN},
		{.fd = w->wake, .events = POLLIN},
	};
	struct signalfd_siginfo info;

	poll(ready, ARRAY_SIZE(ready), w->parents.len ? PARENT_POLL_MS : -1);
	if (ready[1].revents && read(w->writers, &info, sizeof(info)) > 0)
		known_files_yield(&w->files);
}

static void *watch(void *arg)
{
	struct watcher *w = arg;
	int rc = 0;

	while (!atomic_load(&w->end)) {
		if (!take(w)) {
			wait_for_work(w);
			if (!take(w))
				continue_parents(w);
		}
		if (!w->stops.len)
			continue;
		if (rc) {
			take_over_all_asking(w);
		} else if ((rc = handle(w))) {
			take_over_all_asking(w);
			atomic_store(&w->failure, xstrdup(error_text()));
			error_clear();
		}
		let_go(w);
	}
	nanosleep(&(struct timespec){.tv_nsec = LAST_STOP_NS}, NULL);
	continue_parents(w);
	do {
		take_over_all_asking(w);
		let_go(w);
	} while (take(w));
	return NULL;
}

static void release(struct watcher *w)
{
	close(w->wake);
	close(w->writers);
	vec_release(&w->stops);
	vec_release(&w->held);
	vec_release(&w->parents);
	known_files_release(&w->files);
	free(w->failure);
	free(w);
}

int watcher_start(struct watcher **to, struct tracker *t)
{
	struct watcher *w = xcalloc(1, sizeof(*w));
	sigset_t writers;
	int rc;

	w->tracker = w->files.tracker = t;
	sigemptyset(&writers);
	sigaddset(&writers, SIGIO);
	pthread_sigmask(SIG_BLOCK, &writers, NULL);
	w->wake = eventfd(0, EFD_CLOEXEC);
	w->writers = signalfd(-1, &writers, SFD_CLOEXEC | SFD_NONBLOCK);
	if (w->wake < 0 || w->writers < 0) {
		rc = fail_errno("cannot watch processes");
		release(w);
		return rc;
	}
	rc = pthread_create(&w->thread, NULL, watch, w);
	if (rc) {
		release(w);
		return fail(-rc, "cannot start a thread: %s", strerror(rc));
	}
	*to = w;
	return 0;
}

const char *watcher_failure(struct watcher *w)
{
	return atomic_load(&w->failure);
}

void watcher_stop(struct watcher *w, struct heap_gaps *gaps)
{
	uint64_t one = 1;

	tracker_end_stops(w->tracker);
	atomic_store(&w->end, true);
	if (write(w->wake, &one, sizeof(one)) != sizeof(one))
		BUG("eventfd");
	pthread_join(w->thread, NULL);
	known_files_tell_unseen(&w->files);
	heap_gaps_move(gaps, &w->files.gaps);
	release(w);
}
