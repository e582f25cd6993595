/* SPDX-License-Identifier: MIT */
/* orphans.c - processes that outlive those who started them */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include "core/orphans.h"

void orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool process_read_name(pid_t pid, struct buf *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	buf_clear(name);
	if (read_file(path, name))
		error_clear();
	if (!name->len)
		return false;
	name->data[strcspn(name->data, "\n")] = '\0';
	return true;
}

size_t orphans_visit(pid_t except, void (*visit)(void *ctx, pid_t pid, const char *name),
		     void *ctx)
{
	struct buf text = BUF_INIT, name = BUF_INIT;
	char path[64], *save;
	size_t count = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	if (read_file(path, &text))
		error_clear();
	for (char *word = text.len ? strtok_r(text.data, " ", &save) : NULL; word;
	     word = strtok_r(NULL, " ", &save)) {
		pid_t pid = (pid_t)strtol(word, NULL, 10);

		if (pid == except || waitpid(pid, NULL, WNOHANG) > 0 || !process_read_name(pid, &name))
			continue;
		visit(ctx, pid, name.data);
		count++;
	}
	buf_release(&name);
	buf_release(&text);
	return count;
}

void orphans_signal(void *ctx, pid_t pid, const char *name UNUSED)
{
	kill(pid, *(const int *)ctx);
	kill(pid, SIGCONT);
}
