/* SPDX-License-Identifier: MIT */
/* naming.c - what makes a benchmark's name differ from one checkout to the next */
#include "core/base.h"
#include "core/buf.h"
#include "core/text.h"

#include "applets/runner/naming.h"

void naming_warn(char *const *words, const char *directory, const char *where, const char *remedy)
{
	size_t len = strlen(directory);
	struct buf path = BUF_INIT;

	for (; *words; words++)
		if (len > 1 && strncmp(*words, directory, len) == 0 && (*words)[len] == '/')
			break;
	if (!*words)
		return;
	text_printable(*words, strlen(*words), &path);
	log_warn("%sthe benchmark's name holds the path %s, so that another checkout's results are not "
		 "compared with it; %s", where, path.data, remedy);
	buf_release(&path);
}
