/* SPDX-License-Identifier: MIT */
/*
 * fifo_message.h - the messages between a benchmark and the runner as bytes (bincode 1: little
 * endian, fixed widths), both directions. A frame is a u32 length and one message; framing while
 * reading is in fifo.h.
 */
#ifndef CORE_FIFO_MESSAGE_H
#define CORE_FIFO_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/marker.h"

enum {
	FIFO_LENGTH_SIZE = 4,                /* of the length in front of each message */
	FIFO_MESSAGE_MAX = 8 * 1024 * 1024,  /* longer ones are refused, as upstream does */
	FIFO_ANSWER_MAX = 12,                /* bytes of the longest frame that a runner writes */
	FIFO_PROTOCOL_MIN = 1,               /* what SetVersion may carry; 0 is to send none */
	FIFO_PROTOCOL = 2,
};

/* Fixed for ever: these are the numbers on the wire. */
enum fifo_command {
	FIFO_CURRENT_BENCHMARK, /* pid, uri */
	FIFO_START_PROFILER,
	FIFO_STOP_PROFILER,
	FIFO_ACK,               /* answer */
	FIFO_PING_PROFILER,
	FIFO_SET_INTEGRATION,   /* name, release */
	FIFO_ERR,               /* answer */
	FIFO_ADD_MARKER,        /* pid, marker */
	FIFO_SET_VERSION,       /* version */
	FIFO_GET_MODE,
	FIFO_MODE,              /* answer: mode */
	FIFO_COMMAND_COUNT,
};

enum fifo_mode {
	FIFO_MODE_WALLTIME,
	FIFO_MODE_SIMULATION,
	FIFO_MODE_ANALYSIS, /* memory */
	FIFO_MODE_COUNT,
};

/* UTF-8, not NUL-terminated, and it may hold NUL bytes. Borrowed. */
struct fifo_text {
	const char *data;
	size_t len;
};

/* Only the members that stand beside the command above mean something. */
struct fifo_message {
	enum fifo_command command;
	int32_t pid;
	struct fifo_text uri;
	struct fifo_text name;    /* of the integration */
	struct fifo_text release; /* the integration's version */
	struct marker marker;
	uint64_t version;         /* of the protocol */
	enum fifo_mode mode;
};

const char *fifo_command_name(enum fifo_command command);

/*
 * One message without its length; texts are borrowed from `bytes`. Bytes after a complete message
 * are ignored, as bincode does. 0, or -EBADMSG with a frame.
 */
int fifo_message_decode(struct fifo_message *m, const void *bytes, size_t len);

/* Bytes of the message without its length. */
size_t fifo_message_size(const struct fifo_message *m);

/* Append the whole frame: length and message. */
void fifo_message_encode(const struct fifo_message *m, struct buf *to);

#endif
