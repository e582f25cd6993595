/* SPDX-License-Identifier: MIT */
/* fuzz_execution_timestamps.c - any bytes as msgpack and as the file: refused, or stable */
#include "core/base.h"
#include "core/execution_timestamps.h"
#include "core/msgpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reading value by value and skipping whole ones must end at the same place for the same reason. */
static void fuzz_msgpack(const uint8_t *data, size_t size)
{
	struct msgpack_reader all = {data, data + size}, step = all;
	struct msgpack_value v;
	int rc, skipped;

	while (!(rc = msgpack_read(&step, &v)))
		if ((v.type == MSGPACK_STR || v.type == MSGPACK_BIN || v.type == MSGPACK_EXT) &&
		    (v.bytes.data < data || v.bytes.data + v.bytes.len > data + size))
			BUG("bytes from outside");
	while (!(skipped = msgpack_skip(&all)))
		if (all.at > all.end)
			BUG("past the end");
	if (skipped != -ELOOP && skipped != rc && !(skipped == -EAGAIN && rc == -EBADMSG))
		BUG("another reason");
	if (skipped == -EAGAIN && rc == -EBADMSG)
		BUG("more is wanted of what is no msgpack");
}

static void check_windows(const struct execution_timestamps *t)
{
	struct execution_windows w;
	uint64_t last = 0;

	execution_windows_find(t, &w);
	for (size_t i = 0; i < w.list.len; i++) {
		const struct execution_window *window = &w.list.items[i];

		if (window->start < last || window->end < window->start)
			BUG("windows out of order");
		if (window->uri != EXECUTION_NO_URI && window->uri >= t->uris.len)
			BUG("a URI that is none");
		last = window->end;
	}
	execution_windows_release(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct execution_timestamps t, again;
	struct buf bytes = BUF_INIT, twice = BUF_INIT;

	fuzz_msgpack(data, size);
	if (execution_timestamps_decode(&t, "fuzz", data, size)) {
		if (!*error_text())
			BUG("refused without a reason");
		error_clear();
		return 0;
	}
	check_windows(&t);
	execution_timestamps_encode(&t, &bytes);
	if (execution_timestamps_decode(&again, "again", bytes.data, bytes.len))
		die_recorded(1);
	execution_timestamps_encode(&again, &twice);
	if (bytes.len != twice.len || memcmp(bytes.data, twice.data, bytes.len))
		BUG("what was written reads differently");
	execution_timestamps_release(&t);
	execution_timestamps_release(&again);
	buf_release(&bytes);
	buf_release(&twice);
	return 0;
}
