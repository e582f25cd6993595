/* SPDX-License-Identifier: MIT */
/* supervise.c - see one child to its end */
#include <fcntl.h>
#include <limits.h>
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
	OUTPUT_NS = 500 * 1000 * 1000, /* for output that nobody takes, after a signal or time-out */
};

struct loop {
	struct supervise *s;
	int signals;
	enum ending ending;
	uint64_t next_step; /* when the ending goes on; 0: never by time */
	uint64_t next_tick;
	bool child_ended;
	uint64_t output_until; /* everything has ended by force: no longer for output; 0: not yet */
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

void supervise_release_signals(void)
{
	sigset_t pipe_only;

	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	spawn_give_back_signals();
	sigprocmask(SIG_BLOCK, &pipe_only, NULL);
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

/* A child that was waited for is not signalled: its id may be another's by now. */
static void signal_all(struct loop *l, int signal_number)
{
	if (l->s->tree)
		proctree_kill(l->s->tree, signal_number);
	else if (!l->child_ended)
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
	if (l->child_ended)
		return;
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
		ask_to_end(l, number);
	}
	reap(l);
}

static void close_relay(struct relay *r)
{
	close(r->from);
	r->from = -1;
}

static bool holds(const struct relay *r)
{
	return r->taken < r->held.len;
}

/* Read what the pipe has; nothing is held now. */
static void relay_in(struct relay *r)
{
	size_t most = r->bounded && r->left < RELAY_CHUNK ? r->left : RELAY_CHUNK;
	ssize_t n;

	buf_clear(&r->held);
	r->taken = 0;
	n = read(r->from, buf_reserve(&r->held, RELAY_CHUNK), most);
	if (n > 0) {
		r->held.len = (size_t)n;
		r->left -= r->bounded ? (size_t)n : 0;
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close_relay(r);
	}
}

/*
 * What the ended child wrote is in the pipe by now; what comes later is of somebody else, a daemon
 * that may hold the pipe for ever.
 */
static void bound_relay(struct relay *r)
{
	int waiting = 0;

	if (r->bounded)
		return;
	r->bounded = true;
	if (r->from >= 0)
		ioctl(r->from, FIONREAD, &waiting);
	r->left = (size_t)waiting;
}

/* The reader has gone. Closing our end tells the child, as a broken pipe would without us. */
static void give_up_output(struct loop *l, struct relay *r)
{
	l->s->output_lost = true;
	buf_clear(&r->held);
	r->taken = 0;
	if (r->from >= 0)
		close_relay(r);
}

/*
 * Write of what is held as much as a descriptor that poll() calls ready takes without waiting: a
 * pipe then has room for PIPE_BUF bytes. (Making it non-blocking would change it for all who share
 * it.)
 */
static void relay_out(struct loop *l, struct relay *r)
{
	size_t len = r->held.len - r->taken;
	ssize_t n;

	if (l->s->before_output)
		l->s->before_output(l->s->ctx);
	n = write(r->to, r->held.data + r->taken, len < PIPE_BUF ? len : PIPE_BUF);
	if (n >= 0)
		r->taken += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		give_up_output(l, r);
}

/* All that the ended child wrote has gone to our reader. */
static bool is_drained(const struct relay *r)
{
	return !holds(r) && (r->from < 0 || !r->left);
}

static bool is_limited(const struct loop *l)
{
	return l->ending == END_NOT && !l->child_ended && l->s->deadline;
}

static int wait_ms(const struct loop *l)
{
	uint64_t now = clock_now(), until = UINT64_MAX;

	if (l->next_step && !everything_ended(l) && l->next_step < until)
		until = l->next_step;
	if (l->next_tick && l->next_tick < until)
		until = l->next_tick;
	if (is_limited(l) && l->s->deadline < until)
		until = l->s->deadline;
	if (l->output_until && l->output_until < until)
		until = l->output_until;
	if (until == UINT64_MAX)
		return -1;
	if (until <= now)
		return 0;
	return (until - now) / NS_PER_MS < INT_MAX ? (int)((until - now) / NS_PER_MS) + 1 : INT_MAX;
}

static void keep_time(struct loop *l)
{
	uint64_t now = clock_now();

	if (is_limited(l) && now >= l->s->deadline) {
		l->s->timed_out = true;
		ask_to_end(l, SIGTERM);
	} else if (l->ending == END_NOT && l->s->give_up) {
		ask_to_end(l, SIGTERM);
	}
	if (l->next_step && now >= l->next_step && !everything_ended(l))
		next_ending(l);
	if (l->next_tick && now >= l->next_tick) {
		l->s->tick(l->s->ctx);
		l->next_tick = clock_now() + l->s->tick_ns;
	}
}

/* A relay waits for its reader while it holds something, else for its pipe. */
static struct pollfd relay_poll(const struct relay *r)
{
	if (holds(r))
		return (struct pollfd){.fd = r->to, .events = POLLOUT};
	if (r->bounded && !r->left)
		return (struct pollfd){.fd = -1};
	return (struct pollfd){.fd = r->from, .events = POLLIN};
}

static void turn_relay(struct loop *l, struct relay *r)
{
	if (holds(r))
		relay_out(l, r);
	else if (r->from >= 0 && !(r->bounded && !r->left))
		relay_in(r);
}

static int turn(struct loop *l)
{
	enum { SIGNALS, EXTRA, RELAYS };
	struct supervise *s = l->s;
	struct pollfd fds[RELAYS + ARRAY_SIZE(s->relays)] = {
		[SIGNALS] = {.fd = l->signals, .events = POLLIN},
		[EXTRA] = {.fd = s->extra, .events = POLLIN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(s->relays); i++)
		fds[RELAYS + i] = relay_poll(&s->relays[i]);
	if (poll(fds, ARRAY_SIZE(fds), wait_ms(l)) < 0 && errno != EINTR)
		return fail_errno("poll");
	if (s->extra >= 0 && fds[EXTRA].revents)
		s->on_extra(s->ctx);
	for (size_t i = 0; i < ARRAY_SIZE(s->relays); i++)
		if (fds[RELAYS + i].fd >= 0 && fds[RELAYS + i].revents)
			turn_relay(l, &s->relays[i]);
	if (fds[SIGNALS].revents)
		take_signals(l);
	keep_time(l);
	return 0;
}

static bool output_is_late(struct loop *l)
{
	if (!l->s->signal && !l->s->timed_out)
		return false;
	if (!l->output_until)
		l->output_until = clock_now() + OUTPUT_NS;
	return clock_now() >= l->output_until;
}

/* A reader that does not take the rest is waited for, but not by who was told to end. */
static bool is_over(struct loop *l)
{
	if (!everything_ended(l))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(l->s->relays); i++)
		bound_relay(&l->s->relays[i]);
	if (output_is_late(l))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(l->s->relays); i++)
		if (!is_drained(&l->s->relays[i]))
			return false;
	return true;
}

/* What can be written at once still is. */
static void end_relay(struct loop *l, struct relay *r)
{
	struct pollfd ready = {.fd = r->to, .events = POLLOUT};

	bound_relay(r);
	while (!is_drained(r) && poll(&ready, 1, 0) > 0)
		turn_relay(l, r);
	if (r->from >= 0)
		close_relay(r);
	buf_release(&r->held);
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
	while (!rc && !is_over(&l))
		rc = turn(&l);
	for (size_t i = 0; i < ARRAY_SIZE(s->relays); i++)
		end_relay(&l, &s->relays[i]);
	close(l.signals);
	return rc;
}
