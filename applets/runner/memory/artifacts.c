/* SPDX-License-Identifier: MIT */
/* artifacts.c - all artifacts of a folder as one stream of events */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applets/runner/memory/artifacts.h"
#include "core/artifact.h"
#include "core/base.h"
#include "core/io.h"
#include "core/path.h"

#define RESULTS "results"

enum { BATCH = 512 };

struct artifact_stream {
	char *name; /* for messages */
	bool incomplete;
	int fd;
	struct artifact_reader *reader; /* NULL: there is no more */
	size_t at, len;
	struct heap_event events[BATCH];
};

/* ---- Files ---- */

static bool is_incomplete(const char *name)
{
	return str_ends(name, ARTIFACT_SUFFIX ARTIFACT_INCOMPLETE);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* No folder is no file. */
static int list_files(const char *path, struct strvec *names)
{
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return fail_errno("cannot read the folder %s", path);
	while ((entry = readdir(dir)))
		if (str_ends(entry->d_name, ARTIFACT_SUFFIX) || is_incomplete(entry->d_name))
			strvec_push(names, entry->d_name);
	closedir(dir);
	if (names->len)
		qsort(names->items, names->len, sizeof(*names->items), by_text);
	return 0;
}

bool artifacts_exist(const char *folder)
{
	struct strvec names = STRVEC_INIT;
	char *path = xasprintf("%s/" RESULTS, folder);
	bool found = !list_files(path, &names) && names.len;

	error_clear();
	strvec_release(&names);
	free(path);
	return found;
}

/* A FIFO in a folder from elsewhere would wait for ever. */
static int open_file(struct artifact_stream *s, const char *path)
{
	struct stat st;

	s->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st))
		return fail_errno("cannot open %s", s->name);
	if (!S_ISREG(st.st_mode))
		return fail(-EINVAL, "%s is not a plain file", s->name);
	return artifact_open_fd(&s->reader, s->fd, s->name);
}

/* ---- Streams ---- */

static void stream_end(struct artifact_stream *s)
{
	artifact_close(s->reader);
	s->reader = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* What an incomplete one lacks was told when it was found. */
static void note_damage(struct artifacts *a, const struct artifact_stream *s)
{
	if (!s->incomplete) {
		a->damaged++;
		strvec_push(&a->flaws, error_text());
	}
	error_clear();
}

/* `7.MemtrackArtifact.msgpack` has `7.MemtrackSupplement.txt`. */
static void add_supplement(struct artifacts *a, const struct artifact_stream *s, const char *folder,
			   const char *artifact)
{
	int number = (int)(strstr(artifact, ARTIFACT_SUFFIX) - artifact);
	char *name = xasprintf(RESULTS "/%.*s" SUPPLEMENT_SUFFIX, number, artifact);
	char *path = xasprintf("%s/%s", folder, path_base(name));
	struct buf bytes = BUF_INIT;
	int rc = read_plain_file(path, &bytes);

	if (rc == -ENOENT) {
		error_clear();
		a->alone++;
	} else if (rc || supplement_decode(&a->supplement, name, bytes.data, bytes.len)) {
		note_damage(a, s);
	}
	buf_release(&bytes);
	free(path);
	free(name);
}

static void add_stream(struct artifacts *a, const char *folder, const char *name)
{
	struct artifact_stream *s = xcalloc(1, sizeof(*s));
	char *path = xasprintf("%s/%s", folder, name);

	*s = (struct artifact_stream){.name = xasprintf(RESULTS "/%s", name), .fd = -1};
	s->incomplete = is_incomplete(name);
	vec_push(&a->streams, s);
	a->count++;
	a->incomplete += s->incomplete;
	if (s->incomplete)
		strvec_pushf(&a->flaws, "%s: memtrack could not record everything", s->name);
	if (open_file(s, path)) {
		note_damage(a, s);
		stream_end(s);
	}
	add_supplement(a, s, folder, name);
	free(path);
}

int artifacts_open(struct artifacts *a, const char *folder)
{
	struct strvec names = STRVEC_INIT;
	char *path = xasprintf("%s/" RESULTS, folder);
	int rc;

	*a = (struct artifacts){0};
	rc = list_files(path, &names);
	for (size_t i = 0; i < names.len; i++)
		add_stream(a, path, names.items[i]);
	strvec_release(&names);
	free(path);
	return rc;
}

/* The stream has an event at hand. */
static bool fill(struct artifacts *a, struct artifact_stream *s)
{
	ssize_t n;

	if (s->at < s->len)
		return true;
	if (!s->reader)
		return false;
	n = artifact_read(s->reader, s->events, ARRAY_SIZE(s->events));
	s->at = 0;
	s->len = n > 0 ? (size_t)n : 0;
	if (n < 0)
		note_damage(a, s);
	if (n <= 0)
		stream_end(s);
	return n > 0;
}

static uint64_t head(const struct artifact_stream *s)
{
	return s->events[s->at].timestamp;
}

/* The stream whose event is the earliest, and the time of the second; NULL: all have ended. */
static struct artifact_stream *earliest(struct artifacts *a, uint64_t *second)
{
	struct artifact_stream *first = NULL;

	*second = UINT64_MAX;
	for (size_t i = 0; i < a->streams.len; i++) {
		struct artifact_stream *s = a->streams.items[i];
		uint64_t later;

		if (!fill(a, s))
			continue;
		if (!first) {
			first = s;
			continue;
		}
		later = head(s) < head(first) ? head(first) : head(s);
		if (head(s) < head(first))
			first = s;
		if (later < *second)
			*second = later;
	}
	return first;
}

size_t artifacts_next(struct artifacts *a, const struct heap_event **events)
{
	uint64_t second;
	struct artifact_stream *s = earliest(a, &second);
	size_t from;

	if (!s)
		return 0;
	from = s->at++;
	while (s->at < s->len && head(s) <= second)
		s->at++;
	*events = &s->events[from];
	return s->at - from;
}

void artifacts_release(struct artifacts *a)
{
	for (size_t i = 0; i < a->streams.len; i++) {
		stream_end(a->streams.items[i]);
		free(a->streams.items[i]->name);
		free(a->streams.items[i]);
	}
	vec_release(&a->streams);
	supplement_release(&a->supplement);
	strvec_release(&a->flaws);
}
