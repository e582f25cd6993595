/* SPDX-License-Identifier: MIT */
/* load.c - what a simulation has left, and why that may hold no benchmark */
#include "core/base.h"
#include "core/exit_code.h"
#include "core/spawn.h"

#include "applets/runner/findings.h"
#include "applets/runner/simulation/profile.h"

/* The usual reasons, in the order in which they happen. */
static char *why_no_uri(const struct profile_summary *summary)
{
	return xasprintf(
		"no benchmark was found: the command reported none%s%s. Usual causes: the benchmarks "
		"were not started through a CodSpeed integration (pytest needs --codspeed); they ran "
		"in parallel workers (pytest-xdist: use -n 0); another plugin or a filter left them "
		"out. A plain program is measured by 'codspeed exec -m simulation -- COMMAND'; "
		"--allow-empty makes this no error",
		summary->integration ? " through " : "",
		summary->integration ? summary->integration : "");
}

int simulation_load(struct session *s, struct result *r, size_t top, struct findings *found)
{
	struct profile_summary summary;
	int rc = profile_load(r, s->folder.path, &(struct profile_wanted){.top = top}, &summary);

	if (rc)
		return rc;
	found->damaged = summary.damaged_dumps > 0;
	/* the harness says so to the runner that started it, and has told what it lacks */
	found->unsupported = !s->entrypoint &&
			     status_of_wait(s->watching.status) == EXIT_UNSUPPORTED;
	if (s->entrypoint)
		found->why_empty = why_no_uri(&summary);
	else if (found->unsupported)
		found->why_empty = xasprintf("simulation mode is not possible here with valgrind %s",
					     s->valgrind_version);
	else
		found->why_empty = xstrdup("nothing was measured");
	free(summary.integration);
	return 0;
}
