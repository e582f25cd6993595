/* SPDX-License-Identifier: MIT */
/* test_supervise.c - a child seen to its end: relays, daemons, signals, deadlines */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/spawn.h"
#include "core/supervise.h"
#include <cmocka.h>
#undef fail

/* Far above what a step takes, far below what a hang would. */
#define SOON (20 * NS_PER_SECOND)

static int seized[2]; /* where the relays write to */
static int read_ends[2];

static int setup(void **state UNUSED)
{
	int ends[2];

	for (size_t i = 0; i < 2; i++) {
		if (pipe2(ends, O_CLOEXEC))
			return -1;
		read_ends[i] = ends[0];
		seized[i] = ends[1];
		fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
	}
	supervise_prepare();
	return 0;
}

static int teardown(void **state UNUSED)
{
	for (size_t i = 0; i < 2; i++) {
		close(read_ends[i]);
		if (seized[i] >= 0)
			close(seized[i]);
	}
	return 0;
}

/* Start `sh -c text` with its outputs relayed, ready for supervise(). */
static void start(struct supervise *s, const char *text)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)text, NULL};
	struct spawn spawn = SPAWN_INIT;
	int ends[2];

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		s->relays[i] = (struct relay){.from = ends[0], .to = seized[i]};
		*(i ? &spawn.err : &spawn.out) = ends[1];
	}
	spawn.path = "/bin/sh";
	spawn.argv = argv;
	assert_int_equal(spawn_start(&spawn), 0);
	close(spawn.out);
	close(spawn.err);
	assert_int_equal(spawn_release(&spawn), 0);
	s->child = spawn.pid;
	s->grace_ns = 200 * NS_PER_MS;
}

static void expect_relayed(size_t which, const char *expected)
{
	struct buf text = BUF_INIT;

	close(seized[which]);
	seized[which] = -1;
	assert_int_equal(read_rest(read_ends[which], &text), 0);
	assert_string_equal(text.len ? text.data : "", expected);
	buf_release(&text);
}

static void run(struct supervise *s, const char *text)
{
	uint64_t began = clock_now();

	start(s, text);
	assert_int_equal(supervise(s), 0);
	assert_true(clock_now() - began < SOON);
}

static void a_child_that_exits(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	run(&s, "exit 7");
	assert_true(WIFEXITED(s.status));
	assert_int_equal(WEXITSTATUS(s.status), 7);
	assert_int_equal(s.signal, 0);
	assert_false(s.timed_out);
	assert_false(s.output_lost);
}

static void a_child_that_is_killed(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	run(&s, "kill -SEGV $$");
	assert_true(WIFSIGNALED(s.status));
	assert_int_equal(WTERMSIG(s.status), SIGSEGV);
}

static void a_child_that_had_ended_before(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;
	siginfo_t info;

	start(&s, "echo early; exit 3");
	assert_int_equal(waitid(P_PID, (id_t)s.child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(supervise(&s), 0);
	assert_int_equal(WEXITSTATUS(s.status), 3);
	expect_relayed(0, "early\n");
}

static void both_outputs_are_passed_on(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	run(&s, "printf 'a\\377b'; printf 'to err' >&2; printf 'c\\n\\n'; printf 'no newline' >&2");
	expect_relayed(0, "a\xff" "bc\n\n");
	expect_relayed(1, "to errno newline");
}

/* The last bytes are in the pipe when the child is gone already: none of them is lost. */
static void a_full_pipe_is_drained(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;
	struct buf text = BUF_INIT;

	run(&s, "i=0; while [ $i -lt 1000 ]; do echo 0123456789012345678901234567890123456789012345678; "
		"i=$((i+1)); done");
	close(seized[0]);
	seized[0] = -1;
	assert_int_equal(read_rest(read_ends[0], &text), 0);
	assert_int_equal(text.len, 50000);
	buf_release(&text);
}

static unsigned hidden;

static void on_output(void *ctx UNUSED)
{
	hidden++;
}

static void output_is_announced(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	hidden = 0;
	s.before_output = on_output;
	run(&s, "true");
	assert_int_equal(hidden, 0);
	s = (struct supervise)SUPERVISE_INIT;
	s.before_output = on_output;
	run(&s, "echo x");
	assert_true(hidden > 0);
	expect_relayed(0, "x\n");
}

/* It holds the pipe open and goes on writing; nobody waits for it without a tree. */
static void a_daemon_does_not_hang_us(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;
	struct buf text = BUF_INIT;
	pid_t daemon;

	run(&s, "sh -c 'echo $$; trap \"\" PIPE; while :; do echo more; sleep 0.01; done' 2>/dev/null & "
		"sleep 0.1; exit 0");
	close(seized[0]);
	seized[0] = -1;
	assert_int_equal(read_rest(read_ends[0], &text), 0);
	daemon = (pid_t)strtol(text.data, NULL, 10);
	assert_true(daemon > 1);
	assert_int_equal(kill(daemon, SIGKILL), 0); /* it was there, and it is ours to end */
	buf_release(&text);
}

static void a_reader_that_left(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	close(read_ends[0]);
	read_ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	run(&s, "while echo x; do :; done 2>/dev/null; exit 5"); /* or killed by SIGPIPE */
	assert_true(s.output_lost);
	assert_true(WIFSIGNALED(s.status) ? WTERMSIG(s.status) == SIGPIPE
					  : WEXITSTATUS(s.status) == 5);
	assert_int_equal(s.signal, 0);
}

static void an_end_by_deadline(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	s.deadline = clock_now() + 100 * NS_PER_MS;
	run(&s, "exec sleep 100");
	assert_true(s.timed_out);
	assert_int_equal(s.signal, 0);
	assert_true(WIFSIGNALED(s.status));
	assert_int_equal(WTERMSIG(s.status), SIGTERM);
}

static void a_deadline_that_is_not_reached(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	s.deadline = clock_now() + SOON;
	run(&s, "exit 1");
	assert_false(s.timed_out);
	assert_int_equal(WEXITSTATUS(s.status), 1);
}

static void who_does_not_listen_is_killed(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	s.deadline = clock_now() + 300 * NS_PER_MS;
	run(&s, "trap '' TERM; while :; do sleep 0.05; done");
	assert_true(s.timed_out);
	assert_true(WIFSIGNALED(s.status));
	assert_int_equal(WTERMSIG(s.status), SIGKILL);
}

static void who_is_stopped_is_woken(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	s.deadline = clock_now() + 300 * NS_PER_MS;
	run(&s, "trap 'exit 9' TERM; kill -STOP $$; exit 1");
	assert_true(s.timed_out);
	assert_true(WIFEXITED(s.status));
}

/* Send `signal_number` to this process as soon as the child has said that it is ready. */
static pid_t signal_us_later(int signal_number)
{
	pid_t us = getpid(), pid = fork();

	if (pid == 0) {
		char c;

		close(seized[0]);
		if (read(read_ends[0], &c, 1) == 1)
			kill(us, signal_number);
		_exit(0);
	}
	return pid;
}

static void expect_forwarded(int signal_number)
{
	struct supervise s = SUPERVISE_INIT;
	pid_t helper;

	start(&s, "trap 'echo int >&2; exit 41' INT; trap 'echo term >&2; exit 42' TERM; "
		  "trap 'echo hup >&2; exit 43' HUP; trap 'echo quit >&2; exit 44' QUIT; "
		  "echo ready; while :; do sleep 0.02; done");
	helper = signal_us_later(signal_number);
	assert_int_equal(supervise(&s), 0);
	assert_int_equal(waitpid(helper, NULL, 0), helper);
	assert_int_equal(s.signal, signal_number);
	assert_true(WIFEXITED(s.status));
	assert_true(WEXITSTATUS(s.status) >= 41 && WEXITSTATUS(s.status) <= 44);
	assert_int_equal(supervise_pending_signal(), 0);
}

static void interrupts_are_forwarded(void **state UNUSED)
{
	expect_forwarded(SIGINT);
}

static void terminations_are_forwarded(void **state UNUSED)
{
	expect_forwarded(SIGTERM);
}

static void hang_ups_are_forwarded(void **state UNUSED)
{
	expect_forwarded(SIGHUP);
}

static void quits_are_forwarded(void **state UNUSED)
{
	expect_forwarded(SIGQUIT);
}

static void a_signal_before_is_not_lost(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	kill(getpid(), SIGTERM);
	assert_int_equal(supervise_pending_signal(), SIGTERM);
	run(&s, "exec sleep 100");
	assert_int_equal(s.signal, SIGTERM);
	assert_true(WIFSIGNALED(s.status));
	assert_int_equal(supervise_pending_signal(), 0);
}

static unsigned ticks;

static void on_tick(void *ctx)
{
	ticks++;
	assert_ptr_equal(ctx, &ticks);
}

static void ticks_come_while_it_runs(void **state UNUSED)
{
	struct supervise s = SUPERVISE_INIT;

	ticks = 0;
	s.tick = on_tick;
	s.tick_ns = 20 * NS_PER_MS;
	s.ctx = &ticks;
	run(&s, "sleep 0.5");
	assert_true(ticks >= 3 && ticks <= 30);
}

static void expect_end_by(int signal_number)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		supervise_prepare();
		supervise_reraise(signal_number);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), signal_number);
}

static void we_end_by_the_signal(void **state UNUSED)
{
	signal(SIGINT, SIG_IGN); /* as nohup and background jobs have it */
	expect_end_by(SIGINT);
	signal(SIGINT, SIG_DFL);
	expect_end_by(SIGINT);
	expect_end_by(SIGTERM);
	expect_end_by(SIGHUP);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_child_that_exits),
		TEST(a_child_that_is_killed),
		TEST(a_child_that_had_ended_before),
		TEST(both_outputs_are_passed_on),
		TEST(a_full_pipe_is_drained),
		TEST(output_is_announced),
		TEST(a_daemon_does_not_hang_us),
		TEST(a_reader_that_left),
		TEST(an_end_by_deadline),
		TEST(a_deadline_that_is_not_reached),
		TEST(who_does_not_listen_is_killed),
		TEST(who_is_stopped_is_woken),
		TEST(interrupts_are_forwarded),
		TEST(terminations_are_forwarded),
		TEST(hang_ups_are_forwarded),
		TEST(quits_are_forwarded),
		TEST(a_signal_before_is_not_lost),
		TEST(ticks_come_while_it_runs),
		TEST(we_end_by_the_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
