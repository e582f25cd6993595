/* SPDX-License-Identifier: MIT */
/* use.c - set the modes of this shell session */
//config:config USE
//config:	bool "use (6 kb)"
//config:	default y
//config:	select LIB_YYJSON
//config:	help
//config:	  `codspeed use MODE` sets what run and exec measure in this shell.
//command:IF_USE(COMMAND("use", NULL, use_main, PRIV_DROP, "set what run and exec measure in this shell"))
//usage:simulation|walltime|memory...
//example:codspeed use memory
//example:codspeed use simulation,memory
#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/mode.h"

#include "applets/runner/project/shell_session.h"

static const struct opt rows[] = {
	OPT_END
};

int use_main(int argc, char **argv)
{
	struct opts_args args;
	struct opt_list list = {0};
	char *modes;
	pid_t pid;

	opts_parse(rows, NULL, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 1, SIZE_MAX);
	for (size_t i = 0; i < args.count; i++)
		if (mode_list_add(&list, args.words[i]))
			die_usage("invalid mode '%s'", args.words[i]);
	modes = mode_list_text(&list);
	if (shell_session_set(modes, &pid))
		die(EXIT_FAILED, "the modes cannot be set");
	if (!shell_session_lasts(pid))
		log_info("set for process %d and what it starts", pid);
	free(modes);
	args_release(&args);
	return EXIT_DONE;
}
