/* SPDX-License-Identifier: MIT */
/* settings.h - what a run takes from the project's file and from the shell session */
#ifndef RUNNER_SETTINGS_H
#define RUNNER_SETTINGS_H

#include "core/opts.h"

#include "applets/runner/options.h"
#include "applets/runner/project/project.h"

struct settings {
	struct project project;
	bool has_project;
	char *modes; /* of the shell session; NULL: none set */
};

#define SETTINGS_INIT {.project = PROJECT_INIT}

/* Read the project's file. Ends the process (usage) when it is wrong, or the one asked for missing. */
void settings_load_project(struct settings *s, const struct run_options *options);

/*
 * Fill what the command line and the environment have left open, and leave each mode once. To be
 * called when the project is loaded, if it is; the texts live until settings_release().
 */
void settings_fill(struct settings *s, struct opts_args *args, struct run_options *options);
void settings_release(struct settings *s);

#endif
