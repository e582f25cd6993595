/* SPDX-License-Identifier: MIT */
/* log.c - messages to standard error */
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include "core/text.h"

static const char *program_name = "codspeed";
static enum log_level threshold = LOG_INFO;
static void (*step_aside)(void);

static const char *const level_names[] = {"off", "error", "warn", "info", "debug", "trace"};

/* What stands between the program's name and the text. */
static const char *const prefixes[] = {"", "error: ", "warning: ", "", "debug: ", "trace: "};

void log_init(const char *name)
{
	const char *wanted = getenv("CODSPEED_LOG");

	program_name = name;
	threshold = LOG_INFO;
	if (!wanted)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(level_names); i++)
		if (strcasecmp(wanted, level_names[i]) == 0)
			threshold = (enum log_level)i;
}

const char *log_name(void)
{
	return program_name;
}

bool log_enabled(enum log_level level)
{
	return level <= threshold;
}

void log_set_interlude(void (*before)(void))
{
	step_aside = before;
}

void log_at(enum log_level level, const char *fmt, ...)
{
	struct buf text = BUF_INIT, line = BUF_INIT;
	va_list ap;

	if (!log_enabled(level))
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	buf_printf(&line, "%s: %s", program_name, prefixes[level]);
	text_printable(text.data, text.len, &line); /* names in it may hold anything */
	buf_addch(&line, '\n');
	buf_release(&text);
	if (step_aside)
		step_aside();
	write_full(STDERR_FILENO, line.data, line.len); /* nowhere left to report a failure */
	buf_release(&line);
}
