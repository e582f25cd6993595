/* SPDX-License-Identifier: MIT */
/* shell_session.c - the modes that `codspeed use` sets for a shell and what it starts */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"
#include "core/json.h"
#include "core/mode.h"
#include "core/path.h"
#include "core/strvec.h"
#include "core/vec.h"

#include "applets/runner/project/shell_session.h"

enum { ANCESTORS_MAX = 1024 }; /* /proc changes under the walk */

#define PREFIX "modes."
#define SUFFIX ".json"

/* ---- Processes ---- */

struct process {
	pid_t pid, parent, session;
	uint64_t started; /* clock ticks since boot, field 22 of /proc/PID/stat (proc(5)) */
};

/* 0, or -ESRCH without a frame: it has ended. */
static int read_process(pid_t pid, struct process *to)
{
	char path[32], text[1024];
	ssize_t len;
	const char *at;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -ESRCH;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	at = strrchr(text, ')'); /* the name in front may hold anything */
	to->pid = pid;
	if (!at || sscanf(at + 1, " %*c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			  "%*d %*d %lu", &to->parent, &to->session, &to->started) != 3)
		return -ESRCH;
	return 0;
}

bool shell_session_lasts(pid_t pid)
{
	struct process process;

	return !read_process(pid, &process) && process.session == pid;
}

/* ---- The folder ---- */

/* Where it is; not made. Caller frees. */
static char *folder_path(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *temp = getenv("TMPDIR");
	const char *base = runtime && *runtime ? runtime : temp && *temp ? temp : "/tmp";

	return xasprintf("%s/codspeed-%u", base, geteuid());
}

/* A descriptor; -ENOENT without a frame, or another -errno with one: not ours alone, then. */
static int open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : fail_errno("cannot open %s", path);
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077))
		return fd;
	close(fd);
	return fail(-EPERM, "%s is open to others; remove it", path);
}

static int make_folder(const char *path)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return fail_errno("cannot make %s", path);
	return open_folder(path);
}

/* Files of processes that have ended, or whose id is another's by now. */
static void remove_dead(int folder, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct process process;
		uint64_t pid;

		if (path_is_numbered(entry->d_name, PREFIX, SUFFIX, &pid) &&
		    read_process((pid_t)pid, &process))
			unlinkat(folder, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

/* ---- A file ---- */

static void write_text(struct buf *to, const struct process *process, const char *modes)
{
	struct json_writer *w = json_writer_new();

	json_begin_object(w, NULL);
	json_put_u64(w, "started", process->started);
	json_put_text(w, "modes", modes);
	json_end(w);
	json_writer_finish(w, JSON_ONE_LINE, to);
}

/* *modes stays NULL where the file is of an earlier process with this id. */
static int read_text(const struct json_doc *doc, const struct process *process, char **modes)
{
	const struct json_value *value;
	struct opt_list list = {0};
	const char *text;
	uint64_t started;
	int rc = json_as_object(doc, doc->root);

	if (!rc)
		rc = json_get_u64(doc, doc->root, "started", &started);
	if (!rc)
		rc = json_get(doc, doc->root, "modes", &value);
	if (!rc)
		rc = json_as_text(doc, value, &text);
	if (!rc && mode_list_add(&list, text))
		rc = json_fail(doc, value, "no list of modes");
	if (!rc && started == process->started)
		*modes = xstrdup(text);
	return rc;
}

/* 0; -errno with a frame. No such file: 0, and *modes stays NULL. */
static int read_file_of(int folder, const char *path, const struct process *process, char **modes)
{
	char *name = xasprintf(PREFIX "%d" SUFFIX, process->pid);
	char *full = xasprintf("%s/%s", path, name);
	struct buf text = BUF_INIT;
	struct json_doc doc;
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc = 0;

	if (fd < 0) {
		rc = errno == ENOENT ? 0 : fail_errno("cannot open %s", full);
		goto out;
	}
	rc = read_rest(fd, &text);
	close(fd);
	if (!rc)
		rc = json_parse(&doc, full, text.data ? text.data : "", text.len);
	if (!rc) {
		rc = read_text(&doc, process, modes);
		json_release(&doc);
	}
out:
	buf_release(&text);
	free(full);
	free(name);
	return rc;
}

/* ---- The two directions ---- */

int shell_session_set(const char *modes, pid_t *pid)
{
	char *path = folder_path(), *file = NULL;
	struct buf text = BUF_INIT;
	struct process parent;
	int folder = make_folder(path), rc = folder < 0 ? folder : 0;

	*pid = getppid();
	if (!rc && read_process(*pid, &parent))
		rc = fail(-ESRCH, "the process that asked for it has ended");
	if (!rc) {
		remove_dead(folder, path);
		write_text(&text, &parent, modes);
		file = xasprintf("%s/" PREFIX "%d" SUFFIX, path, *pid);
		rc = write_file_atomic(file, text.data, text.len, 0600);
	}
	if (folder >= 0)
		close(folder);
	buf_release(&text);
	free(file);
	free(path);
	return rc;
}

static int find_modes(int folder, const char *path, char **modes)
{
	struct process process = {.parent = getpid()}; /* a shell may have become this process */
	int rc = 0;

	for (int i = 0; i < ANCESTORS_MAX && process.parent > 0 && !*modes && !rc; i++) {
		if (read_process(process.parent, &process))
			break;
		rc = read_file_of(folder, path, &process, modes);
	}
	return rc;
}

char *shell_session_modes(void)
{
	char *path = folder_path(), *modes = NULL;
	int folder = open_folder(path), rc = folder < 0 ? folder : 0;

	if (!rc)
		rc = find_modes(folder, path, &modes);
	if (rc && rc != -ENOENT)
		log_warn("what 'codspeed use' has set is left out: %s", error_text());
	error_clear();
	if (folder >= 0)
		close(folder);
	free(path);
	return modes;
}
