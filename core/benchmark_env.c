/* SPDX-License-Identifier: MIT */
/* benchmark_env.c - what is added to a benchmark's environment */
#include <sys/utsname.h>

#include "core/base.h"
#include "core/benchmark_env.h"
#include "core/env.h"

void benchmark_env_runner(struct strvec *env, enum mode mode, const char *folder,
			  bool malloc_python)
{
	struct utsname host;

	env_set(env, "PYTHONHASHSEED", "0");
	env_set(env, "PYTHON_PERF_JIT_SUPPORT", "0");
	env_set(env, "ARCH", uname(&host) ? "unknown" : host.machine);
	env_set(env, CODSPEED_ENV, CODSPEED_ENV_RUNNER);
	/* integrations know simulation by its old name */
	env_set(env, CODSPEED_RUNNER_MODE,
		mode == MODE_SIMULATION ? "instrumentation" : mode_name(mode));
	env_set(env, CODSPEED_PROFILE_FOLDER, folder);
	if (mode == MODE_SIMULATION && malloc_python && !env_get(env, "PYTHONMALLOC"))
		env_set(env, "PYTHONMALLOC", "malloc");
}

/* The word is there already, as a whole word. */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len) {
		bool starts = at == text || at[-1] == ' ' || at[-1] == '\t';
		bool ends = !at[len] || at[len] == ' ' || at[len] == '\t';

		if (starts && ends)
			return true;
	}
	return false;
}

void benchmark_env_harness(struct strvec *env)
{
	static const char perf_map[] = "--perf-basic-prof";
	const char *options = env_get(env, "NODE_OPTIONS");
	char *joined;

	env_set(env, "PYTHONPERFSUPPORT", "1");
	if (options && has_word(options, perf_map))
		return;
	joined = options && *options ? xasprintf("%s %s", options, perf_map) : xstrdup(perf_map);
	env_set(env, "NODE_OPTIONS", joined);
	free(joined);
}
