/* SPDX-License-Identifier: MIT */
/* serving.c - the FIFOs during a run */
#include "core/base.h"
#include "core/clock.h"
#include "core/execution_timestamps.h"
#include "core/exit_code.h"
#include "core/spawn.h"

#include "applets/runner/serving.h"

struct serving serving;

void serving_serve(struct session *s)
{
	if (!hooks_server_serve(&serving.server))
		return;
	log_error("%s", error_text());
	error_clear();
	s->watching.give_up = true;
}

void serving_start(struct session *s, const struct hooks_mode *mode,
		   const struct hooks_profiler *profiler)
{
	uid_t uid;
	gid_t gid;

	if (fifo_open(&serving.fifo, NULL))
		die_recorded(EXIT_FAILED);
	if (sudo_invoker(&uid, &gid) && fifo_give_to(&serving.fifo, uid, gid))
		die_recorded(EXIT_FAILED);
	hooks_server_init(&serving.server, &serving.fifo, mode, profiler);
	s->watching.extra = fifo_fd(&serving.fifo);
	s->on_extra = serving_serve;
}

void serving_finish(const char *path)
{
	if (hooks_server_finish(&serving.server, clock_now())) {
		log_error("%s", error_text());
		error_clear();
	}
	if (execution_timestamps_write(&serving.server.timestamps, path))
		die_recorded(EXIT_FAILED);
	fifo_close(&serving.fifo);
}

static struct benchmark *find_benchmark(struct result *r, const char *uri)
{
	for (size_t i = 0; i < r->benchmarks.len; i++)
		if (str_eq(r->benchmarks.items[i].uri, uri))
			return &r->benchmarks.items[i];
	return NULL;
}

static void note_window(struct result *r, const struct execution_window *w)
{
	const struct hooks_window *known = hooks_server_window(&serving.server, w->start);
	struct benchmark *b;

	if (!known || !(known->overlapped || known->left_open) || w->uri == EXECUTION_NO_URI)
		return;
	b = find_benchmark(r, serving.server.timestamps.uris.items[w->uri].uri);
	if (b && known->overlapped)
		benchmark_note(b, "another benchmark started before it had stopped: the figures are of "
				  "both");
	if (b && known->left_open)
		benchmark_note(b, "it never said that it had ended: what the run did until its end counts "
				  "too");
}

void serving_note_windows(struct result *r)
{
	struct execution_windows found;

	execution_windows_find(&serving.server.timestamps, &found);
	for (size_t i = 0; i < found.list.len; i++)
		note_window(r, &found.list.items[i]);
	execution_windows_release(&found);
}
