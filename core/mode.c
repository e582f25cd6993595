/* SPDX-License-Identifier: MIT */
/* mode.c - the ways to measure */
#include "core/base.h"
#include "core/benchmark_env.h"
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

static bool has_mode(const struct opt_list *list, int mode)
{
	for (size_t i = 0; i < list->len; i++)
		if (list->items[i] == mode)
			return true;
	return false;
}

int mode_list_add(struct opt_list *list, const char *text)
{
	static const struct opt row = {.name = "mode", .type = OPT_TYPE_CHOICES, .choices = mode_words};
	struct opt_list added = {0};
	int rc = opt_store(&row, text, &added);

	for (size_t i = 0; i < added.len && !rc; i++)
		if (!has_mode(list, added.items[i])) /* so there is always room */
			list->items[list->len++] = added.items[i];
	return rc;
}

char *mode_list_text(const struct opt_list *list)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < list->len; i++)
		buf_printf(&text, "%s%s", i ? "," : "", mode_name((enum mode)list->items[i]));
	return buf_detach(&text);
}

int mode_check_supported(enum mode mode)
{
	if (mode == MODE_SIMULATION || (ENABLE_MEMTRACK && mode == MODE_MEMORY) ||
	    (ENABLE_WALLTIME && mode == MODE_WALLTIME))
		return 0;
	return fail(-ENOTSUP,
		    "%s mode is not part of this version; '-m simulation' measures instructions",
		    mode_name(mode));
}
