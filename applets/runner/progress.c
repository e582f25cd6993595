/* SPDX-License-Identifier: MIT */
/* progress.c - signs of life on standard error */
//config:config FEATURE_PROGRESS
//config:	bool "spinner and progress lines (3 kb)"
//config:	depends on EXEC || RUN
//config:	default y
#include <stdio.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/term.h"
#include "core/text.h"
#include "core/units.h"

#include "applets/runner/progress.h"

#define CLEAR_LINE "\r\033[K"

enum {
	SPINNER_MS = 100,
	LOG_SECONDS = 30,
	DEPTH_MAX = 64, /* of a process tree; deeper ones are not worth the stack */
};

/* The one that is on the terminal, for messages that come in between. */
static struct progress *shown;

static void hide_shown(void)
{
	if (shown)
		progress_hide(shown);
}

void progress_init(struct progress *p, const char *what)
{
	const char *term = getenv("TERM");

	*p = (struct progress){.what = what, .started = clock_now()};
	p->spinner = term_is_tty(STDERR_FILENO) && term && *term && !str_eq(term, "dumb");
	if (!ENABLE_FEATURE_PROGRESS)
		return;
	p->interval_ns = p->spinner ? SPINNER_MS * NS_PER_MS : LOG_SECONDS * NS_PER_SECOND;
	shown = p;
	log_set_interlude(hide_shown);
}

/* User and system time are fields 14 and 15, counted from behind the name in parentheses. */
static uint64_t cpu_ticks(pid_t pid)
{
	struct buf text = BUF_INIT;
	unsigned long long user, system;
	const char *at;
	char path[64];
	uint64_t ticks = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_file(path, &text))
		error_clear();
	at = text.data ? strrchr(text.data, ')') : NULL;
	if (at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			 &system) == 2)
		ticks = user + system;
	buf_release(&text);
	return ticks;
}

static uint64_t add_tree(pid_t pid, size_t *processes, unsigned depth)
{
	struct buf text = BUF_INIT;
	uint64_t ticks = cpu_ticks(pid);
	char path[64];
	char *at;

	(*processes)++;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	if (depth >= DEPTH_MAX || read_file(path, &text)) {
		error_clear();
		return ticks;
	}
	for (char *save, *word = strtok_r(text.data, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		ticks += add_tree((pid_t)strtol(word, &at, 10), processes, depth + 1);
	buf_release(&text);
	return ticks;
}

uint64_t process_tree_cpu_ns(pid_t root, size_t *processes)
{
	long per_second = sysconf(_SC_CLK_TCK);

	*processes = 0;
	return add_tree(root, processes, 0) * (NS_PER_SECOND / (uint64_t)(per_second > 0 ? per_second : 100));
}

static void draw(struct progress *p)
{
	static const char *const frames[] = {"   ", ".  ", ".. ", "..."};
	struct buf line = BUF_INIT, what = BUF_INIT;
	unsigned width = term_width(STDERR_FILENO);
	size_t fit;

	text_printable(p->what, strlen(p->what), &what);
	fit = text_fit(what.data ? what.data : "", what.len, width > 24 ? width - 24 : 0);
	buf_printf(&line, CLEAR_LINE "%s %.*s %s", frames[p->frame++ % ARRAY_SIZE(frames)], (int)fit,
		   what.data ? what.data : "",
		   format_duration((char[UNIT_TEXT]){0}, clock_now() - p->started));
	write_full(STDERR_FILENO, line.data, line.len);
	p->drawn = true;
	buf_release(&what);
	buf_release(&line);
}

static void tell(const struct progress *p)
{
	struct buf what = BUF_INIT;
	char elapsed[UNIT_TEXT], cpu[UNIT_TEXT];
	size_t processes;
	uint64_t cpu_ns = process_tree_cpu_ns(p->root, &processes);

	text_printable(p->what, strlen(p->what), &what);
	log_info("still running after %s: %s (%zu process%s, %s of CPU time)",
		 format_duration(elapsed, clock_now() - p->started), what.data ? what.data : "",
		 processes, processes == 1 ? "" : "es", format_duration(cpu, cpu_ns));
	buf_release(&what);
}

void progress_tick(struct progress *p)
{
	if (p->spinner)
		draw(p);
	else
		tell(p);
}

void progress_hide(struct progress *p)
{
	if (p->drawn)
		write_full(STDERR_FILENO, CLEAR_LINE, strlen(CLEAR_LINE));
	p->drawn = false;
}

void progress_end(struct progress *p)
{
	progress_hide(p);
	log_set_interlude(NULL);
	shown = NULL;
}
