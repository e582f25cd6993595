/* SPDX-License-Identifier: MIT */
/* entrypoint.c - a command that runs benchmarks by itself */
#include <ctype.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/path.h"

#include "applets/runner/entrypoint.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
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
	if (!str_starts(end, second))
		return 0;
	end += strlen(second);
	if (*end && !isspace((unsigned char)*end) && !strchr(";&|)", *end))
		return 0;
	return (size_t)(end - at);
}

/*
 * Only where a command begins: not inside quotes or comments, not as an argument. That is a guess
 * at shell grammar on purpose; what it misses runs as written.
 */
char *entrypoint_text(const char *text)
{
	struct buf out = BUF_INIT;
	bool command = true; /* the next word is one */
	char quote = 0;
	size_t len;

	for (const char *at = text; *at; at++) {
		if (!quote && command && (len = cargo_codspeed_at(at)) > 0) {
			buf_addstr(&out, "cargo-codspeed");
			at += len - 1;
			command = false;
			continue;
		}
		buf_addch(&out, *at);
		if (*at == '\\' && quote != '\'' && at[1])
			buf_addch(&out, *++at);
		else if (quote)
			quote = *at == quote ? 0 : quote;
		else if (*at == '\'' || *at == '"')
			quote = *at;
		if (!is_blank(*at) || quote)
			command = !quote && strchr("\n;&|({", *at);
	}
	return buf_detach(&out);
}

static int shell_words(struct strvec *argv, const char *text, const char *search)
{
	static const char *const shells[] = {"bash", "sh"};
	char *path;

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		if (path_find_program(shells[i], search, &path))
			continue;
		free(path);
		strvec_push(argv, shells[i]);
		strvec_push(argv, "-c");
		strvec_take(argv, entrypoint_text(text));
		return 0;
	}
	return fail(-ENOENT, "a command of one word is shell text, and there is no shell (bash or sh) "
			     "on PATH; give the program and its arguments as words of their own");
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
