/* SPDX-License-Identifier: MIT */
/*
 * json.h - reading and writing JSON.
 *
 * Reading is strict (RFC 8259, nested 128 levels at most). Functions that return int return 0 or
 * -EINVAL with a frame: "FILE:LINE:COLUMN: reason" for syntax, "FILE: path[3].to.value: reason"
 * for a value that is not what the caller asked for. A key that is looked up and stands twice in
 * its object is an error; keys nobody asks for are ignored.
 */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/strvec.h"

/* A value inside a document, which owns it. */
struct json_value;

struct json_doc {
	const char *name; /* of the file, for messages; borrowed */
	const struct json_value *root;
	void *owner;
};

int json_parse(struct json_doc *doc, const char *name, const char *bytes, size_t len);
void json_release(struct json_doc *doc);

bool json_is_null(const struct json_value *v);
bool json_is_bool(const struct json_value *v);
bool json_is_integer(const struct json_value *v);
bool json_is_string(const struct json_value *v);
bool json_is_array(const struct json_value *v);
bool json_is_object(const struct json_value *v);

/*
 * A value as what it has to be. Texts are borrowed from the document and end with a NUL;
 * json_as_text() refuses one with a NUL inside, json_as_string() gives the length instead.
 */
int json_as_bool(const struct json_doc *doc, const struct json_value *v, bool *to);
int json_as_u64(const struct json_doc *doc, const struct json_value *v, uint64_t *to);
int json_as_i64(const struct json_doc *doc, const struct json_value *v, int64_t *to);
int json_as_double(const struct json_doc *doc, const struct json_value *v, double *to);
int json_as_text(const struct json_doc *doc, const struct json_value *v, const char **to);
int json_as_string(const struct json_doc *doc, const struct json_value *v, const char **to,
	size_t *len);

/* The items of an array, all texts; those before one that is not are appended, too. */
int json_as_texts(const struct json_doc *doc, const struct json_value *array, struct strvec *to);

/* Just the check. */
int json_as_array(const struct json_doc *doc, const struct json_value *v);
int json_as_object(const struct json_doc *doc, const struct json_value *v);

/*
 * The member `key` of `object`, which must be an object: json_find() gives NULL when there is
 * none, json_get() and its typed forms fail then ("FILE: path.key: is missing").
 */
int json_find(const struct json_doc *doc, const struct json_value *object, const char *key,
	const struct json_value **to);
int json_get(const struct json_doc *doc, const struct json_value *object, const char *key,
	const struct json_value **to);
int json_get_bool(const struct json_doc *doc, const struct json_value *object, const char *key,
	bool *to);
int json_get_u64(const struct json_doc *doc, const struct json_value *object, const char *key,
	uint64_t *to);
int json_get_i64(const struct json_doc *doc, const struct json_value *object, const char *key,
	int64_t *to);
int json_get_double(const struct json_doc *doc, const struct json_value *object, const char *key,
	double *to);
int json_get_text(const struct json_doc *doc, const struct json_value *object, const char *key,
	const char **to);
int json_get_text_dup(const struct json_doc *doc, const struct json_value *object, const char *key,
	char **to); /* the caller frees */
int json_get_array(const struct json_doc *doc, const struct json_value *object, const char *key,
	const struct json_value **to);
int json_get_object(const struct json_doc *doc, const struct json_value *object, const char *key,
	const struct json_value **to);

/*
 * The items of an array or the members of an object, in order:
 *
 *	struct json_iter it = json_iter(array);
 *	while ((v = json_next(&it)))
 *
 * `key` is the current member's, NULL in an array. Any other value has no items.
 */
struct json_iter {
	const struct json_value *next;
	size_t left;
	const char *key;
	bool object;
};
struct json_iter json_iter(const struct json_value *container);
const struct json_value *json_next(struct json_iter *it);
size_t json_length(const struct json_value *container);

/* For the caller's own rules: records "FILE: path.of.value: TEXT", returns -EINVAL. */
int json_fail(const struct json_doc *doc, const struct json_value *at, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/*
 * Writing, in the order of the calls. `key` is a string literal inside an object and NULL inside
 * an array and for the outermost value. Running out of memory ends the program.
 */
struct json_writer *json_writer_new(void);

void json_begin_object(struct json_writer *w, const char *key);
void json_begin_array(struct json_writer *w, const char *key);
void json_end(struct json_writer *w); /* of the innermost open object or array */

void json_put_null(struct json_writer *w, const char *key);
void json_put_bool(struct json_writer *w, const char *key, bool value);
void json_put_u64(struct json_writer *w, const char *key, uint64_t value);
void json_put_i64(struct json_writer *w, const char *key, int64_t value);

/* The shortest digits that read back the same (json_number.h); it must be finite. */
void json_put_double(struct json_writer *w, const char *key, double value);

/* Text that should be UTF-8 and is escaped (text.h) should it not be; NULL is written as null. */
void json_put_text(struct json_writer *w, const char *key, const char *text);

/* Bytes of any kind, always escaped: text_unescape() of what is read gives them back. */
void json_put_bytes(struct json_writer *w, const char *key, const char *bytes, size_t len);

enum json_style {
	JSON_PRETTY,   /* two spaces a level and a newline at the end */
	JSON_UNENDED,  /* the same without the newline */
	JSON_ONE_LINE, /* no blanks, no newline */
};

/* Append the document to `to` and free the writer. */
void json_writer_finish(struct json_writer *w, enum json_style style, struct buf *to);

#endif
