/* SPDX-License-Identifier: MIT */
/* main.c - the front door: which applet runs, with which rights, and what is left to do after it */
//config:config FEATURE_INSTALL
//config:	bool "--list and --install"
//config:	default y
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/applet.h"
#include "core/base.h"
#include "core/capabilities.h"
#include "core/capable_copy.h"
#include "core/cleanup.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/opts.h"
#include "core/path.h"
#include "core/suggest.h"

#include "applet_prototypes.h"

#define SUITE "codspeed"

static const struct applet applets[] = {
#include "applet_rows.h"
};

/* By pointers: the table may be empty, and gcc warns of an index below 0 that is never true. */
#define for_each_applet(a) \
	for (const struct applet *a = applets; a < applets + ARRAY_SIZE(applets); a++)

struct front_cfg {
	bool list, install, symbolic;
};

static const struct opt front_rows[] = {
	IF_FEATURE_INSTALL(
	OPT_FLAG(0, "list", struct front_cfg, list,
		 .help = "print the names of all commands and applets"),
	OPT_FLAG(0, "install", struct front_cfg, install,
		 .help = "link the names of all applets into DIR"),
	OPT_FLAG('s', "symbolic", struct front_cfg, symbolic,
		 .help = "with --install: symbolic instead of hard links"),
	)
	OPT_END
};

const struct applet *applet_table(size_t *count)
{
	*count = ARRAY_SIZE(applets);
	return applets;
}

const struct opt *applet_suite_options(void)
{
	return front_rows;
}

const struct applet *applet_find(const char *name)
{
	for_each_applet(a)
		if (str_eq(name, a->name) || (a->alias && str_eq(name, a->alias)))
			return a;
	return NULL;
}

/*
 * A closed standard descriptor would be the number of the next file we open, and messages would
 * be written there.
 */
static void open_standard_descriptors(void)
{
	struct pollfd fds[] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};

	if (poll(fds, ARRAY_SIZE(fds), 0) <= 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i].revents & POLLNVAL && open("/dev/null", O_RDWR) < 0)
			open("/", O_PATH); /* keeps the number; use fails as if it were closed */
}

/* The setuid and setgid bits are nothing that any applet has a use for. */
static void drop_lent_ids(void)
{
	gid_t gid = getgid();
	uid_t uid = getuid();

	if (!getauxval(AT_SECURE))
		return;
	if ((getegid() != gid && setresgid(gid, gid, gid)) ||
	    (geteuid() != uid && setresuid(uid, uid, uid)))
		die(EXIT_FAILED, "cannot give up the rights of the setuid or setgid bit: %s",
		    strerror(errno));
}

/* By whatever name it is called; " (deleted)" may follow. */
static bool is_capable_copy(void)
{
	const char *started = (const char *)getauxval(AT_EXECFN);
	char *path = path_of_self();
	bool is;

	error_clear();
	is = str_starts(path_base(path ? path : started ? started : ""), CAPABLE_COPY_NAME);
	free(path);
	return is;
}

/* A file capability belongs to the inode: the file's other applets must not profit from it. */
static void drop_lent_rights(void)
{
	if (!getauxval(AT_SECURE))
		return;
	if (caps_keep(0))
		die_recorded(EXIT_FAILED);
	if (is_capable_copy())
		die(EXIT_FAILED, "this is the copy of " SUITE " that has rights for memtrack: it runs "
				 "nothing else");
	prctl(PR_SET_DUMPABLE, 1); /* nothing is left to protect, and ptrace asks for it */
}

/* The reader of a pipe has gone. Asked afterwards: by then errno may belong to another call. */
static bool reader_left(int fd)
{
	struct pollfd pipe_end = {.fd = fd, .events = POLLOUT};

	return poll(&pipe_end, 1, 0) > 0 && pipe_end.revents & (POLLERR | POLLHUP);
}

/*
 * What was printed must have arrived before the run counts as done. A closed pipe ends it without
 * a message: whoever closed it knows.
 */
static int finish_output(int code)
{
	int flushed = fflush(stdout) ? errno : ferror(stdout) ? EIO : 0;
	int reason = output_error() ? output_error() : flushed;
	bool quiet = reason && reader_left(STDOUT_FILENO);

	if (close(STDOUT_FILENO) && errno != EBADF && !reason)
		reason = errno;
	if (!reason)
		return code;
	if (!quiet)
		log_error("cannot write to standard output: %s", strerror(reason));
	if (code)
		return code;
	return running_applet && running_applet->kind == APPLET_KIND_APPLET ? (int)EXIT_WRAPPER
									     : (int)EXIT_FAILED;
}

static int run_applet(const struct applet *applet, int argc, char **argv)
{
	running_applet = applet;
	drop_lent_ids();
	if (applet->privilege == PRIV_DROP)
		drop_lent_rights();
	return applet->main(argc, argv);
}

static void add_applets(struct buf *out, const char *title, enum applet_kind kind)
{
	for_each_applet(a) {
		if (a->kind != kind || !a->summary)
			continue;
		buf_printf(out, "%s  %-18s  %s\n", title, a->name, a->summary);
		title = "";
	}
}

static void add_help(struct buf *to)
{
	buf_addstr(to, "Usage: " SUITE " COMMAND [ARGUMENT]...\n");
	if (ENABLE_FEATURE_INSTALL)
		buf_addstr(to, "   or: " SUITE " --install [-s] DIR\n");
	add_applets(to, "\nCommands:\n", APPLET_KIND_COMMAND);
	add_applets(to, "\nApplets, which also run under their own name:\n",
		    APPLET_KIND_APPLET);
	buf_addch(to, '\n');
	opts_render_rows(front_rows, to);
	buf_addstr(to, "\n'" SUITE " help COMMAND' shows the options of a command.\n"
			  "CODSPEED_LOG=off|error|warn|info|debug|trace in the environment sets how much "
			  "is told.\n");
}

static void print_help(void)
{
	struct buf text = BUF_INIT;

	add_help(&text);
	output_text(text.data, text.len);
	buf_release(&text);
}

/* --install: the running binary and the folder for its names. */
struct install {
	char binary[4096]; /* absolute for symbolic links */
	struct stat file;
	const char *dir;
	int dir_fd;
	bool symbolic;
};

/* Without /proc the kernel still says under which path it started us. */
static int find_binary(struct install *to)
{
	ssize_t len = readlink("/proc/self/exe", to->binary, sizeof(to->binary) - 1);
	const char *started = (const char *)getauxval(AT_EXECFN);

	if (len >= 0)
		to->binary[len] = '\0';
	else if (!started || !realpath(started, to->binary))
		return fail_errno("cannot find the running binary, and there is no /proc");
	if (stat(to->binary, &to->file))
		return fail_errno("cannot find the running binary %s", to->binary);
	return 0;
}

/* 1 if the name is there already, as a link to the running binary. */
static int check_name(const struct install *to, const char *name)
{
	struct stat there;

	if (fstatat(to->dir_fd, name, &there, 0)) {
		if (errno == ENOENT)
			return 0;
		return fail_errno("cannot look at %s/%s", to->dir, name);
	}
	if (there.st_dev == to->file.st_dev && there.st_ino == to->file.st_ino)
		return 1;
	return fail(-EEXIST, "%s/%s exists and is another file", to->dir, name);
}

static int link_name(const struct install *to, const char *name)
{
	int rc = check_name(to, name);

	if (rc)
		return rc < 0 ? rc : 0;
	rc = to->symbolic ? symlinkat(to->binary, to->dir_fd, name)
			  : linkat(AT_FDCWD, to->binary, to->dir_fd, name, 0);
	if (rc)
		return fail_errno("cannot link %s/%s to %s%s", to->dir, name, to->binary,
				  to->symbolic ? "" : " (--symbolic may help)");
	return 0;
}

/* `step` for all names: first all are checked, so that a clash leaves nothing half done. */
static int for_each_name(const struct install *to,
			 int (*step)(const struct install *to, const char *name))
{
	int rc = step(to, SUITE);

	for_each_applet(a)
		if (rc >= 0 && a->kind == APPLET_KIND_APPLET && a->summary)
			rc = step(to, a->name);
	return rc < 0 ? rc : 0;
}

static int install_names(const char *dir, bool symbolic)
{
	struct install to = {.dir = dir, .symbolic = symbolic};
	int rc;

	to.dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (to.dir_fd < 0)
		rc = fail_errno("cannot open the folder %s", dir);
	else
		rc = find_binary(&to);
	if (!rc)
		rc = for_each_name(&to, check_name);
	if (!rc)
		rc = for_each_name(&to, link_name);
	if (rc)
		die_recorded(EXIT_FAILED);
	close(to.dir_fd);
	return EXIT_DONE;
}

static const struct applet *need_applet(const char *word)
{
	const struct applet *applet = applet_find(word);
	struct suggest near = suggest_for(word);
	struct buf text = BUF_INIT;

	if (applet)
		return applet;
	for_each_applet(a)
		if (a->summary)
			suggest_add(&near, a->name);
	suggest_add(&near, "help");
	suggest_text(&near, ", ", "", &text);
	die_usage("unknown command '%s'%s", word, text.data ? text.data : "");
}

static int help_command(char **words)
{
	char *argv[] = {words[1], (char[]){"--help"}, NULL};
	const struct applet *applet;

	if (!words[1]) {
		print_help();
		return EXIT_DONE;
	}
	if (words[2])
		die_usage("unexpected argument '%s'", words[2]);
	applet = need_applet(words[1]);
	if (!applet->summary) /* internal: it has no help, and --help may be another program's */
		die_usage("there is no help on '%s'", words[1]);
	return run_applet(applet, 2, argv);
}

/* --list and --install. */
static int manage(const struct front_cfg *cfg, const struct opts_args *args)
{
	drop_lent_ids();
	drop_lent_rights();
	if (cfg->list && !cfg->install && !cfg->symbolic) {
		args_expect(args, 0, 0);
		for_each_applet(a)
			if (a->summary)
				puts(a->name);
		return EXIT_DONE;
	}
	if (cfg->list || !cfg->install)
		die_usage("--list, and --install [--symbolic] DIR, stand alone");
	args_expect(args, 0, 1);
	if (!args->count)
		die_usage("--install needs the folder to link into");
	return install_names(args->words[0], cfg->symbolic);
}

/* argv[1..] of the suite. What args.words holds is the end of argv. */
static int dispatch(int argc, char **argv, const struct opts_args *args)
{
	char **words = args->words;

	if (!args->count) {
		struct buf text = BUF_INIT;

		add_help(&text);
		fputs(text.data, stderr);
		buf_release(&text);
		return EXIT_USAGE;
	}
	if (str_eq(words[0], "help"))
		return help_command(words);
	return run_applet(need_applet(words[0]), (int)args->count, argv + argc - args->count);
}

static int run_suite(int argc, char **argv)
{
	struct front_cfg cfg = {0};
	struct opts_args args;
	int outcome = opts_read(front_rows, &cfg, argc, argv, OPTS_STOP_AT_FIRST, &args);
	int code = EXIT_DONE;

	if (outcome < 0)
		die_usage_recorded();
	if (outcome == OPTS_HELP)
		print_help();
	else if (outcome == OPTS_VERSION)
		puts(SUITE " " CODSPEED_VERSION);
	else if (ENABLE_FEATURE_INSTALL && (cfg.list || cfg.install || cfg.symbolic))
		code = manage(&cfg, &args);
	else
		code = dispatch(argc, argv, &args);
	args_release(&args);
	return code;
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : SUITE;
	const struct applet *applet = applet_find(name);
	int code;

	open_standard_descriptors();
	signal(SIGCHLD, SIG_DFL); /* ignored, the kernel would keep no child's status for us */
	if (applet && applet->kind == APPLET_KIND_APPLET) {
		log_init(name);
		code = run_applet(applet, argc, argv);
	} else {
		log_init(SUITE);
		code = run_suite(argc, argv);
	}
	code = finish_output(code);
	cleanup_run();
	return code;
}
