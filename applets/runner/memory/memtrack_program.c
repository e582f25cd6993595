/* SPDX-License-Identifier: MIT */
/* memtrack_program.c - which file to start as memtrack: this very binary, or its capable copy */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/capabilities.h"
#include "core/capable_copy.h"
#include "core/path.h"
#include "core/shell.h"

#include "applets/runner/memory/memtrack_program.h"

/* ---- This very binary ---- */

/* A mount of bpffs that libbpf takes a token from (memtrack looks closer); an empty name is none. */
static bool has_token(void)
{
	const char *path = getenv("LIBBPF_BPF_TOKEN_PATH");
	struct stat st;

	return path && *path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool needs_no_copy(void)
{
	return !geteuid() || (caps_get().permitted & CAPS_MINIMAL) == CAPS_MINIMAL || has_token();
}

/*
 * Given by hand: the harness, which is this file, would be a program that gains rights, and left alone
 * with all that it starts.
 */
static int check_own_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t rights = fd < 0 ? 0 : file_caps_of(fd).permitted;
	char *path;

	if (fd >= 0)
		close(fd);
	if (!rights)
		return 0;
	path = path_of_self();
	fail(-EPERM, "%s itself carries capabilities: remove them (setcap -r), they belong to a copy alone, "
		     "made by 'codspeed setup --mode memory'", path ? path : "codspeed");
	free(path);
	return -EPERM;
}

/* ---- The copy ---- */

/* `fd` may be -1. */
static int check_obstacles(int fd, uint64_t rights)
{
	struct strvec found = STRVEC_INIT;
	struct buf text = BUF_INIT;
	int rc = 0;

	capable_copy_obstacles(fd, rights, &found);
	for (size_t i = 0; i < found.len; i++)
		buf_printf(&text, "%s%s", i ? "; " : "", found.items[i]);
	if (found.len)
		rc = fail(-EPERM, "its rights do not reach it here: %s", text.data);
	buf_release(&text);
	strvec_release(&found);
	return rc;
}

static int open_copy(void)
{
	struct capable_copy c;
	int rc = capable_copy_locate(&c, getuid(), getgid());
	int fd = rc ? rc : capable_copy_open(&c);
	uint64_t rights = fd < 0 ? 0 : capable_copy_rights(fd);

	if (!rc) {
		rc = check_obstacles(fd < 0 ? -1 : fd, rights ? rights : CAPS_MINIMAL);
		if (rc && fd >= 0) {
			close(fd);
			fd = fail(rc, "%s", c.path);
		}
	}
	capable_copy_release(&c);
	return fd;
}

const char *memtrack_program_caps(void)
{
	unsigned major, minor;
	struct utsname kernel;

	if (uname(&kernel) || sscanf(kernel.release, "%u.%u", &major, &minor) != 2)
		return "minimal";
	return major < 6 || (major == 6 && minor < 6) ? "full" : "minimal";
}

char *memtrack_program_remedy_dup(void)
{
	char *self = path_of_self();
	struct buf text = BUF_INIT;

	if (!self)
		error_clear();
	shell_quote(self ? self : "codspeed", &text);
	buf_printf(&text, " setcap-helper install --uid %u", (unsigned)getuid());
	if (!str_eq(memtrack_program_caps(), "minimal"))
		buf_printf(&text, " --caps %s", memtrack_program_caps());
	free(self);
	return buf_detach(&text);
}

static int explain(int rc)
{
	char *remedy;

	if (!ENABLE_SETUP)
		return fail(rc, "it needs root, or cap_bpf and cap_perfmon");
	remedy = memtrack_program_remedy_dup();
	rc = fail(rc, "it needs root, or a copy of codspeed with cap_bpf and cap_perfmon; install that once "
		      "by 'codspeed setup --mode memory', or as root by '%s'", remedy);
	free(remedy);
	return rc;
}

int memtrack_program_find(struct memtrack_program *p)
{
	*p = (struct memtrack_program)MEMTRACK_PROGRAM_INIT;
	if (needs_no_copy()) {
		p->path = xstrdup("/proc/self/exe"); /* nothing else may choose it */
		p->harness = xstrdup(p->path);       /* of memtrack, which is this very binary, too */
		return 0;
	}
	if (check_own_file())
		return -EPERM;
	p->copy = open_copy();
	if (p->copy < 0)
		return explain(p->copy);
	p->path = xasprintf("/proc/self/fd/%d", p->copy); /* what was checked is what runs */
	p->harness = xasprintf("/proc/%d/exe", getpid()); /* the copy runs nothing but memtrack */
	return 0;
}

void memtrack_program_release(struct memtrack_program *p)
{
	free(p->path);
	free(p->harness);
	if (p->copy >= 0)
		close(p->copy);
	*p = (struct memtrack_program)MEMTRACK_PROGRAM_INIT;
}
