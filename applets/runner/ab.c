/* SPDX-License-Identifier: MIT */
/* ab.c - compare two commands on this machine, round by round in turn */
//config:config AB
//config:	bool "ab (40 kb)"
//config:	default y
//config:	select EXEC
//config:	help
//config:	  Measures two commands in turn and tests whether they differ.
//command:IF_AB(COMMAND("ab", NULL, ab_main, PRIV_DROP, "compare two commands, measured in turn"))
//usage:[OPTION]... -- 'COMMAND A' -- 'COMMAND B'
//usage:[OPTION]... -- COMMAND [ARG]... -- COMMAND [ARG]...
//example:codspeed ab -m simulation -- 'sort words.txt' -- 'sort -u words.txt'
//example:codspeed ab --rounds 20 --fail-above instructions=1% -- ./old -- ./new
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "applet_prototypes.h"
#include "core/base.h"
#include "core/cleanup.h"
#include "core/clock.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/mode.h"
#include "core/path.h"
#include "core/shell.h"
#include "core/spawn.h"
#include "core/strvec.h"
#include "core/supervise.h"

#include "applets/runner/folder.h"
#include "applets/runner/comparing.h"
#include "applets/runner/parts.h"
#include "applets/runner/progress.h"
#include "applets/runner/recorded.h"
#include "applets/runner/results/paired.h"

enum {
	ROUNDS_MAX = 1000,
	LINES_SHOWN = 20, /* of a failed round's standard error */
	GRACE_SECONDS = 10, /* exec itself takes some to end its command and write down what it has */
};

struct cfg {
	int mode;
	uint64_t rounds;
	const char *name;
	bool show_output;
	struct comparing_options comparing;
};

static const struct opt rows[] = {
	OPT_CHOICE('m', "mode", struct cfg, mode, mode_words, .meta = "MODE", .def = "simulation",
		   .help = "what to measure"),
	OPT_UINT(0, "rounds", struct cfg, rounds, .meta = "N", .min = 1, .max = ROUNDS_MAX, .def = "10",
		 .help = "measure each command so often"),
	OPT_STRING(0, "name", struct cfg, name, .meta = "NAME", .def = "B / A",
		   .help = "what the comparison is called"),
	OPT_FLAG(0, "show-output", struct cfg, show_output,
		 .help = "pass on what the commands write; else it is dropped"),
	OPT_ROWS(struct cfg, comparing, struct comparing_options, comparing_option_rows),
	OPT_END
};

/* A command of the two. */
struct side {
	char letter;
	char *label;          /* for people */
	struct strvec words;
	struct paired_side rounds;
};

struct ab {
	const struct cfg *cfg;
	char *folder; /* of our own, with the files of the round at hand */
	struct side sides[2];
};

/* ---- The commands ---- */

static bool is_plain(const char *text)
{
	static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				       "_./:,+@%-= ";
	size_t first = strcspn(text, " ");

	/* NAME=VALUE in front is the shell's */
	return !text[strspn(text, harmless)] && !memchr(text, '=', first);
}

/* Text without anything special to a shell is split here: a shell would be measured, too. */
static void split(struct strvec *to, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		if (*word)
			strvec_push(to, word);
	free(copy);
}

static void set_command(struct side *side, char letter, char *const *words, size_t count)
{
	char *label;

	side->letter = letter;
	if (!count || str_is_blank(words[0]))
		die_usage("command %c is empty", letter);
	for (size_t i = 0; i < count; i++)
		strvec_push(&side->words, words[i]);
	label = words_join(side->words.items);
	side->label = xasprintf("%c: %s", letter, label);
	free(label);
	if (count > 1)
		return;
	strvec_release(&side->words);
	if (is_plain(words[0]))
		split(&side->words, words[0]);
	else if (shell_command(&side->words, words[0], getenv("PATH")))
		die_recorded(EXIT_FAILED);
}

static void take_commands(struct ab *ab, const struct opts_args *args)
{
	size_t middle = 0;

	while (middle < args->count && !str_eq(args->words[middle], "--"))
		middle++;
	if (!args->separated || middle == args->count)
		die_usage("give two commands, -- before each: codspeed ab -- 'COMMAND A' -- 'COMMAND B'");
	set_command(&ab->sides[0], 'A', args->words, middle);
	set_command(&ab->sides[1], 'B', args->words + middle + 1, args->count - middle - 1);
}

/* ---- A round ---- */

/* A part of our run: neither codspeed.yml nor a step summary is its business. */
static void make_part(struct part *part, const struct ab *ab, const struct side *side)
{
	*part = (struct part){.mode = ab->cfg->mode};
	strvec_push(&part->before, "exec");
	strvec_pushf(&part->before, "--name=%s", ab->cfg->name);
	strvec_push(&part->before, "--quiet");
	if (ab->cfg->mode == MODE_WALLTIME) {
		strvec_push(&part->before, "--enable-profiler=false"); /* each round would be run twice */
		strvec_push(&part->before, "--warmup-time=0s");
		strvec_push(&part->before, "--max-rounds=1");
	}
	strvec_push(&part->after, "--");
	strvec_push_all(&part->after, side->words.items);
}

static void on_tick(void *progress)
{
	progress_tick(progress);
}

/* To the child's end; a signal to us ends it and then us, and leaves nothing behind. */
static int wait_for(pid_t pid, const char *what)
{
	struct supervise watching = SUPERVISE_INIT;
	struct progress progress;

	progress_init(&progress, what);
	progress.root = watching.child = pid;
	watching.grace_ns = GRACE_SECONDS * NS_PER_SECOND;
	watching.tick_ns = progress.interval_ns;
	watching.tick = on_tick;
	watching.ctx = &progress;
	if (supervise(&watching))
		die_recorded(EXIT_FAILED);
	progress_end(&progress);
	if (watching.signal) {
		cleanup_run();
		supervise_reraise(watching.signal);
	}
	return status_of_wait(watching.status);
}

/* `codspeed exec` of this very binary. */
static int run_exec(char *const *argv, const char *what, const char *errors, bool show_output)
{
	struct spawn spawn = SPAWN_INIT;
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), rc;
	int kept = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (nowhere < 0 || kept < 0)
		die(EXIT_FAILED, "cannot open %s: %s", nowhere < 0 ? "/dev/null" : errors,
		    strerror(errno));
	spawn.path = "/proc/self/exe";
	spawn.argv = argv;
	spawn.in = nowhere;
	if (!show_output) {
		spawn.out = nowhere;
		spawn.err = kept;
	}
	spawn.death_signal = SIGTERM;
	rc = spawn_start(&spawn);
	if (!rc)
		rc = spawn_release(&spawn);
	close(nowhere);
	close(kept);
	if (rc)
		die(EXIT_FAILED, "cannot start codspeed exec");
	return wait_for(spawn.pid, what);
}

/* What was written to standard error, the last lines of it. */
static void tell_failure(const struct side *side, const char *errors)
{
	struct buf text = BUF_INIT;
	char *rest, *line;
	size_t lines = 0;

	if (read_plain_file(errors, &text))
		error_clear();
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	log_error("%s failed%s", side->label, lines ? ":" : "");
	for (rest = text.data; rest && (line = strsep(&rest, "\n"));)
		if (*line && lines-- <= LINES_SHOWN)
			log_info("  %s", line);
	buf_release(&text);
}

/* The next one finds nothing of the last. */
static void forget_round(const char *profile)
{
	if (!access(profile, F_OK) && path_remove_tree(profile))
		die_recorded(EXIT_FAILED);
}

static void run_round(struct ab *ab, struct side *side, uint64_t number)
{
	struct strvec argv = STRVEC_INIT;
	struct result result = RESULT_INIT;
	struct part part;
	char *profile = xasprintf("%s/profile", ab->folder);
	char *path = profile_result_path(profile);
	char *errors = xasprintf("%s/errors", ab->folder);
	char *what = xasprintf("round %llu of %llu, %s", (unsigned long long)number,
			       (unsigned long long)ab->cfg->rounds, side->label);
	int status;

	forget_round(profile);
	make_part(&part, ab, side);
	part_words(&part, profile, &argv);
	status = run_exec(argv.items, what, errors, ab->cfg->show_output);
	if (status) {
		tell_failure(side, errors);
		die(status == EXIT_UNSUPPORTED ? EXIT_UNSUPPORTED : EXIT_FAILED, "nothing is compared");
	}
	if (recorded_read(&result, path) || paired_add(&side->rounds, &result))
		die(EXIT_FAILED, "%s", side->label);
	strvec_release(&argv);
	part_release(&part);
	free(errors);
	free(what);
	free(path);
	free(profile);
}

/* A B, B A, A B, ...: what drifts in the machine meets both alike. */
static void run_rounds(struct ab *ab)
{
	for (uint64_t i = 0; i < ab->cfg->rounds; i++) {
		run_round(ab, &ab->sides[i % 2], i + 1);
		run_round(ab, &ab->sides[1 - i % 2], i + 1);
	}
}

/* ---- All ---- */

static void remove_folder(void *folder)
{
	if (path_remove_tree(folder))
		error_clear();
}

static void make_folder(struct ab *ab)
{
	const char *parent = getenv("TMPDIR");

	ab->folder = xasprintf("%s/codspeed-ab.XXXXXX", parent && *parent ? parent : "/tmp");
	if (!mkdtemp(ab->folder))
		die(EXIT_FAILED, "cannot make a folder %s: %s", ab->folder, strerror(errno));
	cleanup_push(remove_folder, ab->folder);
}

static int compare(struct ab *ab)
{
	const struct comparison_options how = {ab->cfg->comparing.threshold, true};
	struct side *a = &ab->sides[0], *b = &ab->sides[1];
	struct comparison c;
	int status;

	if (paired_compare(&c, &a->rounds, a->label, &b->rounds, b->label, &how))
		die_recorded(EXIT_FAILED);
	status = comparing_report(&c, &ab->cfg->comparing);
	comparison_release(&c);
	return status;
}

int ab_main(int argc, char **argv)
{
	struct cfg cfg = {0};
	struct opts_args args;
	struct ab ab = {.cfg = &cfg};
	int status;

	mode_forgive_own_word();
	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED, &args);
	take_commands(&ab, &args);
	if (mode_check_supported((enum mode)cfg.mode))
		die_recorded(EXIT_UNSUPPORTED);
	supervise_prepare();
	make_folder(&ab);
	run_rounds(&ab);
	cleanup_run();
	supervise_release_signals();
	status = compare(&ab);
	for (size_t i = 0; i < ARRAY_SIZE(ab.sides); i++) {
		strvec_release(&ab.sides[i].words);
		paired_release(&ab.sides[i].rounds);
		free(ab.sides[i].label);
	}
	free(ab.folder);
	args_release(&args);
	return status;
}
