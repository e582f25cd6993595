/* SPDX-License-Identifier: MIT */
/*
 * round_streams.h - where the rounds read from and write to. Set up once, in this process itself:
 * a round inherits what is there, and nothing is left to do between fork and exec.
 */
#ifndef EXEC_HARNESS_ROUND_STREAMS_H
#define EXEC_HARNESS_ROUND_STREAMS_H

#include <stdbool.h>

struct round_streams {
	bool input_file; /* standard input is a file, to be rewound */
	int err;         /* for struct round_command */
	int drain;
};

/*
 * Take over standard input and output. `input` is a plain file's path or NULL, `output` as in
 * walltime_options.h or NULL. 0 or -errno with a frame.
 */
int round_streams_init(struct round_streams *s, const char *input, const char *output);

/* Before each round: it sees its input from the start. */
void round_streams_rewind(const struct round_streams *s);

#endif
