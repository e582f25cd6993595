/* SPDX-License-Identifier: MIT */
/* opts.c - command line and environment into a struct, by option rows */
#include <stdio.h>

#include "core/base.h"
#include "core/opts.h"
#include "core/suggest.h"

struct opt_slot {
	const struct opt *row;
	void *member;
	enum opt_source source;
	const char *text; /* the last one that was stored */
};

/* A walk over argv. */
struct parser {
	struct opts_args *args;
	unsigned mode;
	int argc;
	char **argv;
	int next; /* the word after the current one */
	enum opts_outcome outcome;
};

static size_t count_rows(const struct opt *rows)
{
	size_t count = 0;

	for (const struct opt *row = rows; row->type != OPT_TYPE_END; row++)
		count += row->type == OPT_TYPE_ROWS ? count_rows(row->rows) : 1;
	return count;
}

static void add_slots(const struct opt *rows, void *cfg, struct opts_args *args)
{
	for (const struct opt *row = rows; row->type != OPT_TYPE_END; row++) {
		void *member = (char *)cfg + row->offset;

		if (row->type == OPT_TYPE_ROWS)
			add_slots(row->rows, member, args);
		else if (row->type != OPT_TYPE_GROUP)
			args->slots[args->slot_count++] =
				(struct opt_slot){.row = row, .member = member};
	}
}

static struct opt_slot *find_long(const struct opts_args *args, const char *name, size_t len)
{
	for (size_t i = 0; i < args->slot_count; i++) {
		const char *known = args->slots[i].row->name;

		if (strncmp(known, name, len) == 0 && !known[len])
			return &args->slots[i];
	}
	return NULL;
}

static struct opt_slot *find_short(const struct opts_args *args, char name)
{
	for (size_t i = 0; i < args->slot_count; i++)
		if (args->slots[i].row->short_name == name)
			return &args->slots[i];
	return NULL;
}

/* `given_as` names the option or the variable in messages. */
static int store(struct opt_slot *slot, const char *text, enum opt_source source,
		 const char *given_as)
{
	const struct opt *row = slot->row;
	int rc;

	if (row->type == OPT_TYPE_CHOICES && slot->source != source)
		((struct opt_list *)slot->member)->len = 0; /* replaces what the caller put there */
	slot->source = source;
	slot->text = text;
	rc = opt_store(row, text, slot->member);
	if (rc)
		return fail(-EINVAL, "invalid value '%s' for %s", text, given_as);
	if (row->deprecated && source >= OPT_FROM_ENV)
		log_warn("%s is deprecated: %s", given_as, row->deprecated);
	return 0;
}

static int store_flag(struct opt_slot *slot, const char *text, const char *given_as)
{
	bool again = slot->row->type == OPT_TYPE_CHOICES || slot->row->flags & OPT_REPEAT;

	if (slot->source == OPT_FROM_FLAG && !again)
		return fail(-EINVAL, "option '%s' cannot be used multiple times", given_as);
	return store(slot, text, OPT_FROM_FLAG, given_as);
}

/* What the option means alone, or NULL if it needs a value. */
static const char *bare_value(const struct opt *row)
{
	return row->type == OPT_TYPE_FLAG ? "true" : row->bare;
}

/* The next word as the value of `given_as`. */
static int take_value(struct parser *p, struct opt_slot *slot, const char *given_as)
{
	const char *word = p->next < p->argc ? p->argv[p->next] : NULL;

	if (!word)
		return fail(-EINVAL, "option '%s' needs a value", given_as);
	if (word[0] == '-' && word[1])
		return fail(-EINVAL,
			    "option '%s' needs a value; one that begins with '-' is written"
			    " '%s=%s'",
			    given_as, given_as, word);
	p->next++;
	return store_flag(slot, word, given_as);
}

/* The names that look like the unknown option `text`. */
static void suggest_options(const struct parser *p, const char *text, struct buf *line)
{
	const char *from = text + strspn(text, "-");
	char *name = xstrndup(from, strcspn(from, "="));
	struct suggest near = suggest_for(name);

	for (size_t i = 0; i < p->args->slot_count; i++) {
		const struct opt *row = p->args->slots[i].row;

		if (!(row->flags & OPT_HIDDEN) && !row->deprecated)
			suggest_add(&near, row->name);
	}
	suggest_add(&near, "help");
	suggest_add(&near, "version");
	suggest_text(&near, ", ", "--", line);
	free(name);
}

static int unknown_option(const struct parser *p, const char *text)
{
	bool begun = p->args->count > 0;
	struct buf line = BUF_INIT;
	int rc;

	buf_printf(&line, "unknown option '%s'", text);
	suggest_options(p, text, &line);
	if (p->mode & OPTS_COMMAND && (begun || p->mode & OPTS_STOP_AT_FIRST))
		buf_printf(&line, "%s the command is written after '--', as in '%s -- %s ...'",
			   str_ends(line.data, "?") ? " If not," : ";", opts_program(),
			   begun ? p->args->words[0] : text);
	rc = fail(-EINVAL, "%s", line.data);
	buf_release(&line);
	return rc;
}

/* --no-NAME of a flag. */
static struct opt_slot *find_negated(const struct opts_args *args, const char *name, size_t len)
{
	struct opt_slot *slot = NULL;

	if (len > 3 && str_starts(name, "no-"))
		slot = find_long(args, name + 3, len - 3);
	return slot && slot->row->type == OPT_TYPE_FLAG ? slot : NULL;
}

static int parse_long(struct parser *p, const char *word)
{
	const char *name = word + 2, *value = strchr(name, '=');
	size_t len = value ? (size_t)(value - name) : strlen(name);
	struct opt_slot *slot = find_long(p->args, name, len);
	char given_as[80];
	bool negated = false;

	if (!slot) {
		slot = find_negated(p->args, name, len);
		negated = slot;
	}
	snprintf(given_as, sizeof(given_as), "%.*s", (int)len + 2, word);
	if (!slot && !value && str_eq(name, "help"))
		p->outcome = OPTS_HELP;
	else if (!slot && !value && str_eq(name, "version"))
		p->outcome = OPTS_VERSION;
	else if (!slot)
		return unknown_option(p, word);
	if (!slot)
		return 0;
	if (negated)
		return value ? fail(-EINVAL, "option '%s' takes no value", given_as)
			     : store_flag(slot, "false", given_as);
	if (value)
		return store_flag(slot, value + 1, given_as);
	if (bare_value(slot->row))
		return store_flag(slot, bare_value(slot->row), given_as);
	return take_value(p, slot, given_as);
}

/* One or more short options: "-m", "-mVALUE", "-m=VALUE", "-sv". */
static int parse_short(struct parser *p, const char *word)
{
	int rc = 0;

	for (const char *at = word + 1; *at && !rc && !p->outcome; at++) {
		char given_as[] = {'-', *at, '\0'};
		struct opt_slot *slot = find_short(p->args, *at);

		if (!slot && *at == 'h')
			p->outcome = OPTS_HELP;
		else if (!slot && *at == 'V')
			p->outcome = OPTS_VERSION;
		else if (!slot)
			return unknown_option(p, word);
		else if (at[1] == '=')
			return store_flag(slot, at + 2, given_as);
		else if (bare_value(slot->row))
			rc = store_flag(slot, bare_value(slot->row), given_as);
		else if (at[1])
			return store_flag(slot, at + 1, given_as);
		else
			return take_value(p, slot, given_as);
	}
	return rc;
}

static int parse_argv(struct parser *p)
{
	struct opts_args *args = p->args;
	int rc = 0;

	while (p->next < p->argc && !rc && !p->outcome) {
		char *word = p->argv[p->next++];
		bool option = word[0] == '-' && word[1] && !args->separated;

		if (option && args->count && p->mode & OPTS_STOP_AT_FIRST)
			option = false;
		if (!option)
			args->words[args->count++] = word;
		else if (str_eq(word, "--"))
			args->separated = true;
		else if (word[1] == '-')
			rc = parse_long(p, word);
		else
			rc = parse_short(p, word);
	}
	return rc;
}

/* The precedence: what the command line left open, the environment fills, then the default. */
static int fill_open(struct opts_args *args)
{
	int rc = 0;

	for (size_t i = 0; i < args->slot_count && !rc; i++) {
		struct opt_slot *slot = &args->slots[i];
		const struct opt *row = slot->row;
		const char *value = row->env ? getenv(row->env) : NULL;

		if (slot->source == OPT_FROM_FLAG)
			continue;
		if (value && *value)
			rc = store(slot, value, OPT_FROM_ENV, row->env);
		else if (row->def && store(slot, row->def, OPT_FROM_DEFAULT, row->name))
			BUG("the default of an option is no valid value");
	}
	return rc;
}

int opts_read(const struct opt *rows, void *cfg, int argc, char **argv, unsigned mode,
	      struct opts_args *args)
{
	struct parser p = {.args = args, .mode = mode, .argc = argc, .argv = argv, .next = 1};
	int rc;

	*args = (struct opts_args){
		.words = xcalloc((size_t)argc + 1, sizeof(*args->words)),
		.slots = xcalloc(count_rows(rows), sizeof(*args->slots)),
	};
	add_slots(rows, cfg, args);
	rc = parse_argv(&p);
	if (!rc && !p.outcome)
		rc = fill_open(args);
	return rc ? rc : (int)p.outcome;
}

void args_release(struct opts_args *args)
{
	free(args->words);
	free(args->slots);
	*args = (struct opts_args){0};
}

enum opt_source opts_source(const struct opts_args *args, const char *name)
{
	const struct opt_slot *slot = find_long(args, name, strlen(name));

	if (!slot)
		BUG("no row for this option");
	return slot->source;
}

bool opts_given(const struct opts_args *args, const char *name)
{
	return opts_source(args, name) >= OPT_FROM_ENV;
}

int opts_fill(struct opts_args *args, opts_find *find, const void *ctx)
{
	int rc = 0;

	for (size_t i = 0; i < args->slot_count && !rc; i++) {
		struct opt_slot *slot = &args->slots[i];
		const char *text = slot->source < OPT_FROM_STORED ? find(ctx, slot->row->name) : NULL;

		if (text)
			rc = store(slot, text, OPT_FROM_STORED, slot->row->name);
	}
	return rc;
}

void opts_pass_on(const struct opts_args *args, const char *name, struct strvec *to)
{
	const struct opt_slot *slot = find_long(args, name, strlen(name));

	if (!slot)
		BUG("no row for this option");
	if (slot->source >= OPT_FROM_STORED)
		strvec_pushf(to, "--%s=%s", name, slot->text);
}
