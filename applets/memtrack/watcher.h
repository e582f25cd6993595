/* SPDX-License-Identifier: MIT */
/*
 * watcher.h - the thread that processes of the tree are stopped for: it looks at the files they have
 * mapped, attaches probes to allocators, and lets them go on.
 */
#ifndef MEMTRACK_WATCHER_H
#define MEMTRACK_WATCHER_H

#include "core/heap_gaps.h"

#include "applets/memtrack/tracker.h"

struct watcher;

/*
 * To be called before there are other threads: SIGIO is blocked from now on. 0 or -errno with a
 * frame. The tracker stays the caller's and must outlive the watcher.
 */
int watcher_start(struct watcher **to, struct tracker *t);

/* What ended its work, as a text, or NULL. Nothing more is attached after that. */
const char *watcher_failure(struct watcher *w);

/* End the thread; what was stopped goes on. Appends what it could not look at or into. */
void watcher_stop(struct watcher *w, struct heap_gaps *gaps);

#endif
