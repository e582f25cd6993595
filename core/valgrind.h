/* SPDX-License-Identifier: MIT */
/*
 * valgrind.h - everything this suite knows of valgrind's command line. Both ways to start it
 * (around one benchmark, around a whole entrypoint) come from here, so that they cannot differ
 * by accident.
 */
#ifndef CORE_VALGRIND_H
#define CORE_VALGRIND_H

#include <stdbool.h>

#include "core/strvec.h"

enum valgrind_use {
	VALGRIND_BENCHMARK,  /* measured from its first instruction */
	VALGRIND_ENTRYPOINT, /* measured where an integration switches it on; our own binary is not
	                        traced, it starts a valgrind of its own */
};

struct valgrind_setup {
	enum valgrind_use use;
	const char *program; /* path of valgrind */
	const char *folder;  /* absolute profile folder */
	const char *untraced; /* entrypoint: a program that runs natively with all it starts; or NULL */
	bool inherit;        /* processes that a benchmark starts count, too; CodSpeed's valgrind only */
};

/* `valgrind ... --` without the command, appended to `argv`. 0 or -errno with a frame. */
int valgrind_command(struct strvec *argv, const struct valgrind_setup *setup);

/* Those of its options that figures depend on. */
void valgrind_add_cache_options(struct strvec *to);

/* The valgrind on this PATH; caller frees. -ENOENT or -EACCES with a frame that has the remedy. */
int valgrind_find(const char *search, char **program);

/* What `program --version` says, "3.19.0"; caller frees. A frame when it does not run. */
int valgrind_version(const char *program, char **version);

/* `path` is the tool's own executable (callgrind-amd64-linux), as /proc/PID/exe shows it. */
bool valgrind_is_tool(const char *path);

/*
 * Of the command line of a process under valgrind, the client's words: what follows valgrind's own
 * options. Borrowed from `argv`.
 */
char *const *valgrind_client_words(char *const *argv);

/* This process itself runs under some valgrind. */
bool valgrind_is_above(void);

#endif
