/* SPDX-License-Identifier: MIT */
/*
 * harness_channel.h - what exec-harness tells the runner that started it, besides what the FIFOs
 * carry: one byte on a pipe, whose descriptor is the value of `exec-harness --profile`.
 */
#ifndef CORE_HARNESS_CHANNEL_H
#define CORE_HARNESS_CHANNEL_H

/* Sent just before the profiler is started. */
enum {
	HARNESS_SHORT_ROUNDS = 's', /* to be sampled fast; they are not measured meanwhile */
	HARNESS_LONG_ROUNDS = 'l',  /* measured while they are sampled */
};

#endif
