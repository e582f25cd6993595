/* SPDX-License-Identifier: MIT */
/*
 * wrappers.h - programs that an entrypoint finds in front of the real ones on PATH, so that an
 * integration can ask for interpreter flags. Each is an applet of this binary.
 */
#ifndef RUNNER_WRAPPERS_H
#define RUNNER_WRAPPERS_H

#include "core/strvec.h"

/*
 * Make a private folder of links and put it in front of the environment's PATH. The folder goes
 * with the process (cleanup.h). 0 or -errno with a frame.
 */
int wrappers_install(struct strvec *env);

#endif
