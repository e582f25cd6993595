/* SPDX-License-Identifier: MIT */
/* artifact_write.c - the artifact's writer: events to frames by threads, frames in their order */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "core/artifact.h"
#include "core/base.h"
#include "core/io.h"
#include "core/zstd.h"

enum {
	PIECE_EVENTS = 512, /* encoded at a time: what goes to zstd stays in the cache */
	CHUNKS_MAX = ARTIFACT_WORKERS_MAX + 2,
	STACK_SIZE = 512 * 1024, /* musl's own is small for zstd */
};

/* The events of one frame. */
struct chunk {
	struct heap_event *events;
	size_t count;
	uint64_t index; /* of the frame in the file */
};

/* What turns a chunk into a frame; one a worker. */
struct framer {
	struct zstd_compressor *zstd;
	unsigned char *piece;
	struct buf frame;
};

struct artifact_writer {
	int folder;
	int fd;
	char *name; /* both in the folder */
	char *incomplete;
	uint64_t count;
	uint64_t frames;       /* handed to the workers */
	struct chunk *filling;
	unsigned workers;      /* that run */
	unsigned framer_count; /* at least one */
	pthread_t threads[ARTIFACT_WORKERS_MAX];
	struct framer framers[ARTIFACT_WORKERS_MAX];
	struct chunk chunks[CHUNKS_MAX];

	/* From here on under the lock; `changed` tells of every change. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct chunk *queue[CHUNKS_MAX]; /* oldest first */
	size_t queued;
	struct chunk *spare[CHUNKS_MAX];
	size_t spares;
	unsigned framers_taken;
	uint64_t written; /* frames in the file, hence the index whose turn it is */
	int rc;           /* of the first failure */
	bool stop;
};

/* ---- A frame ---- */

static bool framer_init(struct framer *f)
{
	f->zstd = zstd_compressor_new();
	f->piece = xmalloc((PIECE_EVENTS + 1) * ARTIFACT_EVENT_MAX);
	return f->zstd != NULL;
}

static void framer_release(struct framer *f)
{
	zstd_compressor_free(f->zstd);
	free(f->piece);
	buf_release(&f->frame);
}

static int make_frame(struct framer *f, const struct chunk *c)
{
	buf_clear(&f->frame);
	for (size_t i = 0; i < c->count;) {
		size_t end = c->count - i > PIECE_EVENTS ? i + PIECE_EVENTS : c->count;
		unsigned char *p = f->piece;
		int rc;

		for (; i < end; i++)
			p += artifact_encode(&c->events[i], p);
		rc = zstd_compress(f->zstd, f->piece, (size_t)(p - f->piece), &f->frame);
		if (rc)
			return rc;
	}
	return zstd_compress_end(f->zstd, &f->frame);
}

/* Runs without the lock; `turn` is ours, so nobody else writes. */
static int write_frame(struct artifact_writer *w, struct framer *f, int rc)
{
	return rc ? rc : write_full(w->fd, f->frame.data, f->frame.len);
}

/* ---- The threads ---- */

/* Called with the lock, returns with it. */
static void work_on(struct artifact_writer *w, struct framer *f, struct chunk *c)
{
	int rc = w->rc;

	pthread_mutex_unlock(&w->lock);
	if (!rc)
		rc = make_frame(f, c);
	pthread_mutex_lock(&w->lock);
	while (w->written != c->index)
		pthread_cond_wait(&w->changed, &w->lock);
	rc = rc ? rc : w->rc;
	pthread_mutex_unlock(&w->lock);
	rc = write_frame(w, f, rc);
	pthread_mutex_lock(&w->lock);
	if (rc && !w->rc)
		w->rc = rc;
	w->written++;
	w->spare[w->spares++] = c;
	pthread_cond_broadcast(&w->changed);
}

static void *worker(void *arg)
{
	struct artifact_writer *w = arg;
	struct framer *f;

	pthread_mutex_lock(&w->lock);
	f = &w->framers[w->framers_taken++];
	for (;;) {
		struct chunk *c;

		while (!w->queued && !w->stop)
			pthread_cond_wait(&w->changed, &w->lock);
		if (!w->queued)
			break;
		c = w->queue[0];
		memmove(w->queue, w->queue + 1, --w->queued * sizeof(w->queue[0]));
		work_on(w, f, c);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Signals are for the threads that wait for them. */
static void start_workers(struct artifact_writer *w, unsigned count)
{
	sigset_t all, before;
	pthread_attr_t attr;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	while (w->workers < count &&
	       !pthread_create(&w->threads[w->workers], &attr, worker, w))
		w->workers++;
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_workers(struct artifact_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->workers; i++)
		pthread_join(w->threads[i], NULL);
}

/* Hand over the chunk that is being filled and get an empty one. */
static void submit(struct artifact_writer *w)
{
	struct chunk *c = w->filling;

	c->index = w->frames++;
	pthread_mutex_lock(&w->lock);
	if (w->workers) {
		w->queue[w->queued++] = c;
		pthread_cond_broadcast(&w->changed);
		while (!w->spares)
			pthread_cond_wait(&w->changed, &w->lock);
	} else {
		work_on(w, &w->framers[0], c);
	}
	w->filling = w->spare[--w->spares];
	pthread_mutex_unlock(&w->lock);
	w->filling->count = 0;
}

/* ---- The file ---- */

static int open_file(struct artifact_writer *w, const char *folder)
{
	w->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->folder < 0)
		return fail_errno("cannot open %s", folder);
	w->fd = create_file_in(w->folder, folder, w->incomplete);
	return w->fd < 0 ? w->fd : 0;
}

static void writer_free(struct artifact_writer *w)
{
	for (unsigned i = 0; i < w->framer_count; i++)
		framer_release(&w->framers[i]);
	for (size_t i = 0; i < CHUNKS_MAX; i++)
		free(w->chunks[i].events);
	if (w->fd >= 0)
		close(w->fd);
	if (w->folder >= 0)
		close(w->folder);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	free(w->name);
	free(w->incomplete);
	free(w);
}

int artifact_create(struct artifact_writer **to, const char *folder, pid_t pid, unsigned workers)
{
	struct artifact_writer *w = xcalloc(1, sizeof(*w));
	int rc;

	if (workers > ARTIFACT_WORKERS_MAX)
		workers = ARTIFACT_WORKERS_MAX;
	w->fd = w->folder = -1;
	w->name = xasprintf("%d%s", (int)pid, ARTIFACT_SUFFIX);
	w->incomplete = xasprintf("%s%s", w->name, ARTIFACT_INCOMPLETE);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	rc = open_file(w, folder);
	if (rc) {
		writer_free(w);
		return rc;
	}
	w->framer_count = workers ? workers : 1;
	for (unsigned i = 0; i < w->framer_count; i++)
		if (!framer_init(&w->framers[i]))
			w->rc = -ENOMEM;
	for (unsigned i = 0; i < workers + 2; i++) {
		w->chunks[i].events = xreallocarray(NULL, ARTIFACT_FRAME_EVENTS,
						    sizeof(struct heap_event));
		w->spare[w->spares++] = &w->chunks[i];
	}
	w->filling = w->spare[--w->spares];
	start_workers(w, workers);
	*to = w;
	return 0;
}

static int failure(struct artifact_writer *w, int rc)
{
	errno = -rc;
	return rc ? fail_errno("cannot write %s", w->incomplete) : 0;
}

int artifact_add(struct artifact_writer *w, const struct heap_event *events, size_t count)
{
	int rc;

	while (count) {
		size_t room = ARTIFACT_FRAME_EVENTS - w->filling->count;
		size_t n = count < room ? count : room;

		memcpy(w->filling->events + w->filling->count, events, n * sizeof(*events));
		w->filling->count += n;
		w->count += n;
		events += n;
		count -= n;
		if (n == room)
			submit(w);
	}
	pthread_mutex_lock(&w->lock);
	rc = w->rc;
	pthread_mutex_unlock(&w->lock);
	return failure(w, rc);
}

uint64_t artifact_count(const struct artifact_writer *w)
{
	return w->count;
}

static int end_writing(struct artifact_writer *w, bool complete)
{
	int rc;

	if (w->filling->count || !w->frames)
		submit(w); /* without any event: one empty frame */
	stop_workers(w);
	rc = w->rc;
	if (close(w->fd) && !rc)
		rc = -errno;
	w->fd = -1;
	if (!rc && complete && renameat(w->folder, w->incomplete, w->folder, w->name))
		rc = -errno;
	rc = failure(w, rc);
	writer_free(w);
	return rc;
}

int artifact_finish(struct artifact_writer *w)
{
	return end_writing(w, true);
}

int artifact_abandon(struct artifact_writer *w)
{
	return w ? end_writing(w, false) : 0;
}

void artifact_discard(struct artifact_writer *w)
{
	if (w)
		unlinkat(w->folder, w->incomplete, 0);
	if (artifact_abandon(w))
		error_clear();
}
