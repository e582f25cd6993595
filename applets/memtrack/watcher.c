/* SPDX-License-Identifier: MIT */
/* watcher.c - looks at what stopped processes have mapped, and lets them go on */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/vec.h"

#include "applets/memtrack/mapped_file.h"
#include "applets/memtrack/probes.h"
#include "applets/memtrack/watcher.h"

enum {
	CHUNK = 64,
	STOP_DEADLINE_MS = 1000,    /* for all threads of a process to stand */
	LAST_STOP_NS = 1000 * 1000, /* until a probe that is under way has told of its stop */
	DRAIN_DEADLINE_SECONDS = 10, /* for a full ring to be read */
	PARENT_MS = 500,             /* for a parent to stop because its child did */
	PARENT_POLL_MS = 10,
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
	VEC(struct track_file) known;
	struct strvec unseen; /* functions whose blocks are not seen, by place */
};

/* ---- Waiting for a process to stand ---- */

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 50 * 1000}, NULL);
}

/* The state letter stands behind the name, which may hold anything. 0: the thread is gone. */
static char thread_state(pid_t pid, const char *tid)
{
	struct buf text = BUF_INIT;
	const char *end;
	char path[300], state = 0; /* the name of an entry may be long */

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, tid);
	if (read_file(path, &text))
		error_clear();
	end = text.data ? strrchr(text.data, ')') : NULL;
	if (end && end[1] == ' ')
		state = end[2];
	buf_release(&text);
	return state;
}

/* The state of the thread that moves the most: 'T' when all stand, 0 when the process is gone. */
static char process_state(pid_t pid)
{
	struct dirent *entry;
	char path[64], worst = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		char state = entry->d_name[0] == '.' ? 0 : thread_state(pid, entry->d_name);

		if (state == 'T' || state == 't' || state == 'D')
			worst = worst && worst != 'T' ? worst : state == 'D' ? 'D' : 'T';
		else if (state && state != 'Z' && state != 'X')
			worst = state;
	}
	closedir(dir);
	return worst;
}

/* 0 when no thread of it can map anything; a thread in the kernel's hands may still be in D. */
static int wait_until_stopped(pid_t pid)
{
	uint64_t deadline = clock_now() + STOP_DEADLINE_MS * NS_PER_MS;
	char state;

	while ((state = process_state(pid)) != 0 && state != 'T') {
		if (clock_now() < deadline) {
			pause_briefly();
			continue;
		}
		if (state != 'D')
			return fail(-ETIMEDOUT, "process %d does not stop (state %c)", pid, state);
		log_warn("a thread of process %d does not answer (state D); going on without it", pid);
		return 0;
	}
	return 0;
}

/* ---- Parents that stop when their child does ---- */

static pid_t parent_of(pid_t pid)
{
	struct buf text = BUF_INIT;
	char path[64], state;
	const char *end;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_file(path, &text))
		error_clear();
	end = text.data ? strrchr(text.data, ')') : NULL;
	if (end && sscanf(end + 1, " %c %d", &state, &parent) != 2)
		parent = 0;
	buf_release(&text);
	return parent;
}

static void watch_parent(struct watcher *w, pid_t child)
{
	struct parent parent = {parent_of(child), clock_now() + PARENT_MS * NS_PER_MS};

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

/* ---- Files ---- */

static bool is_known(const struct watcher *w, uint32_t device, uint64_t inode)
{
	for (size_t i = 0; i < w->known.len; i++)
		if (w->known.items[i].inode == inode && w->known.items[i].device == device)
			return true;
	return false;
}

static bool is_executable_of(int fd, const char *process)
{
	struct stat exe, st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/exe", process);
	return !stat(path, &exe) && !fstat(fd, &st) && exe.st_dev == st.st_dev &&
	       exe.st_ino == st.st_ino;
}

/* Of our own programs in the tree (exec-harness) no allocation is a benchmark's. */
static int find_probes(struct watcher *w, pid_t pid, int fd, const char *name, struct probes *to)
{
	char process[16];

	if (is_executable_of(fd, "self"))
		return 0;
	snprintf(process, sizeof(process), "%d", pid);
	return probes_find(to, fd, name, is_executable_of(fd, process), &w->unseen);
}

static int probe_file(struct watcher *w, pid_t pid, const struct mapped_file *file)
{
	struct probes probes = {0};
	int fd = mapped_file_open(file, pid), rc = 0;

	if (fd == -ESRCH)
		return 0; /* the process is gone; another one will bring the file again */
	if (fd < 0) {
		log_warn("cannot open %s, mapped by process %d: its allocations may be missed (%s)",
			 file->path, pid, error_text());
		error_clear();
	} else {
		rc = find_probes(w, pid, fd, file->path, &probes);
		if (!rc && probes.list.len)
			rc = tracker_attach(w->tracker, fd, probes.list.items, probes.list.len);
		close(fd);
		vec_release(&probes.list);
	}
	if (!rc)
		rc = tracker_know_file(w->tracker, file->device, file->inode);
	if (rc)
		return fail(rc, "%s", file->path);
	vec_push(&w->known, (struct track_file){.device = file->device, .inode = file->inode});
	return 0;
}

/*
 * Everything that the process has mapped: besides the file it was stopped for that is its loader,
 * which for musl is the allocator.
 */
static int look_at_process(struct watcher *w, pid_t pid)
{
	struct mapped_files files = {0};
	int rc = mapped_files_read(&files, pid);

	for (size_t i = 0; !rc && i < files.list.len; i++)
		if (!is_known(w, files.list.items[i].device, files.list.items[i].inode))
			rc = probe_file(w, pid, &files.list.items[i]);
	mapped_files_release(&files);
	return rc;
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
		pause_briefly();
}

static int answer(struct watcher *w, const struct track_stop *stop)
{
	if (stop->reason == TRACK_STOP_FULL) {
		wait_for_room(w);
		return 0;
	}
	if (is_known(w, stop->device, stop->inode))
		return 0;
	return look_at_process(w, (pid_t)stop->pid);
}

/* Take what was asked for into the batch; waits for the first one. Returns how many there were. */
static size_t take(struct watcher *w, int timeout_ms)
{
	struct track_stop chunk[CHUNK];
	size_t n = tracker_wait_stops(w->tracker, chunk, CHUNK, timeout_ms);

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
			rc = wait_until_stopped(pid);
			watch_parent(w, pid);
		}
	} while (!rc && take(w, 0));
	return rc;
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

		if (take(w, 0))
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

static void *watch(void *arg)
{
	struct watcher *w = arg;
	int rc = 0;

	while (!atomic_load(&w->end)) {
		if (!take(w, w->parents.len ? PARENT_POLL_MS : -1))
			continue_parents(w);
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
	} while (take(w, 0));
	return NULL;
}

int watcher_start(struct watcher **to, struct tracker *t)
{
	struct watcher *w = xcalloc(1, sizeof(*w));
	int rc;

	w->tracker = t;
	rc = pthread_create(&w->thread, NULL, watch, w);
	if (rc) {
		free(w);
		return fail(-rc, "cannot start a thread: %s", strerror(rc));
	}
	*to = w;
	return 0;
}

const char *watcher_failure(struct watcher *w)
{
	return atomic_load(&w->failure);
}

static void tell_unseen(const struct watcher *w)
{
	for (size_t i = 0; i < w->unseen.len; i++)
		if (tracker_unseen(w->tracker, i))
			log_warn("%s was called, whose blocks are not seen", w->unseen.items[i]);
}

void watcher_stop(struct watcher *w)
{
	tracker_end_stops(w->tracker);
	atomic_store(&w->end, true);
	tracker_wake(w->tracker);
	pthread_join(w->thread, NULL);
	tell_unseen(w);
	vec_release(&w->stops);
	vec_release(&w->held);
	vec_release(&w->parents);
	vec_release(&w->known);
	strvec_release(&w->unseen);
	free(w->failure);
	free(w);
}
