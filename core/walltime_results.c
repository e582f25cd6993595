/* SPDX-License-Identifier: MIT */
/* walltime_results.c - results/<pid>.json, written and read by the same table of fields */
#include "core/base.h"
#include "core/json.h"
#include "core/walltime_results.h"

struct field {
	const char *key;
	size_t offset;
	bool is_count; /* uint64_t, else a double */
};

#define TIME(member) {#member, offsetof(struct round_statistics, member), false}
#define COUNT(member) {#member, offsetof(struct round_statistics, member), true}

/* In the order of the file. */
static const struct field stats_fields[] = {
	TIME(min_ns),
	TIME(max_ns),
	TIME(mean_ns),
	TIME(stdev_ns),
	TIME(q1_ns),
	TIME(median_ns),
	TIME(q3_ns),
	COUNT(rounds),
	TIME(total_time),
	COUNT(iqr_outlier_rounds),
	COUNT(stdev_outlier_rounds),
	COUNT(iter_per_round),
	COUNT(warmup_iters),
};

/* What an integration was asked for: exec-harness leaves all unsaid, and nobody here reads it. */
static const char *const config_keys[] = {
	"warmup_time_ns", "min_round_time_ns", "max_time_ns", "max_rounds",
};

void walltime_results_release(struct walltime_results *r)
{
	for (size_t i = 0; i < r->benchmarks.len; i++) {
		free(r->benchmarks.items[i].name);
		free(r->benchmarks.items[i].uri);
	}
	vec_release(&r->benchmarks);
	free(r->creator);
	free(r->version);
	*r = (struct walltime_results)WALLTIME_RESULTS_INIT;
}

/* Writing */

static void put_stats(struct json_writer *w, const struct round_statistics *stats)
{
	json_begin_object(w, "stats");
	for (size_t i = 0; i < ARRAY_SIZE(stats_fields); i++) {
		const struct field *field = &stats_fields[i];
		const char *member = (const char *)stats + field->offset;

		if (field->is_count)
			json_put_u64(w, field->key, *(const uint64_t *)member);
		else
			json_put_double(w, field->key, *(const double *)member);
	}
	json_end(w);
}

static void put_benchmark(struct json_writer *w, const struct walltime_benchmark *b)
{
	json_begin_object(w, NULL);
	json_put_text(w, "name", b->name);
	json_put_text(w, "uri", b->uri);
	json_begin_object(w, "config");
	for (size_t i = 0; i < ARRAY_SIZE(config_keys); i++)
		json_put_null(w, config_keys[i]);
	json_end(w);
	put_stats(w, &b->stats);
	json_end(w);
}

void walltime_results_encode(const struct walltime_results *r, struct buf *to)
{
	struct json_writer *w = json_writer_new();

	json_begin_object(w, NULL);
	json_begin_object(w, "creator");
	json_put_text(w, "name", r->creator);
	json_put_text(w, "version", r->version);
	json_put_u64(w, "pid", r->pid);
	json_end(w);
	json_begin_object(w, "instrument");
	json_put_text(w, "type", "walltime");
	json_end(w);
	json_begin_array(w, "benchmarks");
	for (size_t i = 0; i < r->benchmarks.len; i++)
		put_benchmark(w, &r->benchmarks.items[i]);
	json_end(w);
	json_end(w);
	json_writer_finish(w, JSON_UNENDED, to);
}

/* Reading */

static int read_stats(const struct json_doc *doc, const struct json_value *object,
		      struct round_statistics *stats)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < ARRAY_SIZE(stats_fields); i++) {
		const struct field *field = &stats_fields[i];
		void *member = (char *)stats + field->offset;

		rc = field->is_count ? json_get_u64(doc, object, field->key, member)
				     : json_get_double(doc, object, field->key, member);
	}
	return rc;
}

static int read_benchmark(const struct json_doc *doc, const struct json_value *object,
			  struct walltime_benchmark *b)
{
	const struct json_value *part;
	int rc = json_get_text_dup(doc, object, "name", &b->name);

	if (!rc)
		rc = json_get_text_dup(doc, object, "uri", &b->uri);
	if (!rc)
		rc = json_get_object(doc, object, "config", &part);
	if (!rc)
		rc = json_get_object(doc, object, "stats", &part);
	return rc ? rc : read_stats(doc, part, &b->stats);
}

static int read_creator(const struct json_doc *doc, struct walltime_results *r)
{
	const struct json_value *creator;
	int rc = json_get_object(doc, doc->root, "creator", &creator);

	if (!rc)
		rc = json_get_text_dup(doc, creator, "name", &r->creator);
	if (!rc)
		rc = json_get_text_dup(doc, creator, "version", &r->version);
	return rc ? rc : json_get_u64(doc, creator, "pid", &r->pid);
}

static int check_instrument(const struct json_doc *doc)
{
	const struct json_value *instrument;
	const char *type;
	int rc = json_get_object(doc, doc->root, "instrument", &instrument);

	if (!rc)
		rc = json_get_text(doc, instrument, "type", &type);
	if (!rc && !str_eq(type, "walltime"))
		return json_fail(doc, instrument, "is of another mode (%s): the integration did not "
						  "know that it was to measure wall time", type);
	return rc;
}

static int read_benchmarks(const struct json_doc *doc, struct walltime_results *r)
{
	const struct json_value *array, *item;
	struct json_iter it;
	int rc = json_get_array(doc, doc->root, "benchmarks", &array);

	if (rc)
		return rc;
	it = json_iter(array);
	while (!rc && (item = json_next(&it))) {
		vec_push(&r->benchmarks, (struct walltime_benchmark){0});
		rc = read_benchmark(doc, item, vec_last(&r->benchmarks));
	}
	return rc;
}

int walltime_results_decode(struct walltime_results *r, const char *name, const char *bytes,
			    size_t len)
{
	struct json_doc doc;
	int rc = json_parse(&doc, name, bytes, len);

	*r = (struct walltime_results)WALLTIME_RESULTS_INIT;
	if (rc)
		return rc;
	rc = read_creator(&doc, r);
	if (!rc)
		rc = check_instrument(&doc);
	if (!rc)
		rc = read_benchmarks(&doc, r);
	if (rc)
		walltime_results_release(r);
	json_release(&doc);
	return rc;
}
