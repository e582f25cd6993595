/* SPDX-License-Identifier: MIT */
/* project.c - codspeed.yml into a struct, by the rows of fields.c */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"
#include "core/path.h"
#include "core/suggest.h"
#include "core/text.h"
#include "core/walltime_options.h"

#include "applets/runner/naming.h"
#include "applets/runner/project/fields.h"
#include "applets/runner/project/find.h"
#include "applets/runner/project/project.h"
#include "applets/runner/project/words.h"

enum { SHOWN = 60 }; /* bytes of a value in a message */

static void add_shown(struct buf *to, const char *text)
{
	size_t len = strlen(text), cut = text_cut(text, len, SHOWN);

	text_printable(text, cut, to);
	if (cut < len)
		buf_addstr(to, "...");
}

/* ---- Keys ---- */

static const struct field *find_field(const struct field *fields, const char *key)
{
	for (; fields->key; fields++)
		if (str_eq(fields->key, key))
			return fields;
	return NULL;
}

/* An `x-` key at the top is the usual place for anchors, and another tool's. */
static void tell_unknown(const struct project *p, const struct field *fields,
			 const struct yaml_entry *entry)
{
	struct suggest near = suggest_for(entry->key);
	struct buf line = BUF_INIT;

	for (; fields->key; fields++) {
		suggest_add(&near, fields->key);
		if (fields->was && str_eq(fields->was, entry->key))
			near = (struct suggest){.word = entry->key, .len = 1, .names = {fields->key}};
	}
	buf_printf(&line, "%s:%zu:%zu: unknown key '", p->path, entry->place.line, entry->place.column);
	add_shown(&line, entry->key);
	buf_addstr(&line, "', ignored");
	suggest_text(&near, "; ", "", &line);
	log_warn("%s", line.data);
	buf_release(&line);
}

/* ---- Values ---- */

static int read_fields(struct project *p, const struct field *fields, const struct yaml_node *map,
		       void *to);

static int fail_kind(const struct project *p, const struct field *field,
		     const struct yaml_node *node, const char *expected)
{
	return yaml_fail(&p->doc, node->place, "%s: expected %s, this is %s", field->key, expected,
			 yaml_kind_text(node));
}

/* The same check as on the command line. What it stores is thrown away: the text is kept. */
static int check_option(const struct project *p, const struct field *field,
			const struct yaml_node *node)
{
	const struct opt *row = field_option(field);
	struct walltime_options scratch = {0};
	struct buf shown = BUF_INIT;
	int rc = opt_store(row, node->text, (char *)&scratch + row->offset);

	if (rc) {
		add_shown(&shown, node->text);
		rc = yaml_fail(&p->doc, node->place, "invalid value '%s' for %s", shown.data, field->key);
	}
	buf_release(&shown);
	return rc;
}

static int check_gates(const struct project *p, const struct field *field,
		       const struct yaml_node *node)
{
	struct gates scratch = {.items = VEC_INIT};
	int rc = gates_parse_lines(&scratch, NULL, node->text);

	gates_release(&scratch);
	return rc ? yaml_fail(&p->doc, node->place, "%s", field->key) : 0;
}

static int read_text(struct project *p, const struct field *field, const struct yaml_node *node,
		     void *to)
{
	int rc = 0;

	if (node->kind != YAML_TEXT)
		return fail_kind(p, field, node, "a single value");
	if (field->type == FIELD_TEXT && !*node->text)
		return yaml_fail(&p->doc, node->place, "%s: expected a text, this is empty", field->key);
	if (field->type == FIELD_COMMAND && !yaml_is_string(node))
		return fail_kind(p, field, node, "a command (a text; put it in quotes)");
	if (field->type == FIELD_OPTION)
		rc = check_option(p, field, node);
	if (field->type == FIELD_GATES)
		rc = check_gates(p, field, node);
	*(const char **)to = node->text;
	return rc;
}

static int read_benchmarks(struct project *p, const struct field *field,
			   const struct yaml_node *list)
{
	int rc = 0;

	if (list->kind != YAML_LIST)
		return fail_kind(p, field, list, "a list");
	for (size_t i = 0; i < list->items.len && !rc; i++) {
		const struct yaml_node *item = list->items.items[i];

		if (item->kind != YAML_MAP)
			return yaml_fail(&p->doc, item->place, "a benchmark is a mapping with 'exec' or "
							       "'entrypoint', this is %s",
					 yaml_kind_text(item));
		vec_push(&p->benchmarks, (struct project_benchmark){.place = item->place});
		rc = read_fields(p, field->fields, item, vec_last(&p->benchmarks));
	}
	return rc;
}

/* `to` is the struct that the field's offset counts from. */
static int read_field(struct project *p, const struct field *field, const struct yaml_node *node,
		      void *to)
{
	void *member = (char *)to + field->offset;

	if (node->kind == YAML_NULL)
		return 0; /* not set */
	switch (field->type) {
	case FIELD_LIST:
		return read_benchmarks(p, field, node);
	case FIELD_GROUP:
		if (node->kind != YAML_MAP)
			return fail_kind(p, field, node, "a mapping");
		return read_fields(p, field->fields, node, member);
	default:
		return read_text(p, field, node, member);
	}
}

static int read_fields(struct project *p, const struct field *fields, const struct yaml_node *map,
		       void *to)
{
	int rc = 0;

	for (size_t i = 0; i < map->entries.len && !rc; i++) {
		const struct yaml_entry *entry = &map->entries.items[i];
		const struct field *field = find_field(fields, entry->key);

		if (field)
			rc = read_field(p, field, entry->value, to);
		else if (fields != project_fields || !str_starts(entry->key, "x-"))
			tell_unknown(p, fields, entry);
	}
	return rc;
}

/* ---- What values mean together ---- */

static int check_limits(const struct project *p, const struct project_limits *limits,
			struct yaml_place place)
{
	struct walltime_options o = {
		.min_time = limits->texts[LIMIT_MIN_TIME], .max_time = limits->texts[LIMIT_MAX_TIME],
		.min_rounds = limits->texts[LIMIT_MIN_ROUNDS], .max_rounds = limits->texts[LIMIT_MAX_ROUNDS],
	};

	return walltime_limits_check(&o) ? yaml_fail(&p->doc, place, "limits") : 0;
}

static void inherit_limits(struct project_limits *own, const struct project_limits *root)
{
	for (size_t i = 0; i < PROJECT_LIMITS; i++)
		if (!own->texts[i])
			own->texts[i] = root->texts[i];
}

/* The value of `key` in the mapping at this place; there is one. */
static const struct yaml_node *node_at(const struct project *p, const struct project_benchmark *b,
				       const char *key)
{
	const struct yaml_node *list = yaml_find(p->doc.root, "benchmarks");

	return yaml_find(list->items.items[b - p->benchmarks.items], key);
}

static int split_exec(const struct project *p, struct project_benchmark *b)
{
	const struct yaml_node *node = node_at(p, b, "exec");
	struct yaml_place place = node->place;
	size_t at;

	if (words_split(&b->words, b->exec, &at)) {
		if (node->plain)
			place.column += text_width(b->exec, at);
		return yaml_fail(&p->doc, place, "exec");
	}
	if (!b->words.len || str_is_blank(b->words.items[0]))
		return yaml_fail(&p->doc, place, "benchmark %s: the command is empty",
				 b->name ? b->name : "<unnamed>");
	return 0;
}

static int check_command(const struct project *p, struct project_benchmark *b)
{
	if (b->exec && b->entrypoint)
		return yaml_fail(&p->doc, b->place, "a benchmark has 'exec' or 'entrypoint', not both");
	if (!b->exec && !b->entrypoint)
		return yaml_fail(&p->doc, b->place, "a benchmark needs 'exec' or 'entrypoint'");
	if (b->exec)
		return split_exec(p, b);
	if (str_is_blank(b->entrypoint))
		return yaml_fail(&p->doc, node_at(p, b, "entrypoint")->place, "the command is empty");
	if (b->fail_above)
		log_warn("%s:%zu:%zu: fail-above of an 'entrypoint' has no effect: limits of its benchmarks "
			 "stand under 'options', as NAME:METRIC=LIMIT", p->path,
			 node_at(p, b, "fail-above")->place.line, node_at(p, b, "fail-above")->place.column);
	if (node_at(p, b, "options"))
		log_warn("%s:%zu:%zu: options of an 'entrypoint' have no effect: its integration decides",
			 p->path, node_at(p, b, "options")->place.line,
			 node_at(p, b, "options")->place.column);
	return 0;
}

/* What exec-harness would call it. Caller frees. */
static char *name_dup(const struct project_benchmark *b)
{
	return b->name ? xstrdup(b->name) : words_join(b->words.items);
}

void project_gates(const struct project *p, struct gates *gates)
{
	if (p->options.fail_above && gates_parse_lines(gates, NULL, p->options.fail_above))
		BUG("limits that were checked");
	for (size_t i = 0; i < p->benchmarks.len; i++) {
		const struct project_benchmark *b = &p->benchmarks.items[i];
		char *name;

		if (!b->fail_above || !b->exec)
			continue;
		name = name_dup(b);
		if (gates_parse_lines(gates, name, b->fail_above))
			BUG("limits that were checked");
		free(name);
	}
}

static int check_names(const struct project *p)
{
	int rc = 0;

	for (size_t i = 0; i < p->benchmarks.len && !rc; i++) {
		const struct project_benchmark *b = &p->benchmarks.items[i];
		char *name = b->exec ? name_dup(b) : NULL;

		for (size_t j = 0; name && j < i && !rc; j++) {
			const struct project_benchmark *other = &p->benchmarks.items[j];
			char *taken = other->exec ? name_dup(other) : NULL;

			if (taken && str_eq(name, taken))
				rc = yaml_fail(&p->doc, b->place, "this benchmark has the same name as the "
								  "one on line %zu; give each a name of its "
								  "own", other->place.line);
			free(taken);
		}
		free(name);
	}
	return rc;
}

static int check_benchmarks(struct project *p)
{
	int rc = 0;

	for (size_t i = 0; i < p->benchmarks.len && !rc; i++) {
		struct project_benchmark *b = &p->benchmarks.items[i];

		rc = check_command(p, b);
		inherit_limits(&b->limits, &p->options.limits);
		if (!rc && b->exec)
			rc = check_limits(p, &b->limits, b->place);
	}
	return rc ? rc : check_names(p);
}

/* ---- The file ---- */

int project_parse(struct project *p, const char *path, const char *text, size_t len)
{
	const struct yaml_node *options;
	int rc;

	*p = (struct project){.path = xstrdup(path)};
	rc = yaml_parse(&p->doc, p->path, text, len);
	if (rc || !p->doc.root)
		return rc;
	if (p->doc.root->kind != YAML_MAP)
		return yaml_fail(&p->doc, p->doc.root->place, "expected a mapping with 'options' and "
							      "'benchmarks', this is %s",
				 yaml_kind_text(p->doc.root));
	rc = read_fields(p, project_fields, p->doc.root, p);
	options = yaml_find(p->doc.root, "options");
	if (!rc && options)
		rc = check_limits(p, &p->options.limits, options->place);
	return rc ? rc : check_benchmarks(p);
}

static int read_bounded(const char *path, struct buf *text)
{
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size > YAML_BYTES_MAX)
		return fail(-EFBIG, "%s: larger than %d bytes", path, (int)YAML_BYTES_MAX);
	return read_plain_file(path, text);
}

/* Of the file itself, where `path` is a link. */
static int find_directory(struct project *p)
{
	char *real = realpath(p->path, NULL);

	if (!real)
		return fail_errno("cannot find the directory of %s", p->path);
	real[path_base(real) - real - (path_base(real) - real > 1)] = '\0';
	p->directory = real;
	return 0;
}

static void check_paths(const struct project *p)
{
	for (size_t i = 0; i < p->benchmarks.len; i++) {
		const struct project_benchmark *b = &p->benchmarks.items[i];
		char *where = xasprintf("%s:%zu:%zu: ", p->path, b->place.line, b->place.column);

		if (b->exec && !b->name)
			naming_warn(b->words.items, p->directory, where,
				    "give it a 'name', or a relative path");
		free(where);
	}
}

int project_load(struct project *p, const char *wanted)
{
	char *path = wanted ? xstrdup(wanted) : project_find();
	struct buf text = BUF_INIT;
	int rc;

	*p = (struct project)PROJECT_INIT;
	if (!path)
		return 0;
	log_debug("project file: %s", path);
	rc = read_bounded(path, &text);
	if (!rc)
		rc = project_parse(p, path, text.data ? text.data : "", text.len);
	if (!rc)
		rc = find_directory(p);
	if (!rc)
		check_paths(p);
	buf_release(&text);
	free(path);
	return rc ? rc : 1;
}

void project_release(struct project *p)
{
	for (size_t i = 0; i < p->benchmarks.len; i++)
		strvec_release(&p->benchmarks.items[i].words);
	vec_release(&p->benchmarks);
	yaml_release(&p->doc);
	free(p->path);
	free(p->directory);
	*p = (struct project)PROJECT_INIT;
}

char *project_directory_dup(const struct project *p)
{
	const char *wanted = p->options.working_directory;
	const struct yaml_node *node;
	struct stat st;
	char *path;

	if (!wanted)
		return xstrdup(p->directory);
	node = yaml_find(yaml_find(p->doc.root, "options"), "working-directory");
	path = *wanted == '/' ? xstrdup(wanted) : xasprintf("%s/%s", p->directory, wanted);
	errno = 0;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return path;
	yaml_fail(&p->doc, node->place, "working-directory: %s: %s", path,
		  strerror(errno ? errno : ENOTDIR));
	free(path);
	return NULL;
}
