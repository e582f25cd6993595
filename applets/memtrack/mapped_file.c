/* SPDX-License-Identifier: MIT */
/* mapped_file.c - the files that a process executes from */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"

#include "applets/memtrack/mapped_file.h"

enum { MINOR_BITS = 20 }; /* of a device number inside the kernel */

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

static bool is_listed(const struct mapped_files *files, uint32_t device, uint64_t inode)
{
	for (size_t i = 0; i < files->list.len; i++)
		if (files->list.items[i].inode == inode && files->list.items[i].device == device)
			return true;
	return false;
}

/* "START-END rwxp OFFSET MAJOR:MINOR INODE   PATH"; ranges in map_files have no leading zeros. */
static void read_line(struct mapped_files *files, const char *line)
{
	unsigned long long start, end, inode;
	unsigned int major, minor;
	char permissions[5];
	int path_at = 0;
	uint32_t device;

	if (sscanf(line, "%llx-%llx %4s %*x %x:%x %llu %n", &start, &end, permissions, &major, &minor,
		   &inode, &path_at) != 6 || permissions[2] != 'x' || !inode)
		return;
	device = major << MINOR_BITS | minor;
	if (is_listed(files, device, inode))
		return;
	vec_push(&files->list, (struct mapped_file){
		.device = device,
		.inode = inode,
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
	if (rc && (rc == -ENOENT || is_gone(pid))) {
		error_clear();
		rc = 0;
	} else if (!rc && text.len) {
		for (char *line = strtok_r(text.data, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			read_line(files, line);
	}
	buf_release(&text);
	return rc;
}

void mapped_files_release(struct mapped_files *files)
{
	for (size_t i = 0; i < files->list.len; i++) {
		free(files->list.items[i].range);
		free(files->list.items[i].path);
	}
	vec_release(&files->list);
}

static int open_as(pid_t pid, const char *folder, const char *name)
{
	char *path = xasprintf("/proc/%d/%s%s", pid, folder, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	free(path);
	return fd;
}

/* By its mapping, which asks for rights in the first user namespace; else by its path. */
int mapped_file_open(const struct mapped_file *file, pid_t pid)
{
	int fd = open_as(pid, "map_files/", file->range);

	if (fd < 0 && file->path[0] == '/')
		fd = open_as(pid, "root", file->path);
	if (fd >= 0)
		return fd;
	if (is_gone(pid))
		return -ESRCH;
	errno = errno ? errno : ENOENT;
	return fail_errno("cannot open %s", file->path);
}
