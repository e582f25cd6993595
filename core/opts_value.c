/* SPDX-License-Identifier: MIT */
/* opts_value.c - an option's text into its member */
#include <strings.h>

#include "core/base.h"
#include "core/opts.h"
#include "core/suggest.h"
#include "core/units.h"

int parse_bool(const char *text, bool *value)
{
	static const char *const words[][4] = {
		{"false", "0", "no", "off"},
		{"true", "1", "yes", "on"},
	};

	for (int v = 0; v < 2; v++)
		for (size_t i = 0; i < ARRAY_SIZE(words[v]); i++)
			if (strcasecmp(text, words[v][i]) == 0) {
				*value = v;
				return 0;
			}
	return fail(-EINVAL, "expected true or false");
}

static const struct opt_choice *find_choice(const struct opt *row, const char *word)
{
	bool fold = row->flags & OPT_IGNORE_CASE;

	for (const struct opt_choice *c = row->choices; c->word; c++)
		if (fold ? strcasecmp(c->word, word) == 0 : str_eq(c->word, word))
			return c;
	return NULL;
}

static int no_such_choice(const struct opt *row, const char *word)
{
	struct suggest near = suggest_for(word);
	struct buf text = BUF_INIT;
	int rc;

	for (const struct opt_choice *c = row->choices; c->word; c++) {
		if (c->instead || c->hidden)
			continue;
		buf_printf(&text, "%s%s", text.len ? ", " : "", c->word);
		suggest_add(&near, c->word);
	}
	suggest_text(&near, "; ", "", &text);
	rc = fail(-EINVAL, "expected %s%s", row->type == OPT_TYPE_CHOICES ? "some of " : "one of ",
		  text.data ? text.data : "nothing");
	buf_release(&text);
	return rc;
}

static int parse_choice(const struct opt *row, const char *word, int *value)
{
	const struct opt_choice *choice = find_choice(row, word);

	if (!choice)
		return no_such_choice(row, word);
	if (choice->instead)
		log_warn("--%s: '%s' is deprecated, use '%s'", row->name, word, choice->instead);
	*value = choice->value;
	return 0;
}

/* Comma-separated, as they stand: an empty or blank-padded item is no choice. */
static int parse_choices(const struct opt *row, const char *text, struct opt_list *list)
{
	int rc = 0;

	while (!rc) {
		const char *comma = strchrnul(text, ',');
		char *word = xstrndup(text, (size_t)(comma - text));

		if (list->len == OPT_LIST_MAX)
			rc = fail(-EINVAL, "expected at most %d values", OPT_LIST_MAX);
		else
			rc = parse_choice(row, word, &list->items[list->len]);
		free(word);
		list->len += !rc;
		if (!*comma)
			break;
		text = comma + 1;
	}
	return rc;
}

static int check_range(const struct opt *row, uint64_t value)
{
	char low[UNIT_TEXT], high[UNIT_TEXT];
	const char *(*format)(char *out, uint64_t n) =
		row->type == OPT_TYPE_DURATION ? format_duration : format_count;

	if (value < row->min)
		return fail(-EINVAL, "expected at least %s", format(low, row->min));
	if (row->max && value > row->max)
		return fail(-EINVAL, "expected at most %s", format(high, row->max));
	return 0;
}

/* Text into the member as the row's type has it. */
static int store_typed(const struct opt *row, const char *text, void *member)
{
	int rc;

	switch (row->type) {
	case OPT_TYPE_FLAG:
		return parse_bool(text, member);
	case OPT_TYPE_PATH:
		if (!*text)
			return fail(-EINVAL, "expected a path");
		/* fall through */
	case OPT_TYPE_STRING:
		*(const char **)member = text;
		return 0;
	case OPT_TYPE_UINT:
		rc = parse_uint64(text, member);
		return rc ? rc : check_range(row, *(uint64_t *)member);
	case OPT_TYPE_DURATION:
		rc = parse_duration(text, member);
		return rc ? rc : check_range(row, *(uint64_t *)member);
	case OPT_TYPE_CHOICE:
		return parse_choice(row, text, member);
	case OPT_TYPE_CHOICES:
		return parse_choices(row, text, member);
	default:
		return 0; /* OPT_TYPE_CALL: .parse does it all */
	}
}

int opt_store(const struct opt *row, const char *text, void *member)
{
	int rc = store_typed(row, text, member);

	return !rc && row->parse ? row->parse(row, text, member) : rc;
}
