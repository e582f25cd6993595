/* SPDX-License-Identifier: MIT */
/* words.c - a command written as one text in codspeed.yml, into its words */
#include <ctype.h>

#include "core/base.h"
#include "core/buf.h"

#include "applets/runner/project/words.h"

#define NO_SHELL "no shell runs an 'exec'; quote it, use 'sh -c \"...\"', or make it an 'entrypoint'"

struct splitter {
	const char *text;
	const char *at;
	struct buf word;
	bool quoted; /* this word has a quoted part: it counts even where it is empty */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* `$` followed by what a shell expands. */
static bool is_expansion(const char *at)
{
	return at[0] == '$' && (isalnum((unsigned char)at[1]) || (at[1] && strchr("_{(@*#?!$-'\"", at[1])));
}

/* NAME=: what has been read of the first word would be an assignment to a shell. */
static bool is_assignment(const struct buf *word)
{
	size_t i = 0;

	while (i < word->len && (isalnum((unsigned char)word->data[i]) || word->data[i] == '_'))
		i++;
	return i > 0 && i == word->len && !isdigit((unsigned char)word->data[0]);
}

static int refuse(const struct splitter *s, size_t len)
{
	return fail(-EINVAL, "'%.*s': " NO_SHELL, (int)len, s->at);
}

/* What only a shell could do, outside quotes. */
static int check_plain(const struct splitter *s, bool first_word)
{
	bool starts = !s->word.len && !s->quoted;

	if (strchr("|&;<>()", *s->at))
		return refuse(s, 1 + (s->at[1] == s->at[0]));
	if (*s->at == '`' || is_expansion(s->at))
		return refuse(s, 1 + (*s->at == '$'));
	if (*s->at == '~' && starts && (!s->at[1] || s->at[1] == '/' || is_blank(s->at[1])))
		return refuse(s, 1);
	if (*s->at == '=' && first_word && !s->quoted && is_assignment(&s->word))
		return fail(-EINVAL, "'%s=' would be the name of the program; write 'env %s=...'",
			    s->word.data, s->word.data);
	return 0;
}

static int take_single(struct splitter *s)
{
	const char *end = strchr(s->at + 1, '\'');

	if (!end)
		return fail(-EINVAL, "a ' that is not closed");
	buf_add(&s->word, s->at + 1, (size_t)(end - s->at - 1));
	s->at = end + 1;
	return 0;
}

static int take_double(struct splitter *s)
{
	const char *at = s->at + 1;

	for (; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1] && strchr("$`\"\\\n", at[1])) {
			at++;
			if (*at == '\n')
				continue;
		}
		buf_addch(&s->word, *at);
	}
	if (!*at)
		return fail(-EINVAL, "a \" that is not closed");
	s->at = at + 1;
	return 0;
}

/* A backslash outside quotes; at the very end it stands for itself. */
static void take_escaped(struct splitter *s)
{
	if (!s->at[1])
		buf_addch(&s->word, *s->at++);
	else if (s->at[1] == '\n')
		s->at += 2;
	else {
		buf_addch(&s->word, s->at[1]);
		s->at += 2;
	}
}

static int take_word(struct splitter *s, bool first_word)
{
	int rc = 0;

	buf_clear(&s->word);
	buf_addstr(&s->word, "");
	s->quoted = false;
	while (!rc && *s->at && !is_blank(*s->at)) {
		char c = *s->at;

		if (c == '\'')
			rc = take_single(s);
		else if (c == '"')
			rc = take_double(s);
		else if (c == '\\')
			take_escaped(s);
		else if (!(rc = check_plain(s, first_word)))
			buf_addch(&s->word, *s->at++);
		s->quoted |= c == '\'' || c == '"' || c == '\\';
	}
	return rc;
}

int words_split(struct strvec *words, const char *text, size_t *at)
{
	struct splitter s = {.text = text, .at = text};
	int rc = 0;

	while (!rc) {
		while (is_blank(*s.at))
			s.at++;
		if (*s.at == '#')
			s.at += strcspn(s.at, "\n");
		else if (!*s.at)
			break;
		else if (!(rc = take_word(&s, !words->len)) && (s.word.len || s.quoted))
			strvec_push(words, s.word.data);
	}
	*at = (size_t)(s.at - text);
	buf_release(&s.word);
	return rc;
}
