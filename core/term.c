/* SPDX-License-Identifier: MIT */
/* term.c - what the stream that is written to can show */
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base.h"
#include "core/term.h"

enum { DEFAULT_WIDTH = 80, MAX_WIDTH = 10000 };

bool term_is_tty(int fd)
{
	return isatty(fd);
}

static unsigned width_from_environment(void)
{
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;

	return width > 0 && width <= MAX_WIDTH ? (unsigned)width : DEFAULT_WIDTH;
}

unsigned term_width(int fd)
{
	struct winsize size = {0};

	if (!term_is_tty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col) /* a serial line says 0 */
		return width_from_environment();
	return size.ws_col;
}

static bool set_and_not(const char *name, const char *value)
{
	const char *now = getenv(name);

	return now && !str_eq(now, value);
}

bool term_colours(int fd)
{
	const char *clicolor = getenv("CLICOLOR");

	if (set_and_not("CLICOLOR_FORCE", "0"))
		return true;
	return term_is_tty(fd) && !getenv("NO_COLOR") && set_and_not("TERM", "dumb") &&
		!(clicolor && str_eq(clicolor, "0"));
}

bool term_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *locale = getenv(names[i]);

		/* The first one that says anything decides. */
		if (locale && *locale)
			return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
	}
	return false;
}
