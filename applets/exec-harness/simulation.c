/* SPDX-License-Identifier: MIT */
/* simulation.c - one command under callgrind, with everything it starts */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/base.h"
#include "core/benchmark_env.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/path.h"
#include "core/proctree.h"
#include "core/simulation_record.h"
#include "core/spawn.h"
#include "core/supervise.h"
#include "core/valgrind.h"

#include "applets/exec-harness/simulation.h"

extern char **environ;

int simulation_init(struct simulation *sim)
{
	struct valgrind_setup setup = {
		.use = VALGRIND_BENCHMARK, .folder = sim->folder,
	};
	char *program;
	int rc = valgrind_find(getenv("PATH"), &program);

	if (rc)
		return rc;
	setup.program = program;
	rc = valgrind_command(&sim->valgrind, &setup);
	free(program);
	if (rc)
		return rc;
	sim->fixed_addresses = spawn_can_fix_addresses();
	if (!sim->fixed_addresses)
		log_warn("address randomisation cannot be switched off here; figures may differ a "
			 "little from run to run");
	return 0;
}

void simulation_release(struct simulation *sim)
{
	strvec_release(&sim->valgrind);
}

/* Where the command's program is, and whether valgrind can run it; the errors are exec's own. */
static int check_program(const char *name)
{
	char *path;
	struct stat st;
	int rc = path_find_program(name, getenv("PATH"), &path);

	if (rc)
		return target_not_found(name, rc);
	if (!stat(path, &st) && ((st.st_mode & S_ISUID) || (st.st_mode & S_ISGID) ||
				 getxattr(path, "security.capability", NULL, 0) > 0))
		rc = fail(EXIT_NOT_EXECUTABLE, "%s: valgrind cannot run a program with the setuid or setgid bit "
				   "or with file capabilities; measure a plain copy of it", path);
	free(path);
	return rc;
}

/*
 * The benchmark's environment: ours, plus what simulation adds. An empty LD_PRELOAD= is what
 * valgrind leaves to the untraced children of an entrypoint; nobody else sets one.
 */
static void make_env(struct strvec *env)
{
	const char *preload;

	strvec_push_all(env, environ);
	preload = env_get(env, "LD_PRELOAD");
	if (preload && !*preload)
		env_unset(env, "LD_PRELOAD");
	benchmark_env_harness(env);
}

/* ---- The record of a run ---- */

static void record_image(struct record_process *to, const struct image *from)
{
	struct record_image image = {
		.command = xstrdup(from->command),
		.measured = from->kind == IMAGE_MEASURED,
		.forked = from->forked,
		.flaws = from->flaws,
	};

	for (size_t i = 0; i < from->dumps.len; i++)
		strvec_push(&image.dumps, from->dumps.items[i]);
	vec_push(&to->images, image);
}

static void record_processes(struct record_benchmark *to, const struct proctree *tree)
{
	for (size_t i = 0; i < tree->procs.len; i++) {
		const struct proc *p = &tree->procs.items[i];
		struct record_process process = {
			.pid = p->pid,
			.parent = p->parent == PROC_NONE ? 0 : tree->procs.items[p->parent].pid,
			.outlived = p->outlived,
			.status = p->ended ? status_of_wait(p->status) : -1,
		};

		for (size_t k = 0; k < p->images.len; k++)
			record_image(&process, &p->images.items[k]);
		vec_push(&to->processes, process);
	}
}

/* ---- Where ptrace is forbidden: what the logs tell ---- */

/* The number behind `key` in a log that starts with "==PID== key: number" lines; 0 when absent. */
static int64_t log_number(const char *log, const char *key)
{
	const char *at = strstr(log, key);

	return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

/* The command as valgrind writes it, with a backslash in front of what is special to a shell. */
static char *log_command(const char *log)
{
	static const char key[] = "Command: ";
	const char *at = strstr(log, key);
	struct buf text = BUF_INIT;

	for (at = at ? at + strlen(key) : ""; *at && *at != '\n'; at++) {
		if (*at == '\\' && at[1] && at[1] != '\n')
			at++;
		buf_addch(&text, *at);
	}
	return buf_detach(&text);
}

static bool is_known(const struct record_benchmark *b, int64_t pid)
{
	for (size_t i = 0; i < b->processes.len; i++)
		if (b->processes.items[i].pid == pid)
			return true;
	return false;
}

/* Adds the process of this log if its parent is one of ours already; false otherwise. */
static bool adopt_log(struct record_benchmark *b, const char *folder, const char *name)
{
	struct record_process process = {.status = -1};
	struct record_image image = {.measured = true};
	struct buf log = BUF_INIT;
	struct stat st;
	char *path = xasprintf("%s/%s", folder, name);
	bool adopted = false;

	process.pid = strtoll(name + strlen("valgrind."), NULL, 10);
	if (read_file(path, &log)) {
		error_clear();
		goto out;
	}
	process.parent = log_number(log.data, "Parent PID: ");
	if (!process.parent || is_known(b, process.pid) || !is_known(b, process.parent))
		goto out;
	image.command = log_command(log.data);
	image.forked = !*image.command;
	free(path);
	path = xasprintf("%s/%lld.out", folder, (long long)process.pid);
	if (stat(path, &st) || !st.st_size)
		image.flaws |= IMAGE_NO_DUMP;
	else
		strvec_pushf(&image.dumps, "%lld.out", (long long)process.pid);
	vec_push(&process.images, image);
	vec_push(&b->processes, process);
	adopted = true;
out:
	buf_release(&log);
	free(path);
	return adopted;
}

/* Until no log has a parent that is known: logs come in no order. */
static void adopt_from_logs(struct record_benchmark *b, const char *folder)
{
	bool found = true;

	while (found) {
		DIR *dir = opendir(folder);
		struct dirent *entry;

		found = false;
		if (!dir)
			return;
		while ((entry = readdir(dir)))
			if (path_is_numbered(entry->d_name, "valgrind.", ".log", NULL))
				found |= adopt_log(b, folder, entry->d_name);
		closedir(dir);
	}
}

/* ---- A run ---- */

/* Start valgrind on the command, held by the tree from before its first instruction. */
static int start(const struct simulation *sim, const struct target *target, char *const *argv,
		 char *const *envp, struct proctree *tree)
{
	struct spawn s = SPAWN_INIT;
	int rc;

	s.path = sim->valgrind.items[0];
	s.argv = argv;
	s.envp = envp;
	s.fixed_addresses = sim->fixed_addresses;
	s.modest_files = true;
	s.death_signal = SIGKILL;
	rc = spawn_start(&s);
	if (rc)
		return rc;
	rc = proctree_init(tree, s.pid, target->name, sim->folder, false);
	if (!rc)
		rc = spawn_release(&s);
	if (rc) {
		kill(s.pid, SIGKILL);
		waitpid(s.pid, NULL, 0);
	}
	return rc;
}

static int watch(struct proctree *tree, struct supervise *s)
{
	s->child = tree->procs.items[0].pid;
	s->tree = tree;
	s->grace_ns = NS_PER_SECOND;
	s->linger_ns = NS_PER_SECOND;
	return supervise(s);
}

static int record(const struct simulation *sim, const struct target *target,
		  const struct proctree *tree)
{
	const struct proc *root = &tree->procs.items[0];
	struct record_benchmark b = {
		.uri = xstrdup(target->uri),
		.name = xstrdup(target->name),
		.status = root->ended ? status_of_wait(root->status) : -1,
		.signal = root->ended && WIFSIGNALED(root->status) ? WTERMSIG(root->status) : 0,
		.random_addresses = !sim->fixed_addresses,
		.untraced = tree->root_only,
	};
	int rc;

	if (b.status > 0 && sim->allowed[b.status]) /* the process's own entry has it */
		b.status = b.signal = 0;
	record_processes(&b, tree);
	if (tree->root_only)
		adopt_from_logs(&b, sim->folder);
	rc = simulation_record_append(sim->folder, &b);
	record_benchmark_release(&b);
	return rc;
}

int simulation_run(const struct simulation *sim, const struct target *target, int *status,
		   int *interrupted)
{
	struct strvec argv = STRVEC_INIT, env = STRVEC_INIT;
	struct supervise watching = SUPERVISE_INIT;
	struct proctree tree = {0};
	int rc;

	rc = check_program(target->command.items[0]);
	if (rc)
		return rc;
	make_env(&env);
	strvec_push_all(&argv, sim->valgrind.items);
	strvec_push_all(&argv, target->command.items);
	rc = start(sim, target, argv.items, env.items, &tree);
	if (!rc)
		rc = watch(&tree, &watching);
	if (!rc && proctree_never_measured(&tree))
		rc = fail(-ENOSYS, "valgrind did not run the command; it ended with status %d, see "
				    "its message; one from 3.16 on is needed", WEXITSTATUS(tree.procs.items[0].status));
	if (!rc)
		rc = record(sim, target, &tree);
	if (!rc)
		*status = sim->allowed[status_of_wait(watching.status)] ? 0
				: status_of_wait(watching.status);
	*interrupted = watching.signal;
	proctree_release(&tree);
	strvec_release(&argv);
	strvec_release(&env);
	return rc;
}
