/* SPDX-License-Identifier: MIT */
/* memtrack_supplement.c - what memtrack knows and the artifact has no place for */
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"
#include "core/memtrack_supplement.h"

enum { WRITE_CHUNK = 32 * 1024 };

#define LAST_LINE "end"

/* ---- Writing ---- */

struct supplement_writer {
	int folder;
	int fd;
	char *name; /* in the folder */
	int rc; /* of the first failure */
	struct buf waiting;
};

static int open_file(struct supplement_writer *w, const char *folder)
{
	w->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->folder < 0)
		return fail_errno("cannot open %s", folder);
	w->fd = create_file_in(w->folder, folder, w->name);
	return w->fd < 0 ? w->fd : 0;
}

static void writer_free(struct supplement_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->folder >= 0)
		close(w->folder);
	buf_release(&w->waiting);
	free(w->name);
	free(w);
}

int supplement_create(struct supplement_writer **to, const char *folder, pid_t pid)
{
	struct supplement_writer *w = xcalloc(1, sizeof(*w));
	int rc;

	w->folder = w->fd = -1;
	w->name = xasprintf("%d%s", (int)pid, SUPPLEMENT_SUFFIX);
	rc = open_file(w, folder);
	if (rc) {
		writer_free(w);
		return rc;
	}
	buf_addstr(&w->waiting, SUPPLEMENT_BEGINNING);
	*to = w;
	return 0;
}

static void flush(struct supplement_writer *w)
{
	if (!w->rc)
		w->rc = write_full(w->fd, w->waiting.data, w->waiting.len);
	buf_clear(&w->waiting);
}

void supplement_add_end(struct supplement_writer *w, const struct heap_event *e)
{
	buf_printf(&w->waiting, "%s %d %" PRIu64 "\n", e->kind == HEAP_EXEC ? "exec" : "exit", e->pid,
		   e->timestamp);
	if (w->waiting.len >= WRITE_CHUNK)
		flush(w);
}

static void add_gap(struct supplement_writer *w, const struct heap_gap *gap)
{
	buf_printf(&w->waiting, "%s %" PRIu64 " %s\n", gap->remark ? "remark" : "gap", gap->from,
		   gap->text);
}

int supplement_finish(struct supplement_writer *w, const struct heap_gaps *gaps)
{
	int rc;

	for (size_t i = 0; i < gaps->list.len; i++)
		add_gap(w, &gaps->list.items[i]);
	buf_addstr(&w->waiting, LAST_LINE "\n");
	flush(w);
	rc = w->rc;
	if (rc) {
		errno = -rc;
		fail_errno("cannot write %s", w->name);
	}
	writer_free(w);
	return rc;
}

void supplement_abandon(struct supplement_writer *w)
{
	if (!w)
		return;
	flush(w);
	writer_free(w);
}

void supplement_discard(struct supplement_writer *w)
{
	if (w)
		unlinkat(w->folder, w->name, 0);
	supplement_abandon(w);
}

/* ---- Reading ---- */

struct reading {
	struct supplement *to;
	const char *name;
	size_t line; /* number of the present one */
};

static int refuse(const struct reading *r, const char *why)
{
	return fail(-EBADMSG, "%s: line %zu: %s", r->name, r->line, why);
}

/* The decimal number at `*at`, which moves behind it. */
static bool take_number(const char **at, const char *end, uint64_t *value)
{
	const char *from = *at;

	*value = 0;
	for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
		if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(**at - '0'), value))
			return false;
	return *at > from;
}

/* "PID TIME" */
static int take_life(struct reading *r, const char *at, const char *end)
{
	uint64_t pid, time;

	if (!take_number(&at, end, &pid) || pid > INT32_MAX || at == end || *at++ != ' ' ||
	    !take_number(&at, end, &time) || at != end)
		return refuse(r, "no process and time");
	vec_push(&r->to->lives, (struct heap_life){.timestamp = time, .pid = (int32_t)pid});
	return 0;
}

/* "TIME TEXT" */
static int take_gap(struct reading *r, const char *at, const char *end, bool remark)
{
	uint64_t from;
	char *text;

	if (!take_number(&at, end, &from) || at == end || *at++ != ' ' || at == end)
		return refuse(r, "no time and text");
	text = xstrndup(at, (size_t)(end - at));
	heap_gaps_add(&r->to->gaps, from, remark, text);
	free(text);
	return 0;
}

/* What follows the word, or NULL when the line begins with another one. */
static const char *after_word(const char *line, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - line) > len && !memcmp(line, word, len) && line[len] == ' '
		       ? line + len + 1 : NULL;
}

static int take_line(struct reading *r, const char *line, const char *end)
{
	const char *rest;

	if ((rest = after_word(line, end, "exec")) || (rest = after_word(line, end, "exit")))
		return take_life(r, rest, end);
	if ((rest = after_word(line, end, "gap")))
		return take_gap(r, rest, end, false);
	if ((rest = after_word(line, end, "remark")))
		return take_gap(r, rest, end, true);
	return 0;
}

static bool is_last(const char *line, const char *end)
{
	return (size_t)(end - line) == strlen(LAST_LINE) && !memcmp(line, LAST_LINE, strlen(LAST_LINE));
}

int supplement_decode(struct supplement *s, const char *name, const char *bytes, size_t len)
{
	struct reading r = {.to = s, .name = name, .line = 1};
	const char *at, *end, *newline;
	int rc = 0;

	if (len < strlen(SUPPLEMENT_BEGINNING) ||
	    memcmp(bytes, SUPPLEMENT_BEGINNING, strlen(SUPPLEMENT_BEGINNING)))
		return refuse(&r, "not what memtrack writes");
	at = bytes + strlen(SUPPLEMENT_BEGINNING);
	end = bytes + len;
	for (; !rc; at = newline + 1) {
		r.line++;
		newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
		if (!newline)
			return refuse(&r, "the file was cut off here");
		if (is_last(at, newline))
			return 0;
		rc = take_line(&r, at, newline);
	}
	return rc;
}

void supplement_release(struct supplement *s)
{
	vec_release(&s->lives);
	heap_gaps_release(&s->gaps);
}
