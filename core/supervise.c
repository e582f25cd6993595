/* SPDX-License-Identifier: MIT */
/* supervise.c - see one child to its end */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/cleanup.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/spawn.h"
#include "core/supervise.h"

enum { RELAY_CHUNK = 64 * 1024 };

/* How the end of a child is brought about, step by step; each step has its time. */
enum ending {
	END_NOT,     /* it runs */
	END_ASKED,   /* it was sent the signal */
	END_LINGER,  /* it has ended, processes of its tree have not: some end by themselves */
	END_LATE,    /* those were sent SIGTERM: callgrind still writes its dump */
	END_KILLED,  /* SIGKILL was sent */
};

enum {
	LATE_NS = 500 * 1000 * 1000,   /* from SIGTERM to SIGKILL for what outlives the root */
	KILLED_NS = 300 * 1000 * 1000, /* a killed process ends, unless the kernel holds it */
};

struct loop {
	struct supervise *s;
	int signals;
	enum ending ending;
	uint64_t next_step; /* when the ending goes on; 0: never by time */
	uint64_t next_tick;
	bool child_ended;
};

static bool is_ignored(int signal_number)
{
	struct sigaction action;

	return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* What nohup or a background job ignores stays ignored: blocked, it would be queued all the same. */
static sigset_t awaited(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGPIPE); /* a reader of our output that goes is an EPIPE, not our death */
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (!is_ignored(ending[i]))
			sigaddset(&set, ending[i]);
	return set;
}

void supervise_prepare(void)
{
	sigset_t set = awaited();

	spawn_hold_signals(&set);
}

int supervise_pending_signal(void)
{
	sigset_t pending, ours = awaited();

	if (sigpending(&pending))
		return 0;
	for (int signal = 1; signal < NSIG; signal++)
		if (signal != SIGCHLD && signal != SIGPIPE && sigismember(&ours, signal) == 1 &&
		    sigismember(&pending, signal) == 1)
			return signal;
	return 0;
}

void supervise_reraise(int signal_number)
{
	sigset_t only;

	fflush(stdout);
	cleanup_run();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
	sigemptyset(&only);
	sigaddset(&only, signal_number);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	_exit(128 + signal_number); /* a signal that does not end a process: not among ours */
}

static bool everything_ended(const struct loop *l)
{
	return l->child_ended && (!l->s->tree || l->s->tree->live == 0);
}

static void signal_all(struct loop *l, int signal_number)
{
	if (l->s->tree)
		proctree_kill(l->s->tree, signal_number);
	else
		kill(l->s->child, signal_number);
}

static void enter(struct loop *l, enum ending ending, uint64_t ns)
{
	l->ending = ending;
	l->next_step = clock_now() + ns;
}

/* The polite form: only the child is told, as a shell's kill would do. */
static void ask_to_end(struct loop *l, int signal_number)
{
	kill(l->s->child, signal_number);
	kill(l->s->child, SIGCONT); /* a stopped one could not act on it */
	if (l->ending == END_NOT)
		enter(l, END_ASKED, l->s->grace_ns);
}

static void tell_who_is_left(const struct proctree *tree)
{
	for (size_t i = 0; i < tree->procs.len; i++) {
		struct proc *p = &tree->procs.items[i];

		if (p->ended)
			continue;
		p->outlived = true;
		log_warn("still running after the benchmark ended: %s (pid %d); it is ended now",
			 proc_command(p), p->pid);
	}
}

static void end_the_rest(struct loop *l)
{
	signal_all(l, SIGTERM);
	signal_all(l, SIGCONT);
	enter(l, END_LATE, LATE_NS);
}

/* The time of the present step is over. */
static void next_ending(struct loop *l)
{
	switch (l->ending) {
	case END_LINGER:
		tell_who_is_left(l->s->tree);
		end_the_rest(l);
		break;
	case END_NOT: /* not reached: it has no time */
	case END_ASKED:
	case END_LATE:
		signal_all(l, SIGKILL);
		enter(l, END_KILLED, KILLED_NS);
		break;
	case END_KILLED:
		/* The kernel holds it (a stuck device): it is left, the wait is not. */
		log_warn("a killed process does not end; going on without it");
		l->child_ended = true;
		if (l->s->tree)
			l->s->tree->live = 0;
		break;
	}
}

static void reap(struct loop *l)
{
	struct supervise *s = l->s;

	if (s->tree) {
		proctree_step(s->tree);
		if (!l->child_ended && proctree_root_ended(s->tree)) {
			l->child_ended = true;
			s->status = s->tree->procs.items[0].status;
			if (s->tree->live && l->ending == END_NOT)
				enter(l, END_LINGER, s->linger_ns);
			else if (s->tree->live && l->ending == END_ASKED)
				end_the_rest(l); /* the tree goes with its root */
		}
	} else if (!l->child_ended && waitpid(s->child, &s->status, WNOHANG) == s->child) {
		l->child_ended = true;
	}
}

static void take_signals(struct loop *l)
{
	struct signalfd_siginfo info;

	while (read(l->signals, &info, sizeof(info)) == sizeof(info)) {
		int number = (int)info.ssi_signo;

		if (number == SIGCHLD || number == SIGPIPE)
			continue;
		if (!l->s->signal)
			l->s->signal = number;
		if (!l->child_ended)
			ask_to_end(l, number);
	}
	reap(l);
}

static void close_relay(struct relay *r)
{
	close(r->from);
	r->from = -1;
}

/* One read and its write: the number of bytes, 0 when the pipe is empty or at its end. */
static size_t relay_once(struct loop *l, struct relay *r)
{
	static char chunk[RELAY_CHUNK];
	ssize_t n = read(r->from, chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		close_relay(r);
		return 0;
	}
	if (l->s->before_output)
		l->s->before_output(l->s->ctx);
	if (write_full(r->to, chunk, (size_t)n)) {
		/* Closing our end tells the child, as a broken pipe would without us. */
		l->s->output_lost = true;
		close_relay(r);
		return 0;
	}
	return (size_t)n;
}

/*
 * What the ended child wrote is in the pipe already. No wait for the end of the pipe: a daemon may
 * hold it open for ever, and may go on writing.
 */
static void drain(struct loop *l, struct relay *r)
{
	int waiting = 0;
	size_t done = 0, n;

	if (r->from < 0)
		return;
	ioctl(r->from, FIONREAD, &waiting);
	while (done < (size_t)waiting && (n = relay_once(l, r)) > 0)
		done += n;
	if (r->from >= 0)
		close_relay(r);
}

static int wait_ms(const struct loop *l)
{
	uint64_t now = clock_now(), until = UINT64_MAX;

	if (l->next_step && l->next_step < until)
		until = l->next_step;
	if (l->next_tick && l->next_tick < until)
		until = l->next_tick;
	if (l->ending == END_NOT && l->s->deadline && l->s->deadline < until)
		until = l->s->deadline;
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 : (int)((until - now) / NS_PER_MS + 1);
}

static void keep_time(struct loop *l)
{
	uint64_t now = clock_now();

	if (l->ending == END_NOT && l->s->deadline && now >= l->s->deadline) {
		l->s->timed_out = true;
		ask_to_end(l, SIGTERM);
	} else if (l->ending == END_NOT && l->s->give_up) {
		ask_to_end(l, SIGTERM);
	}
	if (l->next_step && now >= l->next_step)
		next_ending(l);
	if (l->next_tick && now >= l->next_tick) {
		l->s->tick(l->s->ctx);
		l->next_tick = clock_now() + l->s->tick_ns;
	}
}

static int turn(struct loop *l)
{
	struct pollfd fds[] = {
		{.fd = l->signals, .events = POLLIN},
		{.fd = l->s->relays[0].from, .events = POLLIN},
		{.fd = l->s->relays[1].from, .events = POLLIN},
		{.fd = l->s->extra, .events = POLLIN},
	};

	if (poll(fds, ARRAY_SIZE(fds), wait_ms(l)) < 0 && errno != EINTR)
		return fail_errno("poll");
	for (size_t i = 0; i < ARRAY_SIZE(l->s->relays); i++)
		if (fds[i + 1].fd >= 0 && fds[i + 1].revents)
			relay_once(l, &l->s->relays[i]);
	if (fds[3].fd >= 0 && fds[3].revents)
		l->s->on_extra(l->s->ctx);
	if (fds[0].revents)
		take_signals(l);
	keep_time(l);
	return 0;
}

int supervise(struct supervise *s)
{
	struct loop l = {.s = s};
	sigset_t set = awaited();
	int rc = 0;

	l.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l.signals < 0)
		return fail_errno("signalfd");
	for (size_t i = 0; i < ARRAY_SIZE(s->relays); i++)
		if (s->relays[i].from >= 0)
			fcntl(s->relays[i].from, F_SETFL, O_NONBLOCK);
	if (s->tick_ns)
		l.next_tick = clock_now() + s->tick_ns;
	reap(&l);
	while (!rc && !everything_ended(&l))
		rc = turn(&l);
	for (size_t i = 0; i < ARRAY_SIZE(s->relays); i++)
		drain(&l, &s->relays[i]);
	close(l.signals);
	return rc;
}
