/* SPDX-License-Identifier: MIT */
/* capable_copy_obstacles.c - what keeps a file's capabilities from reaching the program */
#include <linux/magic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/capabilities.h"
#include "core/capable_copy.h"
#include "core/io.h"

/* ---- The file system ---- */

static const char *file_system_name(int fd)
{
	static const struct {
		unsigned long magic;
		const char *name;
	} known[] = {
		{OVERLAYFS_SUPER_MAGIC, "overlay"}, {NFS_SUPER_MAGIC, "NFS"}, {TMPFS_MAGIC, "tmpfs"},
		{FUSE_SUPER_MAGIC, "FUSE"},         {V9FS_MAGIC, "9p"},       {SMB2_SUPER_MAGIC, "SMB"},
		{CIFS_SUPER_MAGIC, "SMB"},          {EXT4_SUPER_MAGIC, "ext4"},
	};
	struct statfs st;

	for (size_t i = 0; !fstatfs(fd, &st) && i < ARRAY_SIZE(known); i++)
		if ((unsigned long)st.f_type == known[i].magic)
			return known[i].name;
	return "of another kind";
}

static void check_file_system(int fd, uint64_t rights, struct strvec *to)
{
	uint64_t lacking = rights & ~file_caps_of(fd).permitted;
	struct buf text = BUF_INIT;
	struct statvfs st;

	if (lacking) {
		caps_text(lacking, &text);
		strvec_pushf(to, "the file does not carry %s (file system: %s)", text.data,
			     file_system_name(fd));
		buf_release(&text);
	}
	if (!fstatvfs(fd, &st) && st.f_flag & ST_NOSUID)
		strvec_push(to, "its file system is mounted with nosuid, which takes the rights of all files");
}

/* ---- This process ---- */

static void check_bounds(uint64_t rights, struct strvec *to)
{
	uint64_t lacking = rights & ~caps_get().bounding;
	struct buf text = BUF_INIT;

	if (!lacking)
		return;
	caps_text(lacking, &text);
	strvec_pushf(to, "%s is not in the bounding set (a container that is started without it)",
		     text.data);
	buf_release(&text);
}

/* "0 0 4294967295": the first namespace knows every user. */
bool capable_copy_in_user_namespace(void)
{
	unsigned long inside, outside, count;
	struct buf text = BUF_INIT;
	bool is_first = true;

	if (read_file("/proc/self/uid_map", &text))
		error_clear(); /* a kernel without such namespaces */
	else
		is_first = text.len && sscanf(text.data, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
			   !inside && !outside && count == UINT32_MAX;
	buf_release(&text);
	return !is_first;
}

static long tracer(void)
{
	struct buf text = BUF_INIT;
	const char *at;
	long pid = 0;

	if (read_file("/proc/self/status", &text))
		error_clear();
	at = text.data ? strstr(text.data, "\nTracerPid:") : NULL;
	if (at)
		pid = strtol(at + strlen("\nTracerPid:"), NULL, 10);
	buf_release(&text);
	return pid;
}

void capable_copy_obstacles(int fd, uint64_t rights, struct strvec *to)
{
	long tracer_pid = tracer();

	if (fd >= 0)
		check_file_system(fd, rights, to);
	check_bounds(rights, to);
	if (prctl(PR_GET_NO_NEW_PRIVS, 0ul, 0ul, 0ul, 0ul) == 1)
		strvec_push(to, "this process has no_new_privs set (as containers, systemd's NoNewPrivileges "
				"and bwrap do)");
	if (capable_copy_in_user_namespace())
		strvec_push(to, "this process is in a user namespace, where files from outside give no rights");
	if (tracer_pid)
		strvec_pushf(to, "process %ld traces this one (strace, gdb)", tracer_pid);
}
