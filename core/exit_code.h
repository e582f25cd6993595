/* SPDX-License-Identifier: MIT */
/* exit_code.h - every exit status of the suite, in one place */
#ifndef CORE_EXIT_CODE_H
#define CORE_EXIT_CODE_H

/* The runner. Ended by signal N: everything is undone, then the signal is re-raised (128+N). */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,      /* a benchmark or the run failed; nothing measured */
	EXIT_USAGE = 2,       /* usage, unreadable configuration */
	EXIT_UNSUPPORTED = 3, /* this machine cannot run the mode; the message says why */
	EXIT_REGRESSED = 4,   /* a gate was broken */
	EXIT_INCOMPARABLE = 5,
};

/* The wrappers (exec-harness): the command's own status, or one of these. */
enum wrapper_exit_code {
	EXIT_WRAPPER = 125,        /* the wrapper's own failure */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL_BASE = 128,    /* 128 + N: the command was killed by signal N */
};

#endif
