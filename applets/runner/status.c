/* SPDX-License-Identifier: MIT */
/* status.c - try each mode in miniature, and say what works here and what does not */
//config:config STATUS
//config:	bool "status (10 kb)"
//config:	default y
//config:	select EXEC
//config:	help
//config:	  Measures `ls /` once in each mode and prints what works, what does
//config:	  not, and the remedy.
//command:IF_STATUS(COMMAND("status", NULL, status_main, PRIV_DROP, "try each mode in miniature and say what works here"))
//usage:[OPTION]...
//example:codspeed status
//example:codspeed status --check -m memory
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "applet_prototypes.h"
#include "core/applet.h"
#include "core/base.h"
#include "core/cleanup.h"
#include "core/clock.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/json.h"
#include "core/mode.h"
#include "core/spawn.h"
#include "core/supervise.h"
#include "core/term.h"
#include "core/text.h"
#include "core/units.h"

#include "applets/runner/folder.h"
#include "applets/runner/project/project.h"
#include "applets/runner/project/shell_session.h"
#include "applets/runner/recorded.h"
#include "applets/runner/results/system_info.h"

/* Linked dynamically nearly everywhere, allocates, and changes nothing. */
#define TRIED "ls", "/"
#define TRIED_TEXT "ls /"

enum { GRACE_SECONDS = 20 };

struct cfg {
	struct opt_list modes;
	const char *json;
	bool check;
};

static const struct opt rows[] = {
	OPT_CHOICES('m', "mode", struct cfg, modes, mode_words, .meta = "MODE",
		    .help = "try only this"),
	OPT_FLAG(0, "check", struct cfg, check, .help = "end with status 3 where one does not work"),
	OPT_PATH(0, "json", struct cfg, json, .meta = "FILE",
		 .help = "write the same as JSON to FILE; `-` for standard output"),
	OPT_END
};

/* What there is to say of a mode. */
struct finding {
	enum mode mode;
	bool works;
	char *detail; /* a figure, or the reason */
	char *remedy; /* NULL where it works */
};

struct status {
	struct result_system system;
	struct project project;
	int has_project;     /* as of project_load() */
	char *project_error;
	char *session_modes; /* NULL: none */
	struct finding findings[MODE_COUNT];
	size_t count;
};

/* ---- Trying ---- */

/* Where the reason has none. */
static const char *usual_remedy(enum mode mode)
{
	switch (mode) {
	case MODE_SIMULATION:
		return "install valgrind 3.16 or later (Debian, Ubuntu: apt-get install valgrind)";
	case MODE_MEMORY:
		if (applet_find("setup"))
			return "run as root, or 'codspeed setup --mode memory' once; the kernel needs BPF and "
			       "uprobes";
		return "run as root, or with cap_bpf and cap_perfmon; the kernel needs BPF and uprobes";
	default:
		return "give it another program ('codspeed exec') to see what is wrong";
	}
}

/* The first error in what codspeed has written; else its last line. */
static char *reason_dup(const char *text)
{
	static const char mark[] = "error: ";
	const char *error = strstr(text, mark), *last = text;
	struct buf line = BUF_INIT;

	for (const char *at = text; !error && *at; at++)
		if (*at == '\n' && at[1])
			last = at + 1;
	if (error)
		last = error + strlen(mark);
	text_printable(last, strcspn(last, "\n"), &line);
	if (!line.len)
		buf_addstr(&line, "no reason was given");
	return buf_detach(&line);
}

/* "Instructions 512,345": the first figure that the mode has. */
static char *figure_dup(const struct result *r, enum mode mode)
{
	const struct benchmark *b = r->benchmarks.items;
	const struct metric_info *metric = result_mode_info(mode)->metrics;
	const char *title = metric->unit == UNIT_MEAN ? "mean" : metric->title;
	char text[UNIT_TEXT];

	if (!r->benchmarks.len || b->status != BENCHMARK_OK || !b->metrics[0].known || !b->metrics[0].value)
		return NULL;
	if (metric->unit == UNIT_MEAN)
		format_time(text, b->metrics[0].value);
	else
		format_count(text, b->metrics[0].value);
	return xasprintf("'" TRIED_TEXT "': %s %s%s%s", title, text,
			 r->system.valgrind ? ", valgrind " : "",
			 r->system.valgrind ? r->system.valgrind : "");
}

/* Messages say what is wrong, and after a semicolon what to do about it. */
static void take_reason(struct finding *f, const char *messages)
{
	char *remedy;

	f->detail = reason_dup(messages);
	remedy = strstr(f->detail, "; ");
	f->remedy = xstrdup(remedy ? remedy + 2 : usual_remedy(f->mode));
	if (remedy)
		*remedy = '\0';
}

static int open_sink(void)
{
	int fd = memfd_create("messages", MFD_CLOEXEC);

	if (fd < 0)
		die(EXIT_FAILED, "memfd_create: %s", strerror(errno));
	return fd;
}

/* The whole of codspeed, as a user would start it; its words in `messages`. */
static void try_mode(enum mode mode, const char *folder, struct buf *messages)
{
	char *place = xasprintf("--profile-folder=%s", folder);
	char *how = xasprintf("--mode=%s", mode_name(mode));
	char *const argv[] = {(char[]){"codspeed"}, (char[]){"exec"}, how, place, (char[]){"--part"},
			      (char[]){"--timeout=60s"}, (char[]){"--warmup-time=0"},
			      (char[]){"--max-rounds=3"}, (char[]){"--"}, TRIED, NULL};
	struct supervise w = SUPERVISE_INIT;
	struct spawn spawn = SPAWN_INIT;
	int output = open_sink(), fd = open_sink();

	spawn.path = "/proc/self/exe";
	spawn.argv = argv;
	spawn.out = output;
	spawn.err = fd;
	spawn.death_signal = SIGTERM;
	if (spawn_start(&spawn) || spawn_release(&spawn))
		die(EXIT_FAILED, "cannot try %s mode", mode_name(mode));
	w.child = spawn.pid;
	w.grace_ns = GRACE_SECONDS * NS_PER_SECOND;
	if (supervise(&w))
		die_recorded(EXIT_FAILED);
	if (w.signal)
		supervise_reraise(w.signal);
	lseek(fd, 0, SEEK_SET);
	if (read_rest(fd, messages))
		error_clear();
	close(fd);
	close(output);
	free(place);
	free(how);
}

static void look_at_mode(struct status *s, enum mode mode, const struct profile_folder *folder)
{
	struct finding *f = &s->findings[s->count++];
	struct buf messages = BUF_INIT;
	struct result r = RESULT_INIT;
	char *place, *file;

	f->mode = mode;
	if (mode_check_supported(mode)) {
		f->detail = xstrdup("not part of this build");
		f->remedy = xstrdup("configure it in, or take the default build");
		error_clear();
		return;
	}
	place = xasprintf("%s/%s", folder->path, mode_name(mode));
	file = profile_result_path(place);
	try_mode(mode, place, &messages);
	if (!access(file, R_OK) && !recorded_read(&r, file))
		f->detail = figure_dup(&r, mode);
	error_clear();
	f->works = f->detail;
	if (!f->works)
		take_reason(f, messages.data ? messages.data : "");
	result_release(&r);
	buf_release(&messages);
	free(place);
	free(file);
}

static void discard(void *folder)
{
	profile_folder_discard(folder);
}

static void look_at_modes(struct status *s, const struct opt_list *wanted)
{
	struct profile_folder folder;

	if (profile_folder_make(&folder, NULL))
		die_recorded(EXIT_FAILED);
	cleanup_push(discard, &folder);
	supervise_prepare();
	for (size_t i = 0; i < wanted->len; i++)
		look_at_mode(s, (enum mode)wanted->items[i], &folder);
	cleanup_run();
	profile_folder_release(&folder);
	supervise_release_signals();
}

/* A broken file is a finding here. */
static void look_at_project(struct status *s)
{
	s->has_project = project_load(&s->project, NULL);
	if (s->has_project < 0)
		s->project_error = xstrdup(error_text());
	error_clear();
	s->session_modes = shell_session_modes();
}

static void status_release(struct status *s)
{
	struct result r = {.system = s->system};

	result_release(&r);
	project_release(&s->project);
	free(s->project_error);
	free(s->session_modes);
	for (size_t i = 0; i < s->count; i++) {
		free(s->findings[i].detail);
		free(s->findings[i].remedy);
	}
}

/* ---- Telling ---- */

static void put_system(const struct result_system *system, struct buf *to)
{
	uint64_t gib = 1 << 30;

	buf_addstr(to, "System\n");
	buf_printf(to, "  codspeed %s\n", CODSPEED_VERSION);
	buf_printf(to, "  %s (%s), %s\n", system->os, system->arch, system->kernel);
	buf_printf(to, "  %s (%lu cores, %lu GB)\n", system->cpu_model, (unsigned long)system->cores.value,
		   (unsigned long)(system->memory_bytes.value / gib + !!(system->memory_bytes.value % gib)));
}

static void put_project(const struct status *s, struct buf *to)
{
	buf_addstr(to, "\nProject\n");
	if (s->has_project < 0)
		buf_printf(to, "  %s\n", s->project_error);
	else if (!s->has_project)
		buf_addstr(to, "  no codspeed.yml here or above in the repository\n");
	else
		buf_printf(to, "  %s: %zu benchmark%s\n", s->project.path, s->project.benchmarks.len,
			   s->project.benchmarks.len == 1 ? "" : "s");
	if (s->session_modes)
		buf_printf(to, "  modes of this shell ('codspeed use'): %s\n", s->session_modes);
}

static void put_modes(const struct status *s, struct buf *to)
{
	bool utf8 = term_utf8();

	buf_addstr(to, "\nModes\n");
	for (size_t i = 0; i < s->count; i++) {
		const struct finding *f = &s->findings[i];
		const char *sign = f->works ? (utf8 ? "✓" : "+") : (utf8 ? "✗" : "-");

		buf_printf(to, "  %s %-10s  %s\n", sign, mode_name(f->mode), f->detail);
		if (f->remedy)
			buf_printf(to, "    %-10s  remedy: %s\n", "", f->remedy);
	}
}

static void print_text(const struct status *s)
{
	struct buf text = BUF_INIT;

	put_system(&s->system, &text);
	put_project(s, &text);
	put_modes(s, &text);
	output_text(text.data, text.len);
	buf_release(&text);
}

static void write_json(const struct status *s, struct buf *to)
{
	struct json_writer *w = json_writer_new();

	json_begin_object(w, NULL);
	json_put_u64(w, "version", 1);
	json_put_text(w, "codspeed", CODSPEED_VERSION);
	json_begin_object(w, "project");
	json_put_text(w, "file", s->has_project > 0 ? s->project.path : NULL);
	json_put_text(w, "error", s->project_error);
	json_put_u64(w, "benchmarks", s->project.benchmarks.len);
	json_end(w);
	json_put_text(w, "session_modes", s->session_modes);
	json_begin_array(w, "modes");
	for (size_t i = 0; i < s->count; i++) {
		const struct finding *f = &s->findings[i];

		json_begin_object(w, NULL);
		json_put_text(w, "mode", mode_name(f->mode));
		json_put_bool(w, "works", f->works);
		json_put_text(w, "detail", f->detail);
		json_put_text(w, "remedy", f->remedy);
		json_end(w);
	}
	json_end(w);
	json_end(w);
	json_writer_finish(w, JSON_PRETTY, to);
}

static void write_to(const char *path, const struct status *s)
{
	struct buf text = BUF_INIT;

	write_json(s, &text);
	if (str_eq(path, "-"))
		output_text(text.data, text.len);
	else if (write_output(path, text.data, text.len))
		die_recorded(EXIT_FAILED);
	buf_release(&text);
}

static void all_modes(struct opt_list *list)
{
	for (int mode = 0; mode < MODE_COUNT; mode++)
		list->items[list->len++] = mode;
}

int status_main(int argc, char **argv)
{
	struct status s = {.project = PROJECT_INIT};
	struct opt_list once = {0};
	struct cfg cfg = {0};
	bool all_work = true;
	char *asked;

	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED, NULL);
	asked = mode_list_text(&cfg.modes);
	if (!cfg.modes.len)
		all_modes(&once);
	else if (mode_list_add(&once, asked))
		die_usage_recorded();
	free(asked);
	system_info_collect(&s.system, NULL);
	look_at_project(&s);
	look_at_modes(&s, &once);
	if (!cfg.json || !str_eq(cfg.json, "-"))
		print_text(&s);
	if (cfg.json)
		write_to(cfg.json, &s);
	for (size_t i = 0; i < s.count; i++)
		all_work = all_work && s.findings[i].works;
	status_release(&s);
	return cfg.check && !all_work ? (int)EXIT_UNSUPPORTED : (int)EXIT_DONE;
}
