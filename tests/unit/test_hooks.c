/* SPDX-License-Identifier: MIT */
/* test_hooks.c - a benchmark's end of the FIFOs, against a server in another process */
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "core/hooks.h"
#include "tests/unit/fifo_rig.h"

/* A process that serves the pair in `dir` until its `stop` end is closed, and then reports. */
struct peer {
	char dir[32];
	pid_t pid;
	int stop;
	int report;
};

static void make_peer(struct peer *p, void (*body)(const char *dir, int stop, int report))
{
	int stop[2], report[2];
	char ready;

	make_dir(p->dir);
	assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
	assert_int_equal(pipe2(report, O_CLOEXEC), 0);
	p->pid = fork();
	if (p->pid == 0) {
		close(stop[1]);
		close(report[0]);
		body(p->dir, stop[0], report[1]);
		_exit(0);
	}
	close(stop[0]);
	close(report[1]);
	p->stop = stop[1];
	p->report = report[0];
	assert_int_equal(read(p->report, &ready, 1), 1);
}

static void end_peer(struct peer *p, struct buf *report)
{
	int status;

	close(p->stop);
	assert_int_equal(read_rest(p->report, report), 0);
	buf_addstr(report, "");
	close(p->report);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_int_equal(rmdir(p->dir), 0);
}

static void expect_report(struct peer *p, const char *expected)
{
	struct buf report = BUF_INIT;

	end_peer(p, &report);
	assert_string_equal(report.data, expected);
	buf_release(&report);
}

/* Wait for either; false when the peer is to end. */
static bool wait_readable(int fd, int stop)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = stop, .events = POLLIN}};

	poll(fds, 2, -1);
	return !fds[1].revents;
}

static void say(int fd, const char *text)
{
	if (write_full(fd, text, strlen(text)))
		_exit(9);
}

/* ---- The real server ---- */

static struct switches switches;

static void summarize(const struct hooks_server *s, int report)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "%s %s", s->integration ? s->integration : "-",
		   s->integration_version ? s->integration_version : "-");
	for (size_t i = 0; i < s->timestamps.uris.len; i++)
		buf_printf(&text, "; %d %s", s->timestamps.uris.items[i].pid,
			   s->timestamps.uris.items[i].uri);
	buf_printf(&text, "; %zu windows, %zu markers, %llu requests", s->windows.len,
		   s->timestamps.markers.len, (unsigned long long)s->requests);
	say(report, text.data);
	buf_release(&text);
}

static void serve_mode(const char *dir, int stop, int report, const struct hooks_mode *mode)
{
	struct hooks_profiler profiler = {on_start, on_stop, on_ping, &switches};
	struct hooks_server s;
	struct fifo f;

	if (fifo_open(&f, dir))
		_exit(1);
	hooks_server_init(&s, &f, mode, &profiler);
	say(report, "r");
	while (wait_readable(fifo_fd(&f), stop))
		if (hooks_server_serve(&s))
			error_clear();
	hooks_server_finish(&s, clock_now());
	summarize(&s, report);
	hooks_server_release(&s);
	fifo_close(&f);
}

static void serve_memory(const char *dir, int stop, int report)
{
	serve_mode(dir, stop, report, &hooks_mode_memory);
}

static void serve_walltime(const char *dir, int stop, int report)
{
	serve_mode(dir, stop, report, &hooks_mode_walltime);
}

static void serve_broken(const char *dir, int stop, int report)
{
	switches.fails = -ENOENT;
	serve_mode(dir, stop, report, &hooks_mode_memory);
}

/* A runner of the future: nothing below protocol 3. */
static void serve_future(const char *dir, int stop, int report)
{
	static const struct hooks_mode future = {.name = "memory", .answer = FIFO_MODE_ANALYSIS,
						 .min_protocol = 3};

	serve_mode(dir, stop, report, &future);
}

static void serve_simulation(const char *dir, int stop, int report)
{
	static const struct hooks_mode simulation = {.answer = FIFO_MODE_SIMULATION};

	serve_mode(dir, stop, report, &simulation);
}

static void memory_mode(void **state UNUSED)
{
	struct peer p;
	struct hooks h;

	make_peer(&p, serve_memory);
	assert_int_equal(hooks_init(&h, p.dir), 0);
	assert_int_equal(h.peer, HOOKS_ANALYSIS);
	assert_int_equal(fcntl(h.control, F_GETFD) & fcntl(h.answers, F_GETFD), FD_CLOEXEC);
	assert_int_equal(hooks_set_integration(&h, HOOKS_INTEGRATION, HOOKS_INTEGRATION_VERSION),
			 0);
	assert_int_equal(hooks_start_profiler(&h), 0);
	assert_int_equal(hooks_add_marker(&h, 4, MARKER_ROUND_START, 5), 0);
	assert_int_equal(hooks_stop_profiler(&h), 0);
	assert_int_equal(hooks_current_benchmark(&h, -3, "exec_harness::\xe2\x98\x83"), 0);
	hooks_close(&h);
	expect_report(&p, "exec-harness 1.3.0; -3 exec_harness::\xe2\x98\x83; "
			  "1 windows, 3 markers, 7 requests");
}

static void a_uri_longer_than_a_fifo(void **state UNUSED)
{
	char *uri = xmalloc(200001);
	struct buf report = BUF_INIT;
	struct peer p;
	struct hooks h;

	memset(uri, 'u', 200000);
	uri[200000] = '\0';
	make_peer(&p, serve_memory);
	assert_int_equal(hooks_init(&h, p.dir), 0);
	assert_int_equal(hooks_current_benchmark(&h, 1, uri), 0);
	hooks_close(&h);
	end_peer(&p, &report);
	assert_non_null(strstr(report.data, uri));
	buf_release(&report);
	free(uri);
}

static void a_runner_that_cannot(void **state UNUSED)
{
	struct peer p;
	struct hooks h;

	make_peer(&p, serve_broken);
	assert_int_equal(hooks_init(&h, p.dir), 0);
	assert_int_equal(hooks_start_profiler(&h), -EREMOTEIO);
	assert_string_equal(error_text(), "StartProfiler: the runner cannot");
	error_clear();
	assert_int_equal(hooks_set_integration(&h, "unheard-of", "1.0.0"), -EREMOTEIO);
	error_clear();
	hooks_close(&h);
	expect_report(&p, "unheard-of 1.0.0; 0 windows, 0 markers, 4 requests");
}

static void a_runner_that_rejects_the_protocol(void **state UNUSED)
{
	struct peer p;
	struct hooks h;

	make_peer(&p, serve_future);
	assert_int_equal(hooks_init(&h, p.dir), -EPROTO);
	assert_string_equal(error_text(), "the runner rejects protocol version 2: update codspeed");
	error_clear();
	assert_int_equal(h.peer, HOOKS_NO_PEER);
	hooks_close(&h); /* once more is fine */
	expect_report(&p, "- -; 0 windows, 0 markers, 1 requests");
}

static void a_mode_without_fifos(void **state UNUSED)
{
	struct peer p;
	struct hooks h;

	make_peer(&p, serve_simulation);
	assert_int_equal(hooks_init(&h, p.dir), 0);
	assert_int_equal(h.peer, HOOKS_NO_PEER);
	assert_string_equal(h.why, "the runner measures in a mode that needs no FIFOs");
	expect_report(&p, "- -; 0 windows, 0 markers, 2 requests");
}

/* Harnesses side by side: none gets another's answer, half an answer or none. */
static void many_at_once(void **state UNUSED)
{
	enum { CLIENTS = 6, ROUNDS = 50 };
	struct buf report = BUF_INIT;
	pid_t clients[CLIENTS];
	struct peer p;

	make_peer(&p, serve_walltime);
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = fork();
		if (clients[i])
			continue;
		for (int k = 0; k < ROUNDS; k++) {
			struct hooks h;

			if (hooks_init(&h, p.dir) || h.peer != HOOKS_WALLTIME)
				_exit(1);
			if (hooks_set_integration(&h, "x", "1") || hooks_start_profiler(&h) ||
			    hooks_add_marker(&h, 1, MARKER_ROUND_END, 1) || hooks_stop_profiler(&h))
				_exit(2);
			hooks_close(&h);
		}
		_exit(0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		int status;

		assert_int_equal(waitpid(clients[i], &status, 0), clients[i]);
		assert_int_equal(status, 0);
	}
	end_peer(&p, &report);
	buf_release(&report);
}

/* ---- Peers of other kinds ---- */

/* Answers each request by the next frame of a recording, and reports the bytes it was sent. */
static void serve_recording(const char *dir, int stop, int report)
{
	struct buf requests = BUF_INIT, answers = BUF_INIT;
	size_t asked = 0, answered = 0;
	struct fifo f;

	read_vector("fifo/fifo_v2_walltime.ack.bin", &answers);
	if (fifo_open(&f, dir))
		_exit(1);
	say(report, "r");
	while (wait_readable(fifo_fd(&f), stop)) {
		ssize_t n = read(fifo_fd(&f), buf_reserve(&requests, 4096), 4096);
		uint32_t len;

		requests.len += n > 0 ? (size_t)n : 0;
		while (requests.len - asked >= 4) {
			memcpy(&len, requests.data + asked, 4);
			if (requests.len - asked - 4 < len)
				break;
			asked += 4 + len;
			memcpy(&len, answers.data + answered, 4);
			write_full(f.answers.fd, answers.data + answered, 4 + len);
			answered += 4 + len;
		}
	}
	write_full(report, requests.data, requests.len);
	fifo_close(&f);
}

static void the_recorded_bytes_are_sent(void **state UNUSED)
{
	struct buf sent = BUF_INIT, expected = BUF_INIT;
	struct peer p;
	struct hooks h;

	make_peer(&p, serve_recording);
	assert_int_equal(hooks_init(&h, p.dir), 0);
	assert_int_equal(h.peer, HOOKS_WALLTIME);
	assert_int_equal(hooks_set_integration(&h, "exec-harness", "1.3.0"), 0);
	assert_int_equal(hooks_start_profiler(&h), 0);
	assert_int_equal(hooks_add_marker(&h, 4242, MARKER_ROUND_START, 2000), 0);
	assert_int_equal(hooks_add_marker(&h, 4242, MARKER_ROUND_END, 3000), 0);
	assert_int_equal(hooks_add_marker(&h, 4242, MARKER_ROUND_START, 3100), 0);
	assert_int_equal(hooks_add_marker(&h, 4242, MARKER_ROUND_END, 4200), 0);
	assert_int_equal(hooks_stop_profiler(&h), 0);
	assert_int_equal(hooks_current_benchmark(&h, 4242, "exec_harness::sleep 0.1"), 0);
	hooks_close(&h);
	end_peer(&p, &sent);
	read_vector("fifo/fifo_v2_walltime.ctl.bin", &expected);
	expect_bytes(&sent, expected.data, expected.len);
	buf_release(&sent);
	buf_release(&expected);
}

/* Answers memory mode's handshake, then goes silent for as long as it gets requests. */
static void serve_a_while(const char *dir, int stop, int report)
{
	const struct fifo_message ack = {.command = FIFO_ACK};
	const struct fifo_message mode = {.command = FIFO_MODE, .mode = FIFO_MODE_ANALYSIS};
	struct fifo_message m;
	struct fifo f;

	if (fifo_open(&f, dir))
		_exit(1);
	fifo_answer(&f, &ack); /* what a client that died has left */
	say(report, "r");
	while (wait_readable(fifo_fd(&f), stop))
		while (fifo_read_message(&f, &m) > 0) {
			if (m.command == FIFO_STOP_PROFILER) {
				poll(NULL, 0, 1200); /* too late */
				fifo_answer(&f, &(struct fifo_message){.command = FIFO_ERR});
			} else if (m.command != FIFO_START_PROFILER) {
				fifo_answer(&f, m.command == FIFO_GET_MODE ? &mode : &ack);
			}
		}
	fifo_close(&f);
}

static uint64_t ms_since(uint64_t begin)
{
	return (clock_now() - begin) / NS_PER_MS;
}

static void a_left_over_answer_does_not_mislead(void **state UNUSED)
{
	struct peer p;
	struct hooks h;

	make_peer(&p, serve_a_while);
	assert_int_equal(hooks_init(&h, p.dir), 0);
	assert_int_equal(h.peer, HOOKS_ANALYSIS);
	hooks_close(&h);
	expect_report(&p, "");
}

static void no_answer_is_waited_for_a_second(void **state UNUSED)
{
	struct peer p;
	struct hooks h;
	uint64_t begin;

	make_peer(&p, serve_a_while);
	assert_int_equal(hooks_init(&h, p.dir), 0);
	begin = clock_now();
	assert_int_equal(hooks_start_profiler(&h), -ETIMEDOUT);
	assert_true(ms_since(begin) >= 1000 && ms_since(begin) < 1900);
	assert_string_equal(error_text(), "StartProfiler: the runner does not answer");
	error_clear();
	assert_int_equal(hooks_stop_profiler(&h), -ETIMEDOUT);
	error_clear();
	poll(NULL, 0, 500); /* the late Err arrives, and is not the next one's */
	assert_int_equal(hooks_current_benchmark(&h, 1, "a"), 0);
	hooks_close(&h);
	expect_report(&p, "");
}

static void serve_nobody(const char *dir, int stop, int report)
{
	struct fifo f;

	if (fifo_open(&f, dir))
		_exit(1);
	say(report, "r");
	wait_readable(stop, stop);
	fifo_close(&f);
}

static void nobody_behind_the_fifos(void **state UNUSED)
{
	struct peer p;
	struct hooks h;
	uint64_t begin = clock_now();

	make_peer(&p, serve_nobody);
	assert_int_equal(hooks_init(&h, p.dir), 0);
	assert_int_equal(h.peer, HOOKS_NO_PEER);
	assert_string_equal(h.why, "the runner's FIFOs are there, but nobody answers");
	assert_true(ms_since(begin) < 3000);
	assert_string_equal(error_text(), "");
	expect_report(&p, "");
}

static void expect_no_peer(const char *dir, const char *why)
{
	uint64_t begin = clock_now();
	struct hooks h;

	assert_int_equal(hooks_init(&h, dir), 0);
	assert_int_equal(h.peer, HOOKS_NO_PEER);
	assert_string_equal(h.why, why);
	assert_true(ms_since(begin) < 500);
	assert_int_equal(hooks_set_integration(&h, "a", "1"), 0); /* nothing happens */
	assert_int_equal(hooks_start_profiler(&h), 0);
	assert_int_equal(hooks_stop_profiler(&h), 0);
	assert_int_equal(hooks_current_benchmark(&h, 1, "a"), 0);
	assert_int_equal(hooks_add_marker(&h, 1, MARKER_SAMPLE_END, 1), 0);
	hooks_close(&h);
}

static void no_fifos(void **state UNUSED)
{
	static const char why[] = "there is no runner that measures";
	char dir[32];

	make_dir(dir);
	expect_no_peer(dir, why);
	assert_int_equal(mkfifo(path_in(dir, FIFO_CONTROL), 0700), 0);
	expect_no_peer(dir, why); /* one is not enough */
	close(open(path_in(dir, FIFO_ANSWERS), O_CREAT | O_WRONLY, 0700));
	expect_no_peer(dir, why); /* nothing is written into a plain file */
	remove_dir(dir);
}

static void fifos_of_another_user(void **state UNUSED)
{
	struct peer p;
	int status;
	pid_t pid;

	if (geteuid()) {
		skip();
		return;
	}
	make_peer(&p, serve_nobody);
	assert_int_equal(chmod(p.dir, 0755), 0);
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(1);
		expect_no_peer(p.dir, "the runner's FIFOs are not for this user");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	expect_report(&p, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_mode),
		cmocka_unit_test(a_uri_longer_than_a_fifo),
		cmocka_unit_test(a_runner_that_cannot),
		cmocka_unit_test(a_runner_that_rejects_the_protocol),
		cmocka_unit_test(a_mode_without_fifos),
		cmocka_unit_test(many_at_once),
		cmocka_unit_test(the_recorded_bytes_are_sent),
		cmocka_unit_test(a_left_over_answer_does_not_mislead),
		cmocka_unit_test(no_answer_is_waited_for_a_second),
		cmocka_unit_test(nobody_behind_the_fifos),
		cmocka_unit_test(no_fifos),
		cmocka_unit_test(fifos_of_another_user),
	};

	setenv("CODSPEED_LOG", "off", 1);
	log_init("test_hooks");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
