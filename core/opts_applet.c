/* SPDX-License-Identifier: MIT */
/* opts_applet.c - the parser as an applet's main uses it: bad input ends the process */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "core/applet.h"
#include "core/base.h"
#include "core/cleanup.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/opts.h"

/* Mode of the last opts_parse, for die_usage. */
static unsigned usage_mode;

void (*opts_answer_help)(const struct opt *rows, struct buf *out) = opts_render_help;

static int usage_code(void)
{
	return usage_mode & OPTS_WRAPPER ? (int)EXIT_WRAPPER : (int)EXIT_USAGE;
}

void die_usage_recorded(void)
{
	char hint[160];

	log_error("%s", error_text());
	if (log_enabled(LOG_ERROR)) {
		snprintf(hint, sizeof(hint), "try '%s --help'\n", opts_program());
		write_full(STDERR_FILENO, hint, strlen(hint));
	}
	cleanup_run();
	exit(usage_code());
}

void die_usage(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = xstrdup(fmt);
	va_end(ap);
	fail(-EINVAL, "%s", text);
	free(text);
	die_usage_recorded();
}

void args_expect(const struct opts_args *args, size_t min, size_t max)
{
	if (args->count > max)
		die_usage("unexpected argument '%s'", args->words[max]);
	if (args->count < min)
		die_usage("an argument is missing: %s %s", opts_program(),
			  running_applet && running_applet->usage ? running_applet->usage : "");
}

/* Print what was asked for instead of a run. */
static void __attribute__((noreturn)) print_and_exit(struct buf *text)
{
	int rc = write_full(STDOUT_FILENO, text->data, text->len);

	if (rc && rc != -EPIPE)
		log_error("cannot write to standard output: %s", strerror(-rc));
	buf_release(text);
	exit(!rc ? (int)EXIT_DONE : usage_mode & OPTS_WRAPPER ? (int)EXIT_WRAPPER
							       : (int)EXIT_FAILED);
}

void opts_parse(const struct opt *rows, void *cfg, int argc, char **argv, unsigned mode,
		struct opts_args *args)
{
	struct opts_args own;
	struct buf text = BUF_INIT;
	int rc;

	usage_mode = mode;
	rc = opts_read(rows, cfg, argc, argv, mode, args ? args : &own);
	if (rc < 0)
		die_usage_recorded();
	if (rc == OPTS_HELP)
		opts_answer_help(rows, &text);
	if (rc == OPTS_VERSION)
		opts_render_version(&text);
	if (rc != OPTS_DONE)
		print_and_exit(&text);
	if (args)
		return;
	args_expect(&own, 0, 0);
	args_release(&own);
}
