/* SPDX-License-Identifier: MIT */
/* describe.h - the options of an applet in another form than its help, from the same rows */
#ifndef REFERENCE_DESCRIBE_H
#define REFERENCE_DESCRIBE_H

#include <stdbool.h>

#include "core/applet.h"
#include "core/buf.h"
#include "core/opts.h"

/* Appends what it makes of the rows; `running_applet` is theirs. */
typedef void describe_form(const struct opt *rows, struct buf *to);

/*
 * The rows stand inside each applet: it is asked for its help, in a process of its own, and `form`
 * answers. Appended; ends the process when there is no answer.
 */
void describe_applet(const struct applet *applet, describe_form *form, struct buf *to);

/* `codspeed NAME`, not just an internal name. */
bool describe_is_public(const struct applet *applet);

/*
 * The fixed words of the applet's usage lines ("bash|zsh|fish", all of them lower-case letters),
 * separated by blanks; nothing where there are none.
 */
void describe_words(const struct applet *applet, struct buf *to);

#endif
