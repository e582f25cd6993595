/* SPDX-License-Identifier: MIT */
/* known_files.c - the files that the tree executes from: looked at once, probed, yielded to writers */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/orphans.h"
#include "core/vec.h"

#include "applets/memtrack/known_files.h"
#include "applets/memtrack/mapped_file.h"
#include "applets/memtrack/probes.h"
#include "applets/memtrack/rights.h"

struct known_file {
	struct track_file file;
	uint64_t changed;  /* as in struct track_stop */
	int fd;            /* of one that has probes; else -1 */
	bool leased;       /* through the descriptor */
	unsigned probes;   /* their group */
	off_t size;        /* both as they were when it was probed */
	uint64_t modified;
};

static uint64_t nanoseconds(struct timespec t)
{
	return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

static bool is_before(struct track_file a, struct track_file b)
{
	return a.inode < b.inode || (a.inode == b.inode && a.device < b.device);
}

/* Where the file stands in the list, or would. */
static size_t place_of(const struct known_files *k, struct track_file file)
{
	size_t from = 0, to = k->list.len;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (is_before(k->list.items[middle].file, file))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct known_file *find(const struct known_files *k, struct track_file file)
{
	size_t place = place_of(k, file);

	if (place == k->list.len || !track_file_equal(k->list.items[place].file, file))
		return NULL;
	return &k->list.items[place];
}

static void add(struct known_files *k, struct known_file known)
{
	size_t place = place_of(k, known.file), behind = k->list.len - place;

	vec_push(&k->list, known);
	memmove(&k->list.items[place + 1], &k->list.items[place], behind * sizeof(known));
	k->list.items[place] = known;
}

/* The kernel side has forgotten it before, or is about to learn of it anew. */
static void drop(struct known_files *k, struct known_file *known)
{
	if (known->fd >= 0) {
		tracker_detach(k->tracker, known->probes);
		close(known->fd); /* which ends the lease */
	}
	memmove(known, known + 1, (size_t)(vec_last(&k->list) - known) * sizeof(*known));
	k->list.len--;
}

/* ---- Probing ---- */

static bool is_executable_of(int fd, const char *process)
{
	struct stat exe, st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/exe", process);
	return !stat(path, &exe) && !fstat(fd, &st) && exe.st_dev == st.st_dev &&
	       exe.st_ino == st.st_ino;
}

/* Of our own programs in the tree (exec-harness) no allocation is a benchmark's. */
static int find_probes(struct known_files *k, pid_t pid, int fd, const char *name, struct probes *to)
{
	char process[16];

	if (is_executable_of(fd, "self"))
		return 0;
	snprintf(process, sizeof(process), "%d", pid);
	return probes_find(to, fd, name, is_executable_of(fd, process), &k->unseen, &k->gaps);
}

/*
 * Some file systems know no lease, and of another user's file only CAP_LEASE gets one: then a change
 * is seen when the file is executed the next time, and ends the run.
 */
static void take_lease(struct known_file *known, const char *name)
{
	known->leased = !fcntl(known->fd, F_SETLEASE, F_RDLCK);
	if (!known->leased)
		log_debug("no lease on %s: %s", name, strerror(errno));
}

/*
 * The kernel reads the instruction that a probe replaces, and lets nobody fork until it has: not with
 * lent rights, where the user may keep it waiting.
 */
static bool may_probe(struct known_files *k, const struct known_file *known, const char *name)
{
	if (!rights_are_lent() || !mapped_file_is_served(known->fd, known->file.device))
		return true;
	heap_gaps_tell(&k->gaps, "%s lies on a file system that a user may serve (FUSE, or an overlay of "
		       "one's own): its allocations are not seen, except as root", name);
	return false;
}

/* From here on the descriptor is the file's. */
static int probe(struct known_files *k, struct known_file *known, pid_t pid, const char *name)
{
	struct probes probes = {0};
	struct stat st;
	int rc;

	take_lease(known, name);
	if (fstat(known->fd, &st))
		return fail_errno("fstat");
	known->size = st.st_size;
	known->modified = nanoseconds(st.st_mtim);
	if (!known->changed)
		known->changed = nanoseconds(st.st_ctim);
	rc = find_probes(k, pid, known->fd, name, &probes);
	if (!rc && probes.list.len && may_probe(k, known, name)) {
		known->probes = ++k->groups;
		rc = tracker_attach(k->tracker, known->fd, known->probes, probes.list.items,
				    probes.list.len);
	} else {
		close(known->fd);
		known->fd = -1;
	}
	vec_release(&probes.list);
	return rc;
}

/* Whether a gap has been told of this file; from now on one has. */
static bool told_before(struct known_files *k, struct track_file file)
{
	for (size_t i = 0; i < k->told.len; i++)
		if (track_file_equal(k->told.items[i], file))
			return true;
	vec_push(&k->told, file);
	return false;
}

/* `changed` 0: as the file itself says. */
static int learn(struct known_files *k, pid_t pid, const struct mapped_file *m, uint64_t changed)
{
	struct known_file known = {.file = m->file, .changed = changed};
	int rc;

	known.fd = mapped_file_open(m, pid);
	if (known.fd == -EMFILE)
		return known.fd;
	if (known.fd < 0) {
		if (known.fd != -ESRCH && !told_before(k, m->file))
			heap_gaps_tell(&k->gaps, "%s, mapped by process %d: its allocations may be "
				       "missed (%s)", m->path, pid, error_text());
		error_clear();
		return 0; /* another process will bring it again */
	}
	rc = probe(k, &known, pid, m->path);
	if (!rc)
		rc = tracker_know_file(k->tracker, known.file, known.changed);
	add(k, known);
	return rc ? fail(rc, "%s", m->path) : 0;
}

/* ---- Files that come again ---- */

static bool content_changed(const struct known_file *known)
{
	struct stat st;

	return fstat(known->fd, &st) || st.st_size != known->size ||
	       nanoseconds(st.st_mtim) != known->modified;
}

/* Of a file without probes the number may be that of another one by now. */
static int look_again(struct known_files *k, struct known_file *known, pid_t pid,
		      const struct mapped_file *m, uint64_t changed)
{
	if (known->changed != changed && known->fd < 0) {
		drop(k, known);
		return learn(k, pid, m, changed);
	}
	if (known->changed != changed && content_changed(known))
		return fail(-ETXTBSY, "%s was written to while it was probed, and may crash now: replace "
				      "the file instead (cp --remove-destination, install, mv)", m->path);
	known->changed = changed;
	return tracker_know_file(k->tracker, known->file, changed);
}

/* A program that may not be read, or a process that has forbidden it: only root looks into these. */
static void tell_closed(struct known_files *k, const struct track_stop *stop)
{
	struct buf name = BUF_INIT;

	if (!told_before(k, stop->file) && process_read_name((pid_t)stop->pid, &name))
		heap_gaps_tell(&k->gaps, "process %u (%s) cannot be looked into (not readable, or not "
			       "dumpable): its allocations may be missed; as root they are seen",
			       stop->pid, name.data);
	buf_release(&name);
}

int known_files_look(struct known_files *k, const struct track_stop *stop)
{
	struct mapped_files files = {0};
	pid_t pid = (pid_t)stop->pid;
	int rc = mapped_files_read(&files, pid);

	for (size_t i = 0; !rc && i < files.list.len; i++) {
		const struct mapped_file *m = &files.list.items[i];
		struct known_file *known = find(k, m->file);
		bool asked_for = track_file_equal(m->file, stop->file);

		if (!known)
			rc = learn(k, pid, m, asked_for ? stop->changed : 0);
		else if (asked_for)
			rc = look_again(k, known, pid, m, stop->changed);
	}
	mapped_files_release(&files);
	if (rc == -EACCES) {
		error_clear();
		tell_closed(k, stop);
		rc = 0;
	}
	return rc;
}

/* ---- Writers ---- */

static void tell_users(struct known_files *k, struct track_file file)
{
	char *path = NULL;
	pid_t pid = mapped_file_find_user(file, &path);

	if (pid)
		heap_gaps_tell(&k->gaps, "%s was opened for writing while process %d used it: its calls in "
			       "there are not recorded any more", path, pid);
	free(path);
}

void known_files_yield(struct known_files *k)
{
	bool forgotten = false;

	for (size_t i = k->list.len; i-- > 0;) {
		struct known_file *known = &k->list.items[i];

		/* one that somebody waits for shows as what it is to become */
		if (known->fd < 0 || !known->leased || fcntl(known->fd, F_GETLEASE) != F_UNLCK)
			continue;
		/* all: a loader comes with programs that are known. And first: who maps it now is told of */
		if (!forgotten)
			tracker_forget_files(k->tracker);
		forgotten = true;
		tell_users(k, known->file);
		drop(k, known);
	}
}

/* When it was called is not known. */
static void tell_called(struct heap_gaps *gaps, const char *function)
{
	heap_gaps_tell(gaps, "%s was called, whose blocks are not seen", function);
	vec_last(&gaps->list)->from = 0;
}

void known_files_tell_unseen(struct known_files *k)
{
	for (size_t i = 0; i < k->unseen.len; i++)
		if (tracker_unseen(k->tracker, i))
			tell_called(&k->gaps, k->unseen.items[i]);
}

void known_files_release(struct known_files *k)
{
	for (size_t i = 0; i < k->list.len; i++)
		if (k->list.items[i].fd >= 0)
			close(k->list.items[i].fd);
	vec_release(&k->list);
	vec_release(&k->told);
	heap_gaps_release(&k->gaps);
	strvec_release(&k->unseen);
}
