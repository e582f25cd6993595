/* SPDX-License-Identifier: MIT */
/* mapped_file.c - the files that a process executes from */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"

#include "applets/memtrack/mapped_file.h"
#include "applets/memtrack/process.h"
#include "applets/memtrack/rights.h"

enum { MINOR_BITS = 20 }; /* of a device number inside the kernel */

/* "START-END rwxp OFFSET MAJOR:MINOR INODE   PATH"; ranges in map_files have no leading zeros. */
static void read_line(struct mapped_files *files, const char *line)
{
	unsigned long long start, end, inode;
	unsigned int major, minor;
	char permissions[5];
	struct track_file file = {0};
	int path_at = 0;

	if (sscanf(line, "%llx-%llx %4s %*x %x:%x %llu %n", &start, &end, permissions, &major, &minor,
		   &inode, &path_at) != 6 || permissions[2] != 'x' || !inode)
		return;
	file.device = major << MINOR_BITS | minor;
	file.inode = inode;
	if (files->list.len && track_file_equal(vec_last(&files->list)->file, file))
		return;
	vec_push(&files->list, (struct mapped_file){
		.file = file,
		.range = xasprintf("%llx-%llx", start, end),
		.path = xstrdup(line + path_at),
	});
}

int mapped_files_read(struct mapped_files *files, pid_t pid)
{
	struct buf text = BUF_INIT;
	char path[64], *save;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	rc = read_file(path, &text);
	if (rc) {
		bool gone = rc == -ENOENT || !process_state(pid);

		error_clear();
		rc = gone ? 0 : fail(rc, "cannot read what process %d has mapped: %s", pid, strerror(-rc));
	} else if (text.len) {
		for (char *line = strtok_r(text.data, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			read_line(files, line);
	}
	buf_release(&text);
	return rc;
}

static bool is_descendant(pid_t pid)
{
	while (pid > 1 && pid != getpid())
		pid = process_parent(pid);
	return pid == getpid();
}

pid_t mapped_file_find_user(struct track_file file, char **path)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	pid_t user = 0;

	while (dir && !user && (entry = readdir(dir))) {
		struct mapped_files files = {0};
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10); /* 0 for what is no process */

		if (pid > 0 && pid != getpid() && is_descendant(pid) && mapped_files_read(&files, pid))
			error_clear();
		for (size_t i = 0; !user && i < files.list.len; i++)
			if (track_file_equal(files.list.items[i].file, file)) {
				*path = xstrdup(files.list.items[i].path);
				user = pid;
			}
		mapped_files_release(&files);
	}
	if (dir)
		closedir(dir);
	return user;
}

void mapped_files_release(struct mapped_files *files)
{
	for (size_t i = 0; i < files->list.len; i++) {
		free(files->list.items[i].range);
		free(files->list.items[i].path);
	}
	vec_release(&files->list);
}

/*
 * Opened for good only when it is the file that is mapped: a path is the process's word, and opening
 * a device has effects. `inode` 0: any regular file.
 */
static int open_regular(const char *path, uint64_t inode)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char again[64];
	struct stat st;

	if (place < 0)
		return -1;
	if (fstat(place, &st)) {
		close(place);
		return -1;
	}
	if (!S_ISREG(st.st_mode) || (inode && st.st_ino != inode)) {
		errno = ESTALE;
	} else {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
		fd = open(again, O_RDONLY | O_CLOEXEC);
	}
	close(place);
	return fd;
}

/* By its mapping, which asks for rights in the first user namespace; else by its path. */
int mapped_file_open(const struct mapped_file *m, pid_t pid)
{
	char *path = xasprintf("/proc/%d/map_files/%s", pid, m->range);
	int fd, error;

	rights_use(RIGHTS_OPEN);
	fd = open_regular(path, 0);
	rights_use(0);
	free(path);
	if (fd < 0 && m->path[0] == '/') {
		path = xasprintf("/proc/%d/root%s", pid, m->path);
		fd = open_regular(path, m->file.inode);
		free(path);
	}
	if (fd >= 0)
		return fd;
	error = errno;
	if (!process_state(pid))
		return -ESRCH;
	errno = error ? error : ENOENT;
	return fail_errno("cannot open %s", m->path);
}

/* A mount namespace that rights reach is root's, so that what is mounted in it was mounted by root. */
static bool is_mounted_here(uint32_t device)
{
	unsigned int major, minor;
	struct buf text = BUF_INIT;
	char *save;
	bool found = false;

	if (read_file("/proc/self/mountinfo", &text))
		error_clear();
	for (char *line = text.len ? strtok_r(text.data, "\n", &save) : NULL; line && !found;
	     line = strtok_r(NULL, "\n", &save))
		found = sscanf(line, "%*d %*d %u:%u", &major, &minor) == 2 &&
			(major << MINOR_BITS | minor) == device;
	buf_release(&text);
	return found;
}

bool mapped_file_is_served(int fd, uint32_t device)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	return fs.f_type == FUSE_SUPER_MAGIC ||
	       (fs.f_type == OVERLAYFS_SUPER_MAGIC && !is_mounted_here(device));
}
