/* SPDX-License-Identifier: MIT */
/* perf_record.c - samples by linux-perf, steered by its control FIFOs */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/cleanup.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/path.h"
#include "core/spawn.h"

#include "applets/runner/walltime/perf_script.h"
#include "applets/runner/walltime/profiler.h"

enum {
	ANSWER_MS = 5000, /* for perf to come up, or to answer */
};

#define END_NS (10 * NS_PER_SECOND) /* for perf to write what it has */

static struct {
	char *program;
	char *folder;     /* of the FIFOs and the data; private */
	int control, ack; /* our ends */
	pid_t pid;        /* of the perf that runs; 0: none */
	unsigned files;   /* data files so far */
	pid_t without;    /* whose samples are not wanted; 0: all are */
} perf = {.control = -1, .ack = -1};

/* ---- Starting it ---- */

/* Its words come out of /dev/null: they would stand among the benchmark's. */
static int start_perf(char *const *argv, int out, pid_t *pid)
{
	struct spawn s = SPAWN_INIT;
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), rc;

	if (nowhere < 0)
		return fail_errno("/dev/null");
	s.path = perf.program;
	s.argv = argv;
	s.in = s.err = nowhere;
	s.out = out >= 0 ? out : nowhere;
	s.death_signal = SIGKILL;
	rc = spawn_start(&s);
	if (!rc)
		rc = spawn_release(&s);
	close(nowhere);
	*pid = s.pid;
	return rc;
}

static int run_perf(char *const *argv)
{
	int status, rc;
	pid_t pid;

	rc = start_perf(argv, -1, &pid);
	if (rc)
		return rc;
	if (waitpid(pid, &status, 0) != pid)
		return fail_errno("cannot wait for perf");
	if (status)
		return fail(-EIO, "perf record does not work here (status %d)", status_of_wait(status));
	return 0;
}

static void remove_folder(void *unused UNUSED)
{
	if (perf.pid)
		kill(perf.pid, SIGKILL);
	if (perf.folder && path_remove_tree(perf.folder))
		error_clear();
	free(perf.folder);
	perf.folder = NULL;
}

/* A name that nobody can guess, for nobody else. */
static int make_folder(void)
{
	const char *temp = getenv("TMPDIR");

	if (perf.folder)
		return 0;
	perf.folder = xasprintf("%s/codspeed-perf.XXXXXX", temp && *temp ? temp : "/tmp");
	if (!mkdtemp(perf.folder)) {
		int rc = fail_errno("cannot create a folder for perf in %s", temp && *temp ? temp : "/tmp");

		free(perf.folder);
		perf.folder = NULL;
		return rc;
	}
	cleanup_push(remove_folder, NULL);
	return 0;
}

/* With the options that count, on a program that ends at once. */
static int try_perf(void)
{
	char *const trial[] = {
		(char *)"perf", (char *)"record", (char *)"-q", (char *)"-F", (char *)"997",
		(char *)"-k", (char *)"CLOCK_MONOTONIC", (char *)"-g", (char *)"--delay=-1",
		(char *)"--user-callchains", (char *)"-o", NULL, (char *)"--", (char *)"true", NULL,
	};
	char **argv = xmemdup(trial, sizeof(trial));
	int rc = path_find_program("perf", getenv("PATH"), &perf.program);

	if (rc) {
		free(argv);
		return fail(-ENOENT, "perf is not installed");
	}
	rc = make_folder();
	if (!rc) {
		argv[11] = xasprintf("%s/trial", perf.folder);
		rc = run_perf(argv);
		free(argv[11]);
	}
	free(argv);
	return rc;
}

/* ---- Steering it ---- */

static int make_fifo(const char *name, int *fd)
{
	char *path = xasprintf("%s/%s", perf.folder, name);
	int rc = 0;

	unlink(path);
	if (mkfifo(path, 0600) || (*fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0)
		rc = fail_errno("cannot make %s", path);
	free(path);
	return rc;
}

static bool has_ended(void)
{
	int status;

	if (!perf.pid || waitpid(perf.pid, &status, WNOHANG) != perf.pid)
		return !perf.pid;
	perf.pid = 0;
	return true;
}

/* perf takes a request a line and answers "ack\n" with the NUL behind it. */
static int request(const char *what)
{
	struct pollfd ready = {.fd = perf.ack, .events = POLLIN};
	uint64_t until = clock_now() + ANSWER_MS * NS_PER_MS;
	char answer[16];

	if (write(perf.control, what, strlen(what)) != (ssize_t)strlen(what))
		return fail_errno("perf takes no requests");
	while (clock_now() < until) {
		if (poll(&ready, 1, 50) > 0)
			return read(perf.ack, answer, sizeof(answer)) > 0
				       ? 0 : fail_errno("perf does not answer");
		if (has_ended())
			return fail(-ESRCH, "perf has ended");
	}
	return fail(-ETIMEDOUT, "perf does not answer");
}

static int enable(void)
{
	return perf.pid ? request("enable\n") : fail(-ESRCH, "perf has ended");
}

static int disable(void)
{
	return perf.pid ? request("disable\n") : 0;
}

static void close_fifos(void)
{
	if (perf.control >= 0)
		close(perf.control);
	if (perf.ack >= 0)
		close(perf.ack);
	perf.control = perf.ack = -1;
}

/* SIGINT lets it write what it has, which nobody has to wait for. */
static int detach(void)
{
	if (perf.pid)
		kill(perf.pid, SIGINT);
	close_fifos();
	return 0;
}

static void wait_for_end(void)
{
	uint64_t until = clock_now() + END_NS;

	while (!has_ended() && clock_now() < until)
		usleep(1000);
	if (!perf.pid)
		return;
	kill(perf.pid, SIGKILL);
	waitpid(perf.pid, NULL, 0);
	perf.pid = 0;
}

static int attach(const struct profiler_target *of)
{
	char *data = xasprintf("%s/%u.data", perf.folder, perf.files++);
	char *fifos = xasprintf("fifo:%s/control,%s/ack", perf.folder, perf.folder);
	char target[16], frequency[16];
	char *const argv[] = {
		(char *)"perf", (char *)"record", (char *)"-q", (char *)"-F", frequency,
		(char *)"-k", (char *)"CLOCK_MONOTONIC", (char *)"-g", (char *)"--delay=-1",
		(char *)"--user-callchains", (char *)"-o", data, (char *)"--control", fifos,
		(char *)"-p", target, NULL,
	};
	int rc;

	wait_for_end(); /* of one before */
	snprintf(target, sizeof(target), "%d", of->pid);
	snprintf(frequency, sizeof(frequency), "%u", of->frequency);
	perf.without = of->without_itself ? of->pid : 0;
	rc = make_fifo("control", &perf.control);
	if (!rc)
		rc = make_fifo("ack", &perf.ack);
	if (!rc)
		rc = start_perf(argv, -1, &perf.pid);
	if (!rc)
		rc = request("ping\n"); /* answered once its events are open */
	free(data);
	free(fifos);
	return rc;
}

/* ---- Reading what it wrote ---- */

static int collect_file(const char *data, struct stacks *to)
{
	char *const argv[] = {
		(char *)"perf", (char *)"script", (char *)"-i", (char *)data, (char *)"--ns",
		(char *)"-F", (char *)"comm,pid,time,ip,sym,dso", NULL,
	};
	struct buf text = BUF_INIT;
	int ends[2], status, rc;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return fail_errno("cannot create a pipe");
	rc = start_perf(argv, ends[1], &pid);
	close(ends[1]);
	if (!rc) {
		rc = read_rest(ends[0], &text);
		if (waitpid(pid, &status, 0) != pid || status)
			rc = rc ? rc : fail(-EIO, "perf script failed");
	}
	close(ends[0]);
	if (!rc && text.len)
		perf_script_read(text.data, perf.without, to);
	buf_release(&text);
	return rc;
}

static int collect(struct stacks *to)
{
	int rc = 0;

	wait_for_end();
	for (unsigned i = 0; !rc && i < perf.files; i++) {
		char *data = xasprintf("%s/%u.data", perf.folder, i);
		struct stat st;

		if (!stat(data, &st) && st.st_size)
			rc = collect_file(data, to);
		free(data);
	}
	return rc;
}

static void release(void)
{
	detach();
	wait_for_end();
	if (perf.folder) {
		cleanup_drop(remove_folder, NULL);
		remove_folder(NULL);
	}
	free(perf.program);
	perf.program = NULL;
}

const struct profiler_backend perf_backend = {
	.name = "perf", .try = try_perf, .attach = attach, .enable = enable, .disable = disable,
	.detach = detach, .settle = wait_for_end, .collect = collect, .release = release,
};
