/* SPDX-License-Identifier: MIT */
/* targets.c - the commands to measure */
#include <stdio.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/exit_code.h"
#include "core/json.h"
#include "core/text.h"
#include "core/units.h"

#include "applets/exec-harness/targets.h"

/* The service keeps 1024 bytes of a URI; upstream cuts names at this length. */
enum { NAME_MAX_BYTES = 924 };

#define URI_PREFIX "exec_harness::"

static void target_release(struct target *t)
{
	strvec_release(&t->command);
	free(t->name);
	free(t->uri);
}

void targets_release(struct targets *t)
{
	for (size_t i = 0; i < t->list.len; i++)
		target_release(&t->list.items[i]);
	vec_release(&t->list);
}

/* Cut where no character is split. */
static void cut_name(char *name)
{
	size_t len = strlen(name);

	if (len <= NAME_MAX_BYTES)
		return;
	log_warn("the benchmark's name is longer than %d bytes and is cut; give a shorter one with "
		 "--name", NAME_MAX_BYTES);
	name[text_cut(name, len, NAME_MAX_BYTES)] = '\0';
}

/* Escapes make a name of other bytes longer: as much of it as fits, no escape cut in two. */
static char *make_uri(const char *name)
{
	size_t len = strlen(name);
	struct buf text = BUF_INIT;
	char *uri;

	text_escape(name, len, &text);
	while (text.len > NAME_MAX_BYTES) {
		len = text_cut(name, len, len - 1);
		buf_clear(&text);
		text_escape(name, len, &text);
	}
	uri = xasprintf(URI_PREFIX "%s", text.data);
	buf_release(&text);
	return uri;
}

/* Takes the target over, also when it is refused. */
static int add(struct targets *t, struct target *target)
{
	int rc = 0;

	if (!target->command.len || str_is_blank(target->command.items[0])) {
		rc = fail(-EINVAL, "benchmark %s: the command is empty",
			  target->name ? target->name : "<unnamed>");
		goto refuse;
	}
	if (!target->name)
		target->name = words_join(target->command.items);
	cut_name(target->name);
	target->uri = make_uri(target->name);
	for (size_t i = 0; i < t->list.len; i++) {
		if (!str_eq(t->list.items[i].uri, target->uri))
			continue;
		rc = fail(-EINVAL, "two benchmarks have the same name: %s; give each a name of its "
				   "own", target->name);
		goto refuse;
	}
	vec_push(&t->list, *target);
	return 0;
refuse:
	target_release(target);
	return rc;
}

/* What only a shell can do; POSIX's special built-ins and those that people try. */
static bool is_builtin(const char *name)
{
	static const char *const names[] = {
		".", ":", "alias", "bg", "break", "cd", "command", "continue", "eval", "exec", "exit",
		"export", "fg", "hash", "jobs", "local", "read", "readonly", "return", "set", "shift",
		"source", "times", "trap", "type", "ulimit", "umask", "unalias", "unset", "wait",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

int target_not_found(const char *name, int error)
{
	if (error == -ENOENT && is_builtin(name))
		return fail(EXIT_NOT_FOUND, "%s: command not found; it is a shell builtin: use "
					    "sh -c '%s ...'", name, name);
	if (error == -ENOENT && strpbrk(name, " \t|&;<>$`"))
		return fail(EXIT_NOT_FOUND, "%s: command not found; for shell text use sh -c '...'",
			    name);
	if (error == -ENOENT)
		return fail(EXIT_NOT_FOUND, "%s: command not found", name);
	return fail(EXIT_NOT_EXECUTABLE, "%s: not executable", name);
}

int targets_add_words(struct targets *t, char *const *words, const char *name,
		      const struct walltime_options *options)
{
	struct target target = {0};
	int rc = round_limits_parse(&target.limits, options);

	if (rc)
		return rc;
	strvec_push_all(&target.command, words);
	if (name)
		target.name = xstrdup(name);
	return add(t, &target);
}

/* A duration is a text, and is checked like one of the command line. */
static int read_duration(const struct json_doc *doc, const struct json_value *v, const char **to)
{
	uint64_t ns;
	int rc = json_as_text(doc, v, to);

	if (!rc && parse_duration(*to, &ns))
		return json_fail(doc, v, "invalid duration");
	return rc;
}

/* A count is a number; as a text it stands in `room`. */
static int read_count(const struct json_doc *doc, const struct json_value *v, char *room,
		      const char **to)
{
	uint64_t count;
	int rc = json_as_u64(doc, v, &count);

	snprintf(room, UNIT_TEXT, "%llu", (unsigned long long)count);
	*to = room;
	return rc;
}

static int read_limits(const struct json_doc *doc, const struct json_value *item,
		       struct round_limits *limits)
{
	struct walltime_options o = {0};
	char room[2][UNIT_TEXT];
	const struct {
		const char *key, **to;
		char *room; /* of a count; NULL: a duration */
	} members[] = {
		{"warmup_time", &o.warmup_time, NULL},
		{"max_time", &o.max_time, NULL},
		{"min_time", &o.min_time, NULL},
		{"max_rounds", &o.max_rounds, room[0]},
		{"min_rounds", &o.min_rounds, room[1]},
	};
	const struct json_value *args, *v;
	int rc = json_find(doc, item, "walltime_args", &args);

	if (!rc && args)
		rc = json_as_object(doc, args);
	for (size_t i = 0; !rc && args && i < ARRAY_SIZE(members); i++) {
		rc = json_find(doc, args, members[i].key, &v);
		if (rc || !v || json_is_null(v))
			continue;
		rc = members[i].room ? read_count(doc, v, members[i].room, members[i].to)
				     : read_duration(doc, v, members[i].to);
	}
	if (rc)
		return rc;
	return round_limits_parse(limits, &o) ? json_fail(doc, item, "limits that make no sense") : 0;
}

static int read_target(const struct json_doc *doc, const struct json_value *item,
		       struct target *target)
{
	const struct json_value *command, *name;
	const char *text;
	int rc = json_get_array(doc, item, "command", &command);

	if (!rc)
		rc = json_as_texts(doc, command, &target->command);
	if (!rc)
		rc = json_find(doc, item, "name", &name);
	if (!rc && name && !json_is_null(name)) {
		rc = json_as_text(doc, name, &text);
		if (!rc)
			target->name = xstrdup(text);
	}
	return rc ? rc : read_limits(doc, item, &target->limits);
}

static int read_list(struct targets *t, const struct json_doc *doc)
{
	struct json_iter it = json_iter(doc->root);
	const struct json_value *item;
	int rc = json_as_array(doc, doc->root);

	if (rc)
		return rc;
	while ((item = json_next(&it))) {
		struct target target = {0};

		rc = read_target(doc, item, &target);
		if (rc)
			target_release(&target);
		else
			rc = add(t, &target);
		if (rc)
			return rc;
	}
	return t->list.len ? 0 : fail(-EINVAL, "the list on standard input holds no command");
}

int targets_read_json(struct targets *t, const char *text, size_t len)
{
	struct json_doc doc;
	int rc = json_parse(&doc, "standard input", text, len);

	if (rc)
		return rc;
	rc = read_list(t, &doc);
	json_release(&doc);
	return rc;
}
