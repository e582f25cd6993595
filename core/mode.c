/* SPDX-License-Identifier: MIT */
/* mode.c - the ways to measure */
#include "core/base.h"
#include "core/mode.h"

const struct opt_choice mode_words[] = {
	CHOICE("simulation", MODE_SIMULATION),
	CHOICE("walltime", MODE_WALLTIME),
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

const char *mode_name(enum mode mode)
{
	return mode_words[mode].word;
}

int mode_check_supported(enum mode mode)
{
	if (mode == MODE_SIMULATION)
		return 0;
	return fail(-ENOTSUP,
		    "%s mode is not part of this version; '-m simulation' measures instructions",
		    mode_name(mode));
}
