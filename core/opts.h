/* SPDX-License-Identifier: MIT */
/*
 * opts.h - option rows: one row is an option's flags, environment variable, type, member, default
 * and help. Parsing, precedence, range checks and help text all come from the rows.
 *
 *	static const struct opt rows[] = {
 *		OPT_CHOICES('m', "mode", struct cfg, modes, mode_words, .meta = "MODE",
 *			    .env = "CODSPEED_RUNNER_MODE", .help = "what to measure"),
 *		OPT_DURATION(0, "max-time", struct cfg, max_ns, .help = "stop after this"),
 *		OPT_GROUP("Output"),
 *		OPT_PATH(0, "json", struct cfg, json, .help = "write the results here"),
 *		OPT_END
 *	};
 *	struct opts_args args;
 *
 *	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED | OPTS_COMMAND, &args);
 *	args_expect(&args, 1, SIZE_MAX);
 *	...
 *	args_release(&args);
 *
 * Command line: `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, `-n=VALUE`; no
 * abbreviations; flags without a value may be bundled (`-sv`). A separate-word VALUE may not begin
 * with `-` (a lone `-` may be one). After the first `--` all words are positional. Every flag also
 * knows `--no-NAME` and `--NAME=true|false|1|0|yes|no|on|off`. An option given twice is a usage
 * error unless it is a list or OPT_REPEAT. `-h`, `--help`, `-V`, `--version` need no row.
 *
 * Precedence: command line, environment (an empty variable counts as unset), what the caller has
 * stored elsewhere (the project's file, the shell session; opts_fill()), `.def`, and last whatever the
 * member held before. The variable of an option that is given is not even looked at.
 */
#ifndef CORE_OPTS_H
#define CORE_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/strvec.h"

enum opt_type {
	OPT_TYPE_END,
	OPT_TYPE_GROUP,    /* a heading in the help; no option */
	OPT_TYPE_ROWS,     /* another table, for a struct inside this one */
	OPT_TYPE_FLAG,     /* bool */
	OPT_TYPE_STRING,   /* const char *, borrowed; may be "" when given as --name= */
	OPT_TYPE_PATH,     /* const char *, borrowed, never "" */
	OPT_TYPE_UINT,     /* uint64_t */
	OPT_TYPE_DURATION, /* uint64_t nanoseconds */
	OPT_TYPE_CHOICE,   /* int or an enum */
	OPT_TYPE_CHOICES,  /* struct opt_list */
	OPT_TYPE_CALL,     /* whatever .parse stores */
};

enum opt_flags {
	OPT_HIDDEN = 1 << 0,      /* works, but is not in the help */
	OPT_REPEAT = 1 << 1,      /* may be given again; the last one wins (.parse: called again) */
	OPT_IGNORE_CASE = 1 << 2, /* choices are compared without regard to case */
};

/* A word of OPT_CHOICE and OPT_CHOICES; write the table with the macros below. */
struct opt_choice {
	const char *word;
	int value;
	const char *instead; /* `word` is deprecated: a warning names this one. Not in the help */
	bool hidden;         /* an alias: accepted, not in the help */
};
#define CHOICE(word_, value_) {.word = (word_), .value = (value_)}
#define CHOICE_ALIAS(word_, value_) {.word = (word_), .value = (value_), .hidden = true}
#define CHOICE_OLD(word_, value_, new_) {.word = (word_), .value = (value_), .instead = (new_)}
#define CHOICE_END {.word = NULL}

/* What OPT_CHOICES collects: values in the order given, duplicates kept. */
enum { OPT_LIST_MAX = 16 }; /* more is a usage error */
struct opt_list {
	size_t len;
	int items[OPT_LIST_MAX];
};

struct opt {
	char short_name; /* 0: none */
	const char *name;
	enum opt_type type;
	size_t offset;
	const char *env;        /* variable that stands in for an absent option */
	const char *def;        /* default, as text; NULL: the member is left alone */
	const char *meta;       /* the value's name in the help; NULL: one for the type */
	const char *help;
	const char *deprecated; /* warn with this text when used ("use --x"). Not in the help */
	const char *bare;       /* value optional: `--name` alone means this, else `--name=VALUE` */
	unsigned flags;         /* enum opt_flags */
	uint64_t min, max;      /* OPT_UINT and OPT_DURATION; max 0: no limit */
	const struct opt_choice *choices;
	const struct opt *rows; /* OPT_ROWS */

	/*
	 * Stores the value; replaces (OPT_CALL) or follows (all others, as a check; the member is
	 * already stored) what the type does. 0 or negative errno with a frame that says what was
	 * expected; the caller adds the option's name and the text.
	 */
	int (*parse)(const struct opt *row, const char *text, void *member);
};

/* Offset of a member, only if it has this type. */
#define OPT_MEMBER(member_type, s, m)                                                             \
	(offsetof(s, m) +                                                                         \
	 0 * sizeof(struct {                                                                      \
		 _Static_assert(__builtin_types_compatible_p(member_type,                         \
							     __typeof__(((s *)0)->m)),            \
				"the member's type does not fit this option");                    \
		 int unused;                                                                      \
	 }))

/* The same for anything that is stored as an int; an enum is. */
#define OPT_INT_MEMBER(s, m)                                                                      \
	(offsetof(s, m) +                                                                         \
	 0 * sizeof(struct {                                                                      \
		 _Static_assert(sizeof(((s *)0)->m) == sizeof(int), "not an int or enum member"); \
		 int unused;                                                                      \
	 }))

#define OPT_ROW(short_, name_, type_, offset_, ...)                                               \
	{                                                                                         \
		.short_name = (short_), .name = (name_), .type = (type_), .offset = (offset_),    \
		__VA_ARGS__                                                                       \
	}

#define OPT_FLAG(short_, name, s, m, ...)                                                         \
	OPT_ROW(short_, name, OPT_TYPE_FLAG, OPT_MEMBER(bool, s, m), __VA_ARGS__)
#define OPT_STRING(short_, name, s, m, ...)                                                       \
	OPT_ROW(short_, name, OPT_TYPE_STRING, OPT_MEMBER(const char *, s, m), __VA_ARGS__)
#define OPT_PATH(short_, name, s, m, ...)                                                         \
	OPT_ROW(short_, name, OPT_TYPE_PATH, OPT_MEMBER(const char *, s, m), __VA_ARGS__)
#define OPT_UINT(short_, name, s, m, ...)                                                         \
	OPT_ROW(short_, name, OPT_TYPE_UINT, OPT_MEMBER(uint64_t, s, m), __VA_ARGS__)
#define OPT_DURATION(short_, name, s, m, ...)                                                     \
	OPT_ROW(short_, name, OPT_TYPE_DURATION, OPT_MEMBER(uint64_t, s, m), __VA_ARGS__)
#define OPT_CHOICE(short_, name, s, m, words, ...)                                                \
	OPT_ROW(short_, name, OPT_TYPE_CHOICE, OPT_INT_MEMBER(s, m), .choices = (words),          \
		__VA_ARGS__)
#define OPT_CHOICES(short_, name, s, m, words, ...)                                               \
	OPT_ROW(short_, name, OPT_TYPE_CHOICES, OPT_MEMBER(struct opt_list, s, m),                \
		.choices = (words), __VA_ARGS__)
#define OPT_CALL(short_, name, s, m, function, ...)                                               \
	OPT_ROW(short_, name, OPT_TYPE_CALL, offsetof(s, m), .parse = (function), __VA_ARGS__)

/* A heading for the rows that follow. */
#define OPT_GROUP(title) {.type = OPT_TYPE_GROUP, .help = (title)}
/* The options of `table`, made for `inner`, the type of member `m`: shared by several applets. */
#define OPT_ROWS(s, m, inner, table)                                                              \
	{.type = OPT_TYPE_ROWS, .offset = OPT_MEMBER(inner, s, m), .rows = (table)}
#define OPT_END {.type = OPT_TYPE_END}

enum opts_mode {
	OPTS_INTERLEAVED = 0,        /* options before, between and after positionals */
	OPTS_STOP_AT_FIRST = 1 << 0, /* the first positional ends the options */
	OPTS_COMMAND = 1 << 1,       /* positionals are a command: hint at `--` */
	OPTS_WRAPPER = 1 << 2,       /* usage errors exit with EXIT_WRAPPER, not EXIT_USAGE */
};

/* Where an option's value came from. */
enum opt_source {
	OPT_FROM_NOWHERE,
	OPT_FROM_DEFAULT,
	OPT_FROM_STORED, /* by opts_fill() */
	OPT_FROM_ENV,
	OPT_FROM_FLAG,
};

struct opt_slot; /* a row at work */

/* What is left when the options are taken out. */
struct opts_args {
	char **words; /* positionals, borrowed from argv; words[count] is NULL */
	size_t count;
	bool separated; /* there was a `--` */

	struct opt_slot *slots; /* private */
	size_t slot_count;
};

/* What opts_read ended on. */
enum opts_outcome { OPTS_DONE, OPTS_HELP, OPTS_VERSION };

/*
 * Fill `cfg` and `args` from argv[1..] and the environment. One of enum opts_outcome, or
 * -EINVAL with a frame for bad input. `args` is to be released in every case.
 */
int opts_read(const struct opt *rows, void *cfg, int argc, char **argv, unsigned mode,
	      struct opts_args *args);

/*
 * The same for an applet's main: prints help and version (exit 0) and ends the process on bad
 * input. `args` may be NULL where no positional is taken.
 */
void opts_parse(const struct opt *rows, void *cfg, int argc, char **argv, unsigned mode,
		struct opts_args *args);

void args_release(struct opts_args *args);

/* Bad input unless there are `min` to `max` positionals; SIZE_MAX for no limit. */
void args_expect(const struct opts_args *args, size_t min, size_t max);

/* The value of `--name` came from the command line or the environment. */
bool opts_given(const struct opts_args *args, const char *name);
enum opt_source opts_source(const struct opts_args *args, const char *name);

/*
 * Between environment and default: an option that neither the command line nor the environment gives
 * takes the text that `find` has for its name; NULL: none. The texts must live as long as the members.
 * 0 or -EINVAL with a frame.
 */
typedef const char *opts_find(const void *ctx, const char *name);
int opts_fill(struct opts_args *args, opts_find *find, const void *ctx);

/*
 * Append `--NAME=TEXT` where the option was given in any way but by its default: for a process that
 * is to do a part of the same. Of an option that was given several times, the last one.
 */
void opts_pass_on(const struct opts_args *args, const char *name, struct strvec *to);

/*
 * Bad input found by the applet itself: one line, then where to find help, exit code by the mode
 * of the last opts_parse. Recorded frames are appended.
 */
void die_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * Text into the row's member, checked as on the command line; also for configuration files. 0 or
 * negative errno with a frame that says what was expected.
 */
int opt_store(const struct opt *row, const char *text, void *member);

/* true|false|1|0|yes|no|on|off in any case. 0 or -EINVAL with a frame. */
int parse_bool(const char *text, bool *value);

/* The same without a text of its own. */
void die_usage_recorded(void) __attribute__((noreturn));

/* The help and the version line of running_applet, and only the table of options in it. */
void opts_render_help(const struct opt *rows, struct buf *out);
void opts_render_version(struct buf *out);
void opts_render_rows(const struct opt *rows, struct buf *out);

/* What the help says of values that are called DURATION (parse_duration()). */
#define OPT_DURATION_HELP "DURATION: seconds, or with a unit, as in 500ms, 1.5s or 1h 30m."

/*
 * For whoever describes options in another form than the help (applets/reference): the rows that
 * people are shown, headings (OPT_TYPE_GROUP) among them, in the order of the help and with those that
 * every applet has.
 */
typedef void opts_visitor(const struct opt *row, void *ctx);
void opts_visit(const struct opt *rows, opts_visitor *visit, void *ctx);

/* Of one row: the name of its value, the words that it takes ("a b", or nothing), the remarks behind
 * its help ("[default: 3s]"), and whether it is a flag that `--no-NAME` switches off. */
const char *opt_meta(const struct opt *row);
void opt_words(const struct opt *row, struct buf *out);
typedef void opt_note(const char *note, void *ctx);
void opt_notes(const struct opt *row, opt_note *put, void *ctx);
bool opt_on_by_default(const struct opt *row);

/* What opts_parse() answers --help with: opts_render_help(), unless somebody wants another form. */
extern void (*opts_answer_help)(const struct opt *rows, struct buf *out);

/* "codspeed exec" or "exec-harness": how the running applet was called. Borrowed. */
const char *opts_program(void);

#endif
