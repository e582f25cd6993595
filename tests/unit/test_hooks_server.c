/* SPDX-License-Identifier: MIT */
/* test_hooks_server.c - recorded connections in every split; the rules of the modes */
#include "tests/unit/fifo_rig.h"

/* ---- Recorded connections ---- */

static uint32_t random_state;

static size_t random_below(size_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

/* Feed `bytes` in pieces of `piece` bytes, or of random sizes. */
static void feed_split(struct rig *r, const struct buf *bytes, size_t piece, bool at_random)
{
	for (size_t at = 0; at < bytes->len;) {
		size_t n = at_random ? 1 + random_below(20) : piece;

		if (n > bytes->len - at)
			n = bytes->len - at;
		assert_int_equal(feed(r, bytes->data + at, n), 0);
		at += n;
	}
}

struct connection {
	const char *name;
	const struct hooks_mode *mode;
	size_t uris, windows, markers;
	const char *integration, *version, *last_uri;
	unsigned protocols;
	uint64_t requests, pings;
};

static const struct connection connections[] = {
	{"fifo_v0_walltime", &hooks_mode_walltime, 2, 2, 4, "pytest-codspeed", "4.0.0",
	 "tests/t.py::b", 0, 9, 2},
	{"fifo_v1_walltime", &hooks_mode_walltime, 1, 1, 4, "codspeed-rust", "4.0.4",
	 "benches/f.rs::g::h", 1 << 1, 8, 1},
	{"fifo_v2_walltime", &hooks_mode_walltime, 1, 1, 6, "exec-harness", "1.3.0",
	 "exec_harness::sleep 0.1", 1 << 2, 12, 0},
	{"fifo_v2_memory", &hooks_mode_memory, 1, 1, 2, "codspeed-node", "5.7.1", "a.js::b",
	 1 << 2, 6, 0},
};

static void expect_outcome(const struct rig *r, const struct connection *c, uint64_t began)
{
	const struct hooks_server *s = &r->server;

	assert_int_equal(s->timestamps.uris.len, c->uris);
	assert_int_equal(s->timestamps.markers.len, c->markers);
	assert_int_equal(s->windows.len, c->windows);
	assert_string_equal(vec_last(&s->timestamps.uris)->uri, c->last_uri);
	assert_string_equal(s->integration, c->integration);
	assert_string_equal(s->integration_version, c->version);
	assert_int_equal(s->protocols, c->protocols);
	assert_int_equal(s->requests, c->requests);
	assert_int_equal(s->pings, c->pings);
	assert_int_equal(s->pids.len, 1);
	assert_int_equal(s->pids.items[0], 4242);
	assert_int_equal(s->timestamps.uris.items[0].pid, 4242);
	for (size_t i = 0; i < c->windows; i++) {
		const struct hooks_window *w = &s->windows.items[i];

		assert_true(began <= w->start && w->start <= w->end);
		assert_true(w->end <= s->timestamps.uris.items[i].time);
		assert_false(w->overlapped || w->left_open);
	}
	assert_int_equal(r->switches.starts, c->windows);
	assert_int_equal(r->switches.stops, c->windows);
	assert_int_equal(s->timestamps.markers.items[0].type, MARKER_SAMPLE_START);
	assert_int_equal(vec_last(&s->timestamps.markers)->type, MARKER_SAMPLE_END);
}

static void replay(const struct connection *c, size_t piece, bool at_random)
{
	char *control = xasprintf("fifo/%s.ctl.bin", c->name);
	char *answers = xasprintf("fifo/%s.ack.bin", c->name);
	struct buf requests = BUF_INIT, expected = BUF_INIT;
	uint64_t began = clock_now();
	struct rig r;

	read_vector(control, &requests);
	read_vector(answers, &expected);
	rig_init(&r, c->mode);
	feed_split(&r, &requests, piece, at_random);
	assert_int_equal(hooks_server_finish(&r.server, clock_now()), 0);
	collect(&r);
	expect_bytes(&r.got, expected.data, expected.len);
	expect_outcome(&r, c, began);
	assert_null(hooks_server_explain_dup(&r.server));
	rig_release(&r);
	buf_release(&requests);
	buf_release(&expected);
	free(control);
	free(answers);
}

static void recorded_connections_in_every_split(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(connections); i++) {
		replay(&connections[i], SIZE_MAX, false);
		for (size_t piece = 1; piece < 40; piece++)
			replay(&connections[i], piece, false);
		for (random_state = 1; random_state < 30; random_state++) {
			uint32_t seed = random_state;

			replay(&connections[i], 0, true);
			random_state = seed;
		}
	}
}

/* Two benchmarks whose frames follow one another: answers come in the order of requests. */
static void connections_may_mix(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_memory);
	for (int i = 0; i < 2; i++)
		assert_int_equal(feed_version(&r, 2), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(feed_command(&r, FIFO_GET_MODE), 0);
	expect_answers(&r, ACK ACK ANALYSIS ANALYSIS);
	assert_int_equal(feed_uri(&r, 1, "a"), 0);
	assert_int_equal(feed_uri(&r, 2, "b"), 0);
	assert_int_equal(feed_uri(&r, 1, "c"), 0);
	assert_int_equal(r.server.pids.len, 2);
	assert_int_equal(r.server.timestamps.uris.len, 3);
	assert_int_equal(r.server.timestamps.uris.items[1].pid, 2);
	rig_release(&r);
}

/* The first request of a run may be no request; its answer is not a left-over one. */
static void answers_of_one_turn_stay(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_walltime);
	assert_int_equal(feed_hex(&r, "00 00 00 00 04 00 00 00 04 00 00 00"), 0);
	expect_answers(&r, ERR ACK);
	rig_release(&r);
}

/* ---- Rules of the modes ---- */

static void expect_integration(const char *name, const char *version, const char *refusal)
{
	struct rig r;
	int rc;

	rig_init(&r, &hooks_mode_memory);
	rc = feed_integration(&r, name, version);
	if (refusal)
		expect_refusal(rc, refusal);
	else
		assert_int_equal(rc, 0);
	expect_answers(&r, refusal ? ERR : ACK);
	if (refusal) {
		assert_int_equal(feed_command(&r, FIFO_START_PROFILER), 0); /* returned once */
		expect_answers(&r, ERR);
		assert_int_equal(r.switches.starts, 0);
	}
	rig_release(&r);
}

static void memory_mode_asks_for_versions(void **state UNUSED)
{
	expect_integration("codspeed-rust", "4.2.0", NULL);
	expect_integration("codspeed-rust", "4.1.9", "codspeed-rust 4.1.9 is too old for memory "
			   "mode: update it, codspeed-rust 4.2.0 or later is needed");
	expect_integration("codspeed-cpp", "2.1.0", NULL);
	expect_integration("codspeed-cpp", "2.0.99", "too old");
	expect_integration("pytest-codspeed", "4.3.0", NULL);
	expect_integration("pytest-codspeed", "4.3.0-beta.1", "4.3.0-beta.1 is too old");
	expect_integration("pytest-codspeed", "4.3.1-beta.1", NULL);
	expect_integration("pytest-codspeed", "4.3.0+local", NULL);
	expect_integration("pytest-codspeed", "4.3.0b1", "no version that can be compared");
	expect_integration("codspeed-node", "5.2.0", NULL);
	expect_integration("codspeed-node", "5.10.0", NULL);
	expect_integration("codspeed-node", "5.1.0", "too old");
	expect_integration("exec-harness", "1.0.0", NULL);
	expect_integration("exec-harness", "0.9.0", "too old");
	expect_integration("exec-harness", "", "exec-harness  has no version");
	expect_integration("codspeed-go", "1.2.0", "the integration codspeed-go 1.2.0 is not known "
			   "to work in memory mode; known are codspeed-rust 4.2.0, codspeed-cpp "
			   "2.1.0, pytest-codspeed 4.3.0, codspeed-node 5.2.0, exec-harness 1.0.0 "
			   "and later");
	expect_integration("a name that goes on and on and on and on and on and on and on and on "
			   "and on and on", "1", "and on and ... 1 is not known");
	expect_integration("exec-harness2", "1.3.0", "not known");
	expect_integration("\x1b[31m", "\x1b[0m", "\\x1b[31m \\x1b[0m is not known");
}

static void walltime_takes_everyone(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_walltime);
	assert_int_equal(feed_integration(&r, "mine", "of today"), 0);
	assert_int_equal(feed_integration(&r, "yours", "2"), 0);
	expect_answers(&r, ACK ACK);
	assert_string_equal(r.server.integration, "yours");
	assert_string_equal(r.server.integration_version, "2");
	rig_release(&r);
}

static void expect_version(const struct hooks_mode *mode, uint64_t version, const char *refusal)
{
	struct rig r;
	int rc;

	rig_init(&r, mode);
	rc = feed_version(&r, version);
	if (refusal)
		expect_refusal(rc, refusal);
	else
		assert_int_equal(rc, 0);
	expect_answers(&r, refusal ? ERR : ACK);
	rig_release(&r);
}

static void protocol_versions(void **state UNUSED)
{
	expect_version(&hooks_mode_walltime, 0, "too old: update it");
	expect_version(&hooks_mode_walltime, 1, NULL);
	expect_version(&hooks_mode_walltime, 2, NULL);
	expect_version(&hooks_mode_walltime, 3, "this codspeed only up to 2: update codspeed");
	expect_version(&hooks_mode_walltime, UINT64_MAX, "update codspeed");
	expect_version(&hooks_mode_memory, 1, "lacks memory mode: update it; needed is at least "
		       "one of codspeed-rust 4.2.0");
	expect_version(&hooks_mode_memory, 2, NULL);
}

static void the_known_integration_is_named_with_its_protocol(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_walltime);
	assert_int_equal(feed_integration(&r, "codspeed-rust", "9.0.0"), 0);
	expect_refusal(feed_version(&r, 3),
		       "the integration codspeed-rust 9.0.0 speaks version 3 of the protocol");
	expect_answers(&r, ACK ERR);
	rig_release(&r);
}

/* Requests behind a refused one are answered all the same, or their senders would wait. */
static void what_follows_a_refusal_is_answered(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_walltime);
	expect_refusal(feed_hex(&r, "0c 00 00 00 08 00 00 00 03 00 00 00 00 00 00 00 "
				    "00 00 00 00 04 00 00 00 09 00 00 00"), "version 3");
	expect_answers(&r, ERR ERR ERR);
	assert_int_equal(hooks_server_finish(&r.server, clock_now()), 0);
	rig_release(&r);
}

static void a_profiler_that_fails(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_walltime);
	r.switches.fails = -ENOENT;
	feed_command(&r, FIFO_PING_PROFILER);
	feed_command(&r, FIFO_START_PROFILER);
	expect_answers(&r, ERR ERR);
	assert_int_equal(r.server.windows.len + r.server.timestamps.markers.len, 0);
	r.switches.fails = 0;
	feed_command(&r, FIFO_START_PROFILER);
	r.switches.fails = -EPIPE;
	feed_command(&r, FIFO_STOP_PROFILER);
	expect_answers(&r, ACK ERR);
	assert_true(r.server.open);
	r.switches.fails = 0;
	feed_command(&r, FIFO_STOP_PROFILER); /* once more, and it can */
	expect_answers(&r, ACK);
	assert_int_equal(r.server.timestamps.markers.len, 2);
	assert_int_equal(r.server.notes[HOOKS_NOTE_PROFILER], 3);
	assert_string_equal(error_text(), "");
	rig_release(&r);
}

static void overlapping_windows_are_noted(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_memory);
	feed_command(&r, FIFO_START_PROFILER);
	feed_command(&r, FIFO_START_PROFILER);
	feed_command(&r, FIFO_STOP_PROFILER);
	feed_command(&r, FIFO_STOP_PROFILER);
	feed_command(&r, FIFO_START_PROFILER);
	feed_command(&r, FIFO_STOP_PROFILER);
	expect_answers(&r, ACK ACK ACK ERR ACK ACK);
	assert_int_equal(r.server.windows.len, 2);
	assert_true(r.server.windows.items[0].overlapped);
	assert_ptr_equal(hooks_server_window(&r.server, r.server.windows.items[1].start),
			 &r.server.windows.items[1]);
	assert_null(hooks_server_window(&r.server, UINT64_MAX));
	assert_null(hooks_server_window(&r.server, 0));
	assert_false(r.server.windows.items[1].overlapped);
	assert_int_equal(r.server.timestamps.markers.len, 4);
	assert_int_equal(r.switches.starts, 2); /* switched once a window */
	assert_int_equal(r.switches.stops, 2);
	assert_int_equal(r.server.notes[HOOKS_NOTE_OVERLAP], 1);
	assert_int_equal(r.server.notes[HOOKS_NOTE_NO_WINDOW], 1);
	rig_release(&r);
}

static void an_open_window_is_closed_at_the_end(void **state UNUSED)
{
	uint64_t end = clock_now() + NS_PER_SECOND;
	struct rig r;

	rig_init(&r, &hooks_mode_memory);
	feed_command(&r, FIFO_START_PROFILER);
	assert_int_equal(hooks_server_finish(&r.server, end), 0);
	assert_true(r.server.windows.items[0].left_open);
	assert_true(r.server.windows.items[0].end == end);
	assert_int_equal(r.server.timestamps.markers.items[1].type, MARKER_SAMPLE_END);
	assert_true(r.server.timestamps.markers.items[1].time == end);
	assert_int_equal(r.switches.stops, 0);
	rig_release(&r);
	rig_init(&r, &hooks_mode_memory);
	feed_command(&r, FIFO_START_PROFILER);
	assert_int_equal(hooks_server_finish(&r.server, 1), 0); /* never before its start */
	assert_true(r.server.windows.items[0].end == r.server.windows.items[0].start);
	rig_release(&r);
}

/* Frames that arrive just before the child ends are not lost. */
static void the_end_reads_what_is_there(void **state UNUSED)
{
	struct buf frames = BUF_INIT;
	struct rig r;

	rig_init(&r, &hooks_mode_memory);
	parse_hex(ACK "04 00 00 00 01 00 00 00 04 00 00 00 02 00 00 00", &frames);
	fifo_message_encode(&(struct fifo_message){.command = FIFO_CURRENT_BENCHMARK,
						   .uri = text("late")}, &frames);
	assert_int_equal(write(r.control, frames.data, frames.len), frames.len);
	assert_int_equal(hooks_server_finish(&r.server, clock_now()), 0);
	assert_string_equal(r.server.timestamps.uris.items[0].uri, "late");
	assert_false(r.server.windows.items[0].left_open);
	buf_release(&frames);
	rig_release(&r);
}

/* More than one read takes: a client may have made the FIFO larger. */
static void the_end_reads_all_of_it(void **state UNUSED)
{
	struct buf frame = BUF_INIT;
	struct rig r;
	size_t count;

	rig_init(&r, &hooks_mode_memory);
	assert_true(fcntl(r.control, F_SETPIPE_SZ, 256 * 1024) > 0);
	fifo_message_encode(&(struct fifo_message){.command = FIFO_STOP_PROFILER}, &frame);
	for (count = 0; count < 20000; count++)
		assert_int_equal(write(r.control, frame.data, frame.len), frame.len);
	assert_int_equal(hooks_server_finish(&r.server, clock_now()), 0);
	assert_int_equal(r.server.requests, count);
	buf_release(&frame);
	rig_release(&r);
}

static void expect_explanation(const struct rig *r, const char *words)
{
	char *why = hooks_server_explain_dup(&r->server);

	assert_non_null(why);
	if (!strstr(why, words))
		assert_string_equal(why, words);
	free(why);
}

static void silence_is_explained(void **state UNUSED)
{
	struct rig r;

	rig_init(&r, &hooks_mode_memory);
	expect_explanation(&r, "no CodSpeed integration looked for the runner");
	expect_explanation(&r, "pytest-codspeed 4.3.0"); /* one of before the FIFOs cannot say so */
	assert_false(hooks_server_only_pings(&r.server));
	feed_command(&r, FIFO_PING_PROFILER);
	expect_answers(&r, ERR);
	assert_true(hooks_server_only_pings(&r.server));
	expect_explanation(&r, "pytest-codspeed 4.3.0");
	feed_version(&r, 2);
	assert_false(hooks_server_only_pings(&r.server));
	feed_integration(&r, "exec-harness", "1.3.0");
	expect_explanation(&r, "the integration exec-harness 1.3.0 came, but no benchmark was run");
	feed_command(&r, FIFO_START_PROFILER);
	expect_explanation(&r, "measured something and did not say what");
	feed_uri(&r, 1, "a");
	assert_null(hooks_server_explain_dup(&r.server));
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_connections_in_every_split),
		cmocka_unit_test(connections_may_mix),
		cmocka_unit_test(answers_of_one_turn_stay),
		cmocka_unit_test(memory_mode_asks_for_versions),
		cmocka_unit_test(walltime_takes_everyone),
		cmocka_unit_test(protocol_versions),
		cmocka_unit_test(the_known_integration_is_named_with_its_protocol),
		cmocka_unit_test(what_follows_a_refusal_is_answered),
		cmocka_unit_test(a_profiler_that_fails),
		cmocka_unit_test(overlapping_windows_are_noted),
		cmocka_unit_test(an_open_window_is_closed_at_the_end),
		cmocka_unit_test(the_end_reads_what_is_there),
		cmocka_unit_test(the_end_reads_all_of_it),
		cmocka_unit_test(silence_is_explained),
	};

	setenv("CODSPEED_LOG", "off", 1);
	log_init("test_hooks_server");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
