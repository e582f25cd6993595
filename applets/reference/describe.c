/* SPDX-License-Identifier: MIT */
/* describe.c - the options of an applet in another form than its help */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/exit_code.h"
#include "core/io.h"

#include "applets/reference/describe.h"

static void __attribute__((noreturn)) answer(const struct applet *applet, describe_form *form, int to)
{
	char *argv[] = {(char *)applet->name, (char[]){"--help"}, NULL};

	if (dup2(to, STDOUT_FILENO) < 0)
		_exit(EXIT_FAILED);
	running_applet = applet;
	opts_answer_help = form;
	applet->main(2, argv);
	_exit(EXIT_FAILED); /* it has gone on instead */
}

void describe_applet(const struct applet *applet, describe_form *form, struct buf *to)
{
	int ends[2], status, rc;
	pid_t pid;

	fflush(stdout);
	if (pipe2(ends, O_CLOEXEC))
		die(EXIT_FAILED, "cannot create a pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		die(EXIT_FAILED, "cannot fork: %s", strerror(errno));
	if (!pid)
		answer(applet, form, ends[1]);
	close(ends[1]);
	rc = read_rest(ends[0], to);
	close(ends[0]);
	if (waitpid(pid, &status, 0) != pid || status || rc)
		die(EXIT_FAILED, "%s does not tell its options", applet->name);
}

bool describe_is_public(const struct applet *applet)
{
	return applet->summary;
}

static bool is_fixed(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!islower((unsigned char)word[i]) && word[i] != '|' && word[i] != '-')
			return false;
	return len && word[0] != '-';
}

/* The word stands in the list already, from `before` on. */
static bool is_listed(const struct buf *list, size_t before, const char *word, size_t len)
{
	for (const char *at = list->data + before; *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (n == len && strncmp(at, word, len) == 0)
			return true;
		at += n;
	}
	return false;
}

/* "bash|zsh|fish" or "MODE...": each alternative, if these are fixed words. */
static void add_alternatives(struct buf *to, size_t before, const char *at, size_t len)
{
	const char *end = at + len;

	if (!is_fixed(at, len))
		return;
	while (at < end) {
		size_t n = strcspn(at, "|. \n");

		if (n > (size_t)(end - at))
			n = (size_t)(end - at);
		if (!is_listed(to, before, at, n))
			buf_printf(to, "%s%.*s", to->len > before ? " " : "", (int)n, at);
		at += n + 1;
	}
}

void describe_words(const struct applet *applet, struct buf *to)
{
	const char *at = applet->usage ? applet->usage : "";
	size_t before = to->len;

	buf_addstr(to, "");
	for (size_t len; *at; at += len, at += strspn(at, " \n")) {
		len = strcspn(at, " \n");
		add_alternatives(to, before, at,
				 len > 3 && strncmp(at + len - 3, "...", 3) == 0 ? len - 3 : len);
	}
}
