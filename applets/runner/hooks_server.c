/* SPDX-License-Identifier: MIT */
/* hooks_server.c - the runner's side of the dialogue with benchmarks */
#include <stdarg.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/semver.h"
#include "core/text.h"

#include "applets/runner/hooks_server.h"

enum {
	SHOWN = 80,          /* bytes of a client's text in a message */
	FINISH_TURNS = 64,   /* a FIFO that others keep filling is left after so many reads */
};

/* After so long a silence what stands in the answer FIFO is nobody's. */
#define SILENCE_NS NS_PER_SECOND

/* The first versions whose hooks know the mode answer. */
static const struct integration_minimum memory_minimums[] = {
	{"codspeed-rust", "4.2.0"},
	{"codspeed-cpp", "2.1.0"},
	{"pytest-codspeed", "4.3.0"},
	{"codspeed-node", "5.2.0"},
	{"exec-harness", "1.0.0"},
	{NULL, NULL},
};

const struct hooks_mode hooks_mode_memory = {
	.name = "memory", .answer = FIFO_MODE_ANALYSIS, .min_protocol = 2,
	.minimums = memory_minimums,
};

const struct hooks_mode hooks_mode_walltime = {
	.name = "walltime", .answer = FIFO_MODE_WALLTIME, .min_protocol = FIFO_PROTOCOL_MIN,
};

void hooks_server_init(struct hooks_server *s, struct fifo *fifo, const struct hooks_mode *mode,
		       const struct hooks_profiler *profiler)
{
	*s = (struct hooks_server){.fifo = fifo, .mode = mode, .profiler = profiler};
}

void hooks_server_release(struct hooks_server *s)
{
	execution_timestamps_release(&s->timestamps);
	vec_release(&s->windows);
	vec_release(&s->pids);
	buf_release(&s->note);
	free(s->integration);
	free(s->integration_version);
	free(s->refusal);
}

/* ---- Words ---- */

/*
 * Something the user should know. A benchmark waits for its answer, and a terminal may be slow: the
 * note is told after the answer, and each kind once, for a client in a loop would flood it.
 */
static void PRINTF_LIKE(3, 4) note(struct hooks_server *s, enum hooks_note kind,
				   const char *fmt, ...)
{
	va_list ap;

	if (s->notes[kind]++)
		return;
	va_start(ap, fmt);
	buf_vprintf(&s->note, fmt, ap);
	va_end(ap);
}

static void tell_note(struct hooks_server *s)
{
	if (!s->note.len)
		return;
	log_warn("%s", s->note.data);
	buf_clear(&s->note);
}

static void add_shown(struct buf *to, const char *text, size_t len)
{
	size_t shown = text_cut(text, len, SHOWN);

	text_printable(text, shown, to);
	if (shown < len)
		buf_addstr(to, "...");
}

/* "codspeed-rust 4.2.0, codspeed-cpp 2.1.0, ..." */
static void add_minimums(struct buf *to, const struct integration_minimum *minimums)
{
	for (const struct integration_minimum *m = minimums; m && m->name; m++)
		buf_printf(to, "%s%s %s", m == minimums ? "" : ", ", m->name, m->version);
}

/* "the integration NAME VERSION"; one that has not come to say it has no name yet. */
static void add_integration(struct buf *to, const struct hooks_server *s)
{
	if (!s->integration) {
		buf_addstr(to, "an integration");
		return;
	}
	buf_addstr(to, "the integration ");
	add_shown(to, s->integration, strlen(s->integration));
	buf_addch(to, ' ');
	add_shown(to, s->integration_version, strlen(s->integration_version));
}

/* ---- What ends the run ---- */

static enum fifo_command refuse(struct hooks_server *s, struct buf *why)
{
	s->refusal = buf_detach(why);
	return FIFO_ERR;
}

static enum fifo_command refuse_protocol(struct hooks_server *s, uint64_t version)
{
	struct buf why = BUF_INIT;

	add_integration(&why, s);
	buf_printf(&why, " speaks version %llu of the protocol", (unsigned long long)version);
	if (version > FIFO_PROTOCOL)
		buf_printf(&why, ", this codspeed only up to %d: update codspeed", FIFO_PROTOCOL);
	else if (s->mode->minimums) {
		buf_printf(&why, ", which lacks %s mode: update it; needed is at least one of ",
			   s->mode->name);
		add_minimums(&why, s->mode->minimums);
	} else
		buf_addstr(&why, ", which is too old: update it");
	return refuse(s, &why);
}

static bool is_name(const struct fifo_text *text, const char *name)
{
	return text->len == strlen(name) && memcmp(text->data, name, text->len) == 0;
}

static const struct integration_minimum *find_minimum(const struct hooks_mode *mode,
						      const struct fifo_text *name)
{
	for (const struct integration_minimum *m = mode->minimums; m->name; m++)
		if (is_name(name, m->name))
			return m;
	return NULL;
}

/* Appends why the integration cannot work in this mode; nothing when it can. */
static void judge_integration(const struct hooks_server *s, const struct fifo_message *m,
			      struct buf *why)
{
	const struct integration_minimum *minimum = find_minimum(s->mode, &m->name);
	struct semver given, needed;

	if (!minimum) {
		add_integration(why, s);
		buf_printf(why, " is not known to work in %s mode; known are ", s->mode->name);
		add_minimums(why, s->mode->minimums);
		buf_addstr(why, " and later");
		return;
	}
	semver_parse(&needed, minimum->version, strlen(minimum->version));
	if (!semver_parse(&given, m->release.data, m->release.len)) {
		add_integration(why, s);
		buf_addstr(why, " has no version that can be compared");
	} else if (semver_compare(&given, &needed) < 0) {
		add_integration(why, s);
		buf_printf(why, " is too old for %s mode", s->mode->name);
	} else
		return;
	buf_printf(why, ": update it, %s %s or later is needed", minimum->name, minimum->version);
}

/* ---- One request ---- */

static void add_marker(struct hooks_server *s, enum marker_type type, uint64_t time)
{
	vec_push(&s->timestamps.markers, (struct marker){type, time});
}

static void close_window(struct hooks_server *s, uint64_t time)
{
	vec_last(&s->windows)->end = time;
	add_marker(s, MARKER_SAMPLE_END, time);
	s->open = false;
}

static enum fifo_command profiler_failed(struct hooks_server *s, const char *what)
{
	note(s, HOOKS_NOTE_PROFILER, "%s: %s; the benchmark was told", what, error_text());
	error_clear();
	return FIFO_ERR;
}

/* The protocol has one window for all; with two benchmarks in it neither can be told apart. */
static enum fifo_command start_profiler(struct hooks_server *s)
{
	if (s->open) {
		vec_last(&s->windows)->overlapped = true;
		note(s, HOOKS_NOTE_OVERLAP, "a benchmark started before the one before it had "
		     "stopped: what both do is counted as one (run them one after the other)");
		return FIFO_ACK;
	}
	if (s->profiler->start(s->profiler->ctx))
		return profiler_failed(s, "measuring could not be started");
	vec_push(&s->windows, (struct hooks_window){.start = clock_now()});
	add_marker(s, MARKER_SAMPLE_START, vec_last(&s->windows)->start);
	s->open = true;
	return FIFO_ACK;
}

static enum fifo_command stop_profiler(struct hooks_server *s)
{
	if (!s->open) {
		note(s, HOOKS_NOTE_NO_WINDOW, "a benchmark stopped that had not started");
		/* The window was another's, too, who has closed it: the next is not for this one. */
		return s->windows.len && vec_last(&s->windows)->overlapped ? FIFO_ERR : FIFO_ACK;
	}
	if (s->profiler->stop(s->profiler->ctx))
		return profiler_failed(s, "measuring could not be stopped");
	close_window(s, clock_now());
	return FIFO_ACK;
}

static enum fifo_command current_benchmark(struct hooks_server *s, const struct fifo_message *m)
{
	execution_timestamps_add(&s->timestamps, clock_now(), m->uri.data, m->uri.len, m->pid);
	for (size_t i = 0; i < s->pids.len; i++)
		if (s->pids.items[i] == m->pid)
			return FIFO_ACK;
	vec_push(&s->pids, m->pid);
	return FIFO_ACK;
}

/* The last one wins: an entrypoint may run several, one after the other. */
static enum fifo_command set_integration(struct hooks_server *s, const struct fifo_message *m)
{
	struct buf why = BUF_INIT;

	free(s->integration);
	free(s->integration_version);
	s->integration = xstrndup(m->name.data, m->name.len);
	s->integration_version = xstrndup(m->release.data, m->release.len);
	if (s->mode->minimums)
		judge_integration(s, m, &why);
	return why.len ? refuse(s, &why) : FIFO_ACK;
}

static enum fifo_command set_version(struct hooks_server *s, uint64_t version)
{
	if (version < s->mode->min_protocol || version > FIFO_PROTOCOL)
		return refuse_protocol(s, version);
	s->protocols |= 1u << version;
	return FIFO_ACK;
}

static enum fifo_command ping_profiler(struct hooks_server *s)
{
	s->pings++;
	if (!s->profiler->ping)
		return FIFO_ERR;
	if (s->profiler->ping(s->profiler->ctx))
		return profiler_failed(s, "the profiler does not answer");
	return FIFO_ACK;
}

/* What the benchmark is answered. */
static enum fifo_command handle(struct hooks_server *s, const struct fifo_message *m)
{
	switch (m->command) {
	case FIFO_CURRENT_BENCHMARK:
		return current_benchmark(s, m);
	case FIFO_START_PROFILER:
		return start_profiler(s);
	case FIFO_STOP_PROFILER:
		return stop_profiler(s);
	case FIFO_PING_PROFILER:
		return ping_profiler(s);
	case FIFO_SET_INTEGRATION:
		return set_integration(s, m);
	case FIFO_ADD_MARKER:
		add_marker(s, m->marker.type, m->marker.time);
		return FIFO_ACK;
	case FIFO_SET_VERSION:
		return set_version(s, m->version);
	case FIFO_GET_MODE:
		return FIFO_MODE;
	default:
		note(s, HOOKS_NOTE_DIRECTION, "a benchmark sent %s, which only a runner sends",
		     fifo_command_name(m->command));
		return FIFO_ERR;
	}
}

/*
 * A benchmark that died while it waited has left its answer, which the next one would take for its
 * own. Who opens a connection after a silence waits for nothing yet.
 */
static void forget_unread(struct hooks_server *s, const struct fifo_message *m)
{
	if ((m->command == FIFO_SET_VERSION || m->command == FIFO_PING_PROFILER) &&
	    clock_now() - s->last_answer >= SILENCE_NS)
		fifo_discard_answers(s->fifo);
}

/* 0, or -errno with a frame when the FIFO is broken. */
static int answer(struct hooks_server *s, enum fifo_command command)
{
	int rc = fifo_answer(s->fifo, &(struct fifo_message){.command = command,
							     .mode = s->mode->answer});

	if (rc == -EAGAIN) {
		note(s, HOOKS_NOTE_UNREAD, "a benchmark does not read its answers; it seems to be "
		     "gone");
		rc = 0;
	}
	s->last_answer = clock_now();
	tell_note(s);
	return rc;
}

/* A whole frame that is no message: its sender waits all the same. */
static int answer_malformed(struct hooks_server *s)
{
	note(s, HOOKS_NOTE_MALFORMED, "a request that is not understood: %s", error_text());
	error_clear();
	return answer(s, FIFO_ERR);
}

static int answer_message(struct hooks_server *s, const struct fifo_message *m)
{
	forget_unread(s, m);
	return answer(s, s->refusal ? FIFO_ERR : handle(s, m));
}

static int serve_one(struct hooks_server *s, int got, const struct fifo_message *m)
{
	if (got == -EMSGSIZE) {
		note(s, HOOKS_NOTE_OVERSIZED, "what a benchmark sent is no request: %s; it was "
		     "thrown away", error_text());
		error_clear();
		tell_note(s);
		return 0;
	}
	if (got < 0 && got != -EBADMSG)
		return got;
	s->requests++;
	return got == -EBADMSG ? answer_malformed(s) : answer_message(s, m);
}

int hooks_server_serve(struct hooks_server *s)
{
	struct fifo_message m;
	int got, rc = 0;

	while (!rc && (got = fifo_read_message(s->fifo, &m)))
		rc = serve_one(s, got, &m);
	if (rc || !s->refusal || s->refusal_returned)
		return rc;
	s->refusal_returned = true;
	return fail(-EPROTO, "%s", s->refusal);
}

int hooks_server_finish(struct hooks_server *s, uint64_t ended_at)
{
	int rc = hooks_server_serve(s);

	for (int i = 0; i < FINISH_TURNS && !rc && fifo_waiting(s->fifo); i++)
		rc = hooks_server_serve(s);
	if (s->open) {
		struct hooks_window *w = vec_last(&s->windows);

		w->left_open = true;
		close_window(s, ended_at > w->start ? ended_at : w->start);
	}
	return rc;
}

/* ---- Afterwards ---- */

const struct hooks_window *hooks_server_window(const struct hooks_server *s, uint64_t start)
{
	size_t low = 0, high = s->windows.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->windows.items[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->windows.len && s->windows.items[low].start == start ? &s->windows.items[low]
									     : NULL;
}

bool hooks_server_only_pings(const struct hooks_server *s)
{
	return s->pings > 0 && s->pings == s->requests;
}

static void explain_pings(const struct hooks_server *s, struct buf *to)
{
	buf_printf(to, "an integration looked for a runner in the way of old versions, which %s "
		   "mode does not answer: update it", s->mode->name);
	if (!s->mode->minimums)
		return;
	buf_addstr(to, "; needed is at least one of ");
	add_minimums(to, s->mode->minimums);
}

/* The usual reasons, in the order in which they happen. */
static void explain_silence(const struct hooks_server *s, struct buf *to)
{
	buf_addstr(to, "no CodSpeed integration looked for the runner. Usual causes: the benchmarks "
		   "were not started through one; a filter left them out; it ran as another user "
		   "(sudo, su) or in a container and could not find it");
	if (!s->mode->minimums)
		return;
	buf_printf(to, "; its version knows nothing of %s mode, needed is at least one of ",
		   s->mode->name);
	add_minimums(to, s->mode->minimums);
}

char *hooks_server_explain_dup(const struct hooks_server *s)
{
	struct buf text = BUF_INIT;

	if (s->timestamps.uris.len)
		return NULL;
	if (hooks_server_only_pings(s) && !s->profiler->ping)
		explain_pings(s, &text);
	else if (!s->requests)
		explain_silence(s, &text);
	else {
		add_integration(&text, s);
		buf_addstr(&text, s->windows.len ? " measured something and did not say what"
						 : " came, but no benchmark was run");
	}
	return buf_detach(&text);
}
