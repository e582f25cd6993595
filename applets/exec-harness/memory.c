/* SPDX-License-Identifier: MIT */
/* memory.c - one command between two switches of the runner's heap tracker */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/exit_code.h"
#include "core/orphans.h"
#include "core/path.h"
#include "core/spawn.h"
#include "core/supervise.h"

#include "applets/exec-harness/memory.h"

/* As for a simulation's tree (supervise.c). */
enum {
	LINGER_MS = 1000, /* how long processes may outlive the command */
	LATE_MS = 500,    /* from SIGTERM to SIGKILL */
	KILLED_MS = 300,
	POLL_MS = 2,
};

/* ---- What outlives the command would be counted in the next benchmark ---- */

static bool has_children(void)
{
	pid_t ended;

	while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return ended == 0;
}

/* Until all have ended, for no longer than this, and not when we are told to end. */
static bool wait_for_the_rest(uint64_t ms)
{
	uint64_t deadline = clock_now() + ms * NS_PER_MS;
	bool left;

	while ((left = has_children()) && clock_now() < deadline && !supervise_pending_signal())
		nanosleep(&(struct timespec){.tv_nsec = POLL_MS * NS_PER_MS}, NULL);
	return !left;
}

/* Again and again: who ends leaves us its children. */
static void kill_the_rest(void)
{
	uint64_t deadline = clock_now() + KILLED_MS * NS_PER_MS;
	int number = SIGKILL;

	while (has_children() && clock_now() < deadline) {
		orphans_visit(0, orphans_signal, &number);
		nanosleep(&(struct timespec){.tv_nsec = POLL_MS * NS_PER_MS}, NULL);
	}
}

static void tell_of_orphan(void *ctx UNUSED, pid_t pid, const char *name)
{
	log_warn("still running after the benchmark ended: %s (pid %d); it is ended now", name, pid);
}

static void end_the_rest(bool at_once)
{
	int number = SIGTERM;

	if (wait_for_the_rest(at_once ? 0 : LINGER_MS))
		return;
	orphans_visit(0, tell_of_orphan, NULL);
	orphans_visit(0, orphans_signal, &number);
	if (wait_for_the_rest(LATE_MS))
		return;
	kill_the_rest();
	if (has_children())
		log_warn("a killed process does not end; going on without it");
}

/* ---- The command ---- */

static int run_command(const char *path, const struct target *target, struct supervise *watching)
{
	struct spawn s = SPAWN_INIT;
	int rc;

	orphans_adopt();
	s.path = path;
	s.argv = target->command.items;
	s.death_signal = SIGKILL;
	rc = spawn_start(&s);
	if (!rc)
		rc = spawn_release(&s);
	if (rc)
		return s.not_executed ? fail(EXIT_NOT_EXECUTABLE, "%s", target->name) : rc;
	watching->child = s.pid;
	watching->grace_ns = NS_PER_SECOND;
	rc = supervise(watching);
	end_the_rest(rc || watching->signal);
	if (!watching->signal)
		watching->signal = supervise_pending_signal();
	return rc;
}

int memory_run(struct hooks *hooks, const struct target *target, const bool *allowed, int *status,
	       int *interrupted)
{
	struct supervise watching = SUPERVISE_INIT;
	char *path;
	int rc = path_find_program(target->command.items[0], getenv("PATH"), &path);

	if (rc)
		return target_not_found(target->command.items[0], rc);
	rc = hooks_start_profiler(hooks);
	if (!rc) {
		int stopped;

		rc = run_command(path, target, &watching);
		stopped = hooks_stop_profiler(hooks);
		rc = rc ? rc : stopped;
	}
	free(path);
	*interrupted = watching.signal;
	if (rc)
		return rc;
	*status = status_of_wait(watching.status);
	if (allowed[*status])
		*status = 0;
	if (*status) {
		log_error("%s: %s %d; it is not recorded", target->name,
			  *status > 128 ? "ended by a signal, status" : "exit status", *status);
		return 0;
	}
	return hooks_current_benchmark(hooks, getpid(), target->uri);
}
