/* SPDX-License-Identifier: MIT */
/* setcap_helper.c - install, show and remove the copy of this binary that has memory mode's rights */
//config:config SETCAP_HELPER
//config:	bool "setcap-helper (4 kb)"
//config:	default y
//config:	depends on MEMTRACK
//config:	help
//config:	  Memory mode for users who are not root: a copy of this binary
//config:	  that carries the two capabilities which it takes.
//applet:IF_SETCAP_HELPER(APPLET("setcap-helper", setcap_helper_main, PRIV_DROP, "give memory mode its rights"))
//usage:install --uid UID [OPTION]...
//usage:status|remove [--uid UID]
//example:sudo codspeed setcap-helper install --uid "$(id -u)"
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applet_prototypes.h"
#include "core/base.h"
#include "core/capabilities.h"
#include "core/capable_copy.h"
#include "core/exit_code.h"
#include "core/opts.h"

#include "applets/setcap-helper/install.h"
#include "applets/setcap-helper/old_copies.h"

enum caps_choice { CAPS_CHOICE_MINIMAL, CAPS_CHOICE_FULL };

struct cfg {
	enum caps_choice caps;
	uint64_t uid, gid;
};

static const struct opt_choice caps_words[] = {
	CHOICE("minimal", CAPS_CHOICE_MINIMAL),
	CHOICE("full", CAPS_CHOICE_FULL),
	CHOICE_END,
};

static const struct opt rows[] = {
	OPT_CHOICE(0, "caps", struct cfg, caps, caps_words, .meta = "SET", .def = "minimal",
		   .help = "minimal: cap_bpf and cap_perfmon; full: what kernels before 6.6 need"),
	OPT_UINT(0, "uid", struct cfg, uid, .meta = "UID", .max = UINT32_MAX - 1,
		 .help = "whose copy (default for status and remove: who calls)"),
	OPT_UINT(0, "gid", struct cfg, gid, .meta = "GID", .max = UINT32_MAX - 1,
		 .help = "the group, for a UID without a password entry"),
	OPT_END
};

/* A user who is asked for no password must not be told by an error what root alone may see. */
static void need_root(const char *what)
{
	if (geteuid())
		die(EXIT_FAILED, "%s needs root (codspeed setup --mode memory uses sudo for it)", what);
}

static void locate(struct capable_copy *c, const struct cfg *cfg)
{
	if (capable_copy_locate(c, (uid_t)cfg->uid, (gid_t)cfg->gid))
		die_recorded(EXIT_FAILED);
}

/* Everything that the calling user can leave to a privileged program. */
static void settle(void)
{
	sigset_t ending;

	umask(022);
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error of writing then */
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ending, NULL); /* it is over in a moment, and leaves nothing half done */
}

/* What keeps the copy from working, one a line. Returns how many. */
static size_t tell_obstacles(int fd, uint64_t rights)
{
	struct strvec found = STRVEC_INIT;
	size_t count;

	capable_copy_obstacles(fd, rights, &found);
	for (size_t i = 0; i < found.len; i++)
		log_warn("%s", found.items[i]);
	count = found.len;
	strvec_release(&found);
	return count;
}

static int install(const struct cfg *cfg)
{
	uint64_t rights = cfg->caps == CAPS_CHOICE_FULL ? CAPS_FULL : CAPS_MINIMAL;
	struct capable_copy c;
	size_t removed, obstacles;
	bool fresh;
	int fd;

	need_root("install");
	if (!cfg->uid)
		die_usage("root needs no copy; give the user who is to have one with --uid");
	settle();
	locate(&c, cfg);
	if (install_copy(&c, rights, &fresh))
		die(EXIT_FAILED, "cannot install the copy");
	if (old_copies_remove(&c, false, &removed)) {
		log_warn("%s", error_text());
		error_clear();
	}
	fd = capable_copy_open(&c); /* read back: what was written need not be what is there */
	if (fd < 0)
		die(EXIT_FAILED, "the copy was installed, but cannot be used");
	obstacles = tell_obstacles(fd, rights);
	close(fd);
	printf("%s %s\n", fresh ? "installed" : "already there:", c.path);
	capable_copy_release(&c);
	return obstacles ? EXIT_UNSUPPORTED : EXIT_DONE;
}

static int status(const struct cfg *cfg)
{
	struct buf text = BUF_INIT;
	struct capable_copy c;
	uint64_t rights;
	int fd, code = EXIT_DONE;

	locate(&c, cfg);
	fd = capable_copy_open(&c);
	if (fd < 0) {
		if (fd == -ENOENT)
			printf("not installed: %s\n", c.path);
		else
			log_error("the copy cannot be used: %s", error_text());
		tell_obstacles(-1, CAPS_MINIMAL);
		return EXIT_UNSUPPORTED;
	}
	rights = capable_copy_rights(fd);
	caps_text(file_caps_of(fd).permitted, &text);
	printf("installed: %s (%s)\n", c.path, text.data);
	if (tell_obstacles(fd, rights ? rights : CAPS_MINIMAL))
		code = EXIT_UNSUPPORTED;
	close(fd);
	buf_release(&text);
	capable_copy_release(&c);
	return code;
}

static int remove_copies(const struct cfg *cfg)
{
	struct capable_copy c;
	size_t count;

	need_root("remove");
	settle();
	locate(&c, cfg);
	if (old_copies_remove(&c, true, &count))
		die_recorded(EXIT_FAILED);
	printf("removed %zu cop%s\n", count, count == 1 ? "y" : "ies");
	capable_copy_release(&c);
	return EXIT_DONE;
}

int setcap_helper_main(int argc, char **argv)
{
	struct cfg cfg = {.uid = getuid(), .gid = getgid()};
	struct opts_args args;
	const char *word;
	int code;

	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 0, 1);
	word = args.count ? args.words[0] : "";
	if (str_eq(word, "install"))
		code = install(&cfg);
	else if (str_eq(word, "status"))
		code = status(&cfg);
	else if (str_eq(word, "remove"))
		code = remove_copies(&cfg);
	else
		die_usage("the subcommand is install, status or remove");
	args_release(&args);
	return code;
}
