/* SPDX-License-Identifier: MIT */
/*
 * benchmark_env.h - what is added to a benchmark's environment, in one place and a fixed order:
 * in simulation the environment is part of the figure.
 */
#ifndef CORE_BENCHMARK_ENV_H
#define CORE_BENCHMARK_ENV_H

#include <stdbool.h>

#include "core/mode.h"
#include "core/strvec.h"

/* The variable by which a benchmark (and exec-harness) knows that it runs under the runner. */
#define CODSPEED_ENV "CODSPEED_ENV"
#define CODSPEED_ENV_RUNNER "runner"
#define CODSPEED_PROFILE_FOLDER "CODSPEED_PROFILE_FOLDER"
#define CODSPEED_RUNNER_MODE "CODSPEED_RUNNER_MODE"

/*
 * What the runner adds in this mode. `folder` is the absolute profile folder; `malloc_python` says
 * that the interpreters at hand accept PYTHONMALLOC=malloc (python.h), which simulations ask for. A
 * user's own PYTHONMALLOC is kept.
 */
void benchmark_env_runner(struct strvec *env, enum mode mode, const char *folder,
			  bool malloc_python);

/* What exec-harness adds on top for the command that it runs in simulation mode. */
void benchmark_env_harness(struct strvec *env);

/* What lets a profile name the code that node makes; part of the above. */
void benchmark_env_profiled(struct strvec *env);

#endif
