/* SPDX-License-Identifier: MIT */
/* profiler.c - which back end takes samples */
//config:config FEATURE_PROFILER
//config:	bool "profiles in walltime mode (10 kb)"
//config:	default y
//config:	depends on WALLTIME
//config:	select LIB_ELF
//config:	help
//config:	  Samples where benchmarks spend their time, by perf or by a
//config:	  sampler of our own.
#include "core/base.h"

#include "applets/runner/walltime/profiler.h"

/* The preferred one first. */
static const struct {
	enum profiler_choice choice;
	const struct profiler_backend *backend;
} backends[] = {
	{PROFILER_PERF, &perf_backend},
	{PROFILER_SAMPLER, &sampler_backend},
};

static bool works(const struct profiler_backend *backend)
{
	if (!backend->try())
		return true;
	log_debug("no profile by %s: %s", backend->name, error_text());
	return false;
}

const struct profiler_backend *profiler_choose(enum profiler_choice wanted)
{
	for (size_t i = 0; i < ARRAY_SIZE(backends); i++) {
		if (wanted != PROFILER_AUTO && wanted != backends[i].choice)
			continue;
		error_clear();
		if (works(backends[i].backend))
			return backends[i].backend;
	}
	log_warn("no profile is taken, times are not affected: %s", error_text());
	error_clear();
	return NULL;
}
