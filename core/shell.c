/* SPDX-License-Identifier: MIT */
/* shell.c - commands that are given as shell text */
#include "core/base.h"
#include "core/path.h"
#include "core/shell.h"

int shell_command(struct strvec *argv, const char *text, const char *search)
{
	static const char *const shells[] = {"bash", "sh"};
	char *path;

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		if (path_find_program(shells[i], search, &path))
			continue;
		free(path);
		strvec_push(argv, shells[i]);
		strvec_push(argv, "-c");
		strvec_push(argv, text);
		return 0;
	}
	return fail(-ENOENT, "a command of one word is shell text, and there is no shell (bash or sh) "
			     "on PATH; give the program and its arguments as words of their own");
}

void shell_quote(const char *word, struct buf *to)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_-+./,:=@%";

	if (*word && !word[strspn(word, plain)]) {
		buf_addstr(to, word);
		return;
	}
	buf_addch(to, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_addstr(to, "'\\''");
		else
			buf_addch(to, *word);
	}
	buf_addch(to, '\'');
}
