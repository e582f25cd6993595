/* SPDX-License-Identifier: MIT */
/*
 * applet.h - a row of the applet table.
 *
 * An applet registers itself in the head of its own file; scripts/gen-applets.sh collects the
 * rows. `//applet:` makes a name for argv[0], `//command:` a subcommand of codspeed.
 */
#ifndef CORE_APPLET_H
#define CORE_APPLET_H

#include <stddef.h>

struct opt;

enum applet_kind {
	APPLET_KIND_COMMAND, /* codspeed NAME */
	APPLET_KIND_APPLET,  /* argv[0] NAME, and also codspeed NAME */
};

/* What the applet may do with rights that the binary lends it (AT_SECURE). */
enum applet_privilege {
	PRIV_DROP, /* starts with every capability set cleared */
	PRIV_KEEP,
};

struct applet {
	const char *name;
	const char *alias; /* hidden second name, or NULL */
	enum applet_kind kind;
	enum applet_privilege privilege;
	int (*main)(int argc, char **argv);
	const char *summary;  /* a line of `codspeed --help`; NULL: internal, only the runner links
	                         it: a `node` in a folder on PATH would stand before the real one */
	const char *usage;    /* what follows the name in the usage line */
	const char *examples; /* one a line, or "" */
};

/* The row of the applet that is running: help and usage errors print from it. */
extern const struct applet *running_applet;

/* All of them, sorted by name. */
const struct applet *applet_table(size_t *count);

/* The options of `codspeed` itself. */
const struct opt *applet_suite_options(void);

/* The applet or command of this name or alias, or NULL. */
const struct applet *applet_find(const char *name);

#endif
