/* SPDX-License-Identifier: MIT */
/* round_record.c - rounds-<pid>.json, written and read by the same table of columns */
#include <unistd.h>

#include "core/base.h"
#include "core/io.h"
#include "core/json.h"
#include "core/round_record.h"

enum { RECORD_VERSION = 1 };

/* A round is a row of numbers, there may be a hundred thousand; the columns are named once. */
static const struct column {
	const char *name;
	size_t offset;
} columns[] = {
#define COLUMN(member) {#member, offsetof(struct round, member)}
	COLUMN(start),
	COLUMN(end),
	COLUMN(user_ns),
	COLUMN(system_ns),
	COLUMN(max_rss_bytes),
	COLUMN(minor_faults),
	COLUMN(major_faults),
	COLUMN(voluntary_switches),
	COLUMN(involuntary_switches),
	COLUMN(status),
};

_Static_assert(sizeof(struct round) == ARRAY_SIZE(columns) * sizeof(uint64_t),
	       "every member is a column of 64 bits");

static const char *const outcome_words[] = {
	[ROUNDS_OK] = "ok",
	[ROUNDS_FAILED] = "failed",
	[ROUNDS_INTERRUPTED] = "interrupted",
};

void round_benchmark_release(struct round_benchmark *b)
{
	free(b->uri);
	free(b->name);
	strvec_release(&b->notes);
	vec_release(&b->rounds);
}

void round_record_release(struct round_record *r)
{
	for (size_t i = 0; i < r->benchmarks.len; i++)
		round_benchmark_release(&r->benchmarks.items[i]);
	vec_release(&r->benchmarks);
}

/* Writing */

static uint64_t *cell(const struct round *round, size_t column)
{
	return (uint64_t *)((char *)round + columns[column].offset);
}

static void put_round(struct json_writer *w, const struct round *round)
{
	json_begin_array(w, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		json_put_u64(w, NULL, *cell(round, i));
	json_end(w);
}

static void put_benchmark(struct json_writer *w, const struct round_benchmark *b)
{
	json_begin_object(w, NULL);
	json_put_text(w, "uri", b->uri);
	json_put_text(w, "name", b->name);
	json_put_text(w, "outcome", outcome_words[b->outcome]);
	json_begin_array(w, "notes");
	for (size_t i = 0; i < b->notes.len; i++)
		json_put_text(w, NULL, b->notes.items[i]);
	json_end(w);
	json_begin_array(w, "rounds");
	for (size_t i = 0; i < b->rounds.len; i++)
		put_round(w, &b->rounds.items[i]);
	json_end(w);
	json_end(w);
}

static void encode(const struct round_record *r, struct buf *to)
{
	struct json_writer *w = json_writer_new();

	json_begin_object(w, NULL);
	json_put_u64(w, "version", RECORD_VERSION);
	json_begin_array(w, "columns");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		json_put_text(w, NULL, columns[i].name);
	json_end(w);
	json_begin_array(w, "benchmarks");
	for (size_t i = 0; i < r->benchmarks.len; i++)
		put_benchmark(w, &r->benchmarks.items[i]);
	json_end(w);
	json_end(w);
	json_writer_finish(w, JSON_ONE_LINE, to);
	buf_addch(to, '\n');
}

int round_record_write(const struct round_record *r, const char *folder)
{
	char *path = xasprintf("%s/" ROUND_RECORD_PREFIX "%d" ROUND_RECORD_SUFFIX, folder, getpid());
	struct buf text = BUF_INIT;
	int rc;

	encode(r, &text);
	rc = write_file_atomic(path, text.data, text.len, 0644);
	buf_release(&text);
	free(path);
	return rc;
}

/* Reading */

static int read_outcome(const struct json_doc *doc, const struct json_value *object,
			enum round_outcome *to)
{
	const struct json_value *v;
	const char *word;
	int rc = json_get(doc, object, "outcome", &v);

	if (!rc)
		rc = json_as_text(doc, v, &word);
	if (rc)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(outcome_words); i++) {
		if (str_eq(word, outcome_words[i])) {
			*to = (enum round_outcome)i;
			return 0;
		}
	}
	return json_fail(doc, v, "is no outcome this program knows");
}

static int read_round(const struct json_doc *doc, const struct json_value *row, struct round *to)
{
	struct json_iter it = json_iter(row);
	int rc = json_as_array(doc, row);

	if (!rc && json_length(row) < ARRAY_SIZE(columns))
		return json_fail(doc, row, "expected %zu numbers, found %zu", ARRAY_SIZE(columns),
				 json_length(row));
	for (size_t i = 0; !rc && i < ARRAY_SIZE(columns); i++)
		rc = json_as_u64(doc, json_next(&it), cell(to, i));
	if (!rc && to->end < to->start)
		return json_fail(doc, row, "ends before it starts");
	return rc;
}

static int read_rounds(const struct json_doc *doc, const struct json_value *object,
		       struct round_benchmark *to)
{
	const struct json_value *list, *item;
	struct json_iter it;
	int rc = json_get_array(doc, object, "rounds", &list);

	if (rc)
		return rc;
	it = json_iter(list);
	while (!rc && (item = json_next(&it))) {
		vec_push(&to->rounds, (struct round){0});
		rc = read_round(doc, item, vec_last(&to->rounds));
	}
	return rc;
}

static int read_benchmark(const struct json_doc *doc, const struct json_value *object,
			  struct round_benchmark *to)
{
	const struct json_value *notes;
	int rc = json_get_text_dup(doc, object, "uri", &to->uri);

	if (!rc)
		rc = json_get_text_dup(doc, object, "name", &to->name);
	if (!rc)
		rc = read_outcome(doc, object, &to->outcome);
	if (!rc)
		rc = json_get_array(doc, object, "notes", &notes);
	if (!rc)
		rc = json_as_texts(doc, notes, &to->notes);
	return rc ? rc : read_rounds(doc, object, to);
}

static int read_document(const struct json_doc *doc, struct round_record *r)
{
	const struct json_value *list, *item;
	struct json_iter it;
	uint64_t version;
	int rc = json_get_u64(doc, doc->root, "version", &version);

	if (rc)
		return rc;
	if (version != RECORD_VERSION)
		return fail(-EINVAL, "%s: version %llu is not one this program reads (%d)", doc->name,
			    (unsigned long long)version, RECORD_VERSION);
	rc = json_get_array(doc, doc->root, "benchmarks", &list);
	if (rc)
		return rc;
	it = json_iter(list);
	while (!rc && (item = json_next(&it))) {
		vec_push(&r->benchmarks, (struct round_benchmark){0});
		rc = read_benchmark(doc, item, vec_last(&r->benchmarks));
	}
	return rc;
}

int round_record_decode(struct round_record *r, const char *name, const char *bytes, size_t len)
{
	struct json_doc doc;
	int rc = json_parse(&doc, name, bytes, len);

	if (rc)
		return rc;
	rc = read_document(&doc, r);
	if (rc)
		round_record_release(r);
	json_release(&doc);
	return rc;
}

int round_record_read(struct round_record *r, const char *path)
{
	struct buf text = BUF_INIT;
	int rc = read_plain_file(path, &text);

	if (!rc)
		rc = round_record_decode(r, path, text.data ? text.data : "", text.len);
	buf_release(&text);
	return rc;
}
