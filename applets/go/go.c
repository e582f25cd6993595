/* SPDX-License-Identifier: MIT */
/*
 * go.c - stands in front of the real go during `codspeed run`
 *
 * Go's benchmarks have no integration of their own: a runner of CodSpeed's takes the place of
 * `go test`, rewrites the packages and runs them, in walltime mode only. Every other command is
 * go's own in every mode, so that an entrypoint may build what it measures.
 *
 * Source of the protocol: the wrapper script of upstream's runner, which also installs what it
 * lacks. Here nothing is installed that nobody asked for: the message says what to install.
 */
//config:config GO
//config:	bool "go wrapper (5 kb)"
//config:	default y
//config:	help
//config:	  Hands `go test` under `codspeed run` to CodSpeed's runner for Go.
//applet:IF_GO(APPLET("go", go_main, PRIV_DROP, NULL))
//usage:[ARG]...
#include <stdlib.h>

#include "applet_prototypes.h"
#include "core/base.h"
#include "core/benchmark_env.h"
#include "core/env.h"
#include "core/exit_code.h"
#include "core/path.h"
#include "core/real_program.h"

#define GO_RUNNER "codspeed-go-runner"

/* valgrind leaves the variable, empty, to a program that it does not trace. */
static void drop_empty_preload(void)
{
	const char *preload = getenv("LD_PRELOAD");

	if (preload && !*preload)
		unsetenv("LD_PRELOAD");
}

static bool is_walltime(void)
{
	const char *mode = getenv(CODSPEED_RUNNER_MODE);

	return mode && str_eq(mode, mode_name(MODE_WALLTIME));
}

/* `test` and what follows, for the runner: it calls go itself. */
static void __attribute__((noreturn)) run_tests(char **argv)
{
	const char *version = getenv("CODSPEED_GO_RUNNER_VERSION");
	struct strvec words = STRVEC_INIT;
	char *path;

	if (!is_walltime())
		die(EXIT_WRAPPER, "'go test' can be measured in walltime mode only: use 'codspeed run "
				  "-m walltime'; any other command of go works in every mode");
	if (path_find_program(GO_RUNNER, getenv("PATH"), &path))
		die(EXIT_NOT_FOUND, "'go test' needs " GO_RUNNER "%s%s, which is not on PATH; install "
				    "it from CodSpeed's repository codspeed-go",
		    version && *version ? " " : "", version && *version ? version : "");
	strvec_push(&words, GO_RUNNER);
	strvec_push_all(&words, argv + 1);
	real_program_exec(path, words.items);
}

/* A profiler needs the symbols of what `go run` builds, and the file until the run's end. */
static void keep_symbols(struct strvec *words, char **argv)
{
	strvec_push(words, "go");
	strvec_push(words, argv[1]);
	strvec_push(words, "-work");
	strvec_push(words, "-ldflags=-s=false -w=false");
	strvec_push_all(words, argv + 2);
}

int go_main(int argc UNUSED, char **argv)
{
	struct strvec words = STRVEC_INIT;
	char *go;

	drop_empty_preload();
	go = real_program_find("go");
	if (!go)
		die(EXIT_NOT_FOUND, "go is not on PATH (behind codspeed's wrapper)");
	if (argv[1] && str_eq(argv[1], "test"))
		run_tests(argv);
	if (argv[1] && str_eq(argv[1], "run") && is_walltime()) {
		keep_symbols(&words, argv);
	} else {
		strvec_push(&words, "go");
		strvec_push_all(&words, argv + 1);
	}
	real_program_exec(go, words.items);
}
