/* SPDX-License-Identifier: MIT */
/* completion.c - completion for shells, from the option rows */
//config:config COMPLETION
//config:	bool "completion (10 kb)"
//config:	default y
//config:	help
//config:	  Prints a script that completes commands and options in bash, zsh or
//config:	  fish.
//command:IF_COMPLETION(COMMAND("completion", NULL, completion_main, PRIV_DROP, "print the completion for a shell"))
//usage:bash|zsh|fish
//example:codspeed completion bash >/etc/bash_completion.d/codspeed
//example:codspeed completion zsh >~/.zfunc/_codspeed
//example:codspeed completion fish >~/.config/fish/completions/codspeed.fish
#include "applet_prototypes.h"
#include "core/base.h"
#include "core/io.h"

#include "applets/reference/describe.h"

#define MADE_BY "# Made by 'codspeed completion %s'.\n"

/* What comes after an option. */
enum value { VALUE_NONE, VALUE_TEXT, VALUE_FILE, VALUE_FOLDER, VALUE_WORD, VALUE_LIST };

static enum value value_of(const struct opt *row)
{
	switch (row->type) {
	case OPT_TYPE_FLAG:
		return VALUE_NONE;
	case OPT_TYPE_PATH:
		return str_eq(opt_meta(row), "DIR") ? VALUE_FOLDER : VALUE_FILE;
	case OPT_TYPE_CHOICE:
		return VALUE_WORD;
	case OPT_TYPE_CHOICES:
		return VALUE_LIST;
	default:
		return VALUE_TEXT;
	}
}

/* The usage lines end in a command of the user's. */
static bool takes_command(const struct applet *applet)
{
	return applet->usage && strstr(applet->usage, "COMMAND");
}

/* The text between single quotes of a shell; `special` characters get a backslash. */
static void add_quoted(struct buf *to, const char *text, const char *special, const char *quote)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_addstr(to, quote);
		else if (strchr(special, *text))
			buf_printf(to, "\\%c", *text);
		else
			buf_addch(to, *text);
	}
}

/* ---- bash ---- */

static void bash_name(const struct opt *row, void *to)
{
	if (row->type == OPT_TYPE_GROUP)
		return;
	buf_printf(to, " --%s", row->name);
	if (row->short_name)
		buf_printf(to, " -%c", row->short_name);
	if (opt_on_by_default(row))
		buf_printf(to, " --no-%s", row->name);
}

/* Where the word before is this option: what may follow. */
static void bash_value(const struct opt *row, void *to)
{
	static const char *const kinds[] = {
		[VALUE_TEXT] = "text", [VALUE_FILE] = "file", [VALUE_FOLDER] = "folder",
		[VALUE_WORD] = "word", [VALUE_LIST] = "list",
	};
	enum value value = row->type == OPT_TYPE_GROUP ? VALUE_NONE : value_of(row);

	if (value == VALUE_NONE || row->bare)
		return;
	buf_printf(to, "\t\t--%s", row->name);
	if (row->short_name)
		buf_printf(to, " | -%c", row->short_name);
	buf_printf(to, ") kind=%s words='", kinds[value]);
	opt_words(row, to);
	buf_addstr(to, "' ;;\n");
}

static void bash_command(const struct opt *rows, struct buf *to)
{
	const struct applet *applet = running_applet;

	buf_printf(to, "\t%s%s%s)\n\t\toptions='", applet->name, applet->alias ? " | " : "",
		   applet->alias ? applet->alias : "");
	opts_visit(rows, bash_name, to);
	buf_addstr(to, " '\n\t\tpositional='");
	describe_words(applet, to);
	buf_printf(to, "'\n\t\tcommands=%s\n\t\tcase $previous in\n", takes_command(applet) ? "yes" : "");
	opts_visit(rows, bash_value, to);
	buf_addstr(to, "\t\tesac\n\t\t;;\n");
}

/*
 * Bash splits words at `=`, too: `--mode=x` arrives as three. What follows `--` is a command of its
 * own.
 */
static const char bash_head[] =
	"_codspeed() {\n"
	"\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal command='' separated='' options='' positional='' commands='' kind='' words='' i\n"
	"\n"
	"\tcommand=${COMP_WORDS[0]##*/}\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
	"\t\t\tseparated=$i\n"
	"\t\t\tbreak\n"
	"\t\telif [ \"$command\" = codspeed ] && [[ ${COMP_WORDS[i]} != -* ]]; then\n"
	"\t\t\tcommand=${COMP_WORDS[i]}\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tif [ \"$current\" = = ]; then\n"
	"\t\tcurrent=''\n"
	"\telif [ \"$previous\" = = ]; then\n"
	"\t\tprevious=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tcase $command in\n";

static const char bash_tail[] =
	"\tesac\n"
	"\tCOMPREPLY=()\n"
	"\tif [ -n \"$separated\" ]; then\n"
	"\t\tif [ $((COMP_CWORD - separated)) -eq 1 ]; then\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$current\")\n"
	"\t\tfi\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tcase $kind in\n"
	"\ttext) ;;\n"
	"\tfile) mapfile -t COMPREPLY < <(compgen -f -- \"$current\") ;;\n"
	"\tfolder) mapfile -t COMPREPLY < <(compgen -d -- \"$current\") ;;\n"
	"\tword) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\") ;;\n"
	"\tlist)\n"
	"\t\ti=''\n"
	"\t\t[[ $current != *,* ]] || i=${current%,*},\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -P \"$i\" -W \"$words\" -- \"${current##*,}\")\n"
	"\t\t;;\n"
	"\t*)\n"
	"\t\tif [[ $current == -* ]]; then\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
	"\t\telif [ -n \"$positional\" ]; then\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -W \"$positional\" -- \"$current\")\n"
	"\t\telif [ -n \"$commands\" ]; then\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$current\")\n"
	"\t\telse\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
	"\t\tfi\n"
	"\t\t;;\n"
	"\tesac\n"
	"}\n";

/* `codspeed` itself: its options, and the names of all commands. */
static void bash_suite(struct buf *to)
{
	size_t count;
	const struct applet *table = applet_table(&count);

	buf_addstr(to, "\tcodspeed | help)\n\t\toptions='");
	opts_visit(applet_suite_options(), bash_name, to);
	buf_addstr(to, " '\n\t\tpositional='help");
	for (size_t i = 0; i < count; i++)
		if (describe_is_public(&table[i]))
			buf_printf(to, " %s", table[i].name);
	buf_addstr(to, "'\n\t\t;;\n");
}

static void bash_end(struct buf *to)
{
	size_t count;
	const struct applet *table = applet_table(&count);

	buf_addstr(to, bash_tail);
	buf_addstr(to, "complete -o default -F _codspeed codspeed");
	for (size_t i = 0; i < count; i++)
		if (describe_is_public(&table[i]) && table[i].kind == APPLET_KIND_APPLET)
			buf_printf(to, " %s", table[i].name);
	buf_addch(to, '\n');
}

static void bash_begin(struct buf *to)
{
	buf_printf(to, MADE_BY, "bash");
	buf_addstr(to, bash_head);
	bash_suite(to);
}

/* ---- zsh ---- */

#define ZSH_QUOTE "'\\''"

static void zsh_help(const struct opt *row, struct buf *to)
{
	buf_addch(to, '[');
	add_quoted(to, row->help ? row->help : "", "[]", ZSH_QUOTE);
	buf_addch(to, ']');
}

/* ":MESSAGE:ACTION" of _arguments. */
static void zsh_value(const struct opt *row, struct buf *to)
{
	enum value value = value_of(row);

	if (value == VALUE_NONE)
		return;
	buf_printf(to, "%s:%s:", row->bare ? ":" : "", opt_meta(row));
	if (value == VALUE_FILE || value == VALUE_FOLDER) {
		buf_addstr(to, value == VALUE_FILE ? "_files" : "_files -/");
	} else if (value == VALUE_WORD) {
		buf_addch(to, '(');
		opt_words(row, to);
		buf_addch(to, ')');
	} else if (value == VALUE_LIST) {
		buf_addstr(to, "_sequence compadd - ");
		opt_words(row, to);
	}
}

static void zsh_spec(const struct opt *row, struct buf *to, const char *name, const char *joint)
{
	bool again = row->flags & OPT_REPEAT || row->type == OPT_TYPE_CHOICES;

	buf_printf(to, "\t\t\t'%s%s%s", again ? "*" : "", name, joint);
	zsh_help(row, to);
	zsh_value(row, to);
	buf_addstr(to, "' \\\n");
}

static void zsh_option(const struct opt *row, void *to)
{
	const char *joint = row->type == OPT_TYPE_FLAG ? "" : row->bare ? "=-" : "=";
	char *name;

	if (row->type == OPT_TYPE_GROUP)
		return;
	name = xasprintf("--%s", row->name);
	zsh_spec(row, to, name, joint);
	free(name);
	if (opt_on_by_default(row)) {
		name = xasprintf("--no-%s", row->name);
		zsh_spec(row, to, name, "");
		free(name);
	}
	if (row->short_name)
		zsh_spec(row, to, (char[]){'-', row->short_name, '\0'},
			 row->type == OPT_TYPE_FLAG ? "" : "+");
}

static void zsh_command(const struct opt *rows, struct buf *to)
{
	const struct applet *applet = running_applet;
	struct buf words = BUF_INIT;

	buf_printf(to, "\t%s%s%s)\n\t\t_arguments -S -s : \\\n", applet->name, applet->alias ? "|" : "",
		   applet->alias ? applet->alias : "");
	opts_visit(rows, zsh_option, to);
	describe_words(applet, &words);
	if (words.len)
		buf_printf(to, "\t\t\t'*:word:(%s)'\n", words.data);
	else
		buf_printf(to, "\t\t\t'*::%s\n", takes_command(applet) ? "command:_codspeed_command'"
								    : "file:_files'");
	buf_addstr(to, "\t\t;;\n");
	buf_release(&words);
}

static void zsh_names(struct buf *to)
{
	size_t count;
	const struct applet *table = applet_table(&count);

	for (size_t i = 0; i < count; i++) {
		if (!describe_is_public(&table[i]))
			continue;
		buf_printf(to, "\t\t'%s:", table[i].name);
		add_quoted(to, table[i].summary, ":", ZSH_QUOTE);
		buf_addstr(to, "'\n");
	}
}

static void zsh_begin(struct buf *to)
{
	size_t count;
	const struct applet *table = applet_table(&count);

	buf_addstr(to, "#compdef codspeed");
	for (size_t i = 0; i < count; i++)
		if (describe_is_public(&table[i]) && table[i].kind == APPLET_KIND_APPLET)
			buf_printf(to, " %s", table[i].name);
	buf_printf(to, "\n" MADE_BY, "zsh");
	buf_addstr(to, "_codspeed() {\n\tlocal context state state_descr line command=${service}\n"
		       "\tlocal -a names\n\ttypeset -A opt_args\n\n\tnames=(\n");
	zsh_names(to);
	buf_addstr(to, "\t\t'help:show the options of a command'\n\t)\n"
		       "\tif [[ $service == codspeed ]]; then\n"
		       "\t\t_arguments -C -S : \\\n");
	opts_visit(applet_suite_options(), zsh_option, to);
	buf_addstr(to, "\t\t\t'1:command:->name' '*::argument:->rest' && return\n"
		       "\t\tif [[ $state == name ]]; then\n"
		       "\t\t\t_describe command names\n\t\t\treturn\n\t\tfi\n"
		       "\t\tcommand=$words[1]\n\tfi\n\tcase $command in\n");
}

static void zsh_end(struct buf *to)
{
	buf_addstr(to, "\thelp)\n\t\t_describe command names\n\t\t;;\n\tesac\n}\n"
		       "_codspeed_command() {\n\tif [[ $words[1] == -- ]]; then\n"
		       "\t\tshift words\n\t\t(( CURRENT-- ))\n\tfi\n\t_normal\n}\n"
		       "if [[ $funcstack[1] == _codspeed ]]; then\n\t_codspeed \"$@\"\n"
		       "else\n\tcompdef _codspeed codspeed\nfi\n");
}

/* ---- fish ---- */

#define FISH_QUOTE "\\'"

struct fish {
	struct buf *to;
	const char *lead; /* "complete -c codspeed -n '...'" */
};

static void fish_value(const struct opt *row, struct buf *to)
{
	switch (value_of(row)) {
	case VALUE_NONE:
		return;
	case VALUE_FILE:
		buf_addstr(to, " -r -F");
		return;
	case VALUE_FOLDER:
		buf_addstr(to, " -x -a '(__fish_complete_directories)'");
		return;
	case VALUE_TEXT:
		buf_addstr(to, row->bare ? "" : " -x");
		return;
	case VALUE_LIST:
		buf_addstr(to, " -x -a '(__fish_append , ");
		opt_words(row, to);
		buf_addstr(to, ")'");
		return;
	case VALUE_WORD:
		buf_addstr(to, " -x -a '");
		opt_words(row, to);
		buf_addstr(to, "'");
		return;
	}
}

static void fish_option(const struct opt *row, void *ctx)
{
	const struct fish *fish = ctx;
	struct buf *to = fish->to;

	if (row->type == OPT_TYPE_GROUP)
		return;
	for (int no = 0; no <= opt_on_by_default(row); no++) {
		buf_printf(to, "%s -l %s%s", fish->lead, no ? "no-" : "", row->name);
		if (row->short_name && !no)
			buf_printf(to, " -s %c", row->short_name);
		fish_value(row, to);
		buf_addstr(to, " -d '");
		add_quoted(to, row->help ? row->help : "", "\\", FISH_QUOTE);
		buf_addstr(to, "'\n");
	}
}

static void fish_rows(const struct opt *rows, const char *lead, struct buf *to)
{
	struct fish fish = {to, lead};
	struct buf words = BUF_INIT;

	opts_visit(rows, fish_option, &fish);
	if (running_applet)
		describe_words(running_applet, &words);
	if (words.len)
		buf_printf(to, "%s -f -a '%s'\n", lead, words.data);
	else if (running_applet && takes_command(running_applet))
		buf_printf(to, "%s -a '(__codspeed_command)'\n", lead);
	buf_release(&words);
}

static void fish_command(const struct opt *rows, struct buf *to)
{
	const struct applet *applet = running_applet;
	char *lead = xasprintf("complete -c codspeed -n '__fish_seen_subcommand_from %s%s%s'",
			       applet->name, applet->alias ? " " : "", applet->alias ? applet->alias : "");

	buf_printf(to, "complete -c codspeed -n __fish_use_subcommand -f -a %s -d '", applet->name);
	add_quoted(to, applet->summary, "\\", FISH_QUOTE);
	buf_addstr(to, "'\n");
	fish_rows(rows, lead, to);
	free(lead);
	if (applet->kind != APPLET_KIND_APPLET)
		return;
	lead = xasprintf("complete -c %s", applet->name);
	fish_rows(rows, lead, to);
	free(lead);
}

static void fish_names(struct buf *to)
{
	size_t count;
	const struct applet *table = applet_table(&count);

	for (size_t i = 0; i < count; i++)
		if (describe_is_public(&table[i]))
			buf_printf(to, "%s ", table[i].name);
}

static void fish_begin(struct buf *to)
{
	struct fish fish = {to, "complete -c codspeed -n __fish_use_subcommand"};

	buf_printf(to, MADE_BY, "fish");
	buf_addstr(to, "# The command after `--`, with its own completion.\n"
		       "function __codspeed_command\n"
		       "\tset -l words (commandline -opc)\n"
		       "\tset -l at (contains -i -- -- $words); or return\n"
		       "\tset -e words[1..$at]\n"
		       "\tcomplete -C (string join ' ' -- (string escape -- $words) (commandline -ct))\n"
		       "end\n");
	opts_visit(applet_suite_options(), fish_option, &fish);
	buf_addstr(to, "complete -c codspeed -n __fish_use_subcommand -f -a help -d "
		       "'show the options of a command'\n"
		       "complete -c codspeed -n '__fish_seen_subcommand_from help' -f -a '");
	fish_names(to);
	buf_addstr(to, "'\n");
}

static void fish_end(struct buf *to UNUSED)
{
}

/* ---- The command ---- */

static const struct shell {
	const char *name;
	void (*begin)(struct buf *to);
	describe_form *command;
	void (*end)(struct buf *to);
} shells[] = {
	{"bash", bash_begin, bash_command, bash_end},
	{"zsh", zsh_begin, zsh_command, zsh_end},
	{"fish", fish_begin, fish_command, fish_end},
};

static const struct opt rows[] = {
	OPT_END
};

static const struct shell *find_shell(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (str_eq(shells[i].name, name))
			return &shells[i];
	die_usage("no completion for '%s'; there is bash, zsh and fish", name);
}

int completion_main(int argc, char **argv)
{
	const struct shell *shell;
	struct buf script = BUF_INIT;
	const struct applet *table;
	struct opts_args args;
	size_t count;

	opts_parse(rows, NULL, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 1, 1);
	shell = find_shell(args.words[0]);
	table = applet_table(&count);
	shell->begin(&script);
	for (size_t i = 0; i < count; i++)
		if (describe_is_public(&table[i]))
			describe_applet(&table[i], shell->command, &script);
	shell->end(&script);
	output_text(script.data, script.len);
	buf_release(&script);
	args_release(&args);
	return 0;
}
