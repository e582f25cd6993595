/* SPDX-License-Identifier: MIT */
/* test_valgrind.c - callgrind's command line, and what is read from a valgrind */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"
#include "core/path.h"
#include "core/valgrind.h"
#include <cmocka.h>
#undef fail

/* What both uses share, but for the folder and the patterns. */
static const char *const shared[] = {
	"--tool=callgrind",
	"--command-line-only=yes",
	"--trace-children=yes",
	"--vgdb=no", /* ours.md does not name it: no FIFO in TMPDIR outlives a killed process */
	"--cache-sim=yes",
	"--I1=32768,8,64",
	"--D1=32768,8,64",
	"--LL=8388608,16,64",
	"--compress-strings=no",
	"--combine-dumps=yes",
	"--dump-line=no",
	"--collect-systime=nsec",
	"--read-inline-info=yes",
	"--dump-before=fork",
	"--dump-before=_Fork",
	"--dump-before=vfork",
	"--dump-before=clone",
	"--dump-before=clone3",
	"--dump-before=execve",
	"--dump-before=execveat",
};

static size_t count_of(const struct strvec *argv, const char *word)
{
	size_t count = 0;

	for (size_t i = 0; i < argv->len; i++)
		count += str_eq(argv->items[i], word);
	return count;
}

/* The word that starts so; there is exactly one. */
static const char *only(const struct strvec *argv, const char *prefix)
{
	const char *found = NULL;

	for (size_t i = 0; i < argv->len; i++) {
		if (!str_starts(argv->items[i], prefix))
			continue;
		assert_null(found);
		found = argv->items[i] + strlen(prefix);
	}
	assert_non_null(found);
	return found;
}

static void command(struct strvec *argv, enum valgrind_use use, const char *program,
		    const char *folder)
{
	const struct valgrind_setup setup = {.use = use, .program = program, .folder = folder};

	assert_int_equal(valgrind_command(argv, &setup), 0);
}

/* `own` is in there; but for it, the skip list and the two files nothing else is. */
static void expect_command(const struct strvec *argv, const char *own)
{
	assert_string_equal(argv->items[0], "/opt/valgrind");
	assert_string_equal(argv->items[argv->len - 1], "--");
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		assert_int_equal(count_of(argv, shared[i]), 1);
	assert_int_equal(count_of(argv, own), 1);
	assert_int_equal(argv->len, 1 + ARRAY_SIZE(shared) + 1 + 3 + 1);
	for (size_t i = 1; i + 1 < argv->len; i++)
		assert_true(str_starts(argv->items[i], "--"));
}

static void around_a_benchmark(void **state UNUSED)
{
	struct strvec argv = STRVEC_INIT;

	command(&argv, VALGRIND_BENCHMARK, "/opt/valgrind", "/tmp/p");
	expect_command(&argv, "--instr-atstart=yes");
	assert_string_equal(only(&argv, "--trace-children-skip="), "*esbuild,*.rustup-wrapped");
	assert_string_equal(only(&argv, "--callgrind-out-file="), "/tmp/p/%p.out");
	assert_string_equal(only(&argv, "--log-file="), "/tmp/p/valgrind.%p.log");
	strvec_release(&argv);
}

/* As valgrind does: stars and question marks, no brackets, no escapes. */
static bool matches(const char *pattern, const char *text)
{
	if (*pattern == '*')
		return matches(pattern + 1, text) || (*text && matches(pattern, text + 1));
	if (!*pattern || !*text)
		return *pattern == *text;
	return (*pattern == '?' || *pattern == *text) && matches(pattern + 1, text + 1);
}

static bool is_skipped(const struct strvec *argv, const char *path)
{
	char *list = xstrdup(only(argv, "--trace-children-skip=")), *save;
	bool skipped = false;

	for (char *p = strtok_r(list, ",", &save); p; p = strtok_r(NULL, ",", &save))
		skipped |= matches(p, path);
	free(list);
	return skipped;
}

static void around_an_entrypoint(void **state UNUSED)
{
	struct strvec argv = STRVEC_INIT;
	char *self = path_of_self();

	command(&argv, VALGRIND_ENTRYPOINT, "/opt/valgrind", "/tmp/p");
	expect_command(&argv, "--instr-atstart=no");
	assert_string_equal(only(&argv, "--callgrind-out-file="), "/tmp/p/%p.out");
	assert_string_equal(only(&argv, "--log-file="), "/tmp/p/valgrind.%p.log");
	assert_true(is_skipped(&argv, self));
	assert_true(is_skipped(&argv, "/home/u/bin/exec-harness"));
	assert_true(is_skipped(&argv, "./exec-harness"));
	assert_true(is_skipped(&argv, "/opt/x/codspeed"));
	assert_true(is_skipped(&argv, "/opt/x/esbuild"));
	assert_true(is_skipped(&argv, "/opt/x/cargo.rustup-wrapped"));
	assert_false(is_skipped(&argv, "/tmp/codspeed.AbCdEf/node")); /* it has to be traced */
	assert_false(is_skipped(&argv, "/usr/bin/cargo-codspeed"));
	assert_false(is_skipped(&argv, "/usr/bin/python3"));
	free(self);
	strvec_release(&argv);
}

static void commands_append(void **state UNUSED)
{
	struct strvec argv = STRVEC_INIT;

	strvec_push(&argv, "first");
	command(&argv, VALGRIND_BENCHMARK, "v", "/p");
	assert_string_equal(argv.items[0], "first");
	assert_string_equal(argv.items[1], "v");
	strvec_release(&argv);
}

static void a_percent_sign_is_doubled(void **state UNUSED)
{
	struct strvec argv = STRVEC_INIT;

	command(&argv, VALGRIND_BENCHMARK, "v", "/a%p/100%%/%");
	assert_string_equal(only(&argv, "--callgrind-out-file="), "/a%%p/100%%%%/%%/%p.out");
	assert_string_equal(only(&argv, "--log-file="), "/a%%p/100%%%%/%%/valgrind.%p.log");
	strvec_release(&argv);
}

static void other_signs_of_the_folder_stay(void **state UNUSED)
{
	static const char folder[] = "/a b:c'd\"e,f*?\\g\n\xff";
	struct strvec argv = STRVEC_INIT;
	const char *file;

	command(&argv, VALGRIND_BENCHMARK, "v", folder);
	file = only(&argv, "--callgrind-out-file=");
	assert_memory_equal(file, folder, strlen(folder));
	assert_string_equal(file + strlen(folder), "/%p.out");
	strvec_release(&argv);
}

/* ---- The pattern of our own binary, wherever that is ---- */

static int print_skip_list(void)
{
	struct strvec argv = STRVEC_INIT;

	command(&argv, VALGRIND_ENTRYPOINT, "v", "/p");
	fputs(only(&argv, "--trace-children-skip="), stdout);
	strvec_release(&argv);
	return 0;
}

static void copy_self(const char *to)
{
	struct buf bytes = BUF_INIT;

	assert_int_equal(read_file("/proc/self/exe", &bytes), 0);
	assert_int_equal(write_file_atomic(to, bytes.data, bytes.len, 0755), 0);
	buf_release(&bytes);
}

/* What a copy of this program under that path prints. */
static void ask_copy(const char *path, struct buf *answer)
{
	int ends[2], status;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		execl(path, path, "--print-skip-list", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	assert_int_equal(read_rest(ends[0], answer), 0);
	close(ends[0]);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void expect_pattern_of(const char *name)
{
	char *folder = xstrdup("/tmp/codspeed-test.XXXXXX"), *path, *list, *save;
	struct buf answer = BUF_INIT;
	size_t patterns = 0;
	bool found = false;

	assert_non_null(mkdtemp(folder));
	path = xasprintf("%s/%s", folder, name);
	copy_self(path);
	ask_copy(path, &answer);
	list = xstrdup(answer.data);
	for (char *p = strtok_r(list, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
		patterns++;
		found |= matches(p, path);
	}
	assert_true(found);
	assert_int_equal(patterns, 2 + 1 + 4);
	path_remove_tree(folder);
	buf_release(&answer);
	free(list);
	free(path);
	free(folder);
}

static void special_signs_in_our_own_path(void **state UNUSED)
{
	expect_pattern_of("plain");
	expect_pattern_of("a,b");
	expect_pattern_of("a*b?");
	expect_pattern_of("a[b]{c,d}");
	expect_pattern_of("a b\tc\nd");
	expect_pattern_of("back\\slash");
	expect_pattern_of("\xc3\xbc\xff");
}

/* ---- Looking at a valgrind ---- */

/* An executable with this text, in the folder. */
static char *make_program(const char *folder, const char *name, const char *text, mode_t mode)
{
	char *path = xasprintf("%s/%s", folder, name);

	assert_int_equal(write_file_atomic(path, text, strlen(text), mode), 0);
	assert_int_equal(chmod(path, mode), 0);
	return path;
}

static void expect_version(const char *script, const char *expected)
{
	char *folder = xstrdup("/tmp/codspeed-test.XXXXXX"), *path, *version = NULL;

	assert_non_null(mkdtemp(folder));
	path = make_program(folder, "valgrind", script, 0755);
	if (expected) {
		assert_int_equal(valgrind_version(path, &version), 0);
		assert_string_equal(version, expected);
		free(version);
	} else {
		assert_true(valgrind_version(path, &version) < 0);
		assert_non_null(strstr(error_text(), path));
		error_clear();
	}
	path_remove_tree(folder);
	free(path);
	free(folder);
}

static void the_version_is_what_valgrind_answers(void **state UNUSED)
{
	expect_version("#!/bin/sh\necho valgrind-3.19.0\n", "3.19.0");
	expect_version("#!/bin/sh\necho valgrind-3.26.0.codspeed7\n", "3.26.0.codspeed7");
	expect_version("#!/bin/sh\necho valgrind-3.24.0.GIT; echo more\n", "3.24.0.GIT");
	expect_version("#!/bin/sh\nprintf 'valgrind-3.19.0\\r\\n'\n", "3.19.0");
	expect_version("#!/bin/sh\nprintf valgrind-3.19.0\n", "3.19.0");
}

static void what_is_no_valgrind_is_told(void **state UNUSED)
{
	expect_version("#!/bin/sh\nexit 1\n", NULL);
	expect_version("#!/bin/sh\n", NULL);
	expect_version("#!/bin/sh\necho gdb 13\n", NULL);
	expect_version("#!/bin/sh\nkill -9 $$\n", NULL);
	expect_version("#!/nonexistent/interpreter\n", NULL);
	expect_version("\x7f" "ELF for another machine", NULL);
}

static void it_is_looked_for_on_the_path(void **state UNUSED)
{
	char *folder = xstrdup("/tmp/codspeed-test.XXXXXX"), *path, *found = NULL;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(valgrind_find(folder, &found), -ENOENT);
	assert_non_null(strstr(error_text(), "install the package 'valgrind'"));
	error_clear();
	path = make_program(folder, "valgrind", "#!/bin/sh\n", 0644);
	assert_int_equal(valgrind_find(folder, &found), -EACCES);
	assert_non_null(strstr(error_text(), "may not be executed"));
	error_clear();
	chmod(path, 0755);
	assert_int_equal(valgrind_find(folder, &found), 0);
	assert_string_equal(found, path);
	path_remove_tree(folder);
	free(found);
	free(path);
	free(folder);
}

static void the_tool_is_known_by_its_file(void **state UNUSED)
{
	assert_true(valgrind_is_tool("/usr/libexec/valgrind/callgrind-amd64-linux"));
	assert_true(valgrind_is_tool("/usr/lib/valgrind/callgrind-arm64-linux"));
	assert_true(valgrind_is_tool("/usr/libexec/valgrind/callgrind-x86-linux"));
	assert_false(valgrind_is_tool("/usr/bin/valgrind.bin"));
	assert_false(valgrind_is_tool("/usr/bin/callgrind_annotate"));
	assert_false(valgrind_is_tool("/opt/callgrind-amd64-linux/bin/true"));
	assert_false(valgrind_is_tool(""));
}

static void the_clients_words_follow_valgrinds(void **state UNUSED)
{
	char *none[] = {NULL};
	char *plain[] = {"/usr/bin/valgrind", "--tool=callgrind", "sh", "-c", "--x", NULL};
	char *ended[] = {"valgrind", "--tool=callgrind", "--", "--odd", "a", NULL};
	char *nothing[] = {"valgrind", "--tool=callgrind", NULL};

	assert_null(*valgrind_client_words(none));
	assert_ptr_equal(valgrind_client_words(plain), plain + 2);
	assert_ptr_equal(valgrind_client_words(ended), ended + 3);
	assert_null(*valgrind_client_words(nothing));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(around_a_benchmark),
		cmocka_unit_test(around_an_entrypoint),
		cmocka_unit_test(commands_append),
		cmocka_unit_test(a_percent_sign_is_doubled),
		cmocka_unit_test(other_signs_of_the_folder_stay),
		cmocka_unit_test(special_signs_in_our_own_path),
		cmocka_unit_test(the_version_is_what_valgrind_answers),
		cmocka_unit_test(what_is_no_valgrind_is_told),
		cmocka_unit_test(it_is_looked_for_on_the_path),
		cmocka_unit_test(the_tool_is_known_by_its_file),
		cmocka_unit_test(the_clients_words_follow_valgrinds),
	};

	if (argc == 2 && str_eq(argv[1], "--print-skip-list"))
		return print_skip_list();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
