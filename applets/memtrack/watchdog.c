/* SPDX-License-Identifier: MIT */
/* watchdog.c - lets stopped processes go on when memtrack is killed */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"

#include "applets/memtrack/rights.h"
#include "applets/memtrack/watchdog.h"

enum {
	ROUNDS = 5, /* a stop that the kernel had decided on may still be on its way */
	ROUND_NS = 50 * 1000 * 1000,
};

static void let_go(const volatile uint32_t *held, size_t count)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < count; i++)
			if (held[i])
				kill((pid_t)held[i], SIGCONT);
		nanosleep(&(struct timespec){.tv_nsec = ROUND_NS}, NULL);
	}
}

/* Returns only when memtrack has ended or has said that all is well. */
static void __attribute__((noreturn)) watch(int fd, const volatile uint32_t *held, size_t count)
{
	sigset_t all;
	char c;
	ssize_t n;

	rights_keep(0);
	/* a probe lives as long as any process has its descriptor */
	if (dup2(fd, 0) < 0 || syscall(SYS_close_range, 1u, ~0u, 0u))
		_exit(1);
	fd = 0;
	setsid(); /* SIGKILL for the group is not for us either */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* a signal for the group is not for us */
	prctl(PR_SET_NAME, "memtrack-guard");
	while ((n = read(fd, &c, 1)) < 0 && errno == EINTR)
		;
	if (n == 0)
		let_go(held, count);
	_exit(0);
}

int watchdog_start(struct watchdog *w, const volatile uint32_t *held, size_t count)
{
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC))
		return fail_errno("cannot create a pipe");
	w->pid = fork();
	if (w->pid < 0) {
		rc = fail_errno("cannot fork");
		close(ends[0]);
		close(ends[1]);
		return rc;
	}
	if (w->pid == 0) {
		close(ends[1]);
		watch(ends[0], held, count);
	}
	close(ends[0]);
	w->alive = ends[1];
	return 0;
}

void watchdog_stop(struct watchdog *w)
{
	if (write(w->alive, "", 1) != 1)
		log_debug("the watchdog has ended before");
	close(w->alive);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
