/* SPDX-License-Identifier: MIT */
/* track.c - run a command under memtrack, and let its benchmarks switch it by the FIFOs */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/execution_timestamps.h"
#include "core/exit_code.h"
#include "core/fifo.h"
#include "core/memtrack_control.h"
#include "core/path.h"
#include "core/spawn.h"

#include "applets/runner/findings.h"
#include "applets/runner/memory/profile.h"
#include "applets/runner/memory/track.h"
#include "applets/runner/serving.h"

/* For memtrack to answer, which takes a millisecond as a rule: clients give us a second. */
enum { CONTROL_MS = 700 };

static struct tracking {
	int control;
	unsigned char requests; /* so far; wraps */
} tracking;

/* ---- Memtrack ---- */

/* The answer to the last request; older ones, which came too late, are passed over. */
static int receive_answer(struct memtrack_packet *answer)
{
	struct pollfd ready = {.fd = tracking.control, .events = POLLIN};
	uint64_t deadline = clock_now() + CONTROL_MS * NS_PER_MS, now;

	do {
		now = clock_now();
		if (now >= deadline || poll(&ready, 1, (int)((deadline - now) / NS_PER_MS) + 1) == 0)
			return fail(-ETIMEDOUT, "memtrack does not answer");
		if (recv(tracking.control, answer, sizeof(*answer), 0) != sizeof(*answer))
			return fail(-EPIPE, "memtrack has ended");
	} while (answer->number != tracking.requests);
	return 0;
}

static int request(char what)
{
	struct memtrack_packet packet = {.what = what, .number = ++tracking.requests};
	int rc;

	if (send(tracking.control, &packet, sizeof(packet), MSG_NOSIGNAL) != sizeof(packet))
		return fail_errno("memtrack has ended");
	rc = receive_answer(&packet);
	if (!rc && packet.what != MEMTRACK_OK)
		rc = fail(-EIO, "memtrack refuses");
	return rc;
}

static int track_on(void *ctx UNUSED)
{
	return request(MEMTRACK_ENABLE);
}

static int track_off(void *ctx UNUSED)
{
	return request(MEMTRACK_DISABLE);
}

static const struct hooks_profiler profiler = {.start = track_on, .stop = track_off};

/* `memtrack track --output=DIR --control=N -- WORDS` */
static void memtrack_words(struct strvec *argv, const char *results, int control, char *const *words)
{
	strvec_push(argv, "codspeed-memtrack");
	strvec_push(argv, "track");
	strvec_pushf(argv, "--output=%s", results);
	strvec_pushf(argv, "--control=%d", control + 1);
	strvec_push(argv, "--");
	strvec_push_all(argv, words);
}

/* ---- The run ---- */

int memory_session_check(struct session *s)
{
	if (access("/proc/self/exe", F_OK))
		return fail_errno("/proc is needed: mount it (mount -t proc proc /proc)");
	if (access(FIFO_DIR, W_OK | X_OK))
		return fail_errno(FIFO_DIR " is needed, where benchmarks look for the runner: create it, "
				  "or mount a tmpfs there");
	return memtrack_program_find(&s->memtrack);
}

void memory_session_run(struct session *s, char *const *words)
{
	char *results = xasprintf("%s/results", s->folder.path);
	char *timestamps = xasprintf("%s/" EXECUTION_TIMESTAMPS_FILE, results);
	struct strvec argv = STRVEC_INIT;
	struct spawn spawn = SPAWN_INIT;
	int ends[2];

	if (path_make_folder(results, 0755))
		die_recorded(EXIT_FAILED);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		die(EXIT_FAILED, "cannot create a socket pair: %s", strerror(errno));
	tracking.control = ends[0];
	serving_start(s, &hooks_mode_memory, &profiler);
	memtrack_words(&argv, results, ends[1], words);
	spawn.path = s->memtrack.path;
	spawn.argv = argv.items;
	spawn.keep = ends[1]; /* memtrack's alone, so that we see when it is gone */
	spawn.death_signal = SIGTERM;
	if (session_watch(s, &spawn, NULL))
		die(EXIT_FAILED, "cannot start memtrack");
	close(ends[0]);
	serving_finish(timestamps);
	strvec_release(&argv);
	free(timestamps);
	free(results);
}

/* ---- Results ---- */

/* Of its own benchmarks the harness has told what went wrong, unless it had no time to. */
static char *why_harness_told_nothing(int wait_status)
{
	int status = status_of_wait(wait_status);

	if (WIFSIGNALED(wait_status))
		return xasprintf("nothing was measured: memtrack was ended by signal %d", WTERMSIG(wait_status));
	if (status > EXIT_SIGNAL_BASE)
		return xasprintf("nothing was measured: the harness was ended by signal %d, or its benchmark",
				 status - EXIT_SIGNAL_BASE);
	return xstrdup("nothing was measured");
}

static char *why_empty(const struct session *s, const struct memory_profile_summary *summary)
{
	char *why = hooks_server_explain_dup(&serving.server);

	if (status_of_wait(s->watching.status) == EXIT_WRAPPER && !summary->artifacts) {
		free(why);
		return xstrdup("memory mode is not possible here");
	}
	if (!why || !s->entrypoint) {
		free(why);
		return why_harness_told_nothing(s->watching.status);
	}
	return why;
}

int memory_load(struct session *s, struct result *r, struct findings *found)
{
	struct memory_profile_summary summary;
	int rc = memory_profile_load(r, s->folder.path, &summary);

	if (rc)
		return rc;
	serving_note_windows(r);
	found->unsupported = status_of_wait(s->watching.status) == EXIT_WRAPPER && !summary.artifacts;
	found->why_empty = why_empty(s, &summary);
	hooks_server_release(&serving.server);
	return 0;
}
