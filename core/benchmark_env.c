/* SPDX-License-Identifier: MIT */
/* benchmark_env.c - what is added to a benchmark's environment */
#include <sys/utsname.h>

#include "core/base.h"
#include "core/benchmark_env.h"
#include "core/env.h"

/* Frames that a profile can follow; what the user wants of Java comes last, and wins. */
static void prepare_java(struct strvec *env)
{
	static const char ours[] = "-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
		"-XX:+DebugNonSafepoints -XX:+EnableDynamicAgentLoading -Djdk.attach.allowAttachSelf=true";
	const char *theirs = env_get(env, "JAVA_TOOL_OPTIONS");
	char *joined = theirs && *theirs ? xasprintf("%s %s", ours, theirs) : xstrdup(ours);

	env_set(env, "JAVA_TOOL_OPTIONS", joined);
	free(joined);
}

void benchmark_env_runner(struct strvec *env, enum mode mode, const char *folder,
			  bool malloc_python)
{
	struct utsname host;

	env_set(env, "PYTHONHASHSEED", "0");
	env_set(env, "PYTHON_PERF_JIT_SUPPORT", mode == MODE_WALLTIME ? "1" : "0");
	env_set(env, "ARCH", uname(&host) ? "unknown" : host.machine);
	env_set(env, CODSPEED_ENV, CODSPEED_ENV_RUNNER);
	/* integrations know simulation by its old name */
	env_set(env, CODSPEED_RUNNER_MODE,
		mode == MODE_SIMULATION ? "instrumentation" : mode_name(mode));
	env_set(env, CODSPEED_PROFILE_FOLDER, folder);
	if (mode == MODE_WALLTIME)
		prepare_java(env);
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

/* What NODE_OPTIONS is to become, so that node names what it compiles; NULL: it does already. */
static char *node_options_dup(const char *now)
{
	static const char perf_map[] = "--perf-basic-prof";

	if (now && has_word(now, perf_map))
		return NULL;
	return now && *now ? xasprintf("%s %s", now, perf_map) : xstrdup(perf_map);
}

void benchmark_env_profiled(struct strvec *env)
{
	char *options = node_options_dup(env_get(env, "NODE_OPTIONS"));

	if (options)
		env_set(env, "NODE_OPTIONS", options);
	free(options);
}

void benchmark_env_harness(struct strvec *env)
{
	env_set(env, "PYTHONPERFSUPPORT", "1");
	benchmark_env_profiled(env);
}
