/* SPDX-License-Identifier: MIT */
/*
 * node.c - stands in front of the real node during `codspeed run`
 *
 * codspeed-node cannot choose node's flags from inside. So node runs twice: the first time with a
 * file named in its environment. An integration that finds the variable writes the flags it needs
 * there and stops; the second run gets them. A program without the integration never looks, has
 * done its work in the first run and leaves the file empty.
 *
 * Source of the protocol: the wrapper script of upstream's runner. This applet runs under the
 * entrypoint's valgrind, so that node is traced.
 */
//config:config NODE
//config:	bool "node wrapper (25 kb)"
//config:	default y
//config:	select LIB_YYJSON
//config:	help
//config:	  Lets Node.js integrations (tinybench, vitest, benchmark.js) ask for
//config:	  the interpreter flags they need under `codspeed run`.
//applet:IF_NODE(APPLET("node", node_main, PRIV_DROP, NULL))
//usage:[ARG]...
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applet_prototypes.h"
#include "core/base.h"
#include "core/cleanup.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/json.h"
#include "core/real_program.h"
#include "core/spawn.h"
#include "core/supervise.h"

#define INTROSPECTION_PATH "__CODSPEED_NODE_CORE_INTROSPECTION_PATH__"

extern char **environ;

static void remove_file(void *path)
{
	unlink(path);
	free(path);
}

/* An empty file that only this user can write; removed at exit. */
static const char *make_answer_file(void)
{
	const char *temp = getenv("TMPDIR");
	char *path = xasprintf("%s/codspeed-node.XXXXXX", temp && *temp ? temp : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0) {
		fail_errno("cannot create %s", path);
		die_recorded(EXIT_WRAPPER);
	}
	close(fd);
	cleanup_push(remove_file, path);
	return path;
}

/* Run node to its end; its status as a shell shows it. A signal to us ends both. */
static int run_first(const char *node, char **argv, const char *answer)
{
	struct supervise watching = SUPERVISE_INIT;
	struct strvec env = STRVEC_INIT;
	struct spawn s = SPAWN_INIT;

	supervise_prepare();
	strvec_push_all(&env, environ);
	env_set(&env, INTROSPECTION_PATH, answer);
	s.path = node;
	s.argv = argv;
	s.envp = env.items;
	s.death_signal = SIGTERM;
	if (spawn_start(&s) || spawn_release(&s))
		die_recorded(EXIT_WRAPPER);
	watching.child = s.pid;
	watching.grace_ns = NS_PER_SECOND;
	if (supervise(&watching))
		die_recorded(EXIT_WRAPPER);
	strvec_release(&env);
	if (watching.signal)
		supervise_reraise(watching.signal);
	return status_of_wait(watching.status);
}

/* `{"flags": [text...]}` */
static void read_flags(struct strvec *flags, const char *path)
{
	const struct json_value *list, *v;
	struct json_doc doc;
	struct json_iter it;
	struct buf text = BUF_INIT;
	const char *flag;

	if (read_file(path, &text))
		die_recorded(EXIT_WRAPPER);
	if (!text.len)
		return;
	if (json_parse(&doc, "the answer of codspeed-node", text.data, text.len) ||
	    json_get_array(&doc, doc.root, "flags", &list))
		die_recorded(EXIT_WRAPPER);
	it = json_iter(list);
	while ((v = json_next(&it))) {
		if (json_as_text(&doc, v, &flag))
			die_recorded(EXIT_WRAPPER);
		strvec_push(flags, flag);
	}
	json_release(&doc);
	buf_release(&text);
}

int node_main(int argc UNUSED, char **argv)
{
	struct strvec words = STRVEC_INIT;
	const char *answer;
	struct stat st;
	char *node;
	int status;

	unsetenv(INTROSPECTION_PATH); /* of a wrapper above us: not for this node */
	node = real_program_find("node");
	if (!node)
		die(EXIT_NOT_FOUND, "node is not on PATH (behind codspeed's wrapper)");
	answer = make_answer_file();
	status = run_first(node, argv, answer);
	if (status || stat(answer, &st) || !st.st_size)
		return status;
	strvec_push(&words, "node");
	read_flags(&words, answer);
	strvec_push_all(&words, argv + 1);
	real_program_exec(node, words.items);
}
