/* SPDX-License-Identifier: MIT */
/* tree.c - benchmarks of exec-harness: the dumps of a whole process tree, added up */
#include <ctype.h>
#include <signal.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/text.h"

#include "applets/runner/simulation/perf_map.h"
#include "applets/runner/simulation/profile.h"

/* How many images have a flaw, and the first of them; `command` is borrowed from the record. */
struct flaw_count {
	size_t count;
	int64_t pid;
	const char *command;
};

/* One benchmark while its tree is added up. */
struct adding {
	const char *folder;
	const struct profile_wanted *wanted;
	struct benchmark *b;
	struct function_costs *functions;    /* NULL: not wanted */
	struct function_costs dump_functions; /* of the dump at hand */
	struct profile_summary *summary;
	struct strvec *claimed;

	bool told;   /* what is wrong with a dump of the process at hand */
	bool at_end; /* the last part read was written at a process's end */
	struct costs total;
	struct costs image; /* of the image at hand */
	uint64_t startup;
	bool startup_known;
	struct flaw_count no_dump, not_started, self_exec, skipped, repeats, start_lost, outlived;
};

static struct function_costs *on_part_begin(void *ctx, const struct callgrind_part *part UNUSED)
{
	struct adding *a = ctx;

	return a->functions ? &a->dump_functions : NULL;
}

static int on_part_end(void *ctx, const struct callgrind_part *part)
{
	struct adding *a = ctx;

	costs_add_part(&a->image, part);
	a->at_end = str_eq(part->trigger, "Program termination");
	return 0;
}

static const struct callgrind_ops ops = {on_part_begin, on_part_end};

static void mark_incomplete(struct benchmark *b)
{
	if (b->status == BENCHMARK_OK)
		b->status = BENCHMARK_INCOMPLETE;
}

/* ---- What an image cannot promise, said once for all images with the same flaw ---- */

static void count_flaw(struct flaw_count *c, const struct record_process *p, const char *command)
{
	if (!c->count++) {
		c->pid = p->pid;
		c->command = command;
	}
}

static void count_flaws(struct adding *a, const struct record_process *p,
			const struct record_image *image)
{
	if (image->flaws & IMAGE_NOT_STARTED)
		count_flaw(&a->not_started, p, image->command);
	else if (image->flaws & IMAGE_SELF_EXEC)
		count_flaw(&a->self_exec, p, image->command);
	else if (!image->measured)
		count_flaw(&a->skipped, p, image->command);
	else if (image->flaws & IMAGE_NO_DUMP)
		count_flaw(&a->no_dump, p, image->command);
	if (image->flaws & IMAGE_REPEATS)
		count_flaw(&a->repeats, p, image->command);
	if (image->flaws & IMAGE_START_LOST)
		count_flaw(&a->start_lost, p, image->command);
}

/* "MEANING: COMMAND (pid N) and M more: WHY" */
static void note_flaw(struct adding *a, const struct flaw_count *c, const char *meaning,
		      const char *why)
{
	struct buf who = BUF_INIT;

	if (!c->count)
		return;
	text_escape(c->command, strlen(c->command), &who);
	buf_printf(&who, " (pid %lld)", (long long)c->pid);
	if (c->count > 1)
		buf_printf(&who, " and %zu more", c->count - 1);
	benchmark_note(a->b, "%s: %s: %s", meaning, who.data, why);
	buf_release(&who);
}

static void note_flaws(struct adding *a)
{
	if (a->no_dump.count || a->not_started.count)
		mark_incomplete(a->b);
	note_flaw(a, &a->no_dump, "cost missing",
		  "killed before the dump could be written");
	note_flaw(a, &a->not_started, "cost missing", "ended before valgrind came to run it");
	note_flaw(a, &a->self_exec, "cannot run under valgrind",
		  "/proc/self/exe is valgrind itself there; let the program execute its own path");
	note_flaw(a, &a->skipped, "not measured",
		  "matches a pattern of programs that valgrind must not trace (*esbuild, "
		  "*.rustup-wrapped)");
	note_flaw(a, &a->repeats, "upper bound",
		  "forked where no dump was made (a program without symbols), "
		  "so that it repeats what its parent had spent before");
	note_flaw(a, &a->start_lost, "lower bound",
		  "what it had spent before it executed another program is not counted, for want of "
		  "a dump at its fork or at its exec (no symbols there)");
	note_flaw(a, &a->outlived, "depends on the moment",
		  "still running when the benchmark had ended, and ended then");
}

static void add_dump(struct adding *a, const struct record_process *p,
		     const struct record_image *image, const char *name)
{
	size_t damaged = a->summary->damaged_dumps;

	strvec_push(a->claimed, name);
	profile_init_functions(&a->dump_functions, a->wanted);
	if (!profile_read_dump(a->folder, name, &ops, a, a->b, a->summary)) {
		a->told = true;
		mark_incomplete(a->b);
		benchmark_note(a->b, "%s/%s is empty: the cost of %s (pid %lld) is missing", a->folder,
			       name, image->command, (long long)p->pid);
	}
	if (a->summary->damaged_dumps > damaged)
		a->told = true;
	if (a->functions)
		perf_map_merge(a->functions, &a->dump_functions, a->folder, (uint64_t)p->pid);
	function_costs_release(&a->dump_functions);
}

static void add_image(struct adding *a, const struct record_process *p,
		      const struct record_image *image)
{
	struct measure startup;

	a->image = (struct costs){0};
	for (size_t i = 0; i < image->dumps.len; i++)
		add_dump(a, p, image, image->dumps.items[i]);
	count_flaws(a, p, image);
	costs_add(&a->total, &a->image);
	if (image->forked || !image->measured)
		return; /* no loader ran */
	startup = costs_startup(&a->image);
	a->startup = add_capped(a->startup, startup.value);
	a->startup_known &= startup.known;
}

/* ---- What a process's own log tells, without any debug switch ---- */

/* The text behind `key` up to a character of `end`; NULL when the log does not have it. */
static char *log_text(const char *log, const char *key, const char *end)
{
	const char *at = strstr(log, key);

	return at ? xstrndup(at + strlen(key), strcspn(at + strlen(key), end)) : NULL;
}

/* From the first line on that says what happened, to where callgrind's summary begins. */
static void show_log(const char *path, const char *log)
{
	static const char *const beginnings[] = {"unhandled instruction", "Process terminating"};
	const char *from = NULL, *end = strstr(log, "Events    :");

	for (size_t i = 0; !from && i < ARRAY_SIZE(beginnings); i++)
		from = strstr(log, beginnings[i]);
	if (!from)
		return;
	log_info("from %s:", path);
	while (*from) {
		size_t len = strcspn(from, "\n");

		if (end && from + len > end)
			break;
		if (len > strspn(from, "=-0123456789 "))
			log_info("  %.*s", (int)len, from);
		from += len + (from[len] == '\n');
	}
}

/* An instruction that valgrind does not know ends the program, which would have gone on without. */
static void note_instruction(struct benchmark *b, const struct record_process *p, const char *log)
{
	static const char key[] = "nrecognised instruction at address ";
	char *address = log_text(log, key, ".\n");
	char *function = address ? log_text(strstr(log, key), ": ", "\n") : NULL;

	if (!address)
		return;
	mark_incomplete(b);
	benchmark_note(b, "valgrind lacks the instruction at %s%s%s of pid %lld; rebuild the program "
			  "without -march=native, or with fewer CPU features", address,
		       function ? ", " : "", function ? function : "", (long long)p->pid);
	free(address);
	free(function);
}

static void note_refusal(struct benchmark *b, const char *log)
{
	char *program = log_text(log, "Can't execute setuid/setgid/setcap executable: ", "\n");

	if (!program)
		return;
	mark_incomplete(b);
	benchmark_note(b, "valgrind refused to run %s, which has the setuid or setgid bit or file "
			  "capabilities; measure with a plain copy of it", program);
	free(program);
}

/* callgrind's own failure: it ends the process with its own status, and without a dump. */
static void note_crash(struct benchmark *b, const struct record_process *p, const char *log)
{
	static const char *const keys[] = {"Callgrind: ", "valgrind: the 'impossible' happened"};
	char *text = NULL;

	for (size_t i = 0; !text && i < ARRAY_SIZE(keys); i++)
		text = log_text(log, keys[i], "\n");
	if (!text)
		return;
	mark_incomplete(b);
	benchmark_note(b, "valgrind itself failed in pid %lld: %s%s", (long long)p->pid, text,
		       strstr(text, "post_signal")
			       ? " (a Go program: set GODEBUG=asyncpreemptoff=1)" : "");
	free(text);
}

static bool died_of_a_fault(int status)
{
	int signal_number = status - EXIT_SIGNAL_BASE;

	return signal_number == SIGILL || signal_number == SIGSEGV || signal_number == SIGBUS ||
	       signal_number == SIGFPE || signal_number == SIGABRT;
}

static void explain_log(struct adding *a, const struct record_process *p)
{
	char *path = xasprintf("%s/valgrind.%lld.log", a->folder, (long long)p->pid);
	struct buf log = BUF_INIT;

	if (read_plain_file(path, &log)) {
		error_clear(); /* an old folder may lack it */
	} else if (log.len) {
		note_refusal(a->b, log.data);
		note_crash(a->b, p, log.data);
		if (died_of_a_fault(p->status)) {
			note_instruction(a->b, p, log.data);
			show_log(path, log.data);
		}
	}
	buf_release(&log);
	free(path);
}

/* ---- Processes and the benchmark ---- */

static void add_process(struct adding *a, const struct record_process *p)
{
	struct result_process out = {.pid = p->pid, .ppid = p->parent};
	uint64_t before = a->total.events[CG_IR];
	size_t parts_before = a->total.parts;
	bool complete = true;

	a->at_end = a->told = false;
	for (size_t i = 0; i < p->images.len; i++) {
		add_image(a, p, &p->images.items[i]);
		complete &= !(p->images.items[i].flaws & IMAGE_NO_DUMP);
	}
	if (complete && !a->told && p->images.len && vec_last(&p->images)->measured && !a->at_end) {
		/* dumps of forks are there, the one of the end is not */
		count_flaw(&a->no_dump, p, vec_last(&p->images)->command);
		complete = false;
	}
	if (p->images.len)
		out.command = xstrdup(vec_last(&p->images)->command);
	if (p->status >= 0)
		out.status = MEASURE((uint64_t)p->status);
	if (a->total.parts > parts_before && complete && !a->told)
		out.instructions = MEASURE(a->total.events[CG_IR] - before);
	vec_push(&a->b->processes, out);
	if (p->outlived)
		count_flaw(&a->outlived, p, p->images.len ? vec_last(&p->images)->command : "?");
	explain_log(a, p);
}

static void note_status(struct benchmark *b, const struct record_benchmark *from)
{
	if (from->status == 0)
		return;
	b->status = BENCHMARK_FAILED;
	if (from->signal)
		benchmark_note(b, "killed by signal %d (%s)%s", from->signal, strsignal(from->signal),
			       from->signal == SIGTRAP ? "; a uprobe of another tool (perf probe, bpftrace, "
							 "a heap tracker) may be active on this machine" : "");
	else if (from->status > 0)
		benchmark_note(b, "exit status %d", from->status);
	else
		benchmark_note(b, "its exit status could not be told");
}

static void note_circumstances(struct adding *a, const struct record_benchmark *from)
{
	note_flaws(a);
	if (from->untraced)
		benchmark_note(a->b, "lower bound: ptrace is forbidden here, so what a process spends "
				     "before it executes another program is not counted");
	if (from->random_addresses)
		benchmark_note(a->b, "address randomisation was on: figures may differ a little from "
				     "run to run");
}

static void put_metrics(struct adding *a)
{
	if (!a->total.parts) {
		mark_incomplete(a->b);
		return; /* all null: never a silent zero */
	}
	costs_to_metrics(&a->total, a->b->metrics);
	if (a->startup_known)
		a->b->metrics[SIMULATION_STARTUP_INSTRUCTIONS] = MEASURE(a->startup);
}

static void add_benchmark(struct adding *a, struct result *result,
			  const struct record_benchmark *from)
{
	struct function_costs functions;
	char *name = text_escape_dup(from->name);

	profile_init_functions(&functions, a->wanted);
	a->functions = profile_wants_functions(a->wanted) ? &functions : NULL;
	a->b = result_add(result, MODE_SIMULATION, from->uri, name);
	a->startup_known = true;
	note_status(a->b, from);
	for (size_t i = 0; i < from->processes.len; i++)
		add_process(a, &from->processes.items[i]);
	note_circumstances(a, from);
	put_metrics(a);
	profile_put_functions(a->b, &functions, a->wanted);
	function_costs_release(&functions);
	free(name);
}

void profile_load_trees(struct result *result, const char *folder,
			const struct profile_wanted *wanted, const struct simulation_record *record,
			struct strvec *claimed, struct profile_summary *summary)
{
	for (size_t i = 0; i < record->benchmarks.len; i++) {
		struct adding a = {
			.folder = folder, .wanted = wanted, .summary = summary, .claimed = claimed,
		};

		add_benchmark(&a, result, &record->benchmarks.items[i]);
	}
}
