/* SPDX-License-Identifier: MIT */
/* interrupts.c - what ends a round from outside */
#include <sys/time.h>

#include "core/base.h"
#include "core/clock.h"

#include "applets/exec-harness/interrupts.h"

enum { GRACE_SECONDS = 1 }; /* between the first signal and SIGKILL */

/* A terminal signals us and the runner, which passes it on: that is one wish, not two. */
#define ECHO_NS (300 * NS_PER_MS)

static const int asking[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* Shared with the handlers. */
static volatile sig_atomic_t asked;     /* the first signal that came */
static volatile sig_atomic_t due;       /* it came while nothing ran that it could end */
static volatile sig_atomic_t timed_out;
static volatile sig_atomic_t warned;    /* the child was sent a signal it may act on */
static volatile uint64_t asked_at;      /* when the last one came that was no echo */
static volatile pid_t running;          /* 0: nothing runs */
static bool armed;

static struct sigaction before[ARRAY_SIZE(asking)], alarm_before;

static void start_timer(uint64_t ns)
{
	uint64_t us = ns / 1000 + (ns % 1000 != 0);
	struct itimerval timer = {
		.it_value = {.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)},
	};

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* First politely; a second time, or when the grace is over, for good. */
static void end_child(int signal_number)
{
	if (!running)
		return;
	kill(running, warned ? SIGKILL : signal_number);
	kill(running, SIGCONT); /* a stopped one could not act on it */
	if (!warned)
		start_timer(GRACE_SECONDS * NS_PER_SECOND);
	warned = 1;
}

static void on_signal(int signal_number)
{
	int saved = errno;
	uint64_t now = clock_now();

	if (!asked)
		asked = signal_number;
	if (now - asked_at >= ECHO_NS) {
		asked_at = now;
		due = !running;
		end_child(signal_number);
	}
	errno = saved;
}

static void on_alarm(int signal_number UNUSED)
{
	int saved = errno;

	if (!warned)
		timed_out = 1;
	end_child(SIGTERM);
	errno = saved;
}

/* Without SA_RESTART: a wait that is interrupted is taken up again by who waits. */
static void handle(int signal_number, void (*handler)(int), struct sigaction *was)
{
	struct sigaction action = {.sa_handler = handler};

	sigfillset(&action.sa_mask);
	sigaction(signal_number, NULL, was);
	if (was->sa_handler != SIG_IGN || signal_number == SIGALRM)
		sigaction(signal_number, &action, NULL);
}

void interrupts_begin(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(asking); i++)
		handle(asking[i], on_signal, &before[i]);
	handle(SIGALRM, on_alarm, &alarm_before);
}

void interrupts_end(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(asking); i++)
		sigaction(asking[i], &before[i], NULL);
	sigaction(SIGALRM, &alarm_before, NULL);
}

void interrupts_hold(sigset_t *was)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, was);
}

void interrupts_watch(pid_t child, const sigset_t *was)
{
	running = child > 0 ? child : 0;
	sigprocmask(SIG_SETMASK, was, NULL);
	if (due && running && !warned) /* it came just before the start */
		end_child(asked);
}

void interrupts_leave_time(void)
{
	due = 0;
}

void interrupts_arm(uint64_t limit_ns)
{
	timed_out = 0;
	warned = 0;
	armed = limit_ns != 0;
	if (armed)
		start_timer(limit_ns);
}

void interrupts_disarm(void)
{
	running = 0;
	if (armed || warned)
		start_timer(0);
}

int interrupts_signal(void)
{
	return asked;
}

bool interrupts_timed_out(void)
{
	return timed_out;
}
