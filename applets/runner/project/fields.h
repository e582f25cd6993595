/* SPDX-License-Identifier: MIT */
/*
 * fields.h - what may stand in codspeed.yml: one row a key. The parser (project.c) and the schema for
 * editors (schema.c) both go by these rows.
 */
#ifndef PROJECT_FIELDS_H
#define PROJECT_FIELDS_H

#include <stddef.h>

#include "core/opts.h"

enum field_type {
	FIELD_TEXT,    /* const char *; a number or truth value counts as its text */
	FIELD_COMMAND, /* const char *; a string only: anything else is a slip */
	FIELD_OPTION,  /* const char *, the text for an option's row, see field_option() */
	FIELD_GATES,   /* const char *, lines of limits of metrics (gate.h) */
	FIELD_GROUP,   /* a mapping with fields of its own, for members of the same struct */
	FIELD_LIST,    /* of benchmarks */
};

struct field {
	const char *key; /* NULL ends a table */
	enum field_type type;
	size_t offset;   /* of the member; of a group: of the struct that its fields fill */
	const struct field *fields; /* of a group, or of each item of a list */
	const char *help; /* NULL: the option's own */
	const char *was; /* how upstream once called it, for suggestions */
};

/* The whole file, for a struct project. */
extern const struct field project_fields[];

/* The row of the command line that a FIELD_OPTION stands for. */
const struct opt *field_option(const struct field *field);

#endif
