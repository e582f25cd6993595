/* SPDX-License-Identifier: MIT */
/* round.c - run a command once and take its time */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/exit_code.h"
#include "core/spawn.h"

#include "applets/exec-harness/interrupts.h"
#include "applets/exec-harness/round.h"

enum { DRAIN_BYTES = 1024 * 1024 };

/* ---- The start ---- */

/* Until execve() this runs in our memory, while we stand still: only system calls. */
static void __attribute__((noreturn)) run_child(const struct round_command *c, const sigset_t *mask,
						volatile int *error)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (c->err >= 0)
		dup2(c->err, STDERR_FILENO);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execve(c->path, c->argv, c->envp);
	*error = errno;
	_exit(EXIT_NOT_FOUND);
}

/* The frame that vfork() is called in must stay: not to be inlined. */
static pid_t __attribute__((noinline)) start(const struct round_command *c, const sigset_t *mask,
					     volatile int *error)
{
	pid_t pid = vfork();

	if (pid == 0)
		run_child(c, mask, error);
	if (pid < 0)
		*error = errno;
	return pid;
}

/* ---- The end ---- */

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_usec * 1000;
}

static int wait_for(pid_t pid, int *status, struct rusage *usage)
{
	while (wait4(pid, status, 0, usage) < 0)
		if (errno != EINTR)
			return fail_errno("cannot wait for the command");
	return 0;
}

/* Throw away what is there, without waiting. */
static void empty(int pipe_end, int nowhere)
{
	while (splice(pipe_end, NULL, nowhere, NULL, DRAIN_BYTES, SPLICE_F_NONBLOCK) > 0)
		;
}

/* The command must not wait for us, so the pipe and its end are watched together. */
static int drain_until_end(const struct round_command *c, pid_t pid)
{
	struct pollfd fds[] = {{.fd = c->drain, .events = POLLIN}, {.events = POLLIN}};
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fds[1].fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (nowhere < 0 || fds[1].fd < 0)
		return fail_errno("cannot watch the command and its output");
	while (!fds[1].revents) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue; /* a signal, whose handler has told the command */
		if (fds[0].revents)
			empty(c->drain, nowhere);
	}
	close(fds[1].fd);
	close(nowhere);
	return 0;
}

static void describe(struct round *to, int status, const struct rusage *usage)
{
	to->status = status_of_wait(status);
	to->user_ns = ns_of(usage->ru_utime);
	to->system_ns = ns_of(usage->ru_stime);
	to->max_rss_bytes = (uint64_t)usage->ru_maxrss * 1024;
	to->minor_faults = (uint64_t)usage->ru_minflt;
	to->major_faults = (uint64_t)usage->ru_majflt;
	to->voluntary_switches = (uint64_t)usage->ru_nvcsw;
	to->involuntary_switches = (uint64_t)usage->ru_nivcsw;
}

int round_run(const struct round_command *c, struct round *to)
{
	volatile int error = 0;
	struct rusage usage;
	int status, rc = 0;
	sigset_t mask;
	pid_t pid;

	interrupts_arm(c->timeout_ns);
	interrupts_hold(&mask);
	to->start = clock_now();
	pid = start(c, &mask, &error);
	interrupts_watch(pid, &mask);
	if (pid > 0 && c->drain >= 0)
		rc = drain_until_end(c, pid);
	if (pid > 0 && !rc)
		rc = wait_for(pid, &status, &usage);
	to->end = clock_now();
	interrupts_disarm();
	if (rc)
		return rc;
	errno = error;
	if (error)
		return fail_errno("cannot execute %s", c->path);
	describe(to, status, &usage);
	return 0;
}
