/* SPDX-License-Identifier: MIT */
/* parts.c - a run of several parts, each by a process of its own */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"
#include "core/cleanup.h"
#include "core/clock.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/mode.h"
#include "core/path.h"
#include "core/spawn.h"
#include "core/supervise.h"
#include "core/text.h"

#include "applets/runner/folder.h"
#include "applets/runner/judging.h"
#include "applets/runner/parts.h"
#include "applets/runner/recorded.h"
#include "applets/runner/report/report.h"
#include "applets/runner/session.h"

/* A part ends its command, reads what that left and writes its results: more than its own grace. */
enum { GRACE_SECONDS = 20 };

#define SELF "/proc/self/exe" /* this very binary; nothing else may choose it */

struct run {
	const struct run_options *options;
	struct profile_folder folder;
	struct result result;
	struct judging judging;
	char *json;
	int status;         /* of the whole so far */
	int signal;         /* that asked us to end; 0: none */
	off_t input_offset; /* of standard input; -1: it is no file */
};

/* ---- The list ---- */

static void add_part(struct parts *p, int mode, char *const *before, char *const *after,
		     const char *input, const char *command)
{
	struct part part = {.mode = mode, .command = xstrdup(command)};

	strvec_push_all(&part.before, before);
	if (after)
		strvec_push_all(&part.after, after);
	if (input)
		part.input = xstrdup(input);
	vec_push(&p->list, part);
}

void parts_add(struct parts *p, const struct opt_list *modes, char *const *before,
	       char *const *after, const char *input, const char *command)
{
	if (!modes->len)
		add_part(p, -1, before, after, input, command);
	for (size_t i = 0; i < modes->len; i++)
		add_part(p, modes->items[i], before, after, input, command);
}

void part_release(struct part *part)
{
	strvec_release(&part->before);
	strvec_release(&part->after);
	free(part->input);
	free(part->command);
}

static void parts_release(struct parts *p)
{
	for (size_t i = 0; i < p->list.len; i++)
		part_release(&p->list.items[i]);
	vec_release(&p->list);
}

/* Before anything runs; the folders of several are called by their modes. */
static void settle_modes(struct parts *p, const struct run_options *options)
{
	for (size_t i = 0; i < p->list.len; i++) {
		struct part *part = &p->list.items[i];

		if (part->mode < 0 && p->list.len > 1)
			part->mode = session_choose_mode(options);
		if (part->mode >= 0 && mode_check_supported((enum mode)part->mode))
			die_recorded(EXIT_UNSUPPORTED);
	}
}

/* ---- One part ---- */

void part_words(const struct part *part, const char *folder, struct strvec *argv)
{
	strvec_push(argv, "codspeed");
	strvec_push_all(argv, part->before.items);
	if (part->mode >= 0)
		strvec_pushf(argv, "--mode=%s", mode_name((enum mode)part->mode));
	strvec_pushf(argv, "--profile-folder=%s", folder);
	strvec_push(argv, "--part");
	if (part->after.items)
		strvec_push_all(argv, part->after.items);
}

/* A descriptor to read the text from; ends the process when there is none to be had. */
static int text_as_input(const char *text)
{
	int fd = memfd_create("input", MFD_CLOEXEC), rc = -errno;

	if (fd >= 0)
		rc = write_full(fd, text, strlen(text));
	if (rc || lseek(fd, 0, SEEK_SET))
		die(EXIT_FAILED, "cannot hand over the list of commands: %s", strerror(-rc));
	return fd;
}

/*
 * Each part shall read the same. A file is read from where it stands, again and again; a pipe can
 * be read once only, so nobody gets it. A terminal is everyone's.
 */
static void look_at_input(struct run *run)
{
	struct stat st;
	int waiting = 0;

	run->input_offset = -1;
	if (fstat(STDIN_FILENO, &st))
		return;
	if (S_ISREG(st.st_mode))
		run->input_offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return;
	if (!ioctl(STDIN_FILENO, FIONREAD, &waiting) && waiting > 0)
		log_warn("standard input is a pipe, which only one of the parts could read: all read "
			 "/dev/null instead; give it as a file (< FILE)");
	run->input_offset = -2;
}

/* The descriptor for a part's standard input; -1: this process's. Not to be kept open. */
static int open_input(const struct run *run, const struct part *part)
{
	if (part->input)
		return text_as_input(part->input);
	if (run->input_offset >= 0)
		lseek(STDIN_FILENO, run->input_offset, SEEK_SET);
	return run->input_offset == -2 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
}

static int start_and_wait(struct run *run, struct spawn *spawn, int *wait_status)
{
	struct supervise w = SUPERVISE_INIT;
	int rc = spawn_start(spawn);

	if (!rc)
		rc = spawn_release(spawn);
	if (rc)
		return rc;
	w.child = spawn->pid;
	w.grace_ns = GRACE_SECONDS * NS_PER_SECOND;
	rc = supervise(&w);
	run->signal = w.signal;
	*wait_status = w.status;
	return rc;
}

/*
 * A failed benchmark weighs most; else the first thing that went wrong. A part that was ended by a
 * signal that we did not get has failed.
 */
static void take_status(struct run *run, const struct part *part, int wait_status)
{
	int status = status_of_wait(wait_status);

	if (run->signal || !status)
		return;
	if (WIFSIGNALED(wait_status)) {
		log_error("the process that measured %s was killed by signal %d", part->command,
			  WTERMSIG(wait_status));
		status = EXIT_FAILED;
	}
	if (!run->status || status == EXIT_FAILED)
		run->status = status;
}

static void run_part(struct run *run, const struct part *part, const char *folder)
{
	struct strvec argv = STRVEC_INIT;
	struct spawn spawn = SPAWN_INIT;
	int wait_status = 0;

	part_words(part, folder, &argv);
	spawn.path = SELF;
	spawn.argv = argv.items;
	spawn.in = open_input(run, part);
	spawn.out = run->json && str_eq(run->json, "-") ? STDERR_FILENO : -1;
	spawn.death_signal = SIGTERM;
	if (start_and_wait(run, &spawn, &wait_status))
		die(EXIT_FAILED, "cannot start a part of the run");
	if (spawn.in >= 0)
		close(spawn.in);
	take_status(run, part, wait_status);
	strvec_release(&argv);
}

/* ---- One result ---- */

static void fail_report(struct run *run)
{
	log_error("%s", error_text());
	error_clear();
	run->status = EXIT_FAILED;
}

static bool is_known(const struct result *r, const struct benchmark *b)
{
	for (size_t i = 0; i < r->benchmarks.len; i++)
		if (r->benchmarks.items[i].mode == b->mode && str_eq(r->benchmarks.items[i].uri, b->uri))
			return true;
	return false;
}

/* (uri, mode) is an identity: of two, the second could not be compared with anything. */
static void take_benchmarks(struct run *run, struct result *from, const char *command)
{
	size_t before = run->result.benchmarks.len;

	for (size_t i = 0; i < from->benchmarks.len; i++) {
		struct benchmark *b = &from->benchmarks.items[i];
		struct result earlier = run->result;

		earlier.benchmarks.len = before;
		if (!is_known(&earlier, b)) {
			vec_push(&run->result.benchmarks, *b);
			continue;
		}
		log_error("%s: the benchmark %s was measured already, by another command of this run; "
			  "this one is left out", command, b->uri);
		run->status = EXIT_FAILED;
		benchmark_release(b);
	}
	from->benchmarks.len = 0; /* they have moved */
}

/* All parts ran on this machine; what only some modes use is known from the first that did. */
static void take_system(struct result_system *to, struct result_system *from)
{
	if (!to->os) {
		*to = *from;
		*from = (struct result_system){0};
		return;
	}
	if (!to->valgrind && from->valgrind) {
		to->valgrind = from->valgrind;
		to->valgrind_options = from->valgrind_options;
		from->valgrind = NULL;
		from->valgrind_options = (struct strvec)STRVEC_INIT;
	}
	if (!to->glibc_tunables) {
		to->glibc_tunables = from->glibc_tunables;
		from->glibc_tunables = NULL;
	}
}

/* No file: the part measured nothing, and has said so. */
static void take_results(struct run *run, const struct part *part, const char *folder)
{
	char *path = profile_result_path(folder);
	struct result r = RESULT_INIT;
	struct stat st;

	if (!stat(path, &st) && recorded_read(&r, path))
		fail_report(run);
	for (size_t i = 0; i < r.run.modes.len; i++)
		if (!strvec_contains(&run->result.run.modes, r.run.modes.items[i]))
			strvec_push(&run->result.run.modes, r.run.modes.items[i]);
	take_system(&run->result.system, &r.system);
	take_benchmarks(run, &r, part->command);
	result_release(&r);
	free(path);
}

/* ---- The whole ---- */

static void tell_part(const struct parts *p, size_t i)
{
	const struct part *part = &p->list.items[i];
	struct buf command = BUF_INIT;

	text_printable(part->command, strlen(part->command), &command);
	log_info("part %zu of %zu, %s: %s", i + 1, p->list.len, mode_name((enum mode)part->mode),
		 command.data);
	buf_release(&command);
}

/* `MODE-INDEX` in the run's folder; a single part has that folder itself. */
static char *part_folder(const struct run *run, const struct parts *p, size_t i)
{
	const struct part *part = &p->list.items[i];

	if (p->list.len == 1)
		return xstrdup(run->folder.path);
	return xasprintf("%s/%s-%zu", run->folder.path, mode_name((enum mode)part->mode), i);
}

static void run_all(struct run *run, const struct parts *p)
{
	/* Wrong usage would be told by each part again. */
	for (size_t i = 0; i < p->list.len && !run->signal && run->status != EXIT_USAGE; i++) {
		char *folder = part_folder(run, p, i);

		if (p->list.len > 1)
			tell_part(p, i);
		run_part(run, &p->list.items[i], folder);
		take_results(run, &p->list.items[i], folder);
		if (p->list.len > 1)
			rmdir(folder); /* only where nothing was measured: it is empty then */
		free(folder);
	}
}

static void discard_folder(void *run)
{
	profile_folder_discard(&((struct run *)run)->folder);
}

static void begin(struct run *run, const struct run_options *options)
{
	*run = (struct run){.options = options};
	if (options->json && !(run->json = profile_result_target(options->json)))
		die_recorded(EXIT_FAILED);
	judging_begin(&run->judging, options);
	supervise_prepare();
	look_at_input(run);
	if (profile_folder_make(&run->folder, options->profile_folder))
		die_recorded(EXIT_FAILED);
	cleanup_push(discard_folder, run);
}

static void write_results(struct run *run)
{
	char *path = profile_result_path(run->folder.path);

	if (report_json(&run->result, path))
		fail_report(run);
	if (run->json && !str_eq(run->json, "-") && report_json(&run->result, run->json))
		fail_report(run);
	free(path);
}

static void print_results(struct run *run)
{
	bool quiet = run->options->comparing.quiet;
	bool json = run->json && str_eq(run->json, "-");
	int judged;

	if (json && report_json(&run->result, "-"))
		fail_report(run);
	if (!json && !quiet)
		report_table(&run->result, run->options->top);
	judged = judging_end(&run->judging, &run->result, !run->status && !run->signal, quiet || json);
	if (!run->status)
		run->status = judged;
}

static void describe(struct run *run, const char *command, uint64_t began, int64_t began_at)
{
	struct result here = RESULT_INIT;
	struct result_run *r = &run->result.run;

	r->started = result_timestamp_dup(began_at);
	r->duration_ns = clock_now() - began;
	r->command = xstrdup(command);
	r->working_directory = run->options->working_directory
				       ? realpath(run->options->working_directory, NULL)
				       : getcwd(NULL, 0);
	report_describe(&here, NULL);
	take_system(&run->result.system, &here.system);
	run->result.tool = here.tool;
	r->host = here.run.host;
	here.tool = (struct result_tool){0};
	here.run.host = NULL;
	result_release(&here);
}

static void finish(struct run *run)
{
	bool measured = run->result.benchmarks.len > 0;
	bool results = measured || !run->status; /* nothing at all, and that is allowed */

	if (results)
		write_results(run);
	if (!measured)
		profile_folder_discard(&run->folder);
	else if (run->folder.temporary)
		log_info("profile folder: %s", run->folder.path);
	cleanup_drop(discard_folder, run);
	cleanup_run();
	supervise_release_signals();
	if (results)
		print_results(run);
	if (run->signal)
		supervise_reraise(run->signal);
	result_release(&run->result);
	judging_release(&run->judging);
	profile_folder_release(&run->folder);
	free(run->json);
}

int parts_run(struct parts *p, const struct run_options *options, const char *command)
{
	uint64_t began = clock_now();
	int64_t began_at = time(NULL);
	struct run run;

	settle_modes(p, options);
	begin(&run, options);
	run_all(&run, p);
	parts_release(p);
	describe(&run, command, began, began_at);
	finish(&run);
	return run.status;
}

int parts_run_modes(const struct run_options *options, char *const *before, char *const *words)
{
	struct strvec after = STRVEC_INIT;
	struct parts parts = PARTS_INIT;
	char *command = words_join(words);
	int status;

	strvec_push(&after, "--");
	strvec_push_all(&after, words);
	parts_add(&parts, &options->modes, before, after.items, NULL, command);
	strvec_release(&after);
	status = parts_run(&parts, options, command);
	free(command);
	return status;
}
