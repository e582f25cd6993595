/* SPDX-License-Identifier: MIT */
/* test_spawn.c - a program started in two steps */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"
#include "core/spawn.h"
#include <cmocka.h>
#undef fail

static int end_of(const struct spawn *s)
{
	int status = -1;

	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	return status;
}

/* Run `sh -c text` with what `s` says; its output is appended, its status returned. */
static int run_shell(struct spawn *s, const char *text, struct buf *output)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)text, NULL};
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	s->path = "/bin/sh";
	s->argv = argv;
	s->out = ends[1];
	assert_int_equal(spawn_start(s), 0);
	close(ends[1]);
	assert_int_equal(spawn_release(s), 0);
	assert_int_equal(read_rest(ends[0], output), 0);
	close(ends[0]);
	return end_of(s);
}

static void expect_output(struct spawn s, const char *text, const char *expected)
{
	struct buf output = BUF_INIT;

	assert_int_equal(run_shell(&s, text, &output), 0);
	assert_string_equal(output.len ? output.data : "", expected);
	buf_release(&output);
}

static void a_child_waits_until_it_is_released(void **state UNUSED)
{
	char *argv[] = {(char *)"true", NULL};
	struct spawn s = SPAWN_INIT;
	siginfo_t info = {0};

	s.path = "/bin/true";
	s.argv = argv;
	assert_int_equal(spawn_start(&s), 0);
	assert_int_equal(waitid(P_PID, (id_t)s.pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	assert_int_equal(info.si_pid, 0);
	assert_int_equal(spawn_release(&s), 0);
	assert_int_equal(end_of(&s), 0);
}

static void statuses_come_through(void **state UNUSED)
{
	struct buf output = BUF_INIT;
	int status;

	for (int code = 0; code < 256; code += 51) {
		struct spawn s = SPAWN_INIT;
		char *text = xasprintf("exit %d", code);

		status = run_shell(&s, text, &output);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), code);
		free(text);
	}
	status = run_shell(&(struct spawn)SPAWN_INIT, "kill -9 $$", &output);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	buf_release(&output);
}

static void arguments_and_environment_are_bytes(void **state UNUSED)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"printf '%s|' \"$@\" \"$V\" \"$HOME\"",
			(char *)"sh", (char *)"a b", (char *)"", (char *)"\xff\n", NULL};
	char *envp[] = {(char *)"V=x\ny'\"\xfe", NULL};
	struct spawn s = SPAWN_INIT;
	struct buf output = BUF_INIT;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	s.path = "/bin/sh";
	s.argv = argv;
	s.envp = envp;
	s.out = ends[1];
	assert_int_equal(spawn_start(&s), 0);
	close(ends[1]);
	assert_int_equal(spawn_release(&s), 0);
	assert_int_equal(read_rest(ends[0], &output), 0);
	assert_int_equal(end_of(&s), 0);
	assert_string_equal(output.data, "a b||\xff\n|x\ny'\"\xfe||");
	close(ends[0]);
	buf_release(&output);
}

static void the_working_directory(void **state UNUSED)
{
	struct spawn s = SPAWN_INIT;

	s.cwd = "/usr";
	expect_output(s, "pwd -P", "/usr\n");
}

static void expect_failure(struct spawn *s, int rc, const char *reason)
{
	int status;

	assert_int_equal(spawn_start(s), 0);
	assert_int_equal(spawn_release(s), rc);
	assert_non_null(strstr(error_text(), reason));
	error_clear();
	status = end_of(s);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 127);
}

static void what_cannot_be_started_is_told(void **state UNUSED)
{
	char *argv[] = {(char *)"x", NULL};
	struct spawn s = SPAWN_INIT;

	s.argv = argv;
	s.path = "/nonexistent";
	expect_failure(&s, -ENOENT, "cannot execute /nonexistent");
	s.path = "/etc";
	expect_failure(&s, -EACCES, "cannot execute /etc");
	s.path = "/bin/true";
	s.cwd = "/nonexistent";
	expect_failure(&s, -ENOENT, "cannot enter the working directory /nonexistent");
	s.cwd = "/bin/true/x";
	expect_failure(&s, -ENOTDIR, "/bin/true/x");
}

static void too_many_arguments_are_told(void **state UNUSED)
{
	char *huge = xmalloc(300000);
	char *argv[] = {(char *)"true", huge, NULL};
	struct spawn s = SPAWN_INIT;

	memset(huge, 'x', 299999);
	huge[299999] = '\0';
	s.path = "/bin/true";
	s.argv = argv;
	expect_failure(&s, -E2BIG, "cannot execute /bin/true");
	free(huge);
}

static void no_descriptor_of_ours_is_left(void **state UNUSED)
{
	int inherited = 0; /* from whoever runs the tests */
	char *expected;

	for (int fd = 3; fd < 1024; fd++)
		inherited += fcntl(fd, F_GETFD) == 0;
	expected = xasprintf("%d\n", 3 + inherited + 1); /* and the folder that ls reads */
	expect_output((struct spawn)SPAWN_INIT, "ls /proc/self/fd | wc -l", expected);
	free(expected);
}

static void a_descriptor_that_is_in_place(void **state UNUSED)
{
	int ends[2], saved = dup(1), status;
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"echo here", NULL};
	struct spawn s = SPAWN_INIT;
	struct buf output = BUF_INIT;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	fflush(stdout);
	dup3(ends[1], 1, O_CLOEXEC); /* 1 itself, which would be closed by exec */
	s.path = "/bin/sh";
	s.argv = argv;
	s.out = 1;
	status = spawn_start(&s);
	dup2(saved, 1);
	close(saved);
	close(ends[1]);
	assert_int_equal(status, 0);
	assert_int_equal(spawn_release(&s), 0);
	assert_int_equal(read_rest(ends[0], &output), 0);
	assert_string_equal(output.data, "here\n");
	assert_int_equal(end_of(&s), 0);
	close(ends[0]);
	buf_release(&output);
}

static void held_signals_reach_no_child(void **state UNUSED)
{
	sigset_t set, now;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	spawn_hold_signals(&set);
	sigprocmask(SIG_BLOCK, NULL, &now);
	assert_int_equal(sigismember(&now, SIGUSR1), 1);
	expect_output((struct spawn)SPAWN_INIT, "grep SigBlk /proc/self/status",
		      "SigBlk:\t0000000000000000\n");
}

static void huge_descriptor_limits_are_lowered(void **state UNUSED)
{
	struct spawn s = SPAWN_INIT;
	struct rlimit limit, small;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	small = limit;
	small.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
	s.modest_files = true;
	expect_output(s, "ulimit -n", "100\n"); /* never raised */
	if (limit.rlim_max > 70000) {
		small.rlim_cur = 70000;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
		expect_output(s, "ulimit -n", "65536\n");
		s.modest_files = false;
		expect_output(s, "ulimit -n", "70000\n");
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void addresses_stay_the_same(void **state UNUSED)
{
	struct spawn s = SPAWN_INIT;

	if (!spawn_can_fix_addresses()) {
		skip(); /* a seccomp profile refuses */
		return;
	}
	s.fixed_addresses = true;
	expect_output(s, "cat /proc/self/personality", "00040000\n");
	expect_output((struct spawn)SPAWN_INIT, "cat /proc/self/personality", "00000000\n");
}

/* A child of a process that dies gets the signal. */
static void children_die_with_us(void **state UNUSED)
{
	struct buf output = BUF_INIT;
	int ends[2], status;
	pid_t middle;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	middle = fork();
	if (middle == 0) {
		char *argv[] = {(char *)"sh", (char *)"-c",
				(char *)"trap 'echo told; exit' TERM; echo ready; "
					"while :; do sleep 0.05; done", NULL};
		struct spawn s = SPAWN_INIT;

		s.path = "/bin/sh";
		s.argv = argv;
		s.out = ends[1];
		s.death_signal = SIGTERM;
		if (spawn_start(&s) || spawn_release(&s))
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	buf_reserve(&output, 64);
	assert_int_equal(read(ends[0], output.data, 6), 6);
	kill(middle, SIGKILL);
	assert_int_equal(waitpid(middle, &status, 0), middle);
	assert_int_equal(read_rest(ends[0], &output), 0); /* ends when the last writer has */
	assert_string_equal(output.data, "told\n");
	close(ends[0]);
	buf_release(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_waits_until_it_is_released),
		cmocka_unit_test(statuses_come_through),
		cmocka_unit_test(arguments_and_environment_are_bytes),
		cmocka_unit_test(the_working_directory),
		cmocka_unit_test(what_cannot_be_started_is_told),
		cmocka_unit_test(too_many_arguments_are_told),
		cmocka_unit_test(no_descriptor_of_ours_is_left),
		cmocka_unit_test(a_descriptor_that_is_in_place),
		cmocka_unit_test(held_signals_reach_no_child),
		cmocka_unit_test(huge_descriptor_limits_are_lowered),
		cmocka_unit_test(addresses_stay_the_same),
		cmocka_unit_test(children_die_with_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
