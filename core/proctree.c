/* SPDX-License-Identifier: MIT */
/* proctree.c - the processes under a valgrind, followed by ptrace */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include "core/path.h"
#include "core/proctree.h"
#include "core/valgrind.h"

enum {
	PID_LIMIT = 4 * 1024 * 1024, /* the kernel's PID_MAX_LIMIT; untouched pages cost nothing */
	TID_STOPPED = UINT32_MAX,    /* seen stopped before its parent's event told who it is */
};

#define TRACE_OPTIONS                                                                   \
	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |               \
	 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

/* waitpid() reports a ptrace event in the bits above the stop signal. */
static inline int stop_event(int status)
{
	return status >> 16;
}

static void proc_release(struct proc *p)
{
	for (size_t i = 0; i < p->images.len; i++) {
		free(p->images.items[i].command);
		strvec_release(&p->images.items[i].dumps);
	}
	vec_release(&p->images);
}

void proctree_release(struct proctree *tree)
{
	for (size_t i = 0; i < tree->procs.len; i++)
		proc_release(&tree->procs.items[i]);
	vec_release(&tree->procs);
	free(tree->by_tid);
	free(tree->self);
}

const char *proc_command(const struct proc *p)
{
	return vec_last(&p->images)->command;
}

/* ---- What /proc tells of a stopped process ---- */

static char *read_link(pid_t pid, const char *name)
{
	char path[64], target[PATH_MAX];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return NULL;
	target[len] = '\0';
	return xstrdup(target);
}

/* The client's words, joined by blanks; valgrind's own words in front of them are left out. */
static char *read_command(pid_t pid, bool under_valgrind)
{
	struct strvec words = STRVEC_INIT;
	struct buf line = BUF_INIT;
	char *const *from;
	char path[64], *command;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	if (read_file(path, &line))
		error_clear();
	for (size_t at = 0; at < line.len; at += strlen(line.data + at) + 1)
		strvec_push(&words, line.data + at);
	from = words.items;
	if (from && under_valgrind)
		from = valgrind_client_words(from);
	command = words_join(from);
	strvec_release(&words);
	buf_release(&line);
	return command;
}

/* The thread group of a thread: a clone event is a new thread if it shares its parent's. */
static pid_t read_group(pid_t tid)
{
	struct buf text = BUF_INIT;
	const char *at;
	char path[64];
	pid_t group = 0; /* the task is gone already */

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (read_file(path, &text))
		error_clear();
	at = text.data ? strstr(text.data, "\nTgid:") : NULL;
	if (at)
		group = (pid_t)strtol(at + strlen("\nTgid:"), NULL, 10);
	buf_release(&text);
	return group;
}

/* ---- Dumps ---- */

static char *dump_path(const struct proctree *tree, pid_t pid)
{
	return xasprintf("%s/%d.out", tree->folder, pid);
}

/* Bytes in the dump file of this id; -1 when there is none. */
static int64_t dump_size(const struct proctree *tree, pid_t pid)
{
	char *path = dump_path(tree, pid);
	struct stat st;
	int64_t size = stat(path, &st) ? -1 : (int64_t)st.st_size;

	free(path);
	return size;
}

/* Whether a dump was written since the last event of this process. */
static bool dumped_since(struct proctree *tree, struct proc *p)
{
	int64_t size = dump_size(tree, p->pid);
	bool grown = size > 0 && (uint64_t)size > p->dumped;

	if (size >= 0)
		p->dumped = (uint64_t)size;
	return grown;
}

/*
 * Move `<pid>.out` to the first free `<pid>.<n>.out`; returns the new name, NULL when the file
 * could not be moved. Nobody else makes such names in this folder: there is no race to lose.
 */
static char *move_dump(struct proctree *tree, pid_t pid)
{
	char *from = dump_path(tree, pid), *to = NULL, *name = NULL;
	struct stat st;

	for (unsigned n = 1; !to || !lstat(to, &st); n++) {
		free(name);
		free(to);
		name = xasprintf("%d.%u.out", pid, n);
		to = xasprintf("%s/%s", tree->folder, name);
	}
	if (rename(from, to)) {
		log_warn("cannot keep the dump %s: %s", from, strerror(errno));
		free(name);
		name = NULL;
	}
	free(from);
	free(to);
	return name;
}

static void drop_dump(struct proctree *tree, pid_t pid)
{
	char *path = dump_path(tree, pid);

	unlink(path);
	free(path);
}

/*
 * The process is about to run another program: put away what the old one has left. Of a child that
 * was forked without a dump that is mostly its parent's cost: better lost than counted twice.
 */
static void keep_dump(struct proctree *tree, struct proc *p)
{
	struct image *old = vec_last(&p->images);
	char *moved;

	if (old->kind != IMAGE_MEASURED)
		return;
	if (p->inherits)
		drop_dump(tree, p->pid);
	moved = dump_size(tree, p->pid) > 0 ? move_dump(tree, p->pid) : NULL;
	if (moved)
		strvec_take(&old->dumps, moved);
	else
		old->flaws |= IMAGE_START_LOST;
	p->dumped = 0;
	p->inherits = false; /* what it had inherited went with the image */
}

/* The process has ended: its dump is complete, or will never come. */
static void close_dump(struct proctree *tree, struct proc *p)
{
	struct image *last = vec_last(&p->images);

	if (last->kind != IMAGE_MEASURED)
		return;
	if (dump_size(tree, p->pid) > 0) {
		strvec_pushf(&last->dumps, "%d.out", p->pid);
		if (p->inherits)
			last->flaws |= IMAGE_REPEATS;
	} else {
		last->flaws |= IMAGE_NO_DUMP;
	}
}

/* ---- Processes come, change and go ---- */

/* A dump under this id that an earlier process of the tree left: ids are used again. */
static void clear_reused_id(struct proctree *tree, pid_t pid)
{
	for (size_t i = tree->procs.len; i-- > 0;) {
		struct proc *old = &tree->procs.items[i];
		struct image *last = vec_last(&old->images);
		char *moved;

		if (old->pid != pid)
			continue;
		if (!last->dumps.len)
			return; /* an older one's are out of the way already */
		moved = move_dump(tree, pid);
		if (!moved)
			return; /* told; the new process will overwrite it */
		free(last->dumps.items[last->dumps.len - 1]);
		last->dumps.items[last->dumps.len - 1] = moved;
		return;
	}
}

static struct proc *add_proc(struct proctree *tree, pid_t pid, size_t parent, struct image first)
{
	struct proc p = {.pid = pid, .parent = parent};

	if (dump_size(tree, pid) >= 0)
		clear_reused_id(tree, pid);
	vec_push(&p.images, first);
	vec_push(&tree->procs, p);
	tree->by_tid[pid] = (uint32_t)tree->procs.len;
	tree->live++;
	return vec_last(&tree->procs);
}

static struct proc *proc_of(struct proctree *tree, pid_t tid)
{
	uint32_t at = tid > 0 && tid < PID_LIMIT ? tree->by_tid[tid] : 0;

	return at && at != TID_STOPPED ? &tree->procs.items[at - 1] : NULL;
}

/* A new task announced by its parent: a thread of the same process, or a process. */
static void on_new_task(struct proctree *tree, struct proc *parent, pid_t tid)
{
	bool waiting = tree->by_tid[tid] == TID_STOPPED;
	size_t index = (size_t)(parent - tree->procs.items);
	bool dumped = dumped_since(tree, parent);
	const struct image *now = vec_last(&parent->images);
	pid_t group = read_group(tid);

	if (group == parent->pid) {
		tree->by_tid[tid] = (uint32_t)index + 1;
	} else if (group) {
		struct image first = {.kind = now->kind, .forked = true,
				      .command = xstrdup(now->command)};
		bool inherits = now->kind == IMAGE_MEASURED && !dumped;

		add_proc(tree, tid, index, first)->inherits = inherits;
	}
	if (waiting)
		ptrace(PTRACE_CONT, tid, NULL, 0);
}

/* By the path that in a process under valgrind leads to valgrind's tool. */
static bool executes_itself(const char *command)
{
	static const char path[] = "/proc/self/exe";
	size_t len = strlen(path);

	return str_starts(command, path) && (!command[len] || command[len] == ' ');
}

/*
 * A process of our own binary traces for itself: its children must not be ours. It stays in the
 * tree, so that its end is waited for and signals reach it.
 */
static void leave_children_to(const struct proc *p)
{
	ptrace(PTRACE_SETOPTIONS, p->pid, NULL, NULL);
}

static void on_exec(struct proctree *tree, struct proc *p)
{
	char *exe = read_link(p->pid, "exe");
	struct image next = {.kind = IMAGE_NATIVE};

	keep_dump(tree, p);
	if (exe && tree->leave_self && str_eq(exe, tree->self))
		leave_children_to(p);
	if (exe && valgrind_is_tool(exe))
		next.kind = IMAGE_MEASURED;
	next.command = read_command(p->pid, next.kind == IMAGE_MEASURED);
	if (next.kind == IMAGE_MEASURED && executes_itself(next.command))
		next.flaws |= IMAGE_SELF_EXEC;
	if (next.kind == IMAGE_NATIVE && strstr(next.command, "--tool=callgrind"))
		next.flaws |= IMAGE_NOT_STARTED;
	free(exe);
	if (vec_last(&p->images)->kind == IMAGE_NATIVE) {
		/* valgrind's launcher, which is a script on some systems, and its like: no trace */
		free(vec_last(&p->images)->command);
		*vec_last(&p->images) = next;
	} else {
		vec_push(&p->images, next);
	}
}

static void on_end(struct proctree *tree, pid_t tid, int status)
{
	struct proc *p = proc_of(tree, tid);

	tree->by_tid[tid] = 0;
	if (!p || p->pid != tid || p->ended)
		return; /* a thread */
	p->ended = true;
	p->status = status;
	tree->live--;
	close_dump(tree, p);
}

static bool is_job_stop(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void on_stop(struct proctree *tree, pid_t tid, int status)
{
	int event = stop_event(status), signal = WSTOPSIG(status);
	struct proc *p = proc_of(tree, tid);
	unsigned long message = 0;

	if (!p && tid > 0 && tid < PID_LIMIT) {
		tree->by_tid[tid] = TID_STOPPED; /* goes on when its parent's event has come */
		return;
	}
	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		if (!ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) && message < PID_LIMIT)
			on_new_task(tree, p, (pid_t)message);
		ptrace(PTRACE_CONT, tid, NULL, 0);
		break;
	case PTRACE_EVENT_EXEC:
		on_exec(tree, p);
		ptrace(PTRACE_CONT, tid, NULL, 0);
		break;
	case PTRACE_EVENT_STOP:
		if (is_job_stop(signal))
			ptrace(PTRACE_LISTEN, tid, NULL, 0); /* stays stopped until SIGCONT */
		else
			ptrace(PTRACE_CONT, tid, NULL, 0);
		break;
	default:
		ptrace(PTRACE_CONT, tid, NULL, (long)signal); /* deliver it */
	}
}

/* Without ptrace: the processes that have outlived their parents are ours to wait for. */
static void adopt_orphans(struct proctree *tree)
{
	struct buf text = BUF_INIT;
	char path[64], *save;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	if (read_file(path, &text))
		error_clear();
	for (char *word = text.len ? strtok_r(text.data, " ", &save) : NULL; word;
	     word = strtok_r(NULL, " ", &save)) {
		pid_t pid = (pid_t)strtol(word, NULL, 10);
		struct image image = {.kind = IMAGE_MEASURED};

		if (proc_of(tree, pid))
			continue;
		image.command = read_command(pid, true);
		add_proc(tree, pid, 0, image);
	}
	buf_release(&text);
}

void proctree_step(struct proctree *tree)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (WIFSTOPPED(status))
			on_stop(tree, tid, status);
		else
			on_end(tree, tid, status);
	}
	if (tree->root_only && proctree_root_ended(tree))
		adopt_orphans(tree);
}

bool proctree_never_measured(const struct proctree *tree)
{
	const struct proc *root = &tree->procs.items[0];

	return !tree->root_only && root->ended && WIFEXITED(root->status) &&
	       root->images.len == 1 && root->images.items[0].kind == IMAGE_NATIVE;
}

void proctree_kill(struct proctree *tree, int signal)
{
	for (size_t i = 0; i < tree->procs.len; i++)
		if (!tree->procs.items[i].ended)
			kill(tree->procs.items[i].pid, signal);
}

int proctree_init(struct proctree *tree, pid_t pid, const char *command, const char *folder,
		  bool leave_self)
{
	struct image launcher = {.kind = IMAGE_NATIVE, .flaws = IMAGE_NOT_STARTED,
				 .command = xstrdup(command)};

	*tree = (struct proctree){.folder = folder, .leave_self = leave_self};
	tree->by_tid = xcalloc(PID_LIMIT, sizeof(*tree->by_tid));
	tree->self = path_of_self();
	add_proc(tree, pid, PROC_NONE, launcher);
	if (!tree->self)
		return -ENOENT;
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)TRACE_OPTIONS)) {
		tree->root_only = true;
		prctl(PR_SET_CHILD_SUBREAPER, 1); /* what outlives its parent becomes our child */
		tree->procs.items[0].images.items[0].kind = IMAGE_MEASURED;
		tree->procs.items[0].images.items[0].flaws = IMAGE_EXACT;
		log_warn("cannot follow processes here (ptrace: %s): the cost that a process has "
			 "before it executes another program is not counted",
			 strerror(errno));
	}
	return 0;
}
