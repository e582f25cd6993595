/* SPDX-License-Identifier: MIT */
/* json.c - reading and writing JSON with yyjson; no other file knows that library */
#include <stdarg.h>
#include <yyjson.h>

#include "core/base.h"
#include "core/json.h"
#include "core/json_number.h"
#include "core/text.h"
#include "core/vec.h"

enum {
	MAX_DEPTH = 128,
	SHOWN_KEY = 64, /* bytes of a key in a message: a hostile file may have long ones */
};

/* Memory as elsewhere in this program: it is there or the program ends, so no call below fails. */

static void *lib_malloc(void *ctx UNUSED, size_t size)
{
	return xmalloc(size);
}

static void *lib_realloc(void *ctx UNUSED, void *old, size_t old_size UNUSED, size_t size)
{
	return xreallocarray(old, size, 1);
}

static void lib_free(void *ctx UNUSED, void *memory)
{
	free(memory);
}

static const yyjson_alc allocator = {lib_malloc, lib_realloc, lib_free, NULL};

static yyjson_val *lib(const struct json_value *v)
{
	return (yyjson_val *)v;
}

static const struct json_value *ours(yyjson_val *v)
{
	return (const struct json_value *)v;
}

/* Reading */

static int fail_at(const char *name, const char *bytes, size_t len, size_t at, const char *why)
{
	size_t line = 1, column = 1, character;

	yyjson_locate_pos(bytes, len, at, &line, &column, &character);
	return fail(-EINVAL, "%s:%zu:%zu: %s", name, line, column, why);
}

/*
 * The first container that stands deeper than allowed, or NULL. The library itself needs no stack,
 * but whoever walks its values may. Values lie in memory in the order of the text, a container's in
 * front of what is in it.
 */
static const yyjson_val *find_too_deep(yyjson_val *root)
{
	const yyjson_val *ends[MAX_DEPTH], *end = unsafe_yyjson_get_next(root);
	size_t depth = 0;

	for (yyjson_val *v = root; v < end; v++) {
		while (depth && v >= ends[depth - 1])
			depth--;
		if (!yyjson_is_ctn(v))
			continue;
		if (depth == MAX_DEPTH)
			return v;
		ends[depth++] = unsafe_yyjson_get_next(v);
	}
	return NULL;
}

/* Where the text of valid JSON goes deeper than allowed; `len` if nowhere. */
static size_t place_too_deep(const char *bytes, size_t len)
{
	size_t depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		char c = bytes[i];

		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (in_string)
			continue;
		else if (c == '[' || c == '{')
			depth++;
		else if (c == ']' || c == '}')
			depth--;
		if (depth > MAX_DEPTH)
			return i;
	}
	return len;
}

int json_parse(struct json_doc *doc, const char *name, const char *bytes, size_t len)
{
	yyjson_read_err error;
	yyjson_doc *parsed;

	*doc = (struct json_doc){.name = name};
	if (!len)
		return fail(-EINVAL, "%s: is empty", name);
	/* Without YYJSON_READ_INSITU the library copies the bytes and leaves these alone. */
	parsed = yyjson_read_opts((char *)bytes, len, YYJSON_READ_NOFLAG, &allocator, &error);
	if (!parsed)
		return fail_at(name, bytes, len, error.pos, error.msg);
	if (find_too_deep(yyjson_doc_get_root(parsed))) {
		yyjson_doc_free(parsed);
		return fail_at(name, bytes, len, place_too_deep(bytes, len), "more than 128 levels deep");
	}
	doc->owner = parsed;
	doc->root = ours(yyjson_doc_get_root(parsed));
	return 0;
}

void json_release(struct json_doc *doc)
{
	yyjson_doc_free(doc->owner);
	*doc = (struct json_doc){0};
}

bool json_is_null(const struct json_value *v)
{
	return yyjson_is_null(lib(v));
}

bool json_is_bool(const struct json_value *v)
{
	return yyjson_is_bool(lib(v));
}

bool json_is_integer(const struct json_value *v)
{
	return yyjson_is_int(lib(v));
}

bool json_is_string(const struct json_value *v)
{
	return yyjson_is_str(lib(v));
}

bool json_is_array(const struct json_value *v)
{
	return yyjson_is_arr(lib(v));
}

bool json_is_object(const struct json_value *v)
{
	return yyjson_is_obj(lib(v));
}

/* Messages: where a value stands is looked for only once something is wrong with it */

static void add_key(struct buf *path, const char *key)
{
	size_t len = strlen(key), shown = text_cut(key, len, SHOWN_KEY);

	if (path->len)
		buf_addch(path, '.');
	text_printable(key, shown, path);
	if (shown < len)
		buf_addstr(path, "...");
}

/* Append the step from `container` towards `at` and return the child it leads to. */
static yyjson_val *step_towards(yyjson_val *container, const yyjson_val *at, struct buf *path)
{
	struct json_iter it = json_iter(ours(container));
	const struct json_value *child = NULL;
	size_t index = 0;

	/* Values lie in memory in the order of the text: a child's end where the next one starts. */
	while ((child = json_next(&it)) && unsafe_yyjson_get_next(lib(child)) <= at)
		index++;
	if (!child)
		BUG("a value of another document");
	if (it.object)
		add_key(path, it.key);
	else
		buf_printf(path, "[%zu]", index);
	return lib(child);
}

static void add_path(struct buf *path, const struct json_doc *doc, const struct json_value *at)
{
	yyjson_val *v = lib(doc->root);

	while (v != lib(at))
		v = step_towards(v, lib(at), path);
}

static int fail_path(const struct json_doc *doc, const struct buf *path, const char *why)
{
	return fail(-EINVAL, "%s: %s%s%s", doc->name, path->len ? path->data : "",
		path->len ? ": " : "", why);
}

int json_fail(const struct json_doc *doc, const struct json_value *at, const char *fmt, ...)
{
	struct buf path = BUF_INIT, why = BUF_INIT;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	buf_vprintf(&why, fmt, ap);
	va_end(ap);
	add_path(&path, doc, at);
	rc = fail_path(doc, &path, why.data);
	buf_release(&path);
	buf_release(&why);
	return rc;
}

static int fail_missing(const struct json_doc *doc, const struct json_value *object,
	const char *key)
{
	struct buf path = BUF_INIT;
	int rc;

	add_path(&path, doc, object);
	add_key(&path, key);
	rc = fail_path(doc, &path, "is missing");
	buf_release(&path);
	return rc;
}

static const char *kind_of(const struct json_value *v)
{
	switch (yyjson_get_type(lib(v))) {
	case YYJSON_TYPE_NULL:
		return "null";
	case YYJSON_TYPE_BOOL:
		return "true or false";
	case YYJSON_TYPE_NUM:
		return json_is_integer(v) ? "a whole number" : "a fraction or a very large number";
	case YYJSON_TYPE_STR:
		return "text";
	case YYJSON_TYPE_ARR:
		return "an array";
	default:
		return "an object";
	}
}

static int expect(const struct json_doc *doc, const struct json_value *v, bool fits,
	const char *what)
{
	return fits ? 0 : json_fail(doc, v, "expected %s, found %s", what, kind_of(v));
}

/* Typed values */

int json_as_bool(const struct json_doc *doc, const struct json_value *v, bool *to)
{
	*to = yyjson_get_bool(lib(v));
	return expect(doc, v, json_is_bool(v), "true or false");
}

int json_as_u64(const struct json_doc *doc, const struct json_value *v, uint64_t *to)
{
	*to = yyjson_get_uint(lib(v));
	if (yyjson_is_sint(lib(v)))
		return json_fail(doc, v, "must not be negative");
	return expect(doc, v, json_is_integer(v), "a whole number");
}

int json_as_i64(const struct json_doc *doc, const struct json_value *v, int64_t *to)
{
	*to = yyjson_get_sint(lib(v));
	if (yyjson_is_uint(lib(v)) && yyjson_get_uint(lib(v)) > INT64_MAX)
		return json_fail(doc, v, "is too large");
	return expect(doc, v, json_is_integer(v), "a whole number");
}

int json_as_double(const struct json_doc *doc, const struct json_value *v, double *to)
{
	*to = yyjson_get_num(lib(v));
	return expect(doc, v, yyjson_is_num(lib(v)), "a number");
}

int json_as_string(const struct json_doc *doc, const struct json_value *v, const char **to,
	size_t *len)
{
	*to = yyjson_get_str(lib(v));
	*len = yyjson_get_len(lib(v));
	return expect(doc, v, json_is_string(v), "text");
}

int json_as_text(const struct json_doc *doc, const struct json_value *v, const char **to)
{
	size_t len;
	int rc = json_as_string(doc, v, to, &len);

	if (!rc && strlen(*to) != len)
		return json_fail(doc, v, "has a NUL character inside");
	return rc;
}

int json_as_array(const struct json_doc *doc, const struct json_value *v)
{
	return expect(doc, v, json_is_array(v), "an array");
}

int json_as_object(const struct json_doc *doc, const struct json_value *v)
{
	return expect(doc, v, json_is_object(v), "an object");
}

/* Members */

int json_find(const struct json_doc *doc, const struct json_value *object, const char *key,
	const struct json_value **to)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(lib(object));
	size_t len = strlen(key);
	yyjson_val *name;

	*to = NULL;
	while ((name = yyjson_obj_iter_next(&it))) {
		if (yyjson_get_len(name) != len || memcmp(yyjson_get_str(name), key, len) != 0)
			continue;
		if (*to)
			return json_fail(doc, ours(yyjson_obj_iter_get_val(name)), "is given twice");
		*to = ours(yyjson_obj_iter_get_val(name));
	}
	return json_as_object(doc, object);
}

int json_get(const struct json_doc *doc, const struct json_value *object, const char *key,
	const struct json_value **to)
{
	int rc = json_find(doc, object, key, to);

	return rc || *to ? rc : fail_missing(doc, object, key);
}

int json_get_bool(const struct json_doc *doc, const struct json_value *object, const char *key,
	bool *to)
{
	const struct json_value *v;
	int rc = json_get(doc, object, key, &v);

	return rc ? rc : json_as_bool(doc, v, to);
}

int json_get_u64(const struct json_doc *doc, const struct json_value *object, const char *key,
	uint64_t *to)
{
	const struct json_value *v;
	int rc = json_get(doc, object, key, &v);

	return rc ? rc : json_as_u64(doc, v, to);
}

int json_get_i64(const struct json_doc *doc, const struct json_value *object, const char *key,
	int64_t *to)
{
	const struct json_value *v;
	int rc = json_get(doc, object, key, &v);

	return rc ? rc : json_as_i64(doc, v, to);
}

int json_get_double(const struct json_doc *doc, const struct json_value *object, const char *key,
	double *to)
{
	const struct json_value *v;
	int rc = json_get(doc, object, key, &v);

	return rc ? rc : json_as_double(doc, v, to);
}

int json_get_text(const struct json_doc *doc, const struct json_value *object, const char *key,
	const char **to)
{
	const struct json_value *v;
	int rc = json_get(doc, object, key, &v);

	return rc ? rc : json_as_text(doc, v, to);
}

int json_get_text_dup(const struct json_doc *doc, const struct json_value *object, const char *key,
	char **to)
{
	const char *text;
	int rc = json_get_text(doc, object, key, &text);

	if (!rc)
		*to = xstrdup(text);
	return rc;
}

int json_get_array(const struct json_doc *doc, const struct json_value *object, const char *key,
	const struct json_value **to)
{
	int rc = json_get(doc, object, key, to);

	return rc ? rc : json_as_array(doc, *to);
}

int json_get_object(const struct json_doc *doc, const struct json_value *object, const char *key,
	const struct json_value **to)
{
	int rc = json_get(doc, object, key, to);

	return rc ? rc : json_as_object(doc, *to);
}

struct json_iter json_iter(const struct json_value *container)
{
	return (struct json_iter){
		.next = ours(lib(container) + 1),
		.left = json_length(container),
		.object = json_is_object(container),
	};
}

const struct json_value *json_next(struct json_iter *it)
{
	yyjson_val *v = lib(it->next);

	if (!it->left)
		return NULL;
	it->left--;
	if (it->object)
		it->key = yyjson_get_str(v++);
	it->next = ours(unsafe_yyjson_get_next(v));
	return ours(v);
}

int json_as_texts(const struct json_doc *doc, const struct json_value *array, struct strvec *to)
{
	struct json_iter it = json_iter(array);
	const struct json_value *v;
	const char *text;
	int rc = json_as_array(doc, array);

	while (!rc && (v = json_next(&it))) {
		rc = json_as_text(doc, v, &text);
		if (!rc)
			strvec_push(to, text);
	}
	return rc;
}

size_t json_length(const struct json_value *container)
{
	return yyjson_is_ctn(lib(container)) ? yyjson_get_len(lib(container)) : 0;
}

/* Writing */

struct json_writer {
	yyjson_mut_doc *doc;
	VEC(yyjson_mut_val *) open; /* objects and arrays, outermost first */
};

struct json_writer *json_writer_new(void)
{
	struct json_writer *w = xcalloc(1, sizeof(*w));

	w->doc = yyjson_mut_doc_new(&allocator);
	return w;
}

static void put(struct json_writer *w, const char *key, yyjson_mut_val *v)
{
	yyjson_mut_val *in = w->open.len ? *vec_last(&w->open) : NULL;
	bool done;

	if (key)
		done = yyjson_mut_obj_add(in, yyjson_mut_str(w->doc, key), v);
	else if (in)
		done = yyjson_mut_arr_append(in, v);
	else if ((done = !yyjson_mut_doc_get_root(w->doc)))
		yyjson_mut_doc_set_root(w->doc, v);
	if (!done)
		BUG("a key where none belongs, or none where one does");
}

static void begin(struct json_writer *w, const char *key, yyjson_mut_val *container)
{
	put(w, key, container);
	vec_push(&w->open, container);
}

void json_begin_object(struct json_writer *w, const char *key)
{
	begin(w, key, yyjson_mut_obj(w->doc));
}

void json_begin_array(struct json_writer *w, const char *key)
{
	begin(w, key, yyjson_mut_arr(w->doc));
}

void json_end(struct json_writer *w)
{
	if (!w->open.len)
		BUG("nothing is open");
	w->open.len--;
}

void json_put_null(struct json_writer *w, const char *key)
{
	put(w, key, yyjson_mut_null(w->doc));
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
	put(w, key, yyjson_mut_bool(w->doc, value));
}

void json_put_u64(struct json_writer *w, const char *key, uint64_t value)
{
	put(w, key, yyjson_mut_uint(w->doc, value));
}

void json_put_i64(struct json_writer *w, const char *key, int64_t value)
{
	put(w, key, yyjson_mut_sint(w->doc, value));
}

void json_put_double(struct json_writer *w, const char *key, double value)
{
	char text[JSON_NUMBER_TEXT];

	put(w, key, yyjson_mut_rawcpy(w->doc, json_number(text, value)));
}

void json_put_text(struct json_writer *w, const char *key, const char *text)
{
	if (!text)
		json_put_null(w, key);
	else if (text_is_utf8(text, strlen(text)))
		put(w, key, yyjson_mut_strcpy(w->doc, text));
	else
		json_put_bytes(w, key, text, strlen(text));
}

void json_put_bytes(struct json_writer *w, const char *key, const char *bytes, size_t len)
{
	struct buf text = BUF_INIT;

	text_escape(bytes, len, &text);
	put(w, key, yyjson_mut_strncpy(w->doc, text.data, text.len));
	buf_release(&text);
}

void json_writer_finish(struct json_writer *w, enum json_style style, struct buf *to)
{
	yyjson_write_flag flags = style == JSON_ONE_LINE ? 0 : YYJSON_WRITE_PRETTY_TWO_SPACES;
	size_t len;
	char *text;

	if (w->open.len)
		BUG("an open object or array");
	text = yyjson_mut_write_opts(w->doc, flags, &allocator, &len, NULL);
	if (!text)
		BUG("an empty document");
	buf_add(to, text, len);
	if (style == JSON_PRETTY)
		buf_addch(to, '\n');
	free(text);
	yyjson_mut_doc_free(w->doc);
	vec_release(&w->open);
	free(w);
}
