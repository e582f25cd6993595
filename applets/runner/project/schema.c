/* SPDX-License-Identifier: MIT */
/* schema.c - codspeed.yml as a JSON schema, from the rows of fields.c */
#include "core/base.h"
#include "core/json.h"

#include "applets/runner/project/fields.h"
#include "applets/runner/project/project.h"

/* A scalar: one of two JSON types, for YAML's unquoted numbers are numbers. */
static void put_types(struct json_writer *w, const char *first, const char *second)
{
	json_begin_array(w, "type");
	json_put_text(w, NULL, first);
	if (second)
		json_put_text(w, NULL, second);
	json_put_text(w, NULL, "null");
	json_end(w);
}

/* Counts are whole; what else options take is a text, and may look like a number. */
static void put_option(struct json_writer *w, const struct field *field)
{
	const struct opt *row = field_option(field);
	bool count = row->meta && str_eq(row->meta, "COUNT");

	put_types(w, count ? "integer" : "string", count ? "string" : "number");
	json_put_u64(w, "minimum", 0);
	if (count)
		json_put_text(w, "pattern", "^\\+?[0-9]+$");
}

static void put_fields(struct json_writer *w, const struct field *fields);

/* Exactly one of the two; what is null counts as absent. */
static void put_alternative(struct json_writer *w, const char *key)
{
	json_begin_object(w, NULL);
	json_begin_array(w, "required");
	json_put_text(w, NULL, key);
	json_end(w);
	json_begin_object(w, "properties");
	json_begin_object(w, key);
	json_put_text(w, "type", "string");
	json_end(w);
	json_end(w);
	json_end(w);
}

static void put_list(struct json_writer *w, const struct field *field)
{
	put_types(w, "array", NULL);
	json_begin_object(w, "items");
	json_put_text(w, "type", "object");
	put_fields(w, field->fields);
	json_begin_array(w, "oneOf");
	for (const struct field *f = field->fields; f->key; f++)
		if (f->type == FIELD_COMMAND)
			put_alternative(w, f->key);
	json_end(w);
	json_end(w);
}

static void put_field(struct json_writer *w, const struct field *field)
{
	const char *help = field->help;

	json_begin_object(w, field->key);
	if (field->type == FIELD_OPTION)
		help = field_option(field)->help;
	json_put_text(w, "description", help);
	switch (field->type) {
	case FIELD_TEXT:
		json_begin_array(w, "type");
		for (const char *const *type = (const char *const[]){"string", "number", "boolean", "null",
								     NULL};
		     *type; type++)
			json_put_text(w, NULL, *type);
		json_end(w);
		break;
	case FIELD_COMMAND:
		put_types(w, "string", NULL);
		json_put_text(w, "pattern", "\\S");
		break;
	case FIELD_GATES:
		put_types(w, "string", NULL);
		json_put_text(w, "pattern", "=");
		break;
	case FIELD_OPTION:
		put_option(w, field);
		break;
	case FIELD_GROUP:
		put_types(w, "object", NULL);
		put_fields(w, field->fields);
		break;
	case FIELD_LIST:
		put_list(w, field);
		break;
	}
	json_end(w);
}

/* Unknown keys are told by the parser, and by editors, but for those that hold anchors. */
static void put_fields(struct json_writer *w, const struct field *fields)
{
	json_begin_object(w, "properties");
	for (const struct field *field = fields; field->key; field++)
		put_field(w, field);
	json_end(w);
	if (fields == project_fields) {
		json_begin_object(w, "patternProperties");
		json_begin_object(w, "^x-");
		json_end(w);
		json_end(w);
	}
	json_put_bool(w, "additionalProperties", false);
}

void project_schema(struct buf *to)
{
	struct json_writer *w = json_writer_new();

	json_begin_object(w, NULL);
	json_put_text(w, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_put_text(w, "title", "ProjectConfig");
	json_put_text(w, "description", "codspeed.yml: the benchmarks of a project and the options for them");
	json_put_text(w, "type", "object");
	put_fields(w, project_fields);
	json_end(w);
	json_writer_finish(w, JSON_PRETTY, to);
}
