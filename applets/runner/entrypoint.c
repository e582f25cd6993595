/* SPDX-License-Identifier: MIT */
/* entrypoint.c - a command that runs benchmarks by itself */
#include <ctype.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/shell.h"

#include "applets/runner/entrypoint.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Ends a word unless it is quoted. */
static bool ends_word(char c)
{
	return !c || isspace((unsigned char)c) || strchr(";&|()<>", c);
}

/* `cargo`, blanks, `codspeed` and an end of the word: the length up to there, else 0. */
static size_t cargo_codspeed_at(const char *at)
{
	static const char first[] = "cargo", second[] = "codspeed";
	const char *end = at + strlen(first);

	if (!str_starts(at, first) || !is_blank(*end))
		return 0;
	while (is_blank(*end))
		end++;
	if (!str_starts(end, second) || !ends_word(end[strlen(second)]))
		return 0;
	return (size_t)(end - at) + strlen(second);
}

/* The length of the word at `at`, with its quoted parts and escaped characters. */
static size_t word_length(const char *at)
{
	const char *from = at;
	char quote = 0;

	for (; *at && (quote || !ends_word(*at)); at++) {
		if (*at == '\\' && quote != '\'' && at[1])
			at++;
		else if (quote)
			quote = *at == quote ? 0 : quote;
		else if (*at == '\'' || *at == '"')
			quote = *at;
	}
	return (size_t)(at - from);
}

/* NAME=value: an assignment in front of a command. */
static bool is_assignment(const char *word, size_t len)
{
	size_t i = 0;

	while (i < len && (isalnum((unsigned char)word[i]) || word[i] == '_'))
		i++;
	return i > 0 && i < len && word[i] == '=' && !isdigit((unsigned char)word[0]);
}

/* A word after which the next one still is a command. */
static bool leads_a_command(const char *word, size_t len)
{
	static const char *const leaders[] = {"if", "then", "else", "elif", "do", "while", "until",
					      "!", "{", "time", "exec", "command"};

	for (size_t i = 0; i < ARRAY_SIZE(leaders); i++)
		if (strlen(leaders[i]) == len && strncmp(word, leaders[i], len) == 0)
			return true;
	return is_assignment(word, len);
}

/* Copy the word at `at`, or its replacement; returns its length. */
static size_t copy_word(struct buf *out, const char *at, bool *command)
{
	size_t len = *command ? cargo_codspeed_at(at) : 0;

	if (len) {
		buf_addstr(out, "cargo-codspeed");
		*command = false;
		return len;
	}
	len = word_length(at);
	buf_add(out, at, len);
	*command = *command && leads_a_command(at, len);
	return len;
}

/* Enough of shell grammar to know where a command begins; the text is a user's, not a program's. */
char *entrypoint_text(const char *text)
{
	struct buf out = BUF_INIT;
	bool command = true, target = false; /* what the next word is: a command, a file */
	size_t len;

	buf_addstr(&out, "");
	for (const char *at = text; *at; at += len) {
		bool not_command = false;

		len = 1;
		if (*at == '#') {
			len = strcspn(at, "\n");
			buf_add(&out, at, len);
		} else if (ends_word(*at)) {
			buf_addch(&out, *at);
			if (*at == '<' || *at == '>')
				target = true;
			else if (*at == '&' && target)
				continue; /* 2>&1 */
			else if (!is_blank(*at))
				command = true;
		} else {
			len = copy_word(&out, at, target ? &not_command : &command);
			target = false;
		}
	}
	return buf_detach(&out);
}

static int shell_words(struct strvec *argv, const char *text, const char *search)
{
	char *fixed = entrypoint_text(text);
	int rc = shell_command(argv, fixed, search);

	free(fixed);
	return rc;
}

int entrypoint_words(struct strvec *argv, char *const *words, const char *search)
{
	if (!words[1])
		return shell_words(argv, words[0], search);
	if (str_eq(words[0], "cargo") && str_eq(words[1], "codspeed")) {
		strvec_push(argv, "cargo-codspeed");
		words += 2;
	}
	strvec_push_all(argv, words);
	return 0;
}
