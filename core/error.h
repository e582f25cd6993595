/* SPDX-License-Identifier: MIT */
/*
 * error.h - errors as frames: the place that knows the cause records it, callers add context,
 * the applet prints one line, outermost first: "cannot read profile: cannot open x.out: No such
 * file or directory".
 *
 * Library code returns 0 or a negative errno value; with the value it leaves frames behind.
 */
#ifndef CORE_ERROR_H
#define CORE_ERROR_H

#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))

/* Record a frame with this text; returns `rc`, so that `return fail(rc, ...)` reads well. */
int fail(int rc, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The same for the errno of the call that just failed: appends its text, returns -errno. */
int fail_errno(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* The recorded frames as one line, outermost first; "" when there are none. Borrowed. */
const char *error_text(void);

/* Forget the recorded frames: the failure was dealt with. */
void error_clear(void);

/*
 * Print "NAME: error: TEXT: recorded frames" and end the process with `code` after running the
 * cleanup stack. For applets; library code returns its error instead.
 */
void die(int code, const char *fmt, ...) PRINTF_LIKE(2, 3) __attribute__((noreturn));

/* The same without a text of its own: prints the recorded frames. */
void die_recorded(int code) __attribute__((noreturn));

/* A broken invariant of this program: never for bad input. */
#define BUG(what) bug_at(__FILE__, __LINE__, what)
void bug_at(const char *file, int line, const char *what) __attribute__((noreturn));

#endif
