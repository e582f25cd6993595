/* SPDX-License-Identifier: MIT */
/*
 * result_json.c - results.json, written and read by the same tables of fields.
 *
 * Reading is lenient where a later program of the same schema version may have less or more to
 * say: unknown keys and further items of a row are ignored, what may be null or empty may be
 * absent. What only one mode has is neither written nor looked at in others.
 */
#include <inttypes.h>

#include "applets/runner/results/result.h"
#include "core/base.h"
#include "core/json.h"
#include "core/text.h"

/* The C type that a field's member has. */
enum field_kind {
	TEXT,          /* char * */
	OPTIONAL_TEXT, /* char *, may be NULL */
	BYTES,         /* char *, escaped */
	OPTIONAL_BYTES,
	TEXTS,         /* struct strvec */
	SIGNED,        /* int64_t */
	UNSIGNED,      /* uint64_t */
	NUMBER,        /* struct measure */
};

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset;
};

#define FIELD(type, member, kind) {#member, kind, offsetof(struct type, member)}

static const struct field tool_fields[] = {
	FIELD(result_tool, name, TEXT),
	FIELD(result_tool, version, TEXT),
	FIELD(result_tool, build_id, OPTIONAL_TEXT),
};

static const struct field system_fields[] = {
	FIELD(result_system, os, TEXT),
	FIELD(result_system, arch, TEXT),
	FIELD(result_system, cpu_model, TEXT),
	FIELD(result_system, cpu_flags, TEXTS),
	FIELD(result_system, cores, NUMBER),
	FIELD(result_system, memory_bytes, NUMBER),
	FIELD(result_system, kernel, TEXT),
	FIELD(result_system, libc, OPTIONAL_TEXT),
	FIELD(result_system, valgrind, OPTIONAL_TEXT),
	FIELD(result_system, valgrind_options, TEXTS),
	FIELD(result_system, governor, OPTIONAL_TEXT),
	FIELD(result_system, glibc_tunables, OPTIONAL_TEXT),
};

static const struct field run_fields[] = {
	FIELD(result_run, started, TEXT),
	FIELD(result_run, duration_ns, UNSIGNED),
	FIELD(result_run, host, BYTES),
	FIELD(result_run, command, BYTES),
	FIELD(result_run, working_directory, BYTES),
	FIELD(result_run, modes, TEXTS),
};

static const struct field identity_fields[] = {
	FIELD(benchmark, uri, TEXT),
	FIELD(benchmark, name, TEXT),
};

static const struct field note_fields[] = {
	FIELD(benchmark, notes, TEXTS),
};

/* The items of rows, whose keys are not written. */
static const struct field size_class_fields[] = {
	FIELD(result_size_class, size_class, UNSIGNED),
	FIELD(result_size_class, allocations, UNSIGNED),
	FIELD(result_size_class, bytes, UNSIGNED),
};

static const struct field point_fields[] = {
	FIELD(result_point, ns, UNSIGNED),
	FIELD(result_point, live_bytes, UNSIGNED),
};

static const struct field function_fields[] = {
	FIELD(result_function, name, BYTES),
	FIELD(result_function, object, OPTIONAL_BYTES),
	FIELD(result_function, self, UNSIGNED),
	FIELD(result_function, inclusive, UNSIGNED),
};

static const struct field process_fields[] = {
	FIELD(result_process, pid, SIGNED),
	FIELD(result_process, ppid, SIGNED),
	FIELD(result_process, command, OPTIONAL_BYTES),
	FIELD(result_process, status, NUMBER),
	FIELD(result_process, instructions, NUMBER),
};

/* Writing */

static void put_bytes(struct json_writer *w, const char *key, const char *bytes)
{
	if (bytes)
		json_put_bytes(w, key, bytes, strlen(bytes));
	else
		json_put_null(w, key);
}

static void put_measure(struct json_writer *w, const char *key, struct measure measure)
{
	if (measure.known)
		json_put_u64(w, key, measure.value);
	else
		json_put_null(w, key);
}

static void put_texts(struct json_writer *w, const char *key, const struct strvec *texts)
{
	json_begin_array(w, key);
	for (size_t i = 0; i < texts->len; i++)
		json_put_text(w, NULL, texts->items[i]);
	json_end(w);
}

static void put_value(struct json_writer *w, const char *key, enum field_kind kind,
	const void *member)
{
	switch (kind) {
	case TEXT:
	case OPTIONAL_TEXT:
		json_put_text(w, key, *(char *const *)member);
		break;
	case BYTES:
	case OPTIONAL_BYTES:
		put_bytes(w, key, *(char *const *)member);
		break;
	case TEXTS:
		put_texts(w, key, member);
		break;
	case SIGNED:
		json_put_i64(w, key, *(const int64_t *)member);
		break;
	case UNSIGNED:
		json_put_u64(w, key, *(const uint64_t *)member);
		break;
	case NUMBER:
		put_measure(w, key, *(const struct measure *)member);
		break;
	}
}

static void put_fields(struct json_writer *w, const struct field *fields, size_t count,
	const void *from)
{
	for (size_t i = 0; i < count; i++)
		put_value(w, fields[i].key, fields[i].kind, (const char *)from + fields[i].offset);
}

#define PUT_FIELDS(w, fields, from) put_fields(w, fields, ARRAY_SIZE(fields), from)

static void put_object(struct json_writer *w, const char *key, const struct field *fields,
	size_t count, const void *from)
{
	json_begin_object(w, key);
	put_fields(w, fields, count, from);
	json_end(w);
}

#define PUT_OBJECT(w, key, fields, from) put_object(w, key, fields, ARRAY_SIZE(fields), from)

/* An array instead of an object: there are many. */
static void put_row(struct json_writer *w, const struct field *fields, size_t count,
	const void *from)
{
	json_begin_array(w, NULL);
	for (size_t i = 0; i < count; i++)
		put_value(w, NULL, fields[i].kind, (const char *)from + fields[i].offset);
	json_end(w);
}

#define PUT_ROW(w, fields, from) put_row(w, fields, ARRAY_SIZE(fields), from)

static void put_metrics(struct json_writer *w, const struct benchmark *benchmark)
{
	const struct mode_info *mode = result_mode_info(benchmark->mode);

	json_begin_object(w, "metrics");
	for (size_t i = 0; i < mode->metric_count; i++)
		put_measure(w, mode->metrics[i].name, benchmark->metrics[i]);
	json_end(w);
}

static void put_rounds(struct json_writer *w, const struct benchmark *benchmark)
{
	json_begin_array(w, "rounds");
	for (size_t i = 0; i < benchmark->rounds.len; i++)
		json_put_u64(w, NULL, benchmark->rounds.items[i]);
	json_end(w);
}

static void put_heap(struct json_writer *w, const struct benchmark *benchmark)
{
	json_begin_array(w, "histogram");
	for (size_t i = 0; i < benchmark->histogram.len; i++)
		PUT_ROW(w, size_class_fields, &benchmark->histogram.items[i]);
	json_end(w);
	json_begin_array(w, "timeline");
	for (size_t i = 0; i < benchmark->timeline.len; i++)
		PUT_ROW(w, point_fields, &benchmark->timeline.items[i]);
	json_end(w);
}

static void put_functions(struct json_writer *w, const struct benchmark *benchmark)
{
	json_begin_array(w, "functions");
	for (size_t i = 0; i < benchmark->functions.len; i++)
		PUT_OBJECT(w, NULL, function_fields, &benchmark->functions.items[i]);
	json_end(w);
}

static void put_processes(struct json_writer *w, const struct benchmark *benchmark)
{
	json_begin_array(w, "processes");
	for (size_t i = 0; i < benchmark->processes.len; i++)
		PUT_OBJECT(w, NULL, process_fields, &benchmark->processes.items[i]);
	json_end(w);
}

static void put_benchmark(struct json_writer *w, const struct benchmark *benchmark)
{
	json_begin_object(w, NULL);
	PUT_FIELDS(w, identity_fields, benchmark);
	json_put_text(w, "mode", mode_name(benchmark->mode));
	json_put_text(w, "status", benchmark_status_name(benchmark->status));
	PUT_FIELDS(w, note_fields, benchmark);
	put_metrics(w, benchmark);
	if (benchmark->mode == MODE_WALLTIME)
		put_rounds(w, benchmark);
	if (benchmark->mode == MODE_MEMORY)
		put_heap(w, benchmark);
	if (benchmark->mode == MODE_SIMULATION)
		put_functions(w, benchmark);
	put_processes(w, benchmark);
	json_end(w);
}

void result_write_json(const struct result *result, struct buf *to)
{
	struct json_writer *w = json_writer_new();

	json_begin_object(w, NULL);
	json_put_u64(w, "version", RESULT_VERSION);
	PUT_OBJECT(w, "tool", tool_fields, &result->tool);
	PUT_OBJECT(w, "system", system_fields, &result->system);
	PUT_OBJECT(w, "run", run_fields, &result->run);
	json_begin_array(w, "benchmarks");
	for (size_t i = 0; i < result->benchmarks.len; i++)
		put_benchmark(w, &result->benchmarks.items[i]);
	json_end(w);
	json_end(w);
	json_writer_finish(w, JSON_PRETTY, to);
}

/* Reading */

static int read_text(const struct json_doc *doc, const struct json_value *v, char **to)
{
	const char *text;
	int rc = json_as_text(doc, v, &text);

	if (!rc)
		*to = xstrdup(text);
	return rc;
}

static int read_bytes(const struct json_doc *doc, const struct json_value *v, char **to)
{
	struct buf bytes = BUF_INIT;
	const char *text;
	int rc = json_as_text(doc, v, &text);

	if (rc)
		return rc;
	if (!strchr(text, '\\')) { /* most texts; there are many */
		*to = xstrdup(text);
		return 0;
	}
	text_unescape(text, strlen(text), &bytes);
	*to = buf_detach(&bytes);
	return 0;
}

static int read_measure(const struct json_doc *doc, const struct json_value *v,
	struct measure *to)
{
	to->known = true;
	return json_as_u64(doc, v, &to->value);
}

static bool may_be_absent(enum field_kind kind)
{
	return kind == OPTIONAL_TEXT || kind == OPTIONAL_BYTES || kind == NUMBER || kind == TEXTS;
}

static int read_value(const struct json_doc *doc, const struct json_value *v,
	enum field_kind kind, void *member)
{
	switch (kind) {
	case TEXT:
	case OPTIONAL_TEXT:
		return read_text(doc, v, member);
	case BYTES:
	case OPTIONAL_BYTES:
		return read_bytes(doc, v, member);
	case TEXTS:
		return json_as_texts(doc, v, member);
	case SIGNED:
		return json_as_i64(doc, v, member);
	case UNSIGNED:
		return json_as_u64(doc, v, member);
	case NUMBER:
		return read_measure(doc, v, member);
	}
	BUG("kind of field");
}

static int read_field(const struct json_doc *doc, const struct json_value *object,
	const struct field *field, void *to)
{
	const struct json_value *v;
	bool optional = may_be_absent(field->kind);
	int rc = optional ? json_find(doc, object, field->key, &v)
			  : json_get(doc, object, field->key, &v);

	if (rc || (optional && (!v || json_is_null(v))))
		return rc;
	return read_value(doc, v, field->kind, (char *)to + field->offset);
}

static int read_fields(const struct json_doc *doc, const struct json_value *object,
	const struct field *fields, size_t count, void *to)
{
	int rc = json_as_object(doc, object);

	for (size_t i = 0; !rc && i < count; i++)
		rc = read_field(doc, object, &fields[i], to);
	return rc;
}

#define READ_FIELDS(doc, object, fields, to) \
	read_fields(doc, object, fields, ARRAY_SIZE(fields), to)

static int read_part(const struct json_doc *doc, const char *key, const struct field *fields,
	size_t count, void *to)
{
	const struct json_value *object;
	int rc = json_get(doc, doc->root, key, &object);

	return rc ? rc : read_fields(doc, object, fields, count, to);
}

#define READ_PART(doc, key, fields, to) read_part(doc, key, fields, ARRAY_SIZE(fields), to)

/* The items of an array that may be absent. */
static int find_items(const struct json_doc *doc, const struct json_value *object,
	const char *key, struct json_iter *it)
{
	const struct json_value *array;
	int rc = json_find(doc, object, key, &array);

	*it = (struct json_iter){0};
	if (rc || !array)
		return rc;
	*it = json_iter(array);
	return json_as_array(doc, array);
}

static int read_row(const struct json_doc *doc, const struct json_value *row,
	const struct field *fields, size_t count, void *to)
{
	struct json_iter it = json_iter(row);
	int rc = json_as_array(doc, row);

	if (!rc && json_length(row) < count)
		return json_fail(doc, row, "expected %zu numbers, found %zu", count,
			json_length(row));
	for (size_t i = 0; !rc && i < count; i++)
		rc = read_value(doc, json_next(&it), fields[i].kind, (char *)to + fields[i].offset);
	return rc;
}

#define READ_ROW(doc, row, fields, to) read_row(doc, row, fields, ARRAY_SIZE(fields), to)

static int read_rounds(const struct json_doc *doc, const struct json_value *object,
	struct benchmark *to)
{
	const struct json_value *v;
	struct json_iter it;
	int rc = find_items(doc, object, "rounds", &it);

	while (!rc && (v = json_next(&it))) {
		vec_push(&to->rounds, 0);
		rc = json_as_u64(doc, v, vec_last(&to->rounds));
	}
	return rc;
}

static int read_histogram(const struct json_doc *doc, const struct json_value *object,
	struct benchmark *to)
{
	const struct json_value *row;
	struct json_iter it;
	int rc = find_items(doc, object, "histogram", &it);

	while (!rc && (row = json_next(&it))) {
		vec_push(&to->histogram, (struct result_size_class){0});
		rc = READ_ROW(doc, row, size_class_fields, vec_last(&to->histogram));
	}
	return rc;
}

static int read_timeline(const struct json_doc *doc, const struct json_value *object,
	struct benchmark *to)
{
	const struct json_value *row;
	struct json_iter it;
	int rc = find_items(doc, object, "timeline", &it);

	while (!rc && (row = json_next(&it))) {
		vec_push(&to->timeline, (struct result_point){0});
		rc = READ_ROW(doc, row, point_fields, vec_last(&to->timeline));
	}
	return rc;
}

static int read_functions(const struct json_doc *doc, const struct json_value *object,
	struct benchmark *to)
{
	const struct json_value *v;
	struct json_iter it;
	int rc = find_items(doc, object, "functions", &it);

	while (!rc && (v = json_next(&it))) {
		vec_push(&to->functions, (struct result_function){0});
		rc = READ_FIELDS(doc, v, function_fields, vec_last(&to->functions));
	}
	return rc;
}

static int read_processes(const struct json_doc *doc, const struct json_value *object,
	struct benchmark *to)
{
	const struct json_value *v;
	struct json_iter it;
	int rc = find_items(doc, object, "processes", &it);

	while (!rc && (v = json_next(&it))) {
		vec_push(&to->processes, (struct result_process){0});
		rc = READ_FIELDS(doc, v, process_fields, vec_last(&to->processes));
	}
	return rc;
}

static int read_metrics(const struct json_doc *doc, const struct json_value *object,
	struct benchmark *to)
{
	const struct mode_info *mode = result_mode_info(to->mode);
	const struct json_value *metrics;
	int rc = json_get_object(doc, object, "metrics", &metrics);

	for (size_t i = 0; !rc && i < mode->metric_count; i++) {
		const struct field field = {mode->metrics[i].name, NUMBER, 0};

		rc = read_field(doc, metrics, &field, &to->metrics[i]);
	}
	return rc;
}

static int read_mode(const struct json_doc *doc, const struct json_value *object,
	enum mode *to)
{
	const struct json_value *v;
	const char *name;
	int rc = json_get(doc, object, "mode", &v);

	if (!rc)
		rc = json_as_text(doc, v, &name);
	if (!rc && result_mode_from_name(name, to))
		return json_fail(doc, v, "is no mode this program knows");
	return rc;
}

static int read_status(const struct json_doc *doc, const struct json_value *object,
	enum benchmark_status *to)
{
	const struct json_value *v;
	const char *name;
	int rc = json_get(doc, object, "status", &v);

	if (!rc)
		rc = json_as_text(doc, v, &name);
	if (!rc && benchmark_status_from_name(name, to))
		return json_fail(doc, v, "is no status this program knows");
	return rc;
}

static int read_benchmark(const struct json_doc *doc, const struct json_value *object,
	struct benchmark *to)
{
	int rc = READ_FIELDS(doc, object, identity_fields, to);

	if (!rc)
		rc = read_mode(doc, object, &to->mode);
	if (!rc)
		rc = read_status(doc, object, &to->status);
	if (!rc)
		rc = READ_FIELDS(doc, object, note_fields, to);
	if (!rc)
		rc = read_metrics(doc, object, to);
	if (!rc && to->mode == MODE_WALLTIME)
		rc = read_rounds(doc, object, to);
	if (!rc && to->mode == MODE_MEMORY)
		rc = read_histogram(doc, object, to);
	if (!rc && to->mode == MODE_MEMORY)
		rc = read_timeline(doc, object, to);
	if (!rc && to->mode == MODE_SIMULATION)
		rc = read_functions(doc, object, to);
	if (!rc)
		rc = read_processes(doc, object, to);
	return rc;
}

static int read_benchmarks(const struct json_doc *doc, struct result *to)
{
	const struct json_value *array, *v;
	struct json_iter it;
	int rc = json_get_array(doc, doc->root, "benchmarks", &array);

	if (rc)
		return rc;
	it = json_iter(array);
	while (!rc && (v = json_next(&it))) {
		vec_push(&to->benchmarks, (struct benchmark){0});
		rc = read_benchmark(doc, v, vec_last(&to->benchmarks));
	}
	return rc;
}

static int check_version(const struct json_doc *doc)
{
	uint64_t version;
	int rc = json_get_u64(doc, doc->root, "version", &version);

	if (!rc && version > RESULT_VERSION)
		return fail(-EINVAL, "%s: version %" PRIu64 " is newer than this program reads (%d)",
			doc->name, version, RESULT_VERSION);
	if (!rc && version < RESULT_VERSION)
		return fail(-EINVAL, "%s: there is no version %" PRIu64, doc->name, version);
	return rc;
}

static int read_result(const struct json_doc *doc, struct result *to)
{
	int rc = check_version(doc);

	if (!rc)
		rc = READ_PART(doc, "tool", tool_fields, &to->tool);
	if (!rc)
		rc = READ_PART(doc, "system", system_fields, &to->system);
	if (!rc)
		rc = READ_PART(doc, "run", run_fields, &to->run);
	if (!rc)
		rc = read_benchmarks(doc, to);
	return rc;
}

int result_read_json(struct result *result, const char *name, const char *bytes, size_t len)
{
	struct json_doc doc;
	int rc = json_parse(&doc, name, bytes, len);

	if (rc)
		return rc;
	rc = read_result(&doc, result);
	if (rc)
		result_release(result);
	json_release(&doc);
	return rc;
}
