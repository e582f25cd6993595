/* SPDX-License-Identifier: MIT */
/* leftovers.c - processes that outlive the one that started them */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/leftovers.h"
#include "core/orphans.h"
#include "core/text.h"

enum {
	SHOWN = 3,                   /* names in a message */
	LOOK_US = 2000,              /* between two looks at whether they have ended */
	LATE_NS = 500 * 1000 * 1000, /* from SIGTERM to SIGKILL */
	KILLED_NS = 300 * 1000 * 1000,
};

/* Takes the ended ones; false when no child is left. */
static bool reap(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

/* True when all have ended by then. */
static bool wait_until(uint64_t time)
{
	while (reap()) {
		if (clock_now() >= time)
			return false;
		usleep(LOOK_US);
	}
	return true;
}

/* What is told of the first ones. */
struct naming {
	struct buf *names;
	size_t count;
};

static void ask_to_end(void *ctx, pid_t pid, const char *name)
{
	struct naming *naming = ctx;
	size_t count = naming->count++;

	orphans_signal(&(int){SIGTERM}, pid, name);
	if (!naming->names || count > SHOWN)
		return;
	if (count == SHOWN) {
		buf_addstr(naming->names, ", ...");
		return;
	}
	buf_addstr(naming->names, count ? ", " : "");
	text_printable(name, strlen(name), naming->names);
	buf_printf(naming->names, " (pid %d)", pid);
}

/* Whoever loses its parent by that becomes our child, and is next. */
static void kill_all(void)
{
	uint64_t until = clock_now() + KILLED_NS;

	while (reap() && clock_now() < until) {
		orphans_visit(0, orphans_signal, &(int){SIGKILL});
		usleep(LOOK_US);
	}
}

size_t leftovers_end(uint64_t linger_ns, struct buf *names)
{
	struct naming naming = {.names = names};

	if (wait_until(clock_now() + linger_ns))
		return 0;
	orphans_visit(0, ask_to_end, &naming);
	if (!wait_until(clock_now() + LATE_NS))
		kill_all();
	return naming.count;
}
