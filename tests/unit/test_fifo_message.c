/* SPDX-License-Identifier: MIT */
/* test_fifo_message.c - every message both ways against its recorded bytes; damaged ones refused */
#include "core/fifo_message.h"
#include "tests/unit/vectors.h"

/* The message as the second column of fifo_messages.tsv spells it. */
static void spell(const struct fifo_message *m, struct buf *to)
{
	static const char *const markers[] = {"SampleStart", "SampleEnd", "RoundStart", "RoundEnd"};
	static const char *const modes[] = {"Walltime", "Simulation", "Analysis"};

	buf_addstr(to, fifo_command_name(m->command));
	switch (m->command) {
	case FIFO_CURRENT_BENCHMARK:
		buf_printf(to, "{pid=%d,uri=\"%.*s\"}", m->pid, (int)m->uri.len, m->uri.data);
		break;
	case FIFO_SET_INTEGRATION:
		buf_printf(to, "{name=\"%.*s\",version=\"%.*s\"}", (int)m->name.len, m->name.data,
			   (int)m->release.len, m->release.data);
		break;
	case FIFO_ADD_MARKER:
		buf_printf(to, "{pid=%d,%s(%llu)}", m->pid, markers[m->marker.type],
			   (unsigned long long)m->marker.time);
		break;
	case FIFO_SET_VERSION:
		buf_printf(to, "(%llu)", (unsigned long long)m->version);
		break;
	case FIFO_MODE:
		buf_printf(to, "(%s)", modes[m->mode]);
		break;
	default:
		break;
	}
}

static void expect_message(char *columns[3])
{
	struct buf frame = BUF_INIT, text = BUF_INIT, again = BUF_INIT;
	struct fifo_message m;

	parse_hex(columns[2], &frame);
	assert_int_equal(fifo_message_decode(&m, frame.data + 4, frame.len - 4), 0);
	spell(&m, &text);
	assert_string_equal(text.data, columns[1]);
	assert_int_equal(fifo_message_size(&m), frame.len - 4);
	fifo_message_encode(&m, &again);
	expect_bytes(&again, frame.data, frame.len);
	buf_release(&frame);
	buf_release(&text);
	buf_release(&again);
}

static void every_message_both_ways(void **state UNUSED)
{
	assert_int_equal(each_row("fifo/fifo_messages.tsv", expect_message), 21);
}

/* A copy of its own size, so that the sanitizer sees each byte read past the end. */
static int decode_copy(const void *bytes, size_t len, struct fifo_message *m)
{
	void *copy = xmemdup(bytes, len);
	int rc = fifo_message_decode(m, copy, len);

	if (rc) {
		assert_int_equal(rc, -EBADMSG);
		assert_true(*error_text());
		error_clear();
	}
	free(copy);
	return rc;
}

static void expect_cut(char *columns[3])
{
	struct buf frame = BUF_INIT;
	struct fifo_message m;

	parse_hex(columns[2], &frame);
	for (size_t len = 0; len < frame.len - 4; len++)
		assert_int_equal(decode_copy(frame.data + 4, len, &m), -EBADMSG);
	buf_addstr(&frame, "more");
	assert_int_equal(decode_copy(frame.data + 4, frame.len - 4, &m), 0);
	buf_release(&frame);
}

static void cut_ones_are_refused_and_more_is_ignored(void **state UNUSED)
{
	each_row("fifo/fifo_messages.tsv", expect_cut);
}

static void expect_refusal(const char *hex, const char *why)
{
	struct buf bytes = BUF_INIT;
	struct fifo_message m;

	parse_hex(hex, &bytes);
	assert_int_equal(fifo_message_decode(&m, bytes.data, bytes.len), -EBADMSG);
	assert_string_equal(error_text(), why);
	error_clear();
	buf_release(&bytes);
}

static void refusals_say_why(void **state UNUSED)
{
	expect_refusal("", "the message is cut short");
	expect_refusal("0b 00 00 00", "there is no command of number 11");
	expect_refusal("ff ff ff ff", "there is no command of number 4294967295");
	expect_refusal("08 00 00 00 01", "SetVersion: the message is cut short");
	expect_refusal("07 00 00 00 01 00 00 00 04 00 00 00 00 00 00 00 00 00 00 00",
		       "AddMarker: there is no marker of number 4");
	expect_refusal("0a 00 00 00 03 00 00 00",
		       "IntegrationModeResponse: there is no mode of number 3");
	expect_refusal("00 00 00 00 01 00 00 00 ff ff ff ff ff ff ff ff",
		       "CurrentBenchmark: a text is longer than its message");
	expect_refusal("05 00 00 00 01 00 00 00 00 00 00 00 61 02 00 00 00 00 00 00 00 62",
		       "SetIntegration: a text is longer than its message");
	expect_refusal("00 00 00 00 01 00 00 00 02 00 00 00 00 00 00 00 ff fe",
		       "CurrentBenchmark: a text is not UTF-8");
	expect_refusal("00 00 00 00 01 00 00 00 02 00 00 00 00 00 00 00 61 00",
		       "CurrentBenchmark: a text holds a NUL");
}

static void texts_may_hold_any_characters(void **state UNUSED)
{
	static const char uri[] = "a\\b\n\x1b\xe2\x98\x83";
	const struct fifo_message m = {.command = FIFO_CURRENT_BENCHMARK, .pid = -7,
				       .uri = {uri, sizeof(uri) - 1}};
	struct buf frame = BUF_INIT;
	struct fifo_message back;

	fifo_message_encode(&m, &frame);
	assert_int_equal(fifo_message_decode(&back, frame.data + 4, frame.len - 4), 0);
	assert_int_equal(back.pid, -7);
	assert_int_equal(back.uri.len, sizeof(uri) - 1);
	assert_memory_equal(back.uri.data, uri, sizeof(uri) - 1);
	buf_release(&frame);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_both_ways),
		cmocka_unit_test(cut_ones_are_refused_and_more_is_ignored),
		cmocka_unit_test(refusals_say_why),
		cmocka_unit_test(texts_may_hold_any_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
