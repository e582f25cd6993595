/* SPDX-License-Identifier: MIT */
/* manual.c - the manual page, from the applet table and the option rows */
//config:config MANUAL
//config:	bool "manual (6 kb)"
//config:	default y
//config:	help
//config:	  Prints the manual page codspeed(1).
//command:IF_MANUAL(COMMAND("manual", NULL, manual_main, PRIV_DROP, "print the manual page"))
//usage:[OPTION]...
//example:codspeed manual | man -l -
#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/io.h"

#include "applets/reference/describe.h"

/* ---- roff ---- */

/* Text as it is: no hyphen of it is one of typography, no line of it a request. */
static void add_text(struct buf *to, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool starts = !to->len || to->data[to->len - 1] == '\n';

		if (starts && (text[i] == '.' || text[i] == '\''))
			buf_addstr(to, "\\&");
		if (text[i] == '\\')
			buf_addstr(to, "\\e");
		else if (text[i] == '-')
			buf_addstr(to, "\\-");
		else
			buf_addch(to, text[i]);
	}
}

static void add_string(struct buf *to, const char *text)
{
	add_text(to, text, strlen(text));
}

/* `macro` before each line of `text`. */
static void add_lines(struct buf *to, const char *text, const char *before, const char *after)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		buf_addstr(to, before);
		add_text(to, text, len);
		buf_addstr(to, after);
		text += len + (text[len] == '\n');
	}
}

/* ---- Options ---- */

static void add_note(const char *note, void *to)
{
	buf_addch(to, ' ');
	add_string(to, note);
}

static void add_option(const struct opt *row, void *ctx)
{
	struct buf *to = ctx;

	if (row->type == OPT_TYPE_GROUP) {
		buf_printf(to, ".PP\n%s:\n", row->help);
		return;
	}
	buf_addstr(to, ".TP\n");
	if (row->short_name)
		buf_printf(to, "\\fB\\-%c\\fR, ", row->short_name);
	buf_addstr(to, "\\fB\\-\\-");
	add_string(to, opt_on_by_default(row) ? "[no-]" : "");
	add_string(to, row->name);
	buf_addstr(to, "\\fR");
	if (row->type != OPT_TYPE_FLAG) {
		buf_addstr(to, row->bare ? "[=\\fI" : " \\fI");
		add_string(to, opt_meta(row));
		buf_addstr(to, row->bare ? "\\fR]" : "\\fR");
	}
	buf_addch(to, '\n');
	add_string(to, row->help ? row->help : "");
	opt_notes(row, add_note, to);
	buf_addch(to, '\n');
}

/* ---- Commands ---- */

static void add_heading(struct buf *to, const struct applet *applet)
{
	const char *suite = applet->kind == APPLET_KIND_COMMAND ? "codspeed " : "";
	const char *usage = applet->usage && *applet->usage ? applet->usage : "[OPTION]...";
	char *before = xasprintf("\\fB%s%s\\fR ", suite, applet->name);

	buf_printf(to, ".SS \"%s", suite);
	add_string(to, applet->name);
	buf_addstr(to, "\"\n");
	add_string(to, applet->summary);
	if (applet->alias)
		buf_printf(to, " (also \\fBcodspeed %s\\fR)", applet->alias);
	buf_addstr(to, "\n.PP\n");
	add_lines(to, usage, before, "\n.br\n");
	free(before);
}

static void add_command(const struct opt *rows, struct buf *to)
{
	const struct applet *applet = running_applet;

	add_heading(to, applet);
	opts_visit(rows, add_option, to);
	if (!applet->examples || !*applet->examples)
		return;
	buf_addstr(to, ".PP\nExamples:\n.PP\n.nf\n");
	add_lines(to, applet->examples, "    ", "\n");
	buf_addstr(to, ".fi\n");
}

/* ---- The rest ---- */

static void add_head(struct buf *to)
{
	buf_addstr(to, ".\\\" Made by 'codspeed manual'.\n"
		       ".TH CODSPEED 1 \"\" \"codspeed " CODSPEED_VERSION "\" \"User Commands\"\n"
		       ".SH NAME\n"
		       "codspeed \\- tell what commands and benchmarks cost\n"
		       ".SH SYNOPSIS\n"
		       "\\fBcodspeed\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n"
		       ".SH DESCRIPTION\n"
		       "Runs a command, or benchmarks that are written with a CodSpeed integration, and "
		       "tells what they and everything they start cost: instructions (simulation mode, by "
		       "valgrind), time (walltime mode) or what they do with the heap (memory mode, by "
		       "eBPF).\n"
		       "No account and no network are needed.\n"
		       ".PP\nOptions of \\fBcodspeed\\fR itself:\n");
	opts_visit(applet_suite_options(), add_option, to);
	buf_addstr(to, ".SH COMMANDS\n" OPT_DURATION_HELP "\n");
}

static void add_status(struct buf *to, int status, const char *text)
{
	buf_printf(to, ".TP\n\\fB%d\\fR\n", status);
	add_string(to, text);
	buf_addch(to, '\n');
}

static void add_tail(struct buf *to)
{
	buf_addstr(to, ".SH FILES\n.TP\n\\fBcodspeed.yml\\fR, \\fBcodspeed.yaml\\fR, or either with a dot in "
		       "front\nThe benchmarks of a project and the options for them; looked for in the "
		       "current directory and, inside a git repository, above it up to the repository's "
		       "root.\nThe command line and the environment win over it.\n"
		       "Its keys: \\fBcodspeed config schema\\fR.\n"
		       ".SH ENVIRONMENT\n"
		       "Options name theirs.\nA variable that is empty counts as unset.\n"
		       ".TP\n\\fBCODSPEED_LOG\\fR\noff, error, warn, info (the default), debug or trace: how "
		       "much is told.\n"
		       ".TP\n\\fBTMPDIR\\fR\nWhere temporary folders are made (default: /tmp).\n"
		       ".TP\n\\fBXDG_RUNTIME_DIR\\fR\nWhere \\fBcodspeed use\\fR remembers (default: "
		       "\\fBTMPDIR\\fR).\n"
		       ".TP\n\\fBNO_COLOR\\fR, \\fBCLICOLOR\\fR, \\fBCLICOLOR_FORCE\\fR\nWhether tables are "
		       "coloured.\n"
		       ".SH EXIT STATUS\n");
	add_status(to, EXIT_DONE, "done");
	add_status(to, EXIT_FAILED, "a benchmark or the run failed, or nothing was measured");
	add_status(to, EXIT_USAGE, "wrong usage, or a project file that is wrong");
	add_status(to, EXIT_UNSUPPORTED, "this machine cannot run the mode; the message says what is missing");
	add_status(to, EXIT_REGRESSED, "a limit was broken (--fail-above)");
	add_status(to, EXIT_INCOMPARABLE, "not comparable");
	buf_addstr(to, ".PP\nEnded by signal \\fIN\\fR: 128+\\fIN\\fR.\n"
		       "The wrappers end with the command's own status, or with 125 (own failure), 126 (not "
		       "executable), 127 (not found), 128+\\fIN\\fR (the command was killed by signal \\fIN\\fR).\n");
}

static const struct opt rows[] = {
	OPT_END
};

int manual_main(int argc, char **argv)
{
	struct buf page = BUF_INIT;
	const struct applet *table;
	size_t count;

	opts_parse(rows, NULL, argc, argv, OPTS_INTERLEAVED, NULL);
	table = applet_table(&count);
	add_head(&page);
	for (size_t i = 0; i < count; i++)
		if (describe_is_public(&table[i]))
			describe_applet(&table[i], add_command, &page);
	add_tail(&page);
	output_text(page.data, page.len);
	buf_release(&page);
	return EXIT_DONE;
}
