/* SPDX-License-Identifier: MIT */
/* fifo_message.c - the messages between a benchmark and the runner as bytes */
#include <endian.h>

#include "core/base.h"
#include "core/fifo_message.h"
#include "core/text.h"

enum { COMMAND_SIZE = 4, PID_SIZE = 4, TEXT_HEAD_SIZE = 8, MARKER_SIZE = 12 };

const char *fifo_command_name(enum fifo_command command)
{
	static const char *const names[] = {
		[FIFO_CURRENT_BENCHMARK] = "CurrentBenchmark",
		[FIFO_START_PROFILER] = "StartProfiler",
		[FIFO_STOP_PROFILER] = "StopProfiler",
		[FIFO_ACK] = "Ack",
		[FIFO_PING_PROFILER] = "PingProfiler",
		[FIFO_SET_INTEGRATION] = "SetIntegration",
		[FIFO_ERR] = "Err",
		[FIFO_ADD_MARKER] = "AddMarker",
		[FIFO_SET_VERSION] = "SetVersion",
		[FIFO_GET_MODE] = "GetIntegrationMode",
		[FIFO_MODE] = "IntegrationModeResponse",
	};

	return command < FIFO_COMMAND_COUNT ? names[command] : "unknown";
}

/* ---- Decoding ---- */

struct cursor {
	const char *at;
	size_t left;
};

static int take(struct cursor *c, void *to, size_t size)
{
	if (c->left < size)
		return fail(-EBADMSG, "the message is cut short");
	memcpy(to, c->at, size);
	c->at += size;
	c->left -= size;
	return 0;
}

static int take_u32(struct cursor *c, uint32_t *value)
{
	int rc = take(c, value, sizeof(*value));

	*value = rc ? 0 : le32toh(*value);
	return rc;
}

static int take_u64(struct cursor *c, uint64_t *value)
{
	int rc = take(c, value, sizeof(*value));

	*value = rc ? 0 : le64toh(*value);
	return rc;
}

/* An enum: `count` is the number of known values. */
static int take_index(struct cursor *c, uint32_t count, const char *what, uint32_t *index)
{
	int rc = take_u32(c, index);

	if (rc)
		return rc;
	return *index < count ? 0 : fail(-EBADMSG, "there is no %s of number %u", what, *index);
}

static int take_pid(struct cursor *c, int32_t *pid)
{
	uint32_t bits;
	int rc = take_u32(c, &bits);

	*pid = (int32_t)bits;
	return rc;
}

static int take_text(struct cursor *c, struct fifo_text *text)
{
	uint64_t len;
	int rc = take_u64(c, &len);

	if (rc)
		return rc;
	if (len > c->left)
		return fail(-EBADMSG, "a text is longer than its message");
	*text = (struct fifo_text){c->at, (size_t)len};
	if (!text_is_utf8(text->data, text->len))
		return fail(-EBADMSG, "a text is not UTF-8");
	if (memchr(text->data, '\0', text->len))
		return fail(-EBADMSG, "a text holds a NUL");
	c->at += len;
	c->left -= len;
	return 0;
}

static int take_marker(struct cursor *c, struct marker *marker)
{
	uint32_t type;
	int rc = take_index(c, MARKER_TYPE_COUNT, "marker", &type);

	marker->type = (enum marker_type)type;
	return rc ? rc : take_u64(c, &marker->time);
}

static int take_mode(struct cursor *c, enum fifo_mode *mode)
{
	uint32_t index;
	int rc = take_index(c, FIFO_MODE_COUNT, "mode", &index);

	*mode = (enum fifo_mode)index;
	return rc;
}

static int take_fields(struct cursor *c, struct fifo_message *m)
{
	int rc;

	switch (m->command) {
	case FIFO_CURRENT_BENCHMARK:
		rc = take_pid(c, &m->pid);
		return rc ? rc : take_text(c, &m->uri);
	case FIFO_SET_INTEGRATION:
		rc = take_text(c, &m->name);
		return rc ? rc : take_text(c, &m->release);
	case FIFO_ADD_MARKER:
		rc = take_pid(c, &m->pid);
		return rc ? rc : take_marker(c, &m->marker);
	case FIFO_SET_VERSION:
		return take_u64(c, &m->version);
	case FIFO_MODE:
		return take_mode(c, &m->mode);
	default:
		return 0;
	}
}

int fifo_message_decode(struct fifo_message *m, const void *bytes, size_t len)
{
	struct cursor c = {bytes, len};
	uint32_t command;
	int rc = take_index(&c, FIFO_COMMAND_COUNT, "command", &command);

	*m = (struct fifo_message){.command = (enum fifo_command)command};
	if (rc)
		return rc;
	rc = take_fields(&c, m);
	return rc ? fail(rc, "%s", fifo_command_name(m->command)) : 0;
}

/* ---- Encoding ---- */

size_t fifo_message_size(const struct fifo_message *m)
{
	switch (m->command) {
	case FIFO_CURRENT_BENCHMARK:
		return COMMAND_SIZE + PID_SIZE + TEXT_HEAD_SIZE + m->uri.len;
	case FIFO_SET_INTEGRATION:
		return COMMAND_SIZE + 2 * TEXT_HEAD_SIZE + m->name.len + m->release.len;
	case FIFO_ADD_MARKER:
		return COMMAND_SIZE + PID_SIZE + MARKER_SIZE;
	case FIFO_SET_VERSION:
		return COMMAND_SIZE + sizeof(uint64_t);
	case FIFO_MODE:
		return COMMAND_SIZE + sizeof(uint32_t);
	default:
		return COMMAND_SIZE;
	}
}

static void add_u32(struct buf *to, uint32_t value)
{
	value = htole32(value);
	buf_add(to, &value, sizeof(value));
}

static void add_u64(struct buf *to, uint64_t value)
{
	value = htole64(value);
	buf_add(to, &value, sizeof(value));
}

static void add_text(struct buf *to, const struct fifo_text *text)
{
	add_u64(to, text->len);
	buf_add(to, text->data, text->len);
}

static void add_fields(struct buf *to, const struct fifo_message *m)
{
	switch (m->command) {
	case FIFO_CURRENT_BENCHMARK:
		add_u32(to, (uint32_t)m->pid);
		add_text(to, &m->uri);
		break;
	case FIFO_SET_INTEGRATION:
		add_text(to, &m->name);
		add_text(to, &m->release);
		break;
	case FIFO_ADD_MARKER:
		add_u32(to, (uint32_t)m->pid);
		add_u32(to, m->marker.type);
		add_u64(to, m->marker.time);
		break;
	case FIFO_SET_VERSION:
		add_u64(to, m->version);
		break;
	case FIFO_MODE:
		add_u32(to, m->mode);
		break;
	default:
		break;
	}
}

void fifo_message_encode(const struct fifo_message *m, struct buf *to)
{
	add_u32(to, (uint32_t)fifo_message_size(m));
	add_u32(to, m->command);
	add_fields(to, m);
}
