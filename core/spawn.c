/* SPDX-License-Identifier: MIT */
/* spawn.c - start a program */
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/spawn.h"
#include "core/units.h"

enum { MODEST_FILES = 65536 };

extern char **environ;

static bool signals_held;
static sigset_t mask_before; /* what children get */
static bool files_raised;
static struct rlimit files_before; /* what children get */

void spawn_hold_signals(const sigset_t *signals)
{
	if (signals_held)
		return;
	sigprocmask(SIG_BLOCK, signals, &mask_before);
	signals_held = true;
}

void spawn_give_back_signals(void)
{
	if (signals_held)
		sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void spawn_raise_files(void)
{
	struct rlimit limit;

	if (files_raised || getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	files_before = limit;
	limit.rlim_cur = limit.rlim_max;
	files_raised = !setrlimit(RLIMIT_NOFILE, &limit);
}

bool sudo_invoker(uid_t *uid, gid_t *gid)
{
	const char *user = getenv("SUDO_UID"), *group = getenv("SUDO_GID");
	uint64_t user_id, group_id;

	if (geteuid() || !user || !group)
		return false;
	if (parse_uint64(user, &user_id) || parse_uint64(group, &group_id)) {
		error_clear();
		return false;
	}
	*uid = (uid_t)user_id;
	*gid = (gid_t)group_id;
	return true;
}

/*
 * The groups of the user, looked up before the fork: afterwards another thread may have held the
 * lock of the heap. One that nobody knows has the given one alone.
 */
static void find_groups(struct spawn *s)
{
	const struct passwd *user = getpwuid(s->uid);
	int count = 0;

	s->group_count = 1;
	s->groups = xcalloc(1, sizeof(gid_t));
	s->groups[0] = s->gid;
	if (!user || getgrouplist(user->pw_name, s->gid, NULL, &count) >= 0 || count <= 0)
		return;
	free(s->groups);
	s->groups = xcalloc((size_t)count, sizeof(gid_t));
	s->group_count = count;
	if (getgrouplist(user->pw_name, s->gid, s->groups, &s->group_count) < 0)
		s->group_count = 0; /* the files have changed in between */
}

static bool become_user(const struct spawn *s)
{
	return !setgroups((size_t)s->group_count, s->groups) && !setgid(s->gid) && !setuid(s->uid);
}

/* Which step failed in the child: names for the parent's message, sent as an index. */
enum step { STEP_USER, STEP_CHDIR, STEP_DESCRIPTORS, STEP_EXECUTE };

struct report {
	enum step step;
	int error;
};

static void __attribute__((noreturn)) give_up(int fd, enum step step)
{
	struct report r = {step, errno};

	write_full(fd, &r, sizeof(r)); /* a parent that died has no use for it */
	_exit(EXIT_NOT_FOUND);
}

/*
 * Put a descriptor in place. dup2() of a descriptor onto itself would leave it close-on-exec.
 */
static int place(int from, int to)
{
	if (from < 0)
		return 0;
	if (from == to)
		return fcntl(from, F_SETFD, 0);
	return dup2(from, to) < 0 ? -1 : 0;
}

/* Other bits of the personality stay. Returns what it was, -1 when it cannot be changed. */
static int fix_addresses(void)
{
	int now = personality(0xffffffff); /* asks, changes nothing */

	if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0)
		return -1;
	return now;
}

bool spawn_can_fix_addresses(void)
{
	int before = fix_addresses();

	if (before < 0)
		return false;
	personality((unsigned long)before);
	return true;
}

static void limit_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur <= MODEST_FILES)
		return;
	limit.rlim_cur = MODEST_FILES;
	setrlimit(RLIMIT_NOFILE, &limit); /* lowering one's own soft limit cannot fail */
}

static void __attribute__((noreturn)) run_child(const struct spawn *s, int wait_fd, int report_fd,
						 pid_t parent)
{
	char c;

	while (read(wait_fd, &c, 1) < 0 && errno == EINTR)
		;
	if (signals_held)
		sigprocmask(SIG_SETMASK, &mask_before, NULL);
	if (files_raised)
		setrlimit(RLIMIT_NOFILE, &files_before);
	if (s->as_user && !become_user(s))
		give_up(report_fd, STEP_USER);
	if (s->death_signal) { /* a change of user would clear it */
		prctl(PR_SET_PDEATHSIG, s->death_signal);
		if (getppid() != parent)
			raise(s->death_signal); /* it died before it could be watched */
	}
	if (s->fixed_addresses)
		fix_addresses(); /* some containers refuse: spawn_can_fix_addresses() */
	if (s->modest_files)
		limit_files();
	if (s->cwd && chdir(s->cwd))
		give_up(report_fd, STEP_CHDIR);
	if (place(s->in, 0) || place(s->out, 1) || place(s->err, 2) || place(s->keep, s->keep))
		give_up(report_fd, STEP_DESCRIPTORS);
	execve(s->path, s->argv, s->envp ? s->envp : environ);
	give_up(report_fd, STEP_EXECUTE);
}

int spawn_start(struct spawn *s)
{
	int hold[2], report[2], rc;
	pid_t parent;

	if (pipe2(hold, O_CLOEXEC))
		return fail_errno("cannot create a pipe");
	if (pipe2(report, O_CLOEXEC)) {
		rc = fail_errno("cannot create a pipe");
		goto close_hold;
	}
	if (s->as_user)
		find_groups(s);
	parent = getpid();
	s->pid = fork();
	if (s->pid)
		free(s->groups);
	if (s->pid < 0) {
		rc = fail_errno("cannot fork");
		goto close_report;
	}
	if (s->pid == 0) {
		close(hold[1]); /* or the child would wait for itself */
		run_child(s, hold[0], report[1], parent);
	}
	close(hold[0]);
	close(report[1]);
	s->hold = hold[1];
	s->report = report[0];
	return 0;

close_report:
	close(report[0]);
	close(report[1]);
close_hold:
	close(hold[0]);
	close(hold[1]);
	return rc;
}

int spawn_release(struct spawn *s)
{
	struct report r;
	ssize_t n;

	close(s->hold);
	while ((n = read(s->report, &r, sizeof(r))) < 0 && errno == EINTR)
		;
	close(s->report);
	s->hold = s->report = -1;
	if (n != sizeof(r))
		return 0; /* closed by a successful execve */
	errno = r.error;
	if (r.step == STEP_USER)
		return fail_errno("cannot become user %u", (unsigned)s->uid);
	if (r.step == STEP_CHDIR)
		return fail_errno("cannot enter the working directory %s", s->cwd);
	if (r.step == STEP_DESCRIPTORS)
		return fail_errno("cannot set up standard descriptors");
	s->not_executed = true;
	if (r.error == ENOENT && !access(s->path, F_OK))
		return fail(-ENOENT, "cannot execute %s: its interpreter does not exist", s->path);
	return fail_errno("cannot execute %s", s->path);
}

int status_of_wait(int wait_status)
{
	return WIFSIGNALED(wait_status) ? EXIT_SIGNAL_BASE + WTERMSIG(wait_status)
					: WEXITSTATUS(wait_status);
}
