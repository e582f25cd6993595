/* SPDX-License-Identifier: MIT */
/* isolation.c - keep the benchmark away from what else runs */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/cleanup.h"
#include "core/opts.h"
#include "core/spawn.h"

#include "applets/runner/walltime/isolation.h"

/* Places that are fixed by the machines that have them; an environment cannot name others. */
#define PRE_BENCH "/usr/local/bin/codspeed-pre-bench"
#define WRAP_BENCH "/usr/local/bin/codspeed-wrap-bench"
#define POST_BENCH "/usr/local/bin/codspeed-post-bench"
#define SYSTEMD_RUN "/usr/bin/systemd-run"
#define SYSTEMD_RUNS "/run/systemd/system" /* sd_booted(3) */

static bool hooked; /* POST_BENCH is due */

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* The wait status, or -1 where it could not be run; its words go to `out` (-1: ours). */
static int run_program(char *const *argv, int out)
{
	struct spawn s = SPAWN_INIT;
	int status = -1, rc;

	s.path = argv[0];
	s.argv = argv;
	s.out = s.err = out;
	rc = spawn_start(&s);
	if (!rc)
		rc = spawn_release(&s);
	if (rc || waitpid(s.pid, &status, 0) != s.pid)
		status = -1;
	error_clear();
	return status;
}

/* A hook that fails is not the benchmark's fault. */
static void run_hook(const char *path, const char *argument)
{
	char *const argv[] = {(char *)path, (char *)argument, NULL};

	if (run_program(argv, -1))
		log_debug("%s has failed", path);
}

static void undo_hooks(void *unused UNUSED)
{
	run_hook(POST_BENCH, NULL);
}

static void begin_hooks(struct strvec *words)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%d", getpid());
	cleanup_push(undo_hooks, NULL);
	hooked = true;
	run_hook(PRE_BENCH, pid);
	strvec_push(words, WRAP_BENCH);
}

/* A container may show the folder of its host's systemd: whether a scope can be had, a try tells. */
static bool scopes_work(void)
{
	char *const argv[] = {(char *)SYSTEMD_RUN, (char *)"--quiet", (char *)"--scope", (char *)"--",
			      (char *)"true", NULL};
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	bool works = nowhere >= 0 && run_program(argv, nowhere) == 0;

	if (nowhere >= 0)
		close(nowhere);
	return works;
}

/* Why a scope cannot be had, or NULL. */
static const char *no_systemd(void)
{
	if (access(SYSTEMD_RUNS, F_OK))
		return "systemd does not run here";
	if (!is_program(SYSTEMD_RUN))
		return SYSTEMD_RUN " is not there";
	if (geteuid())
		return "it needs root";
	return scopes_work() ? NULL : "systemd gives no scope";
}

/* In place, with this environment: --scope executes the command itself. */
static void begin_systemd(struct strvec *words)
{
	strvec_push(words, SYSTEMD_RUN);
	strvec_push(words, "--quiet");
	strvec_push(words, "--slice=codspeed.slice");
	strvec_push(words, "--scope");
	strvec_push(words, "--same-dir");
	strvec_pushf(words, "--uid=%u", (unsigned)getuid());
	strvec_pushf(words, "--gid=%u", (unsigned)getgid());
	strvec_push(words, "--");
}

void isolation_begin(struct strvec *words)
{
	const char *text = getenv("CODSPEED_ISOLATION"), *missing;
	bool wanted = false, asked = text && *text;

	if (asked && parse_bool(text, &wanted)) {
		log_warn("CODSPEED_ISOLATION is %s: %s", text, error_text());
		error_clear();
		asked = false;
	}
	if (asked && !wanted)
		return;
	if (is_program(WRAP_BENCH)) {
		begin_hooks(words);
		return;
	}
	missing = no_systemd();
	if (!missing)
		begin_systemd(words);
	else if (asked)
		log_warn("no isolation is possible: %s, and there is no " WRAP_BENCH, missing);
}

void isolation_end(void)
{
	if (!hooked)
		return;
	hooked = false;
	cleanup_drop(undo_hooks, NULL);
	undo_hooks(NULL);
}
