/* SPDX-License-Identifier: MIT */
/* memory.c - one command between two switches of the runner's heap tracker */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/path.h"
#include "core/spawn.h"
#include "core/supervise.h"

#include "applets/exec-harness/memory.h"

static int run_command(const char *path, const struct target *target, struct supervise *watching)
{
	struct spawn s = SPAWN_INIT;
	int rc;

	s.path = path;
	s.argv = target->command.items;
	s.death_signal = SIGKILL;
	rc = spawn_start(&s);
	if (!rc)
		rc = spawn_release(&s);
	if (rc)
		return rc;
	watching->child = s.pid;
	watching->grace_ns = NS_PER_SECOND;
	return supervise(watching);
}

int memory_run(struct hooks *hooks, const struct target *target, int *status, int *interrupted)
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
	if (*status) {
		log_error("%s: %s %d; it is not recorded", target->name,
			  *status > 128 ? "ended by a signal, status" : "exit status", *status);
		return 0;
	}
	return hooks_current_benchmark(hooks, getpid(), target->uri);
}
