/* SPDX-License-Identifier: MIT */
/* yaml.c - reading YAML with libyaml's events; no other file knows that library */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

#include "core/base.h"
#include "core/text.h"
#include "core/yaml.h"

enum {
	DEPTH_MAX = 64,
	KEYS_MAX = 1024,
	VALUES_MAX = 1 << 16,
	SHOWN = 64, /* bytes of a text in a message */
};

#define MERGE_KEY "<<"
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct anchor {
	char *name;
	const struct yaml_node *node;
};

/* A list or map being read. */
struct level {
	struct yaml_node *node;
	const char *key; /* of a map: the key whose value comes next; NULL: a key comes */
	struct yaml_place key_place;
	bool merge;      /* that key merges */
	VEC(const struct yaml_node *) merged; /* values of merge keys */
};

struct reader {
	struct yaml_doc *doc;
	yaml_parser_t parser;
	size_t values;
	size_t depth;
	size_t documents;
	struct level levels[DEPTH_MAX];
	VEC(struct anchor) anchors;
};

/* ---- Messages ---- */

int yaml_fail(const struct yaml_doc *doc, struct yaml_place at, const char *fmt, ...)
{
	struct buf why = BUF_INIT;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	buf_vprintf(&why, fmt, ap);
	va_end(ap);
	rc = fail(-EINVAL, "%s:%zu:%zu: %s", doc->name, at.line, at.column, why.data);
	buf_release(&why);
	return rc;
}

/* A key or an anchor, for people; in a buffer that the next call reuses. */
static const char *shown(const char *text)
{
	static struct buf line;
	size_t len = strlen(text), cut = text_cut(text, len, SHOWN);

	buf_clear(&line);
	text_printable(text, cut, &line);
	if (cut < len)
		buf_addstr(&line, "...");
	return line.data;
}

static struct yaml_place place_of(yaml_mark_t mark)
{
	return (struct yaml_place){mark.line + 1, mark.column + 1};
}

static struct yaml_place place_of_byte(const char *bytes, size_t at)
{
	struct yaml_place place = {1, 1};
	const char *line = bytes;

	for (size_t i = 0; i < at; i++) {
		if (bytes[i] != '\n')
			continue;
		place.line++;
		line = bytes + i + 1;
	}
	place.column += text_width(line, (size_t)(bytes + at - line));
	return place;
}

/* The library's own words; where it was when it noticed, and since where it read what went wrong. */
static int fail_syntax(const struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	const char *problem = p->problem ? p->problem : "not YAML";
	struct yaml_place since = place_of(p->context_mark);

	if (p->error == YAML_MEMORY_ERROR)
		return fail(-EINVAL, "%s: out of memory", r->doc->name);
	if (!p->context)
		return yaml_fail(r->doc, place_of(p->problem_mark), "%s", problem);
	return yaml_fail(r->doc, place_of(p->problem_mark), "%s, %s that began at %zu:%zu", problem,
			 p->context, since.line, since.column);
}

/* What the library would tell without a place. */
static int check_bytes(const struct yaml_doc *doc, const char *bytes, size_t len)
{
	if (len > YAML_BYTES_MAX)
		return fail(-EINVAL, "%s: larger than %d bytes", doc->name, (int)YAML_BYTES_MAX);
	for (size_t i = 0, n; i < len; i += n) {
		unsigned char c = (unsigned char)bytes[i];

		n = text_sequence(bytes + i, len - i);
		if (!n)
			return yaml_fail(doc, place_of_byte(bytes, i), "not UTF-8");
		if ((c < ' ' && !strchr("\t\n\r", c)) || !c || c == 0x7f)
			return yaml_fail(doc, place_of_byte(bytes, i), "a control character (\\x%02x)", c);
	}
	return 0;
}

/* ---- Values ---- */

static bool is_null(const char *text)
{
	return !*text || str_eq(text, "~") || str_eq(text, "null") || str_eq(text, "Null") ||
	       str_eq(text, "NULL");
}

static bool is_truth(const char *text)
{
	static const char *const words[] = {"true", "True", "TRUE", "false", "False", "FALSE"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(text, words[i]))
			return true;
	return false;
}

/* YAML 1.2, core schema: 10.3.2. */
static bool is_number(const char *text)
{
	const char *at = text + (*text == '-' || *text == '+');
	size_t whole = strspn(at, "0123456789"), fraction = 0;

	if (str_eq(at, ".inf") || str_eq(at, ".Inf") || str_eq(at, ".INF") || str_eq(at, ".nan") ||
	    str_eq(at, ".NaN") || str_eq(at, ".NAN"))
		return true;
	if (str_starts(at, "0x"))
		return at[2] && !at[2 + strspn(at + 2, "0123456789abcdefABCDEF")];
	if (str_starts(at, "0o"))
		return at[2] && !at[2 + strspn(at + 2, "01234567")];
	at += whole;
	if (*at == '.') {
		fraction = strspn(at + 1, "0123456789");
		at += 1 + fraction;
	}
	if (!whole && !fraction)
		return false;
	if (*at == 'e' || *at == 'E') {
		at += 1 + (at[1] == '-' || at[1] == '+');
		if (!isdigit((unsigned char)*at))
			return false;
		at += strspn(at, "0123456789");
	}
	return !*at;
}

bool yaml_is_string(const struct yaml_node *node)
{
	return node->kind == YAML_TEXT &&
	       (node->string || (!is_number(node->text) && !is_truth(node->text)));
}

const char *yaml_kind_text(const struct yaml_node *node)
{
	switch (node->kind) {
	case YAML_NULL:
		return "null";
	case YAML_LIST:
		return "a list";
	case YAML_MAP:
		return "a mapping";
	default:
		return yaml_is_string(node) ? "text" : is_truth(node->text) ? "a truth value" : "a number";
	}
}

static const struct yaml_entry *find_entry(const struct yaml_node *map, const char *key)
{
	for (size_t i = 0; i < map->entries.len; i++)
		if (str_eq(map->entries.items[i].key, key))
			return &map->entries.items[i];
	return NULL;
}

const struct yaml_node *yaml_find(const struct yaml_node *map, const char *key)
{
	const struct yaml_entry *entry = find_entry(map, key);

	return entry ? entry->value : NULL;
}

/* ---- Building ---- */

static int count_value(struct reader *r, struct yaml_place at)
{
	if (++r->values > VALUES_MAX)
		return yaml_fail(r->doc, at, "more than %d values", (int)VALUES_MAX);
	return 0;
}

static struct yaml_node *new_node(struct reader *r, enum yaml_kind kind, yaml_mark_t mark)
{
	struct yaml_node *node = xcalloc(1, sizeof(*node));

	node->kind = kind;
	node->place = place_of(mark);
	vec_push(&r->doc->nodes, node);
	return node;
}

static void remember(struct reader *r, const yaml_char_t *name, const struct yaml_node *node)
{
	if (name)
		vec_push(&r->anchors, (struct anchor){xstrdup((const char *)name), node});
}

static int add_key(struct reader *r, struct level *level, const struct yaml_node *key)
{
	const struct yaml_entry *other;

	if (key->kind > YAML_TEXT)
		return yaml_fail(r->doc, key->place, "a key that is %s", yaml_kind_text(key));
	level->key = key->text;
	level->key_place = key->place;
	level->merge = !key->string && str_eq(key->text, MERGE_KEY);
	other = find_entry(level->node, key->text);
	if (other)
		return yaml_fail(r->doc, key->place, "the key '%s' stands on line %zu already",
				 shown(key->text), other->place.line);
	if (level->node->entries.len == KEYS_MAX)
		return yaml_fail(r->doc, key->place, "a mapping of more than %d keys", (int)KEYS_MAX);
	return 0;
}

/* A finished scalar or alias, or a container that begins, into what it stands in. */
static int add_value(struct reader *r, const struct yaml_node *node)
{
	struct level *level = r->depth ? &r->levels[r->depth - 1] : NULL;

	if (!level) {
		r->doc->root = node;
	} else if (level->node->kind == YAML_LIST) {
		vec_push(&level->node->items, node);
	} else if (!level->key) {
		return add_key(r, level, node);
	} else if (level->merge) {
		vec_push(&level->merged, node);
		level->key = NULL;
	} else {
		vec_push(&level->node->entries,
			 (struct yaml_entry){level->key, level->key_place, node});
		level->key = NULL;
	}
	return 0;
}

/* The keys of `from` that `to` does not have: what is written in place wins, then the first merged. */
static int merge_map(struct reader *r, struct yaml_node *to, const struct yaml_node *from)
{
	int rc = 0;

	if (from->kind != YAML_MAP)
		return yaml_fail(r->doc, from->place, "%s cannot be merged, only a mapping",
				 yaml_kind_text(from));
	for (size_t i = 0; i < from->entries.len && !rc; i++) {
		if (find_entry(to, from->entries.items[i].key))
			continue;
		rc = count_value(r, to->place);
		if (!rc && to->entries.len == KEYS_MAX)
			rc = yaml_fail(r->doc, to->place, "a mapping of more than %d keys", (int)KEYS_MAX);
		if (!rc)
			vec_push(&to->entries, from->entries.items[i]);
	}
	return rc;
}

static int merge_all(struct reader *r, struct level *level)
{
	int rc = 0;

	for (size_t i = 0; i < level->merged.len && !rc; i++) {
		const struct yaml_node *from = level->merged.items[i];

		if (from->kind != YAML_LIST) {
			rc = merge_map(r, level->node, from);
			continue;
		}
		for (size_t j = 0; j < from->items.len && !rc; j++)
			rc = merge_map(r, level->node, from->items.items[j]);
	}
	return rc;
}

/* ---- Events ---- */

static int on_scalar(struct reader *r, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	const char *tag = (const char *)event->data.scalar.tag;
	bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct yaml_node *node = new_node(r, YAML_TEXT, event->start_mark);

	if (strlen(text) != event->data.scalar.length)
		return yaml_fail(r->doc, node->place, "a NUL in a text");
	node->text = xstrdup(text);
	node->string = !plain || (tag && str_eq(tag, YAML_STR_TAG));
	node->plain = plain && event->start_mark.line == event->end_mark.line;
	if (!node->string && is_null(text))
		node->kind = YAML_NULL;
	remember(r, event->data.scalar.anchor, node);
	return add_value(r, node);
}

static int on_begin(struct reader *r, const yaml_event_t *event)
{
	bool list = event->type == YAML_SEQUENCE_START_EVENT;
	const yaml_char_t *anchor = list ? event->data.sequence_start.anchor
					 : event->data.mapping_start.anchor;
	struct yaml_node *node = new_node(r, list ? YAML_LIST : YAML_MAP, event->start_mark);
	int rc = add_value(r, node);

	if (rc)
		return rc;
	if (r->depth == DEPTH_MAX)
		return yaml_fail(r->doc, node->place, "more than %d levels deep", (int)DEPTH_MAX);
	node->open = true;
	remember(r, anchor, node);
	r->levels[r->depth++] = (struct level){.node = node};
	return 0;
}

static int on_end(struct reader *r)
{
	struct level *level = &r->levels[--r->depth];
	int rc = merge_all(r, level);

	vec_release(&level->merged);
	level->node->open = false;
	return rc;
}

static int on_alias(struct reader *r, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	struct yaml_place place = place_of(event->start_mark);

	for (size_t i = r->anchors.len; i > 0; i--) {
		const struct anchor *anchor = &r->anchors.items[i - 1];

		if (!str_eq(anchor->name, name))
			continue;
		if (anchor->node->open)
			return yaml_fail(r->doc, place, "the alias *%s stands inside what it means",
					 shown(name));
		return add_value(r, anchor->node);
	}
	return yaml_fail(r->doc, place, "there is no anchor &%s before this alias", shown(name));
}

static int on_event(struct reader *r, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (r->documents++)
			return yaml_fail(r->doc, place_of(event->start_mark), "a second document");
		return 0;
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
	case YAML_ALIAS_EVENT:
		if (count_value(r, place_of(event->start_mark)))
			return -EINVAL;
		return event->type == YAML_SCALAR_EVENT  ? on_scalar(r, event)
		       : event->type == YAML_ALIAS_EVENT ? on_alias(r, event)
							 : on_begin(r, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_end(r);
	default:
		return 0;
	}
}

static int read_events(struct reader *r)
{
	bool more = true;
	int rc = 0;

	while (!rc && more) {
		yaml_event_t event;

		if (!yaml_parser_parse(&r->parser, &event))
			return fail_syntax(r);
		more = event.type != YAML_STREAM_END_EVENT;
		rc = on_event(r, &event);
		yaml_event_delete(&event);
	}
	return rc;
}

static void reader_release(struct reader *r)
{
	for (size_t i = 0; i < r->depth; i++)
		vec_release(&r->levels[i].merged);
	for (size_t i = 0; i < r->anchors.len; i++)
		free(r->anchors.items[i].name);
	vec_release(&r->anchors);
	yaml_parser_delete(&r->parser);
}

int yaml_parse(struct yaml_doc *doc, const char *name, const char *bytes, size_t len)
{
	struct reader r = {.doc = doc};
	size_t mark = len >= strlen(BYTE_ORDER_MARK) && !memcmp(bytes, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK))
			      ? strlen(BYTE_ORDER_MARK) : 0;
	int rc;

	*doc = (struct yaml_doc){.name = name};
	bytes += mark;
	len -= mark;
	rc = check_bytes(doc, bytes, len);
	if (rc)
		return rc;
	if (!yaml_parser_initialize(&r.parser))
		return fail(-ENOMEM, "%s: out of memory", name);
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)bytes, len);
	rc = read_events(&r);
	reader_release(&r);
	if (rc)
		yaml_release(doc);
	else if (doc->root && doc->root->kind == YAML_NULL && !*doc->root->text)
		doc->root = NULL; /* `---` alone */
	return rc;
}

void yaml_release(struct yaml_doc *doc)
{
	for (size_t i = 0; i < doc->nodes.len; i++) {
		struct yaml_node *node = doc->nodes.items[i];

		free(node->text);
		vec_release(&node->items);
		vec_release(&node->entries);
		free(node);
	}
	vec_release(&doc->nodes);
	doc->root = NULL;
}
