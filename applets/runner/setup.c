/* SPDX-License-Identifier: MIT */
/* setup.c - prepare this machine for the modes that need more than the binary */
//config:config SETUP
//config:	bool "setup (2 kb)"
//config:	default y
//config:	depends on SETCAP_HELPER
//command:IF_SETUP(COMMAND("setup", NULL, setup_main, PRIV_DROP, "prepare this machine for a mode"))
//usage:[OPTION]...
//usage:status
//example:codspeed setup --mode memory
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/mode.h"
#include "core/opts.h"
#include "core/path.h"
#include "core/spawn.h"
#include "core/strvec.h"

#include "applets/runner/memory/memtrack_program.h"

struct cfg {
	struct opt_list modes;
};

static const struct opt rows[] = {
	OPT_CHOICES('m', "mode", struct cfg, modes, mode_words, .meta = "MODE",
		    .help = "what to prepare (default: all modes)"),
	OPT_END
};

/* ---- Programs ---- */

/* Its status, or -errno with a frame. Our descriptors, terminal and environment are its own. */
static int run(const char *path, char *const *argv)
{
	struct spawn s = SPAWN_INIT;
	int rc, status;

	s.path = path;
	s.argv = argv;
	rc = spawn_start(&s);
	if (!rc)
		rc = spawn_release(&s);
	if (rc)
		return rc;
	while (waitpid(s.pid, &status, 0) < 0)
		if (errno != EINTR)
			return fail_errno("cannot wait for %s", path);
	return status_of_wait(status);
}

static int run_helper(const char *subcommand)
{
	const char *const argv[] = {"setcap-helper", subcommand, NULL};

	return run("/proc/self/exe", (char *const *)argv);
}

/* ---- Memory mode ---- */

static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void __attribute__((noreturn)) die_without_sudo(const char *why)
{
	char *remedy = memtrack_program_remedy_dup();

	die(EXIT_UNSUPPORTED, "%s; have root run: %s", why, remedy);
}

/* sudo itself asks, once, where there is somebody to ask. */
static int install_by_sudo(void)
{
	char *sudo, *self = path_of_self();
	struct strvec argv = STRVEC_INIT;
	int code;

	if (!self)
		die_recorded(EXIT_FAILED);
	if (path_find_program("sudo", getenv("PATH"), &sudo))
		die_without_sudo("this takes root, and there is no sudo");
	strvec_push(&argv, "sudo");
	if (!has_terminal())
		strvec_push(&argv, "--non-interactive");
	strvec_push(&argv, "--");
	strvec_push(&argv, self);
	strvec_push(&argv, "setcap-helper");
	strvec_push(&argv, "install");
	strvec_pushf(&argv, "--uid=%u", (unsigned)getuid());
	strvec_pushf(&argv, "--gid=%u", (unsigned)getgid());
	strvec_pushf(&argv, "--caps=%s", memtrack_program_caps());
	log_info("memory mode reads the heap calls of programs by eBPF, which takes rights such as cap_bpf and "
		 "cap_perfmon: sudo installs a copy of codspeed with these, for your user alone");
	code = run(sudo, argv.items);
	if (code < 0)
		die_recorded(EXIT_FAILED);
	strvec_release(&argv);
	free(sudo);
	free(self);
	return code;
}

static int setup_memory(void)
{
	struct memtrack_program program;
	int code;

	if (!memtrack_program_find(&program)) {
		printf("memory: ready%s\n", program.copy < 0 ? ", this user has the rights" : "");
		memtrack_program_release(&program);
		return EXIT_DONE;
	}
	error_clear();
	memtrack_program_release(&program);
	code = install_by_sudo();
	if (code)
		log_warn("the installation ended with status %d", code);
	if (memtrack_program_find(&program)) /* as this user now: what counts */
		die_without_sudo(error_text());
	printf("memory: ready\n");
	memtrack_program_release(&program);
	return EXIT_DONE;
}

static int setup_status(void)
{
	struct memtrack_program program;
	int rc = memtrack_program_find(&program), code = EXIT_DONE;

	if (!rc && program.copy < 0) {
		printf("memory: ready, this user has the rights\n");
	} else {
		printf("memory: %s\n", rc ? "not ready, see 'codspeed setup --mode memory'" : "ready");
		fflush(stdout);
		code = run_helper("status");
		if (code < 0)
			die_recorded(EXIT_FAILED);
		if (rc && !code) /* the copy is well, so it is not that */
			die_recorded(EXIT_UNSUPPORTED);
		error_clear();
	}
	memtrack_program_release(&program);
	return code;
}

/* ---- The command ---- */

static bool wants(const struct cfg *cfg, enum mode mode)
{
	for (size_t i = 0; i < cfg->modes.len; i++)
		if ((enum mode)cfg->modes.items[i] == mode)
			return true;
	return !cfg->modes.len;
}

int setup_main(int argc, char **argv)
{
	struct cfg cfg = {0};
	struct opts_args args;
	int code = EXIT_DONE;

	mode_forgive_own_word();
	opts_parse(rows, &cfg, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 0, 1);
	for (size_t i = 0; i < cfg.modes.len; i++)
		if (mode_check_supported((enum mode)cfg.modes.items[i]))
			die_recorded(EXIT_UNSUPPORTED);
	if (args.count && !str_eq(args.words[0], "status"))
		die_usage("unexpected argument '%s'", args.words[0]);
	if (args.count)
		code = setup_status();
	else if (wants(&cfg, MODE_MEMORY))
		code = setup_memory();
	else
		printf("nothing to set up: simulation needs valgrind on PATH\n");
	args_release(&args);
	return code;
}
