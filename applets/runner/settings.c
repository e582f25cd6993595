/* SPDX-License-Identifier: MIT */
/* settings.c - what a run takes from the project's file and from the shell session */
#include "core/base.h"
#include "core/exit_code.h"

#include "applets/runner/project/shell_session.h"
#include "applets/runner/settings.h"

void settings_load_project(struct settings *s, const struct run_options *options)
{
	int rc = options->part ? 0 : project_load(&s->project, options->config);

	if (rc < 0)
		die_recorded(EXIT_USAGE);
	s->has_project = rc > 0;
}

/* NULL: not stored. */
static const char *find_text(const void *settings, const char *name)
{
	const struct settings *s = settings;

	return str_eq(name, "mode") ? s->modes : project_option(&s->project, name);
}

static void leave_each_once(struct opt_list *modes)
{
	struct opt_list list = *modes;

	modes->len = 0;
	for (size_t i = 0; i < list.len; i++) {
		size_t at = 0;

		while (at < modes->len && modes->items[at] != list.items[i])
			at++;
		if (at == modes->len)
			modes->items[modes->len++] = list.items[i];
	}
}

void settings_fill(struct settings *s, struct opts_args *args, struct run_options *options)
{
	if (options->part)
		return;
	if (!opts_given(args, "mode"))
		s->modes = shell_session_modes();
	if (opts_fill(args, find_text, s))
		die_recorded(EXIT_USAGE);
	leave_each_once(&options->modes);
	if (s->has_project && !opts_given(args, "fail-above")) {
		project_gates(&s->project, &options->comparing.gates);
		options->comparing.stored_gates = true;
	}
}

void settings_release(struct settings *s)
{
	project_release(&s->project);
	free(s->modes);
}
