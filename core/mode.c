/* SPDX-License-Identifier: MIT */
/* mode.c - the ways to measure */
#include "core/base.h"
#include "core/benchmark_env.h"
#include "core/mode.h"

const struct opt_choice mode_words[] = {
	CHOICE("simulation", MODE_SIMULATION),
	CHOICE_ALIAS("walltime", MODE_WALLTIME), /* not in the help while it is refused */
	CHOICE("memory", MODE_MEMORY),
	CHOICE_OLD("instrumentation", MODE_SIMULATION, "simulation"),
	CHOICE_END,
};

const struct opt_choice mode_words_internal[] = {
	CHOICE("simulation", MODE_SIMULATION),
	CHOICE("walltime", MODE_WALLTIME),
	CHOICE("memory", MODE_MEMORY),
	CHOICE_ALIAS("instrumentation", MODE_SIMULATION),
	CHOICE_END,
};

void mode_forgive_own_word(void)
{
	const char *runner = getenv(CODSPEED_ENV), *word = getenv(CODSPEED_RUNNER_MODE);

	if (runner && word && str_eq(runner, CODSPEED_ENV_RUNNER) && str_eq(word, "instrumentation"))
		setenv(CODSPEED_RUNNER_MODE, mode_name(MODE_SIMULATION), 1);
}

const char *mode_name(enum mode mode)
{
	return mode_words[mode].word;
}

int mode_check_supported(enum mode mode)
{
	if (mode == MODE_SIMULATION || (ENABLE_MEMTRACK && mode == MODE_MEMORY))
		return 0;
	return fail(-ENOTSUP,
		    "%s mode is not part of this version; '-m simulation' measures instructions",
		    mode_name(mode));
}
