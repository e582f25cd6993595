/* SPDX-License-Identifier: MIT */
/* fuzz_fifo.c - any bytes from a benchmark: one answer a whole frame, in every split */
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "applets/runner/hooks_server.h"
#include "core/base.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fifo fifo;
static int client;
static char dir[] = "/tmp/fuzz-fifo.XXXXXX";

static void remove_all(void)
{
	close(client);
	fifo_close(&fifo);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc UNUSED, char ***argv UNUSED)
{
	char path[64];

	setenv("CODSPEED_LOG", "error", 1);
	log_init("fuzz");
	if (!mkdtemp(dir) || fifo_open(&fifo, dir))
		die_recorded(1);
	snprintf(path, sizeof(path), "%s/" FIFO_CONTROL, dir);
	client = open(path, O_RDWR | O_NONBLOCK);
	atexit(remove_all);
	return client < 0;
}

/* What is read means the same bytes when it is written. */
static void fuzz_message(const uint8_t *data, size_t size)
{
	struct fifo_message m;
	struct buf frame = BUF_INIT;

	if (fifo_message_decode(&m, data, size)) {
		if (!*error_text())
			BUG("refused without a reason");
		error_clear();
		return;
	}
	fifo_message_encode(&m, &frame);
	if (frame.len != FIFO_LENGTH_SIZE + fifo_message_size(&m) ||
	    frame.len - FIFO_LENGTH_SIZE > size ||
	    memcmp(frame.data + FIFO_LENGTH_SIZE, data, frame.len - FIFO_LENGTH_SIZE))
		BUG("a message that is written differently");
	buf_release(&frame);
}

static int always(void *ctx)
{
	++*(uint64_t *)ctx;
	return 0;
}

static void collect_answers(struct buf *answers)
{
	ssize_t n;

	while ((n = read(fifo.answers.fd, buf_reserve(answers, 4096), 4096)) > 0)
		answers->len += (size_t)n;
}

static void check_outcome(struct hooks_server *s, uint64_t switched, const struct buf *answers)
{
	size_t frames = 0, at = 0;
	char *why = hooks_server_explain_dup(s);

	for (; answers->len - at >= FIFO_LENGTH_SIZE; frames++) {
		struct fifo_message m;
		uint32_t len;

		memcpy(&len, answers->data + at, sizeof(len));
		len = le32toh(len);
		if (len > answers->len - at - FIFO_LENGTH_SIZE ||
		    fifo_message_decode(&m, answers->data + at + FIFO_LENGTH_SIZE, len))
			BUG("an answer that is none");
		at += FIFO_LENGTH_SIZE + len;
	}
	if (at != answers->len || frames != s->requests)
		BUG("not one answer a request");
	if (s->open || switched < s->windows.len)
		BUG("windows do not fit what was switched");
	if (!why != (s->timestamps.uris.len > 0))
		BUG("an explanation that is not needed, or a lack of one");
	free(why);
}

/* Feed the bytes in pieces of this size; the answers. Whether the stream was lost somewhere. */
static bool serve_all(const struct hooks_mode *mode, const uint8_t *data, size_t size, size_t piece,
		      struct buf *answers)
{
	uint64_t switched = 0;
	struct hooks_profiler profiler = {always, always, always, &switched};
	struct hooks_server s;
	bool lost;

	hooks_server_init(&s, &fifo, mode, &profiler);
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;

		if (write(client, data + at, n) != (ssize_t)n)
			BUG("the FIFO is full");
		if (hooks_server_serve(&s) && !s.refusal)
			BUG("an end without a refusal");
		collect_answers(answers);
	}
	hooks_server_finish(&s, 1);
	error_clear(); /* of a refusal */
	collect_answers(answers);
	lost = s.notes[HOOKS_NOTE_OVERSIZED] > 0 || fifo.dropped_parts > 0;
	check_outcome(&s, switched, answers);
	hooks_server_release(&s);
	buf_clear(&fifo.input); /* a part of a frame may be left */
	fifo.taken = fifo.fresh = fifo.dropped_parts = 0;
	fifo.has_read = fifo.draining = false;
	return lost;
}

static void fuzz_stream(const struct hooks_mode *mode, const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT, pieces = BUF_INIT;
	bool lost = serve_all(mode, data, size, size, &whole);

	/* After a lost place it depends on the pieces what else is thrown away. */
	if (!serve_all(mode, data, size, 1 + size % 7, &pieces) && !lost &&
	    (whole.len != pieces.len || (whole.len && memcmp(whole.data, pieces.data, whole.len))))
		BUG("the pieces change the answers");
	buf_release(&whole);
	buf_release(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_message(data, size);
	if (!size || size > 32 * 1024)
		return 0;
	fuzz_stream(&hooks_mode_walltime, data, size);
	fuzz_stream(&hooks_mode_memory, data, size);
	return 0;
}
