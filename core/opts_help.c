/* SPDX-License-Identifier: MIT */
/* opts_help.c - help and version text of an applet, from its rows */
#include <stdio.h>

#include "core/applet.h"
#include "core/base.h"
#include "core/opts.h"

enum {
	HELP_WIDTH = 80,
	HELP_COLUMN = 28, /* where the descriptions begin */
};

const struct applet *running_applet;

/* A paragraph in the right-hand column. */
struct writer {
	struct buf *out;
	size_t column;
	bool blank; /* nothing on this line of the description yet */
};

static const struct opt builtins[] = {
	{.short_name = 'h', .name = "help", .type = OPT_TYPE_FLAG, .help = "print this help"},
	{.short_name = 'V', .name = "version", .type = OPT_TYPE_FLAG, .help = "print the version"},
	OPT_END
};

const char *opts_program(void)
{
	static char text[80];
	const char *suite = log_name();

	/* The log's name is the applet's own where argv[0] called it, else the suite's. */
	if (!running_applet || !str_eq(suite, "codspeed"))
		return suite;
	snprintf(text, sizeof(text), "%s %s", suite, running_applet->name);
	return text;
}

void opts_render_version(struct buf *out)
{
	bool own = running_applet && running_applet->kind == APPLET_KIND_APPLET;

	buf_printf(out, "%s %s\n", own ? running_applet->name : "codspeed", CODSPEED_VERSION);
}

static void begin_line(struct writer *w)
{
	buf_printf(w->out, "\n%*s", HELP_COLUMN, "");
	w->column = HELP_COLUMN;
	w->blank = true;
}

/* A piece that stays on one line. */
static void put_piece(struct writer *w, const char *text, size_t len)
{
	if (!w->blank && w->column + 1 + len > HELP_WIDTH)
		begin_line(w);
	if (!w->blank) {
		buf_addch(w->out, ' ');
		w->column++;
	}
	buf_add(w->out, text, len);
	w->column += len;
	w->blank = false;
}

static void put_words(struct writer *w, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, " ");

		if (len)
			put_piece(w, text, len);
		text += len + (text[len] == ' ');
	}
}

void opt_words(const struct opt *row, struct buf *out)
{
	const char *blank = "";

	buf_addstr(out, "");
	for (const struct opt_choice *c = row->choices; c && c->word; c++) {
		if (c->hidden || c->instead)
			continue;
		buf_printf(out, "%s%s", blank, c->word);
		blank = " ";
	}
}

static void put_note(opt_note *put, void *ctx, const char *what, const char *text)
{
	char *note = xasprintf("[%s: %s]", what, text);

	put(note, ctx);
	free(note);
}

void opt_notes(const struct opt *row, opt_note *put, void *ctx)
{
	struct buf words = BUF_INIT;

	opt_words(row, &words);
	if (words.len)
		put_note(put, ctx, row->type == OPT_TYPE_CHOICES ? "list of" : "one of", words.data);
	if (row->env)
		put_note(put, ctx, "env", row->env);
	if (row->def && row->type != OPT_TYPE_FLAG)
		put_note(put, ctx, "default", row->def);
	if (opt_on_by_default(row))
		put_note(put, ctx, "default", "on");
	buf_release(&words);
}

static void put_note_piece(const char *note, void *writer)
{
	put_piece(writer, note, strlen(note));
}

const char *opt_meta(const struct opt *row)
{
	static const char *const names[] = {
		[OPT_TYPE_STRING] = "TEXT",      [OPT_TYPE_PATH] = "PATH",
		[OPT_TYPE_UINT] = "COUNT",       [OPT_TYPE_DURATION] = "DURATION",
		[OPT_TYPE_CHOICE] = "WORD",      [OPT_TYPE_CHOICES] = "WORD[,WORD]...",
		[OPT_TYPE_CALL] = "VALUE",
	};

	return row->meta ? row->meta : names[row->type];
}

bool opt_on_by_default(const struct opt *row)
{
	bool value = false;

	return row->type == OPT_TYPE_FLAG && row->def && !parse_bool(row->def, &value) && value;
}

/* "-m, --mode MODE", "--[no-]profiler", "--json[=PATH]" */
static void put_label(const struct opt *row, struct buf *out)
{
	if (row->short_name)
		buf_printf(out, "  -%c, ", row->short_name);
	else
		buf_addstr(out, "      ");
	buf_printf(out, "--%s%s", opt_on_by_default(row) ? "[no-]" : "", row->name);
	if (row->type == OPT_TYPE_FLAG)
		return;
	buf_printf(out, row->bare ? "[=%s]" : " %s", opt_meta(row));
}

static void put_row(const struct opt *row, struct buf *out)
{
	size_t start = out->len;
	struct writer w = {.out = out, .blank = true};

	put_label(row, out);
	w.column = out->len - start;
	if (w.column + 2 > HELP_COLUMN)
		begin_line(&w);
	else
		buf_printf(out, "%*s", (int)(HELP_COLUMN - w.column), "");
	w.column = HELP_COLUMN;
	put_words(&w, row->help ? row->help : "");
	opt_notes(row, put_note_piece, &w);
	buf_addch(out, '\n');
}

static bool has_row(const struct opt *rows, const char *name)
{
	for (; rows->type != OPT_TYPE_END; rows++)
		if (rows->type == OPT_TYPE_ROWS ? has_row(rows->rows, name)
						: rows->name && str_eq(rows->name, name))
			return true;
	return false;
}

/* A walk over the rows that people see. */
struct walk {
	const struct opt *all;
	opts_visitor *visit;
	void *ctx;
	bool builtins_done;
};

/* The options without a heading end with the ones that every applet has. */
static void visit_builtins(struct walk *w)
{
	for (const struct opt *row = builtins; !w->builtins_done && row->type != OPT_TYPE_END; row++)
		if (!has_row(w->all, row->name))
			w->visit(row, w->ctx);
	w->builtins_done = true;
}

static void visit_rows(struct walk *w, const struct opt *rows)
{
	for (; rows->type != OPT_TYPE_END; rows++) {
		if (rows->type == OPT_TYPE_ROWS)
			visit_rows(w, rows->rows);
		else if (rows->type == OPT_TYPE_GROUP)
			visit_builtins(w);
		if (rows->type != OPT_TYPE_ROWS && !(rows->flags & OPT_HIDDEN) && !rows->deprecated)
			w->visit(rows, w->ctx);
	}
}

void opts_visit(const struct opt *rows, opts_visitor *visit, void *ctx)
{
	struct walk w = {.all = rows, .visit = visit, .ctx = ctx};

	visit_rows(&w, rows);
	visit_builtins(&w);
}

static void put_shown(const struct opt *row, void *out)
{
	if (row->type == OPT_TYPE_GROUP)
		buf_printf(out, "\n%s:\n", row->help);
	else
		put_row(row, out);
}

static void look_for_duration(const struct opt *row, void *found)
{
	if (row->type != OPT_TYPE_FLAG && row->type != OPT_TYPE_GROUP &&
	    str_eq(opt_meta(row), "DURATION"))
		*(bool *)found = true;
}

void opts_render_rows(const struct opt *rows, struct buf *out)
{
	bool duration = false;

	buf_addstr(out, "Options:\n");
	opts_visit(rows, put_shown, out);
	opts_visit(rows, look_for_duration, &duration);
	if (duration)
		buf_addstr(out, "\n" OPT_DURATION_HELP "\n");
}

static void put_examples(const char *examples, struct buf *out)
{
	buf_addstr(out, "\nExamples:\n");
	while (*examples) {
		size_t len = strcspn(examples, "\n");

		buf_printf(out, "  %.*s\n", (int)len, examples);
		examples += len + (examples[len] == '\n');
	}
}

/* One line for each form that the command has. */
static void put_usage(const char *forms, struct buf *out)
{
	const char *title = "Usage: ";

	for (const char *at = forms; *at; at += at[0] == '\n') {
		size_t len = strcspn(at, "\n");

		buf_printf(out, "%s%s %.*s\n", title, opts_program(), (int)len, at);
		title = "   or: ";
		at += len;
	}
}

void opts_render_help(const struct opt *rows, struct buf *out)
{
	const struct applet *applet = running_applet;

	put_usage(applet && applet->usage ? applet->usage : "[OPTION]...", out);
	if (applet && applet->summary)
		buf_printf(out, "\n%s\n", applet->summary);
	buf_addch(out, '\n');
	opts_render_rows(rows, out);
	if (applet && applet->examples && *applet->examples)
		put_examples(applet->examples, out);
}
