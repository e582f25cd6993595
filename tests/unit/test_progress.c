/* SPDX-License-Identifier: MIT */
/* test_progress.c - signs of life in a log and on a terminal */
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "applets/runner/progress.h"
#include "core/base.h"
#include "core/clock.h"
#include "core/io.h"
#include <cmocka.h>
#undef fail

static int saved_stderr;

/* Standard error into a pipe or a terminal. */
static void seize(int fd)
{
	saved_stderr = dup(2);
	dup2(fd, 2);
	close(fd);
}

static void give_back(void)
{
	dup2(saved_stderr, 2);
	close(saved_stderr);
}

static void in_a_log_it_is_a_line_every_30_seconds(void **state UNUSED)
{
	struct buf text = BUF_INIT;
	struct progress p;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	seize(ends[1]);
	progress_init(&p, "sh -c 'x'\n\033[2J");
	p.root = getpid();
	p.started -= 95 * NS_PER_SECOND;
	progress_tick(&p);
	progress_tick(&p);
	progress_hide(&p); /* nothing is to be taken away in a log */
	give_back();
	assert_int_equal(read_rest(ends[0], &text), 0);
	assert_true(p.interval_ns <= 30 * NS_PER_SECOND && p.interval_ns >= 5 * NS_PER_SECOND);
	assert_false(p.spinner);
	assert_non_null(strstr(text.data, "codspeed: still running after "));
	assert_non_null(strstr(text.data, "1m 35s"));
	assert_non_null(strstr(text.data, "sh -c 'x'"));
	assert_non_null(strstr(text.data, "of CPU time"));
	assert_null(strchr(text.data, '\033'));
	assert_null(strchr(text.data, '\r'));
	assert_int_equal(text.data[text.len - 1], '\n');
	close(ends[0]);
	buf_release(&text);
}

/* Ticks on a terminal of this kind; what was drawn is appended. */
static void draw_on(const char *term, struct buf *text, struct progress *p)
{
	struct winsize size = {.ws_row = 24, .ws_col = 60};
	int master, slave;

	setenv("TERM", term, 1);
	assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
	seize(slave);
	progress_init(p, "a command that is far longer than the terminal of sixty columns is wide");
	p->root = getpid();
	progress_tick(p);
	progress_tick(p);
	progress_hide(p);
	progress_hide(p);
	buf_reserve(text, 65536);
	fcntl(master, F_SETFL, O_NONBLOCK);
	while (1) {
		ssize_t n = read(master, text->data + text->len, 60000 - text->len);

		if (n <= 0)
			break;
		text->len += (size_t)n;
	}
	text->data[text->len] = '\0';
	give_back();
	close(master);
}

static void on_a_terminal_it_is_one_line_that_goes_again(void **state UNUSED)
{
	struct buf text = BUF_INIT;
	struct progress p;

	draw_on("xterm", &text, &p);
	assert_true(p.spinner);
	assert_true(p.interval_ns <= NS_PER_SECOND);
	assert_non_null(strstr(text.data, "a command that is"));
	assert_null(strchr(text.data, '\n'));
	assert_true(str_ends(text.data, "\r\033[K")); /* taken away at the end, once */
	for (char *save, *line = strtok_r(text.data, "\r", &save); line;
	     line = strtok_r(NULL, "\r", &save))
		assert_true(strlen(line) <= 60 + strlen("\033[K")); /* or it would wrap */
	assert_false(p.drawn);
	buf_release(&text);
}

static void on_a_dumb_terminal_it_is_no_line(void **state UNUSED)
{
	struct buf text = BUF_INIT;
	struct progress p;

	draw_on("dumb", &text, &p);
	assert_false(p.spinner);
	assert_null(strchr(text.data, '\033'));
	buf_release(&text);
}

static void the_tree_is_counted(void **state UNUSED)
{
	size_t alone, with_two;
	int ends[2];
	char c;
	pid_t pid;

	process_tree_cpu_ns(getpid(), &alone);
	assert_true(alone >= 1);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (write(ends[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], &c, 1), 1);
	process_tree_cpu_ns(getpid(), &with_two);
	assert_int_equal(with_two, alone + 2);
	process_tree_cpu_ns(pid, &with_two);
	assert_int_equal(with_two, 2);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

static void processor_time_is_added_up(void **state UNUSED)
{
	size_t count;
	uint64_t before = process_tree_cpu_ns(getpid(), &count);
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec == 0 && t.tv_nsec < 300 * 1000 * 1000);
	assert_true(process_tree_cpu_ns(getpid(), &count) > before);
	assert_true(process_tree_cpu_ns(getpid(), &count) < 3600 * NS_PER_SECOND);
}

static void a_process_that_is_gone(void **state UNUSED)
{
	size_t count = 7;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(process_tree_cpu_ns(pid, &count), 0);
	assert_true(count <= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_a_log_it_is_a_line_every_30_seconds),
		cmocka_unit_test(on_a_terminal_it_is_one_line_that_goes_again),
		cmocka_unit_test(on_a_dumb_terminal_it_is_no_line),
		cmocka_unit_test(the_tree_is_counted),
		cmocka_unit_test(processor_time_is_added_up),
		cmocka_unit_test(a_process_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
