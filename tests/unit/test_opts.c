/* SPDX-License-Identifier: MIT */
/* test_opts.c - command line, environment and help by option rows; the rules of spec/cli.md 1.1 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#undef fail /* error.h has one, too */

#include "core/applet.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/opts.h"

/* Like fail_msg, which needs cmocka's `fail`. */
#define failed(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

enum mode { MODE_NONE, MODE_SIMULATION, MODE_WALLTIME, MODE_MEMORY };

struct inner {
	bool color;
	const char *theme;
};

struct cfg {
	struct opt_list modes;
	enum mode single;
	const char *name, *folder, *json;
	uint64_t rounds, max_ns;
	bool verbose, cycles;
	int calls;
	struct inner inner;
};

static const struct opt_choice modes[] = {
	CHOICE("simulation", MODE_SIMULATION),
	CHOICE_OLD("instrumentation", MODE_SIMULATION, "simulation"),
	CHOICE("walltime", MODE_WALLTIME),
	CHOICE_ALIAS("wt", MODE_WALLTIME),
	CHOICE("memory", MODE_MEMORY),
	CHOICE_END
};

static int count_calls(const struct opt *row UNUSED, const char *text, void *member)
{
	++*(int *)member;
	return str_eq(text, "bad") ? fail(-EINVAL, "expected something good") : 0;
}

static int no_slash(const struct opt *row UNUSED, const char *text, void *member)
{
	assert_ptr_equal(*(const char **)member, text);
	return strchr(text, '/') ? fail(-EINVAL, "expected no slash") : 0;
}

static const struct opt inner_rows[] = {
	OPT_FLAG(0, "color", struct inner, color, .help = "colours"),
	OPT_STRING(0, "theme", struct inner, theme, .parse = no_slash, .help = "their theme"),
	OPT_END
};

static const struct opt rows[] = {
	OPT_CHOICES('m', "mode", struct cfg, modes, modes, .env = "TEST_MODE", .meta = "MODE",
		    .help = "what to measure"),
	OPT_CHOICE(0, "single", struct cfg, single, modes, .flags = OPT_IGNORE_CASE,
		   .env = "TEST_SINGLE", .help = "one mode"),
	OPT_STRING('n', "name", struct cfg, name, .env = "TEST_NAME", .help = "its name"),
	OPT_PATH(0, "profile-folder", struct cfg, folder, .help = "where the data goes, a text"
		 " that is long enough for a second line and a word more"),
	OPT_PATH(0, "json", struct cfg, json, .bare = "-", .help = "results as JSON"),
	OPT_FLAG('v', "verbose", struct cfg, verbose, .env = "TEST_VERBOSE", .help = "more"),
	OPT_FLAG(0, "cycles", struct cfg, cycles, .env = "TEST_CYCLES", .def = "true",
		 .help = "estimate"),
	OPT_GROUP("Limits"),
	OPT_DURATION(0, "max-time", struct cfg, max_ns, .def = "3s", .max = 3600000000000,
		     .help = "at most this"),
	OPT_UINT(0, "rounds", struct cfg, rounds, .min = 1, .max = 1000, .env = "TEST_ROUNDS",
		 .flags = OPT_REPEAT, .help = "how many"),
	OPT_CALL(0, "call", struct cfg, calls, count_calls, .flags = OPT_REPEAT | OPT_HIDDEN),
	OPT_STRING(0, "old-name", struct cfg, name, .deprecated = "use --name", .help = "gone"),
	OPT_ROWS(struct cfg, inner, struct inner, inner_rows),
	OPT_END
};

static struct cfg cfg;
static struct opts_args args;

static int read_words(unsigned mode, int argc, const char *const *words)
{
	args_release(&args);
	error_clear();
	memset(&cfg, 0, sizeof(cfg));
	return opts_read(rows, &cfg, argc, (char **)(uintptr_t)words, mode, &args);
}

#define WORDS(...) ((const char *const[]){"exec", __VA_ARGS__, NULL})
#define READ(mode, ...)                                                                           \
	read_words(mode, (int)ARRAY_SIZE(WORDS(__VA_ARGS__)) - 1, WORDS(__VA_ARGS__))
#define GOOD(...) assert_int_equal(READ(OPTS_INTERLEAVED, __VA_ARGS__), OPTS_DONE)
/* The words are refused with a message that holds `text`. */
#define BAD(text, ...)                                                                            \
	do {                                                                                      \
		assert_int_equal(READ(OPTS_INTERLEAVED, __VA_ARGS__), -EINVAL);                   \
		if (!strstr(error_text(), text))                                                  \
			failed("'%s' is not in '%s'", text, error_text());                      \
	} while (0)

static int setup(void **state UNUSED)
{
	unsetenv("TEST_MODE");
	unsetenv("TEST_SINGLE");
	unsetenv("TEST_NAME");
	unsetenv("TEST_VERBOSE");
	unsetenv("TEST_CYCLES");
	unsetenv("TEST_ROUNDS");
	return 0;
}

static int teardown(void **state UNUSED)
{
	args_release(&args);
	error_clear();
	return 0;
}

/* What `body` prints on both streams, run in a child; its exit code. */
static int run_child(void (*body)(void), struct buf *output)
{
	int fds[2], status;
	pid_t pid;

	buf_clear(output);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		body();
		_exit(99);
	}
	close(fds[1]);
	assert_int_equal(read_rest(fds[0], output), 0);
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_spellings(void **state UNUSED)
{
	GOOD("--name", "a");
	assert_string_equal(cfg.name, "a");
	GOOD("--name=a=b");
	assert_string_equal(cfg.name, "a=b");
	GOOD("-n", "a");
	assert_string_equal(cfg.name, "a");
	GOOD("-nab");
	assert_string_equal(cfg.name, "ab");
	GOOD("-n=ab");
	assert_string_equal(cfg.name, "ab");
	GOOD("-vn", "x");
	assert_true(cfg.verbose);
	assert_string_equal(cfg.name, "x");
	BAD("unknown option '--nam'", "--nam", "x"); /* no abbreviations */
}

static void test_dash_values(void **state UNUSED)
{
	GOOD("--name", "-");
	assert_string_equal(cfg.name, "-");
	GOOD("--name=-x");
	assert_string_equal(cfg.name, "-x");
	GOOD("-n=-x");
	assert_string_equal(cfg.name, "-x");
	BAD("option '--name' needs a value; one that begins with '-' is written '--name=-x'",
	    "--name", "-x");
	BAD("'-n=--'", "-n", "--");
	BAD("option '--name' needs a value", "--name");
	BAD("option '-n' needs a value", "-n");
	BAD("'--max-time=-1'", "--max-time", "-1");
}

static void test_empty_values(void **state UNUSED)
{
	GOOD("--name=");
	assert_string_equal(cfg.name, "");
	GOOD("--name", "");
	assert_string_equal(cfg.name, "");
	BAD("--profile-folder: expected a path", "--profile-folder=");
	BAD("invalid value '' for --mode", "--mode=");
	BAD("invalid value '' for --rounds", "--rounds", "");
	BAD("invalid value '' for --verbose", "--verbose=");
	BAD("invalid value '' for --max-time", "--max-time=");
}

static void test_flags(void **state UNUSED)
{
	static const char *const yes[] = {"true", "1", "yes", "on", "TRUE"};
	static const char *const no[] = {"false", "0", "no", "off", "False"};

	GOOD("word");
	assert_false(cfg.verbose);
	assert_true(cfg.cycles);
	GOOD("--verbose", "false"); /* a separate word is no value */
	assert_true(cfg.verbose);
	assert_int_equal(args.count, 1);
	GOOD("--no-cycles");
	assert_false(cfg.cycles);
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		char *word = xasprintf("--verbose=%s", yes[i]);

		GOOD(word);
		assert_true(cfg.verbose);
		free(word);
	}
	for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
		char *word = xasprintf("--cycles=%s", no[i]);

		GOOD(word);
		assert_false(cfg.cycles);
		free(word);
	}
	GOOD("-v=off");
	assert_false(cfg.verbose);
	BAD("for --verbose: expected true or false", "--verbose=maybe");
	BAD("'--no-cycles' takes no value", "--no-cycles=true");
	BAD("unknown option '--no-name'", "--no-name");
	BAD("unknown option '--no-'", "--no-");
}

static void test_repetition(void **state UNUSED)
{
	BAD("option '--name' cannot be used multiple times", "--name=a", "--name=b");
	BAD("cannot be used multiple times", "--name=a", "-nb");
	BAD("cannot be used multiple times", "-v", "-v");
	BAD("cannot be used multiple times", "-vv");
	BAD("cannot be used multiple times", "--cycles", "--no-cycles");
	GOOD("--rounds=1", "--rounds=2");
	assert_int_equal(cfg.rounds, 2);
	GOOD("--call=1", "--call", "2");
	assert_int_equal(cfg.calls, 2);
	BAD("invalid value 'bad' for --call: expected something good", "--call=bad");
}

static void test_choices(void **state UNUSED)
{
	GOOD("-m", "walltime,memory", "--mode=walltime");
	assert_int_equal(cfg.modes.len, 3);
	assert_int_equal(cfg.modes.items[0], MODE_WALLTIME);
	assert_int_equal(cfg.modes.items[1], MODE_MEMORY);
	assert_int_equal(cfg.modes.items[2], MODE_WALLTIME);
	GOOD("--mode=wt");
	assert_int_equal(cfg.modes.items[0], MODE_WALLTIME);
	BAD("invalid value 'walltime,' for --mode", "--mode=walltime,");
	BAD("invalid value 'walltime, memory'", "--mode=walltime, memory");
	BAD("expected some of simulation, walltime, memory", "--mode=Walltime");
	BAD("did you mean 'walltime'?", "--mode=waltime");
	BAD("at most 16", "--mode=wt,wt,wt,wt,wt,wt,wt,wt", "--mode=wt,wt,wt,wt,wt,wt,wt,wt",
	    "--mode=wt");
	GOOD("--single=Walltime");
	assert_int_equal(cfg.single, MODE_WALLTIME);
	BAD("expected one of simulation, walltime, memory", "--single=walltime,memory");
}

static void use_old_words(void)
{
	if (READ(OPTS_INTERLEAVED, "--mode=instrumentation", "--old-name=x", "w") == OPTS_DONE &&
	    cfg.modes.items[0] == MODE_SIMULATION && str_eq(cfg.name, "x"))
		_exit(42);
}

static void test_deprecated(void **state UNUSED)
{
	struct buf output = BUF_INIT;

	assert_int_equal(run_child(use_old_words, &output), 42);
	assert_non_null(strstr(output.data,
			       "warning: --mode: 'instrumentation' is deprecated,"
			       " use 'simulation'\n"));
	assert_non_null(strstr(output.data, "warning: --old-name is deprecated: use --name\n"));
	buf_release(&output);
}

static void test_numbers(void **state UNUSED)
{
	GOOD("--rounds=+7", "--max-time", "1.5s");
	assert_int_equal(cfg.rounds, 7);
	assert_int_equal(cfg.max_ns, 1500000000);
	GOOD("x");
	assert_int_equal(cfg.max_ns, 3000000000);
	BAD("expected a whole number", "--rounds=1.5");
	BAD("expected at least 1", "--rounds=0");
	BAD("expected at most 1,000", "--rounds=1001");
	BAD("expected at most 1h 00m", "--max-time=2h");
	BAD("invalid value '5x' for --max-time: no such unit: x", "--max-time=5x");
}

static void test_optional_value(void **state UNUSED)
{
	GOOD("--json", "word");
	assert_string_equal(cfg.json, "-");
	assert_int_equal(args.count, 1);
	GOOD("--json=file");
	assert_string_equal(cfg.json, "file");
}

static void test_positionals(void **state UNUSED)
{
	GOOD("a", "--name=n", "b", "-", "--", "-v", "--", "\xff");
	assert_int_equal(args.count, 6);
	assert_string_equal(args.words[0], "a");
	assert_string_equal(args.words[1], "b");
	assert_string_equal(args.words[2], "-");
	assert_string_equal(args.words[3], "-v");
	assert_string_equal(args.words[4], "--");
	assert_string_equal(args.words[5], "\xff");
	assert_null(args.words[6]);
	assert_true(args.separated);
	assert_false(cfg.verbose);
	GOOD("a");
	assert_false(args.separated);
}

static void test_stop_at_first(void **state UNUSED)
{
	assert_int_equal(READ(OPTS_STOP_AT_FIRST, "-v", "ls", "--name", "x", "-h", "--"), 0);
	assert_true(cfg.verbose);
	assert_null(cfg.name);
	assert_int_equal(args.count, 5);
	assert_string_equal(args.words[4], "--");
	assert_int_equal(READ(OPTS_STOP_AT_FIRST, "--", "--foo", "--"), 0);
	assert_int_equal(args.count, 2);
	assert_string_equal(args.words[0], "--foo");
	assert_int_equal(READ(OPTS_STOP_AT_FIRST, "-", "-v"), 0);
	assert_int_equal(args.count, 2);
	assert_false(cfg.verbose);
	assert_int_equal(READ(OPTS_STOP_AT_FIRST, ""), 0);
	assert_int_equal(args.count, 1);
}

static void check_unknown(unsigned mode, const char *expected, const char *first,
			  const char *second)
{
	assert_int_equal(READ(mode, first, second), -EINVAL);
	assert_string_equal(error_text(), expected);
}

static void test_unknown(void **state UNUSED)
{
	check_unknown(OPTS_INTERLEAVED, "unknown option '--nmae=x', did you mean '--name'?",
		      "--nmae=x", "y");
	check_unknown(OPTS_INTERLEAVED, "unknown option '--zzz'", "show", "--zzz");
	check_unknown(OPTS_INTERLEAVED, "unknown option '-z'", "-z", "y");
	check_unknown(OPTS_INTERLEAVED, "unknown option '-vz'", "-vz", "y");
	check_unknown(OPTS_INTERLEAVED, "unknown option '--hlep', did you mean '--help'?",
		      "--hlep", "y");
	/* neither a hidden nor a deprecated one */
	check_unknown(OPTS_INTERLEAVED, "unknown option '--cal'", "--cal", "y");
	check_unknown(OPTS_INTERLEAVED, "unknown option '--old-nam'", "--old-nam", "y");
	check_unknown(OPTS_COMMAND, "unknown option '--zzz'", "--zzz", "y");
	check_unknown(OPTS_COMMAND,
		      "unknown option '--codspeed'; the command is written after '--', as in"
		      " 'codspeed -- pytest ...'",
		      "pytest", "--codspeed");
	check_unknown(OPTS_COMMAND,
		      "unknown option '--nmae', did you mean '--name'? If not, the command is"
		      " written after '--', as in 'codspeed -- ls ...'",
		      "ls", "--nmae");
	check_unknown(OPTS_STOP_AT_FIRST | OPTS_COMMAND,
		      "unknown option '--foo'; the command is written after '--', as in"
		      " 'codspeed -- --foo ...'",
		      "--foo", "ls");
}

static void test_environment(void **state UNUSED)
{
	setenv("TEST_MODE", "memory,walltime", 1);
	setenv("TEST_NAME", "from env", 1);
	setenv("TEST_VERBOSE", "1", 1);
	setenv("TEST_CYCLES", "off", 1);
	setenv("TEST_ROUNDS", "5", 1);
	GOOD("x");
	assert_int_equal(cfg.modes.len, 2);
	assert_string_equal(cfg.name, "from env");
	assert_true(cfg.verbose);
	assert_false(cfg.cycles);
	assert_int_equal(cfg.rounds, 5);
	assert_true(opts_given(&args, "mode"));
	/* a flag wins, and a list does not add to the variable's */
	GOOD("--mode=simulation", "--no-verbose", "--cycles", "--name=flag", "--rounds=6");
	assert_int_equal(cfg.modes.len, 1);
	assert_int_equal(cfg.modes.items[0], MODE_SIMULATION);
	assert_string_equal(cfg.name, "flag");
	assert_false(cfg.verbose);
	assert_true(cfg.cycles);
	assert_int_equal(cfg.rounds, 6);
}

static void test_environment_empty_or_wrong(void **state UNUSED)
{
	setenv("TEST_MODE", "", 1);
	setenv("TEST_CYCLES", "", 1);
	setenv("TEST_NAME", "", 1);
	GOOD("x");
	assert_int_equal(cfg.modes.len, 0);
	assert_true(cfg.cycles);
	assert_null(cfg.name);
	assert_false(opts_given(&args, "mode"));
	setenv("TEST_MODE", "bogus", 1);
	BAD("invalid value 'bogus' for TEST_MODE: expected some of", "x");
	GOOD("-m", "memory"); /* not looked at when the option is there */
	assert_int_equal(READ(OPTS_INTERLEAVED, "--help"), OPTS_HELP);
}

static void test_sources(void **state UNUSED)
{
	setenv("TEST_NAME", "n", 1);
	GOOD("-v");
	assert_int_equal(opts_source(&args, "verbose"), OPT_FROM_FLAG);
	assert_int_equal(opts_source(&args, "name"), OPT_FROM_ENV);
	assert_int_equal(opts_source(&args, "max-time"), OPT_FROM_DEFAULT);
	assert_int_equal(opts_source(&args, "rounds"), OPT_FROM_NOWHERE);
	assert_false(opts_given(&args, "max-time"));
	assert_true(opts_given(&args, "verbose"));
}

static const char *find_stored(const void *ctx, const char *name)
{
	return str_eq(name, ctx) ? (str_eq(name, "rounds") ? "7000" : "memory") : NULL;
}

static void expect_passed_on(const char *name, const char *expected)
{
	struct strvec words = STRVEC_INIT;

	opts_pass_on(&args, name, &words);
	assert_int_equal(words.len, expected ? 1 : 0);
	if (expected)
		assert_string_equal(words.items[0], expected);
	strvec_release(&words);
}

static void test_stored(void **state UNUSED)
{
	GOOD("x");
	assert_int_equal(opts_fill(&args, find_stored, "mode"), 0);
	assert_int_equal(cfg.modes.len, 1);
	assert_int_equal(cfg.modes.items[0], MODE_MEMORY);
	assert_int_equal(opts_source(&args, "mode"), OPT_FROM_STORED);
	assert_false(opts_given(&args, "mode"));
	expect_passed_on("mode", "--mode=memory");
	expect_passed_on("max-time", NULL); /* whoever gets it has the same default */
	setenv("TEST_MODE", "walltime", 1);
	GOOD("--no-cycles");
	assert_int_equal(opts_fill(&args, find_stored, "mode"), 0);
	assert_int_equal(cfg.modes.items[0], MODE_WALLTIME);
	expect_passed_on("cycles", "--cycles=false");
	GOOD("-m", "simulation");
	assert_int_equal(opts_fill(&args, find_stored, "mode"), 0);
	assert_int_equal(cfg.modes.items[0], MODE_SIMULATION);
}

static void test_stored_is_checked(void **state UNUSED)
{
	GOOD("x");
	assert_int_equal(opts_fill(&args, find_stored, "rounds"), -EINVAL);
	assert_non_null(strstr(error_text(), "invalid value '7000' for rounds"));
}

static void test_members_keep(void **state UNUSED)
{
	struct cfg own = {.rounds = 9, .single = MODE_MEMORY, .modes = {1, {MODE_MEMORY}}};
	const char *const *words = WORDS("--mode=walltime");

	args_release(&args);
	assert_int_equal(opts_read(rows, &own, 2, (char **)(uintptr_t)words, 0, &args), 0);
	assert_int_equal(own.rounds, 9);
	assert_int_equal(own.single, MODE_MEMORY);
	assert_int_equal(own.modes.len, 1); /* replaced, not added to */
	assert_int_equal(own.modes.items[0], MODE_WALLTIME);
}

static void test_nested_rows(void **state UNUSED)
{
	GOOD("--color", "--theme=dark");
	assert_true(cfg.inner.color);
	assert_string_equal(cfg.inner.theme, "dark");
	GOOD("--no-color");
	assert_false(cfg.inner.color);
	BAD("invalid value 'a/b' for --theme: expected no slash", "--theme=a/b");
}

static void test_help_and_version_asked(void **state UNUSED)
{
	assert_int_equal(READ(0, "-h"), OPTS_HELP);
	assert_int_equal(READ(0, "x", "--help", "--bogus"), OPTS_HELP);
	assert_int_equal(READ(0, "-vV"), OPTS_VERSION);
	assert_int_equal(READ(0, "--version"), OPTS_VERSION);
	assert_int_equal(READ(0, "--bogus", "--help"), -EINVAL);
	assert_int_equal(READ(0, "--help=x"), -EINVAL);
	GOOD("--", "--help");
}

static const struct applet exec_row = {
	.name = "exec",
	.kind = APPLET_KIND_COMMAND,
	.summary = "measure a command",
	.usage = "[OPTION]... -- COMMAND [ARG]...",
	.examples = "codspeed exec -- ls\ncodspeed exec -m memory -- ls",
};

static const struct applet harness_row = {.name = "exec-harness", .kind = APPLET_KIND_APPLET};

static void test_help_text(void **state UNUSED)
{
	static const char expected[] =
		"Usage: codspeed exec [OPTION]... -- COMMAND [ARG]...\n"
		"\n"
		"measure a command\n"
		"\n"
		"Options:\n"
		"  -m, --mode MODE           what to measure\n"
		"                            [list of: simulation walltime memory]\n"
		"                            [env: TEST_MODE]\n"
		"      --single WORD         one mode [one of: simulation walltime memory]\n"
		"                            [env: TEST_SINGLE]\n"
		"  -n, --name TEXT           its name [env: TEST_NAME]\n"
		"      --profile-folder PATH\n"
		"                            where the data goes, a text that is long enough for\n"
		"                            a second line and a word more\n"
		"      --json[=PATH]         results as JSON\n"
		"  -v, --verbose             more [env: TEST_VERBOSE]\n"
		"      --[no-]cycles         estimate [env: TEST_CYCLES] [default: on]\n"
		"  -h, --help                print this help\n"
		"  -V, --version             print the version\n"
		"\n"
		"Limits:\n"
		"      --max-time DURATION   at most this [default: 3s]\n"
		"      --rounds COUNT        how many [env: TEST_ROUNDS]\n"
		"      --color               colours\n"
		"      --theme TEXT          their theme\n"
		"\n"
		OPT_DURATION_HELP "\n"
		"\n"
		"Examples:\n"
		"  codspeed exec -- ls\n"
		"  codspeed exec -m memory -- ls\n";
	struct buf text = BUF_INIT;

	running_applet = &exec_row;
	opts_render_help(rows, &text);
	running_applet = NULL;
	assert_string_equal(text.data, expected);
	buf_release(&text);
}

static void test_version_text(void **state UNUSED)
{
	struct buf text = BUF_INIT;

	running_applet = &exec_row;
	opts_render_version(&text);
	running_applet = &harness_row;
	opts_render_version(&text);
	running_applet = NULL;
	assert_string_equal(text.data, "codspeed " CODSPEED_VERSION "\n"
				       "exec-harness " CODSPEED_VERSION "\n");
	buf_release(&text);
}

/* How an applet's main calls the parser: with its own words, as `codspeed exec`. */
#define PARSE(mode, ...)                                                                          \
	do {                                                                                      \
		running_applet = &exec_row;                                                       \
		opts_parse(rows, &cfg, (int)ARRAY_SIZE(WORDS(__VA_ARGS__)) - 1,                   \
			   (char **)(uintptr_t)WORDS(__VA_ARGS__), mode, &args);                  \
	} while (0)

static void parse_unknown(void)
{
	PARSE(OPTS_INTERLEAVED, "--zzz");
}

static void parse_unknown_wrapper(void)
{
	PARSE(OPTS_STOP_AT_FIRST | OPTS_WRAPPER, "--zzz");
}

static void parse_help(void)
{
	PARSE(OPTS_INTERLEAVED, "--help");
}

static void parse_own_check(void)
{
	PARSE(OPTS_INTERLEAVED, "x");
	fail(-EINVAL, "inner");
	die_usage("cannot take '%s'", args.words[0]);
}

static void parse_missing(void)
{
	PARSE(OPTS_INTERLEAVED, "-v");
	args_expect(&args, 1, 2);
}

static void parse_too_many(void)
{
	PARSE(OPTS_INTERLEAVED, "a", "b", "c");
	args_expect(&args, 1, 2);
}

static void parse_no_words(void)
{
	opts_parse(rows, &cfg, 2, (char **)(uintptr_t)WORDS("a"), OPTS_INTERLEAVED, NULL);
}

/* As called by its own name. */
static void parse_by_name(void)
{
	log_init("exec-harness");
	running_applet = &harness_row;
	opts_parse(rows, &cfg, 2, (char **)(uintptr_t)WORDS("--zzz"), OPTS_WRAPPER, NULL);
}

static void check_exit(void (*body)(void), int code, const char *expected)
{
	struct buf output = BUF_INIT;

	assert_int_equal(run_child(body, &output), code);
	assert_string_equal(output.data, expected);
	buf_release(&output);
}

static void test_exits(void **state UNUSED)
{
	struct buf output = BUF_INIT;

	check_exit(parse_unknown, EXIT_USAGE,
		   "codspeed: error: unknown option '--zzz'\ntry 'codspeed exec --help'\n");
	check_exit(parse_unknown_wrapper, EXIT_WRAPPER,
		   "codspeed: error: unknown option '--zzz'\ntry 'codspeed exec --help'\n");
	check_exit(parse_own_check, EXIT_USAGE,
		   "codspeed: error: cannot take 'x': inner\ntry 'codspeed exec --help'\n");
	check_exit(parse_missing, EXIT_USAGE,
		   "codspeed: error: an argument is missing: codspeed exec [OPTION]... --"
		   " COMMAND [ARG]...\ntry 'codspeed exec --help'\n");
	check_exit(parse_too_many, EXIT_USAGE,
		   "codspeed: error: unexpected argument 'c'\ntry 'codspeed exec --help'\n");
	check_exit(parse_no_words, EXIT_USAGE,
		   "codspeed: error: unexpected argument 'a'\ntry 'codspeed --help'\n");
	check_exit(parse_by_name, EXIT_WRAPPER,
		   "exec-harness: error: unknown option '--zzz'\ntry 'exec-harness --help'\n");
	assert_int_equal(run_child(parse_help, &output), EXIT_DONE);
	assert_true(str_starts(output.data, "Usage: codspeed exec [OPTION]... -- COMMAND"));
	buf_release(&output);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_spellings),
		TEST(test_dash_values),
		TEST(test_empty_values),
		TEST(test_flags),
		TEST(test_repetition),
		TEST(test_choices),
		TEST(test_deprecated),
		TEST(test_numbers),
		TEST(test_optional_value),
		TEST(test_positionals),
		TEST(test_stop_at_first),
		TEST(test_unknown),
		TEST(test_environment),
		TEST(test_environment_empty_or_wrong),
		TEST(test_sources),
		TEST(test_stored),
		TEST(test_stored_is_checked),
		TEST(test_members_keep),
		TEST(test_nested_rows),
		TEST(test_help_and_version_asked),
		TEST(test_help_text),
		TEST(test_version_text),
		TEST(test_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
