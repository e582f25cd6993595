/* SPDX-License-Identifier: MIT */
/*
 * yaml.h - reading YAML 1.1 as people write it in configuration files.
 *
 * Every value knows its place. Anchors, aliases and merge keys (`<<`) work; a key that stands twice
 * in one mapping is an error, as are several documents, text that is not UTF-8 and a NUL in it. What
 * only an attack needs is refused too: more than 64 levels, 1024 keys in a mapping, 65536 values in
 * all (aliases and merged keys count), 1 MiB of text. No value is ever copied for an alias.
 */
#ifndef CORE_YAML_H
#define CORE_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/vec.h"

enum { YAML_BYTES_MAX = 1 << 20 };

enum yaml_kind {
	YAML_NULL, /* nothing, ~ or null, without quotes */
	YAML_TEXT, /* any other scalar */
	YAML_LIST,
	YAML_MAP,
};

struct yaml_place {
	size_t line, column; /* from 1, in characters */
};

struct yaml_node;

struct yaml_entry {
	const char *key;
	struct yaml_place place; /* of the key */
	const struct yaml_node *value;
};

struct yaml_node {
	enum yaml_kind kind;
	struct yaml_place place;
	char *text;     /* of a scalar, null included; ends with its only NUL */
	bool string;    /* in quotes, a block, or tagged !!str: a string whatever it looks like */
	bool plain;     /* without quotes on one line: a character of it has its own column */
	bool open;      /* private: being read */
	VEC(const struct yaml_node *) items; /* of a list */
	VEC(struct yaml_entry) entries;      /* of a map, in order, merged ones last */
};

struct yaml_doc {
	const char *name; /* of the file, for messages; borrowed */
	const struct yaml_node *root; /* NULL: the file is empty or holds comments only */
	VEC(struct yaml_node *) nodes; /* private: all of them */
};

/*
 * 0, or -EINVAL with a frame "FILE:LINE:COLUMN: reason"; the document is empty then. Good until
 * yaml_release().
 */
int yaml_parse(struct yaml_doc *doc, const char *name, const char *bytes, size_t len);
void yaml_release(struct yaml_doc *doc);

/* The value of a key, or NULL. */
const struct yaml_node *yaml_find(const struct yaml_node *map, const char *key);

/* A scalar that is a string to YAML 1.2, not a number or a truth value. */
bool yaml_is_string(const struct yaml_node *node);

/* "a list", "a mapping", "null", "a number", "true or false", "text": for messages. */
const char *yaml_kind_text(const struct yaml_node *node);

/* For the caller's own rules: records "FILE:LINE:COLUMN: TEXT", returns -EINVAL. */
int yaml_fail(const struct yaml_doc *doc, struct yaml_place at, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

#endif
