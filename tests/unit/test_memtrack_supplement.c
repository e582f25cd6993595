/* SPDX-License-Identifier: MIT */
/* test_memtrack_supplement.c - what stands beside an artifact: written, read, damaged */
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"
#include "core/memtrack_supplement.h"
#include "core/path.h"
#include "tests/unit/temp_folder.h"
#include <cmocka.h>
#undef fail

#define HEAD SUPPLEMENT_BEGINNING

static const struct heap_gaps none = HEAP_GAPS_INIT;

static char *file_of(pid_t pid)
{
	return xasprintf("%s/%d" SUPPLEMENT_SUFFIX, folder, (int)pid);
}

static void add(struct supplement_writer *w, enum heap_event_kind kind, int32_t pid, uint64_t time)
{
	supplement_add_end(w, &(struct heap_event){.kind = (uint8_t)kind, .pid = pid, .timestamp = time});
}

static struct buf written(pid_t pid)
{
	struct buf bytes = BUF_INIT;
	char *path = file_of(pid);

	assert_int_equal(read_plain_file(path, &bytes), 0);
	free(path);
	return bytes;
}

static void ends_are_lines(void **state UNUSED)
{
	struct supplement_writer *w;
	struct buf bytes;

	assert_int_equal(supplement_create(&w, folder, 7), 0);
	add(w, HEAP_EXEC, 7, 1000);
	add(w, HEAP_EXIT, INT32_MAX, UINT64_MAX);
	assert_int_equal(supplement_finish(w, &none), 0);
	bytes = written(7);
	assert_string_equal(bytes.data, "memtrack supplement 1\n"
					"exec 7 1000\n"
					"exit 2147483647 18446744073709551615\n"
					"end\n");
	buf_release(&bytes);
}

static void what_is_written_is_read(void **state UNUSED)
{
	enum { MANY = 20000 };
	struct supplement s = SUPPLEMENT_INIT;
	struct supplement_writer *w;
	struct buf bytes;

	assert_int_equal(supplement_create(&w, folder, 7), 0);
	for (int i = 0; i < MANY; i++)
		add(w, i % 2 ? HEAP_EXIT : HEAP_EXEC, i, 1000000000000 + (uint64_t)i);
	assert_int_equal(supplement_finish(w, &none), 0);
	bytes = written(7);
	assert_int_equal(supplement_decode(&s, "file", bytes.data, bytes.len), 0);
	assert_int_equal(s.lives.len, MANY);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(s.lives.items[i].pid, i);
		assert_int_equal(s.lives.items[i].timestamp, 1000000000000 + (uint64_t)i);
	}
	supplement_release(&s);
	buf_release(&bytes);
}

static void gaps_are_handed_on(void **state UNUSED)
{
	struct heap_gaps gaps = HEAP_GAPS_INIT;
	struct supplement s = SUPPLEMENT_INIT;
	struct supplement_writer *w;
	struct buf bytes;

	heap_gaps_add(&gaps, 5, false, "/a\nb\xff: no ü");
	heap_gaps_add(&gaps, 0, true, "a remark");
	assert_int_equal(supplement_create(&w, folder, 7), 0);
	add(w, HEAP_EXIT, 8, 5);
	assert_int_equal(supplement_finish(w, &gaps), 0);
	bytes = written(7);
	assert_string_equal(bytes.data, HEAD "exit 8 5\n"
					     "gap 5 /a\\x0ab\\xff: no ü\n"
					     "remark 0 a remark\n"
					     "end\n");
	assert_int_equal(supplement_decode(&s, "file", bytes.data, bytes.len), 0);
	assert_int_equal(s.gaps.list.len, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(s.gaps.list.items[i].from, gaps.list.items[i].from);
		assert_int_equal(s.gaps.list.items[i].remark, gaps.list.items[i].remark);
		assert_string_equal(s.gaps.list.items[i].text, gaps.list.items[i].text);
	}
	heap_gaps_release(&gaps);
	supplement_release(&s);
	buf_release(&bytes);
}

/* The folder may be another user's. */
static void a_link_is_replaced(void **state UNUSED)
{
	char *victim = xasprintf("%s/victim", folder), *path = file_of(7);
	struct supplement_writer *w;
	struct stat st;

	assert_int_equal(write_file_atomic(victim, "x", 1, 0600), 0);
	assert_int_equal(symlink(victim, path), 0);
	assert_int_equal(supplement_create(&w, folder, 7), 0);
	assert_int_equal(supplement_finish(w, &none), 0);
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 1);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	free(victim);
	free(path);
}

static void a_folder_that_is_not_there(void **state UNUSED)
{
	struct supplement_writer *w;

	assert_int_equal(supplement_create(&w, "/nonexistent", 7), -ENOENT);
	assert_string_equal(error_text(), "cannot open /nonexistent: No such file or directory");
	error_clear();
}

static void an_abandoned_one_is_cut(void **state UNUSED)
{
	struct supplement s = SUPPLEMENT_INIT;
	struct supplement_writer *w;
	struct buf bytes;

	assert_int_equal(supplement_create(&w, folder, 7), 0);
	add(w, HEAP_EXIT, 8, 5);
	supplement_abandon(w);
	supplement_abandon(NULL);
	bytes = written(7);
	assert_int_equal(supplement_decode(&s, "file", bytes.data, bytes.len), -EBADMSG);
	assert_string_equal(error_text(), "file: line 3: the file was cut off here");
	error_clear();
	assert_int_equal(s.lives.len, 1);
	supplement_release(&s);
	buf_release(&bytes);
}

/* ---- Reading ---- */

static void expect(const char *bytes, size_t len, size_t lives, const char *error)
{
	struct supplement s = SUPPLEMENT_INIT;

	assert_int_equal(supplement_decode(&s, "file", bytes, len), error ? -EBADMSG : 0);
	assert_string_equal(error_text(), error ? error : "");
	error_clear();
	assert_int_equal(s.lives.len, lives);
	supplement_release(&s);
}

#define EXPECT(text, lives, error) expect(text, sizeof(text) - 1, lives, error)

static void damage_is_told_by_its_line(void **state UNUSED)
{
	static const char no_life[] = "file: line 3: no process and time";

	EXPECT("", 0, "file: line 1: not what memtrack writes");
	EXPECT("memtrack supplement 2\nend\n", 0, "file: line 1: not what memtrack writes");
	EXPECT(HEAD, 0, "file: line 2: the file was cut off here");
	EXPECT(HEAD "end", 0, "file: line 2: the file was cut off here");
	EXPECT(HEAD "exit 1 2\nexit 1 2", 1, "file: line 3: the file was cut off here");
	EXPECT(HEAD "exit 1 2\nexit 1\nend\n", 1, no_life);
	EXPECT(HEAD "exit 1 2\nexit 1 \nend\n", 1, no_life);
	EXPECT(HEAD "exit 1 2\nexit  1 2\nend\n", 1, no_life);
	EXPECT(HEAD "exit 1 2\nexit 1 2 \nend\n", 1, no_life);
	EXPECT(HEAD "exit 1 2\nexit 1 -2\nend\n", 1, no_life);
	EXPECT(HEAD "exit 1 2\nexit 1 2\0\nend\n", 1, no_life);
	EXPECT(HEAD "exit 1 2\nexit 2147483648 2\nend\n", 1, no_life);
	EXPECT(HEAD "exit 1 2\nexit 1 18446744073709551616\nend\n", 1, no_life);
	EXPECT(HEAD "gap 1\nend\n", 0, "file: line 2: no time and text");
	EXPECT(HEAD "remark 1 \nend\n", 0, "file: line 2: no time and text");
	EXPECT(HEAD "gap x y\nend\n", 0, "file: line 2: no time and text");
}

static void lines_of_later_versions_are_passed_over(void **state UNUSED)
{
	EXPECT(HEAD "end\n", 0, NULL);
	EXPECT(HEAD "exits 1 2\n\nexit\nmore of it\nexit 0 0\nend\nexit what\n", 1, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ends_are_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_written_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(gaps_are_handed_on, setup, teardown),
		cmocka_unit_test_setup_teardown(a_link_is_replaced, setup, teardown),
		cmocka_unit_test(a_folder_that_is_not_there),
		cmocka_unit_test_setup_teardown(an_abandoned_one_is_cut, setup, teardown),
		cmocka_unit_test(damage_is_told_by_its_line),
		cmocka_unit_test(lines_of_later_versions_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
