/* SPDX-License-Identifier: MIT */
/* rights.c - what memtrack may do, when a user started the capable copy */
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/capable_copy.h"
#include "core/exit_code.h"

#include "applets/memtrack/rights.h"
#include "applets/memtrack/token.h"

extern char **environ;

static bool lent;
static char **environment; /* as it was given */

/* Neither libbpf's token nor anything else of a library is a user's to choose. */
static void hide_environment(void)
{
	static char *rest[2];
	const char *path = getenv("PATH");

	environment = environ;
	if (path)
		rest[0] = xasprintf("PATH=%s", path);
	environ = rest;
}

void rights_begin(void)
{
	struct cap_sets sets = caps_get();

	lent = getauxval(AT_SECURE) && (sets.permitted || sets.effective);
	if (!lent)
		return;
	if (caps_keep(CAPS_FULL))
		die_recorded(EXIT_WRAPPER);
	prctl(PR_SET_DUMPABLE, 0); /* no tracer, no core, no /proc/PID/mem: the user's own, too */
	hide_environment();
}

bool rights_are_lent(void)
{
	return lent;
}

bool rights_over_own_user_only(void)
{
	return geteuid() && (lent || !token_path());
}

const char *rights_token(void)
{
	const char *given = getenv(TOKEN_VARIABLE);

	if (lent || (given && !token_path()))
		return "";
	return token_path();
}

char *const *rights_environment(void)
{
	return environment;
}

void rights_use(uint64_t mask)
{
	if (lent)
		caps_use(mask);
}

void rights_keep(uint64_t mask)
{
	if (lent && caps_keep(mask))
		die_recorded(EXIT_WRAPPER);
}

/* ---- When it is not enough ---- */

static uint64_t rights_of_self(int *fd)
{
	*fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? 0 : file_caps_of(*fd).permitted & CAPS_FULL;
}

/* The file has rights, this process has not got them. */
static void add_obstacles(int fd, uint64_t rights, struct buf *to)
{
	struct strvec found = STRVEC_INIT;

	capable_copy_obstacles(fd, rights, &found);
	for (size_t i = 0; i < found.len; i++)
		buf_printf(to, "%s%s", i ? "; " : "", found.items[i]);
	if (!found.len)
		buf_addstr(to, "the kernel refuses");
	strvec_release(&found);
}

static void add_lacking(uint64_t have, struct buf *to)
{
	buf_addstr(to, "this process lacks ");
	caps_text(CAPS_MINIMAL & ~have, to);
	buf_addstr(to, "; run it as root, or with cap_bpf and cap_perfmon");
	if (ENABLE_SETUP)
		buf_addstr(to, ", or once 'codspeed setup --mode memory', which gives these to a copy of "
			       "codspeed");
}

static void add_token(const char *path, struct buf *to)
{
	struct buf missing = BUF_INIT;

	token_explain(path, &missing);
	if (str_starts(missing.data ? missing.data : "", "delegate_"))
		buf_printf(to, "the BPF token of %s lacks %s", path, missing.data);
	else if (missing.len)
		buf_addstr(to, missing.data);
	else
		buf_printf(to, "the BPF token of %s delegates all that is needed, but not to this user "
			       "namespace", path);
	buf_release(&missing);
}

static bool has_token(void)
{
	const char *token = rights_token();

	return token && *token;
}

bool rights_are_lacking(int rc)
{
	return rc == -EPERM || rc == -EACCES || (rc == -EINVAL && has_token());
}

char *rights_explain_dup(void)
{
	struct buf text = BUF_INIT;
	uint64_t have = caps_get().permitted, file;
	int fd;

	buf_addstr(&text, "memory mode needs the right to load BPF programs: ");
	file = rights_of_self(&fd);
	if (has_token())
		add_token(rights_token(), &text);
	else if (file & ~have)
		add_obstacles(fd, file, &text);
	else if ((have & CAPS_MINIMAL) != CAPS_MINIMAL)
		add_lacking(have, &text);
	else if (capable_copy_in_user_namespace())
		buf_addstr(&text, "in a user namespace that takes a BPF token, which is delegated by mount "
				  "options of a bpffs and named by " TOKEN_VARIABLE);
	else
		buf_addstr(&text, "cap_bpf and cap_perfmon are there, and the kernel refuses all the same (a "
				  "security module, seccomp, or a kernel before 6.6, which takes 'codspeed "
				  "setcap-helper install --caps full')");
	if (fd >= 0)
		close(fd);
	return buf_detach(&text);
}
