/* SPDX-License-Identifier: MIT */
/* process.c - what /proc says of a process that is not ours */
#include <dirent.h>
#include <stdio.h>
#include <time.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/io.h"

#include "applets/memtrack/process.h"

#define UNKNOWN PROCESS_STATE_UNKNOWN

enum {
	BUSY_MS = 1000,      /* for a thread that the kernel keeps busy */
	STOP_MS = 10 * 1000, /* for one that runs: a cgroup may give it little of a processor */
	PAUSE_NS = 50 * 1000,
};

static bool says_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

/*
 * What stands in `file` behind the name, which may hold anything. Both 0 when that is gone; state
 * UNKNOWN when we cannot look, which is another matter.
 */
static void read_stat(const char *file, char *state, int *parent)
{
	struct buf text = BUF_INIT;
	const char *end;
	int rc = read_file(file, &text);

	error_clear();
	*state = rc && !says_gone(-rc) ? UNKNOWN : 0;
	*parent = 0;
	end = text.data ? strrchr(text.data, ')') : NULL;
	if (end && sscanf(end + 1, " %c %d", state, parent) != 2)
		*state = 0;
	buf_release(&text);
}

static char thread_state(pid_t pid, const char *tid)
{
	char path[300], state; /* the name of an entry may be long */
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, tid);
	read_stat(path, &state, &parent);
	return state;
}

char process_state(pid_t pid)
{
	struct dirent *entry;
	char path[64], worst = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return says_gone(errno) ? 0 : UNKNOWN;
	while ((entry = readdir(dir))) {
		char state = entry->d_name[0] == '.' ? 0 : thread_state(pid, entry->d_name);

		if (state == 'T' || state == 't' || state == 'D')
			worst = worst && worst != 'T' ? worst : state == 'D' ? 'D' : 'T';
		else if (state && state != 'Z' && state != 'X')
			worst = state;
	}
	closedir(dir);
	return worst;
}

int process_wait_stopped(pid_t pid, struct heap_gaps *gaps)
{
	uint64_t from = clock_now();
	char state;

	while ((state = process_state(pid)) != 0 && state != 'T') {
		uint64_t waited_ms = (clock_now() - from) / NS_PER_MS;

		if (state == 'D' && waited_ms >= BUSY_MS) {
			heap_gaps_tell(gaps, "a thread of process %d does not answer (state D): what it "
				       "maps now may be missed", pid);
			return 0;
		}
		if (state == UNKNOWN)
			return fail(-EMFILE, "cannot look at process %d", pid);
		if (waited_ms >= STOP_MS)
			return fail(-ETIMEDOUT, "process %d does not stop (state %c)", pid, state);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	return 0;
}

pid_t process_parent(pid_t pid)
{
	char path[64], state;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	read_stat(path, &state, &parent);
	return parent;
}
