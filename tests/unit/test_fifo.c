/* SPDX-License-Identifier: MIT */
/* test_fifo.c - the pair of FIFOs: made, locked, removed; frames in every condition */
#include <grp.h>
#include <signal.h>
#include <sys/wait.h>

#include "core/cleanup.h"
#include "tests/unit/fifo_rig.h"

/* ---- The pair itself ---- */

/* Run `body` in a child; returns when that has sent a byte on `ready` or has ended. */
static pid_t in_child(void (*body)(const char *dir, int ready), const char *dir)
{
	int ends[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		body(dir, ends[1]);
		_exit(99);
	}
	close(ends[1]);
	while (read(ends[0], &c, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void hold(const char *dir, int ready)
{
	struct fifo f;

	if (fifo_open(&f, dir))
		_exit(1);
	if (write(ready, "", 1) == 1)
		pause();
}

static void leave(const char *dir, int ready UNUSED)
{
	static struct fifo f;

	_exit(fifo_open(&f, dir) ? 1 : (cleanup_run(), 0));
}

static void the_lock_names_its_holder(void **state UNUSED)
{
	struct fifo f;
	char dir[32], expected[256];
	pid_t holder;

	make_dir(dir);
	holder = in_child(hold, dir);
	snprintf(expected, sizeof(expected), "another codspeed is measuring on this machine: "
		 "%s/codspeed-runner.lock is held by process %d", dir, holder);
	assert_int_equal(fifo_open(&f, dir), -EBUSY);
	assert_string_equal(error_text(), expected);
	error_clear();
	fifo_remove_stale(dir); /* these are not stale */
	assert_true(exists(dir, FIFO_CONTROL) && exists(dir, FIFO_ANSWERS));
	kill(holder, SIGKILL);
	assert_int_equal(status_of(holder), 128 + SIGKILL);
	assert_true(exists(dir, FIFO_CONTROL) && exists(dir, FIFO_LOCK));
	assert_int_equal(fifo_open(&f, dir), 0); /* what a killed one left is taken over */
	fifo_close(&f);
	assert_int_equal(rmdir(dir), 0);
}

/* The first test: a child has a cleanup stack of its own only where the parent had none before. */
static void everything_is_removed_at_exit(void **state UNUSED)
{
	char dir[32];

	make_dir(dir);
	assert_int_equal(status_of(in_child(leave, dir)), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void stale_ones_can_be_removed(void **state UNUSED)
{
	char dir[32];
	pid_t holder;

	make_dir(dir);
	holder = in_child(hold, dir);
	kill(holder, SIGKILL);
	status_of(holder);
	fifo_remove_stale(dir);
	assert_int_equal(rmdir(dir), 0); /* the lock's file went with them */
	fifo_remove_stale("/nonexistent");
	assert_string_equal(error_text(), "");
}

static void the_pair_has_its_modes(void **state UNUSED)
{
	mode_t before = umask(022);
	struct stat st;
	struct rig r;

	rig_init(&r, &hooks_mode_memory);
	assert_int_equal(lstat(path_in(r.dir, FIFO_CONTROL), &st), 0);
	assert_int_equal(st.st_mode, S_IFIFO | 0700);
	assert_int_equal(lstat(path_in(r.dir, FIFO_ANSWERS), &st), 0);
	assert_int_equal(st.st_mode, S_IFIFO | 0700);
	assert_int_equal(lstat(path_in(r.dir, FIFO_LOCK), &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0644);
	assert_int_equal(fcntl(fifo_fd(r.fifo), F_GETFD), FD_CLOEXEC);
	rig_release(&r);
	umask(before);
}

/* Entries of any kind that are in the way. */
static void what_stands_in_the_way(void **state UNUSED)
{
	struct fifo f;
	char dir[32];
	int fd;

	make_dir(dir);
	fd = open(path_in(dir, FIFO_CONTROL), O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(symlink("/etc/passwd", path_in(dir, FIFO_ANSWERS)), 0);
	assert_int_equal(fifo_open(&f, dir), 0);
	fifo_close(&f);
	assert_int_equal(access("/etc/passwd", R_OK), 0);

	assert_int_equal(mkdir(path_in(dir, FIFO_ANSWERS), 0700), 0);
	assert_int_equal(fifo_open(&f, dir), -EISDIR);
	assert_non_null(strstr(error_text(), FIFO_ANSWERS));
	error_clear();
	assert_false(exists(dir, FIFO_CONTROL) || exists(dir, FIFO_LOCK)); /* nothing stays */
	assert_int_equal(rmdir(path_in(dir, FIFO_ANSWERS)), 0);

	assert_int_equal(symlink(path_in(dir, "elsewhere"), path_in(dir, FIFO_LOCK)), 0);
	assert_int_equal(fifo_open(&f, dir), -ELOOP);
	assert_non_null(strstr(error_text(), "is a symbolic link"));
	error_clear();
	assert_false(exists(dir, "elsewhere"));
	unlink(path_in(dir, FIFO_LOCK));

	assert_int_equal(mkfifo(path_in(dir, FIFO_LOCK), 0600), 0);
	assert_int_equal(fifo_open(&f, dir), -EEXIST);
	error_clear();
	remove_dir(dir);

	assert_int_equal(fifo_open(&f, "/nonexistent"), -ENOENT);
	assert_non_null(strstr(error_text(), "/nonexistent/" FIFO_LOCK));
	error_clear();
}

/* A hard link under the lock's name must not get a process id written into its file. */
static void the_lock_writes_into_no_other_file(void **state UNUSED)
{
	struct buf content = BUF_INIT;
	struct fifo f;
	char dir[32];
	int fd;

	make_dir(dir);
	fd = open(path_in(dir, "victim"), O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "precious", 8), 8);
	close(fd);
	assert_int_equal(link(path_in(dir, "victim"), path_in(dir, FIFO_LOCK)), 0);
	assert_int_equal(fifo_open(&f, dir), 0);
	fifo_close(&f);
	assert_int_equal(read_file(path_in(dir, "victim"), &content), 0);
	expect_bytes(&content, "precious", 8);
	buf_release(&content);
	unlink(path_in(dir, "victim"));
	remove_dir(dir);
}

/* A runner that takes no lock has put its own pair there: it is not ours to remove. */
static void a_pair_that_was_replaced_stays(void **state UNUSED)
{
	struct fifo f;
	char dir[32];

	make_dir(dir);
	assert_int_equal(fifo_open(&f, dir), 0);
	unlink(path_in(dir, FIFO_CONTROL));
	assert_int_equal(mkfifo(path_in(dir, FIFO_CONTROL), 0700), 0);
	fifo_close(&f);
	assert_true(exists(dir, FIFO_CONTROL));
	assert_false(exists(dir, FIFO_ANSWERS));
	remove_dir(dir);
}

enum { NOBODY = 65534 };

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(98);
}

static const char *others_error; /* what nobody's attempt must say */

static void open_as_nobody(const char *dir, int ready UNUSED)
{
	struct fifo f;

	become_nobody();
	if (!fifo_open(&f, dir))
		_exit(2);
	if (!strstr(error_text(), others_error))
		die_recorded(3);
	_exit(0);
}

static bool skip_unless_root(void)
{
	if (geteuid() == 0)
		return false;
	skip();
	return true;
}

static void another_users_leftovers_are_told(void **state UNUSED)
{
	struct fifo f;
	char dir[32];

	if (skip_unless_root())
		return;
	make_dir(dir);
	assert_int_equal(chmod(dir, 01777), 0);
	assert_int_equal(mkfifo(path_in(dir, FIFO_CONTROL), 0700), 0);
	others_error = FIFO_CONTROL " belongs to another user (id 0), who must remove it";
	assert_int_equal(status_of(in_child(open_as_nobody, dir)), 0);
	unlink(path_in(dir, FIFO_CONTROL));

	/* A lock of another user that is held, and one that was left behind. */
	assert_int_equal(fifo_open(&f, dir), 0);
	others_error = "is held by process ";
	assert_int_equal(status_of(in_child(open_as_nobody, dir)), 0);
	others_error = " of user id 0";
	assert_int_equal(status_of(in_child(open_as_nobody, dir)), 0);
	fifo_close(&f);
	close(open(path_in(dir, FIFO_LOCK), O_CREAT | O_WRONLY, 0644));
	others_error = "was left behind by user id 0 and cannot be removed";
	assert_int_equal(status_of(in_child(open_as_nobody, dir)), 0);
	remove_dir(dir);
}

/* Root clears away what others have left. */
static void root_takes_over_from_others(void **state UNUSED)
{
	struct fifo f;
	struct stat st;
	char dir[32];

	if (skip_unless_root())
		return;
	make_dir(dir);
	assert_int_equal(chmod(dir, 01777), 0);
	close(open(path_in(dir, FIFO_LOCK), O_CREAT | O_WRONLY, 0600));
	assert_int_equal(chown(path_in(dir, FIFO_LOCK), NOBODY, NOBODY), 0);
	assert_int_equal(mkfifo(path_in(dir, FIFO_CONTROL), 0700), 0);
	assert_int_equal(chown(path_in(dir, FIFO_CONTROL), NOBODY, NOBODY), 0);
	assert_int_equal(fifo_open(&f, dir), 0);
	assert_int_equal(lstat(path_in(dir, FIFO_LOCK), &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(fifo_give_to(&f, NOBODY, NOBODY), 0);
	assert_int_equal(lstat(path_in(dir, FIFO_ANSWERS), &st), 0);
	assert_int_equal(st.st_uid, NOBODY);
	fifo_close(&f);
	assert_int_equal(rmdir(dir), 0);
}

/* ---- Frames that are none ---- */

static void expect_reaction(char *columns[3])
{
	bool starts = strstr(columns[2], "decodes as StartProfiler");
	bool lost = strstr(columns[2], "stream error");
	struct rig r;
	int rc;

	rig_init(&r, &hooks_mode_walltime);
	rc = feed_hex(&r, columns[1]);
	if (strstr(columns[2], "protocol error"))
		expect_refusal(rc, "protocol");
	else
		assert_int_equal(rc, 0);
	expect_answers(&r, lost ? "" : starts ? ACK : ERR);
	assert_int_equal(r.switches.starts, starts);
	if (!r.server.refusal) {
		assert_int_equal(feed_version(&r, 2), 0); /* and it goes on */
		expect_answers(&r, ACK);
	}
	rig_release(&r);
}

static void malformed_frames(void **state UNUSED)
{
	assert_int_equal(each_row("fifo/fifo_malformed.tsv", expect_reaction), 14);
}

/* The reader can only drop what is there; a length at the limit is still waited for. */
static void oversized_frames_hold_up_nobody(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_memory);
	assert_int_equal(feed_hex(&r, "01 00 80 00 00 00 00 00 " ACK ACK), 0);
	expect_answers(&r, "");
	assert_int_equal(r.server.notes[HOOKS_NOTE_OVERSIZED], 1);
	assert_int_equal(feed_version(&r, 2), 0);
	expect_answers(&r, ACK);
	assert_int_equal(feed_hex(&r, "00 00 80 00 02 00 00 00"), 0);
	assert_int_equal(feed_version(&r, 2), 0); /* taken for its content */
	expect_answers(&r, "");
	assert_int_equal(r.server.notes[HOOKS_NOTE_OVERSIZED], 1);
	rig_release(&r);
}

/* A client that died inside a frame must not take the next one's requests with it. */
static void a_part_of_a_dead_client_is_dropped(void **state UNUSED)
{
	static const char *const parts[] = {
		"17", "17 00 00", "17 00 00 00", "00 00 00 00 00 00 00", "04 00 00 00 01 00",
		"25 00 00 00 05 00 00 00 0c 00 00 00 00 00 00 00 65 78 65", "00 00 80 00 02",
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct rig r;
		/* A whole frame, and three bytes of the next one. */
		bool answered = str_starts(parts[i], "00 00 00 00");

		rig_init(&r, &hooks_mode_memory);
		assert_int_equal(feed_hex(&r, parts[i]), 0);
		expect_answers(&r, answered ? ERR : "");
		r.fifo->last_read -= NS_PER_SECOND; /* a silence */
		assert_int_equal(feed_version(&r, 2), 0);
		assert_int_equal(feed_command(&r, FIFO_GET_MODE), 0);
		expect_answers(&r, ACK ANALYSIS);
		assert_int_equal(r.fifo->dropped_parts, 1);
		rig_release(&r);
	}
}

/* A slow client is not a dead one: its two writes may lie far apart. */
static void a_slow_client_is_waited_for(void **state UNUSED)
{
	struct buf frames = BUF_INIT;
	char *rest, *line;

	read_vector("fifo/fifo_messages.tsv", &frames);
	rest = frames.data;
	while ((line = strsep(&rest, "\n"))) {
		struct buf frame = BUF_INIT;
		struct rig r;

		if (!str_starts(line, "c2r"))
			continue;
		parse_hex(strrchr(line, '\t') + 1, &frame);
		rig_init(&r, &hooks_mode_walltime);
		assert_int_equal(feed(&r, frame.data, 4), 0);
		r.fifo->last_read -= NS_PER_SECOND;
		assert_int_equal(feed(&r, frame.data + 4, frame.len - 4), 0);
		assert_int_equal(r.got.len > 0, 1);
		assert_int_equal(r.fifo->dropped_parts, 0);
		assert_int_equal(r.server.notes[HOOKS_NOTE_MALFORMED], 0);
		rig_release(&r);
		buf_release(&frame);
	}
	buf_release(&frames);
}

/* Longer than a FIFO holds, up to the limit. */
static void long_uris_arrive(void **state UNUSED)
{
	static const size_t lengths[] = {1008, 1009, 5000, 70000, FIFO_MESSAGE_MAX - 16};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		char *uri = xmalloc(lengths[i] + 1);
		struct rig r;

		memset(uri, 'u', lengths[i]);
		uri[lengths[i]] = '\0';
		rig_init(&r, &hooks_mode_walltime);
		assert_int_equal(feed_uri(&r, 1, uri), 0);
		expect_answers(&r, ACK);
		assert_string_equal(r.server.timestamps.uris.items[0].uri, uri);
		rig_release(&r);
		free(uri);
	}
}

/* One turn of the caller's loop does not read for ever. */
static void a_flood_is_served_in_turns(void **state UNUSED)
{
	struct buf frame = BUF_INIT;
	struct rig r;
	ssize_t n;

	rig_init(&r, &hooks_mode_walltime);
	fifo_message_encode(&(struct fifo_message){.command = FIFO_STOP_PROFILER}, &frame);
	while ((n = write(r.control, frame.data, frame.len)) > 0)
		;
	for (uint64_t before = 0; fifo_waiting(r.fifo); before = r.server.requests) {
		assert_int_equal(serve(&r), 0);
		assert_true(r.server.requests > before);
		assert_true(r.server.requests - before <= 64 * 1024 / 8 + 1);
	}
	assert_int_equal(r.server.requests, 64 * 1024 / 8);
	assert_int_equal(r.server.notes[HOOKS_NOTE_NO_WINDOW], 64 * 1024 / 8);
	buf_release(&frame);
	rig_release(&r);
}

/* ---- Clients that are gone ---- */

static void unread_answers_do_not_block(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_walltime);
	for (int i = 0; i < 64 * 1024 / 8 + 10; i++) {
		struct buf frame = BUF_INIT;

		fifo_message_encode(&(struct fifo_message){.command = FIFO_PING_PROFILER}, &frame);
		assert_int_equal(write(r.control, frame.data, frame.len), frame.len);
		assert_int_equal(hooks_server_serve(&r.server), 0);
		buf_release(&frame);
	}
	assert_int_equal(r.server.notes[HOOKS_NOTE_UNREAD], 10);
	collect(&r);
	assert_int_equal(r.got.len, 64 * 1024); /* whole frames only */
	rig_release(&r);
}

/* What a client that died has not read is not for the next one. */
static void left_over_answers_are_discarded_after_a_silence(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_memory);
	feed_version(&r, 2);
	expect_answers(&r, ACK);
	for (int i = 0; i < 2; i++) {
		struct buf frame = BUF_INIT;

		fifo_message_encode(&(struct fifo_message){.command = FIFO_GET_MODE}, &frame);
		assert_int_equal(write(r.control, frame.data, frame.len), frame.len);
		assert_int_equal(hooks_server_serve(&r.server), 0);
		buf_release(&frame);
	}
	r.server.last_answer -= NS_PER_SECOND;
	assert_int_equal(feed_version(&r, 2), 0);
	expect_answers(&r, ACK);
	assert_int_equal(feed_command(&r, FIFO_GET_MODE), 0);
	expect_answers(&r, ANALYSIS);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_removed_at_exit),
		cmocka_unit_test(the_lock_names_its_holder),
		cmocka_unit_test(stale_ones_can_be_removed),
		cmocka_unit_test(the_pair_has_its_modes),
		cmocka_unit_test(what_stands_in_the_way),
		cmocka_unit_test(the_lock_writes_into_no_other_file),
		cmocka_unit_test(a_pair_that_was_replaced_stays),
		cmocka_unit_test(another_users_leftovers_are_told),
		cmocka_unit_test(root_takes_over_from_others),
		cmocka_unit_test(malformed_frames),
		cmocka_unit_test(oversized_frames_hold_up_nobody),
		cmocka_unit_test(a_part_of_a_dead_client_is_dropped),
		cmocka_unit_test(a_slow_client_is_waited_for),
		cmocka_unit_test(long_uris_arrive),
		cmocka_unit_test(a_flood_is_served_in_turns),
		cmocka_unit_test(unread_answers_do_not_block),
		cmocka_unit_test(left_over_answers_are_discarded_after_a_silence),
	};

	setenv("CODSPEED_LOG", "off", 1);
	log_init("test_fifo");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
