/* SPDX-License-Identifier: MIT */
/* valgrind.c - the callgrind command line */
#include <ctype.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <valgrind/valgrind.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include "core/path.h"
#include "core/spawn.h"
#include "core/valgrind.h"

static const char *const common_options[] = {
	"--tool=callgrind",
	/* neither VALGRIND_OPTS nor an rc file of the user may change the figures */
	"--command-line-only=yes",
	"--trace-children=yes",
	"--compress-strings=no",
	"--combine-dumps=yes",
	"--dump-line=no",
};

/* One cache model for every machine. */
static const char *const cache_options[] = {
	"--cache-sim=yes",
	"--I1=32768,8,64",
	"--D1=32768,8,64",
	"--LL=8388608,16,64",
};

/*
 * Not in every valgrind of the last ten years. What `--help` says is believed, not the version: a
 * distribution may have added or lost an option.
 */
static const struct {
	const char *option;
	const char *in_help;
	const char *lost; /* what a report lacks without it, NULL when nobody would notice */
} optional_options[] = {
	{"--collect-systime=nsec", "|nsec", "times of system calls"},
	{"--read-inline-info=yes", "--read-inline-info", "names of inlined functions"},
	/* the debugger's FIFOs in TMPDIR would outlive a killed process; no effect on the figures */
	{"--vgdb=no", "--vgdb", NULL},
};

/*
 * A dump on entry zeroes the counters, so a forked child starts at about 0 instead of repeating its
 * parent's cost, and the cost before an exec is on disk before the image goes. Exact names: with a
 * wildcard a program's own clone_node() would dump at every call.
 */
static const char *const dump_points[] = {
	"fork", "_Fork", "vfork", "clone", "clone3", "execve", "execveat",
};

/* Not traced: esbuild breaks under valgrind, rustup's wrapper looks at its argv[0]. */
static const char skipped_everywhere[] = "*esbuild,*.rustup-wrapped";

/* A percent sign starts a substitution in valgrind's file options; two of them are one. */
static void add_file_option(struct strvec *argv, const char *option, const char *folder,
			    const char *name)
{
	struct buf text = BUF_INIT;

	buf_addstr(&text, option);
	for (const char *c = folder; *c; c++) {
		if (*c == '%')
			buf_addch(&text, '%');
		buf_addch(&text, *c);
	}
	buf_addch(&text, '/');
	buf_addstr(&text, name);
	strvec_take(argv, buf_detach(&text));
}

/* The list of patterns has no escapes: what is special in it becomes a `?`, which matches it too. */
static void add_pattern(struct buf *list, const char *path)
{
	buf_addch(list, ',');
	for (const char *c = path; *c; c++)
		buf_addch(list, strchr(",*?\\", *c) || isspace((unsigned char)*c) ? '?' : *c);
}

/*
 * In an entrypoint run an exec-harness called by the script must stay native: by the binary's own
 * path, and by its applet's name, since it is called through links.
 */
static int add_skip_list(struct strvec *argv, const struct valgrind_setup *setup)
{
	struct buf list = BUF_INIT;
	char *self;

	buf_addstr(&list, "--trace-children-skip=");
	buf_addstr(&list, skipped_everywhere);
	if (setup->use == VALGRIND_ENTRYPOINT) {
		self = path_of_self();
		if (!self) {
			buf_release(&list);
			return -ENOENT;
		}
		add_pattern(&list, self);
		buf_addstr(&list, ",exec-harness,*/exec-harness,codspeed,*/codspeed");
		if (setup->untraced)
			add_pattern(&list, setup->untraced);
		free(self);
	}
	strvec_take(argv, buf_detach(&list));
	return 0;
}

/* What `program OPTION...` prints on standard output. */
static int read_answer(char *const *argv, struct buf *text)
{
	struct spawn s = SPAWN_INIT;
	int out[2], status, rc;

	if (pipe2(out, O_CLOEXEC))
		return fail_errno("cannot create a pipe");
	s.path = argv[0];
	s.argv = argv;
	s.out = out[1];
	rc = spawn_start(&s);
	close(out[1]);
	if (!rc) {
		rc = spawn_release(&s);
		if (!rc)
			rc = read_rest(out[0], text);
		while (waitpid(s.pid, &status, 0) < 0 && errno == EINTR)
			;
		if (!rc && status)
			rc = fail(-ENOEXEC, "%s %s fails", argv[0], argv[1]);
	}
	close(out[0]);
	return rc;
}

/* A valgrind that does not answer is given them all: it will say itself what it cannot do. */
static void add_optional(struct strvec *argv, const char *program)
{
	char *ask[] = {(char *)program, (char[]){"--tool=callgrind"}, (char[]){"--help"}, NULL};
	struct buf help = BUF_INIT;
	bool answered = read_answer(ask, &help) == 0 && help.len;

	error_clear();
	for (size_t i = 0; i < ARRAY_SIZE(optional_options); i++) {
		if (!answered || strstr(help.data, optional_options[i].in_help))
			strvec_push(argv, optional_options[i].option);
		else if (optional_options[i].lost)
			log_warn("this valgrind has no %s: %s are missing", optional_options[i].option,
				 optional_options[i].lost);
	}
	buf_release(&help);
}

/* Threads of their own files go with `inherit`, as its authors pair the two. */
static void add_start(struct strvec *argv, const struct valgrind_setup *setup)
{
	if (setup->inherit) {
		strvec_push(argv, "--instr-atstart=inherit");
		strvec_push(argv, "--separate-threads=yes");
	} else if (setup->use == VALGRIND_ENTRYPOINT) {
		strvec_push(argv, "--instr-atstart=no");
	} else {
		strvec_push(argv, "--instr-atstart=yes");
	}
}

void valgrind_add_cache_options(struct strvec *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(cache_options); i++)
		strvec_push(to, cache_options[i]);
}

int valgrind_command(struct strvec *argv, const struct valgrind_setup *setup)
{
	int rc;

	strvec_push(argv, setup->program);
	for (size_t i = 0; i < ARRAY_SIZE(common_options); i++)
		strvec_push(argv, common_options[i]);
	valgrind_add_cache_options(argv);
	add_optional(argv, setup->program);
	add_start(argv, setup);
	rc = add_skip_list(argv, setup);
	if (rc)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(dump_points); i++)
		strvec_pushf(argv, "--dump-before=%s", dump_points[i]);
	add_file_option(argv, "--callgrind-out-file=", setup->folder, "%p.out");
	add_file_option(argv, "--log-file=", setup->folder, "valgrind.%p.log");
	strvec_push(argv, "--");
	return 0;
}

int valgrind_find(const char *search, char **program)
{
	int rc = path_find_program("valgrind", search, program);

	if (rc == -EACCES)
		return fail(rc, "valgrind was found on PATH, but may not be executed");
	if (rc)
		return fail(rc, "valgrind is not installed (not on PATH); install the package "
				"'valgrind', any version from 3.16 on");
	return 0;
}

int valgrind_version(const char *program, char **version)
{
	static const char prefix[] = "valgrind-";
	char *ask[] = {(char *)program, (char[]){"--version"}, NULL};
	struct buf text = BUF_INIT;
	int rc = read_answer(ask, &text);

	if (rc)
		goto out;
	if (!text.len || !str_starts(text.data, prefix)) {
		rc = fail(-ENOEXEC, "%s --version does not answer as valgrind does", program);
		goto out;
	}
	text.data[strcspn(text.data, "\r\n")] = '\0';
	*version = xstrdup(text.data + strlen(prefix));
out:
	buf_release(&text);
	return rc;
}

bool valgrind_is_tool(const char *path)
{
	const char *base = path_base(path);

	return str_starts(base, "callgrind-") && strstr(base, "-linux");
}

char *const *valgrind_client_words(char *const *argv)
{
	if (!*argv)
		return argv;
	for (argv++; *argv && str_starts(*argv, "--"); argv++)
		if (str_eq(*argv, "--"))
			return argv + 1;
	return argv;
}

bool valgrind_is_above(void)
{
	return RUNNING_ON_VALGRIND > 0;
}
