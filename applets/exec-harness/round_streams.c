/* SPDX-License-Identifier: MIT */
/* round_streams.c - where the rounds read from and write to */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/walltime_options.h"

#include "applets/exec-harness/round_streams.h"

enum { PIPE_BYTES = 1024 * 1024 }; /* what an ordinary user may ask for at most, by default */

/* `fd` becomes the standard descriptor `to`. */
static int put_in_place(int fd, int to)
{
	int rc = fd == to || dup2(fd, to) >= 0 ? 0 : fail_errno("cannot set up standard descriptors");

	if (fd != to)
		close(fd);
	return rc;
}

static int open_input(struct round_streams *s, const char *path)
{
	int fd = open(path ? path : "/dev/null", O_RDONLY);
	struct stat st;

	if (fd < 0 && !path)
		return fail_errno("/dev/null is needed for the rounds' standard input: create it "
				  "(mknod -m 666 /dev/null c 1 3), or give --input FILE");
	if (fd < 0 || fstat(fd, &st))
		return fail_errno("--input %s", path ? path : "/dev/null");
	s->input_file = path != NULL;
	if (path && !S_ISREG(st.st_mode)) {
		close(fd);
		return fail(-EINVAL, "--input %s is not a plain file, which each round could read from "
				     "its start", path);
	}
	return put_in_place(fd, STDIN_FILENO);
}

static int open_pipe(struct round_streams *s)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return fail_errno("cannot create a pipe");
	fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);
	s->drain = ends[0];
	return put_in_place(ends[1], STDOUT_FILENO);
}

static int open_output(struct round_streams *s, const char *output)
{
	int fd;

	s->err = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (s->err < 0)
		return fail_errno("/dev/null");
	if (str_eq(output, OUTPUT_PIPE))
		return open_pipe(s);
	fd = output_is_file(output) ? open(output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666)
				    : open("/dev/null", O_WRONLY);
	if (fd < 0)
		return fail_errno("--output %s", output);
	return put_in_place(fd, STDOUT_FILENO);
}

int round_streams_init(struct round_streams *s, const char *input, const char *output)
{
	int rc;

	*s = (struct round_streams){.err = -1, .drain = -1};
	rc = open_input(s, input);
	if (!rc && output && !str_eq(output, OUTPUT_INHERIT))
		rc = open_output(s, output);
	return rc;
}

void round_streams_rewind(const struct round_streams *s)
{
	if (s->input_file)
		lseek(STDIN_FILENO, 0, SEEK_SET);
}
