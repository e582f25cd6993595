/* SPDX-License-Identifier: MIT */
/* simulation_record.c - which process of which benchmark left which dump */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include "core/json.h"
#include "core/simulation_record.h"
#include "core/text.h"

enum { RECORD_VERSION = 1 };

static const struct {
	unsigned flaw;
	const char *word;
} flaw_words[] = {
	{IMAGE_NO_DUMP, "no-dump"},
	{IMAGE_START_LOST, "start-lost"},
	{IMAGE_REPEATS, "repeats-parent"},
	{IMAGE_SELF_EXEC, "self-exec"},
	{IMAGE_NOT_STARTED, "not-started"},
};

void record_benchmark_release(struct record_benchmark *b)
{
	for (size_t i = 0; i < b->processes.len; i++) {
		struct record_process *p = &b->processes.items[i];

		for (size_t k = 0; k < p->images.len; k++) {
			free(p->images.items[k].command);
			strvec_release(&p->images.items[k].dumps);
		}
		vec_release(&p->images);
	}
	vec_release(&b->processes);
	free(b->uri);
	free(b->name);
}

void simulation_record_release(struct simulation_record *r)
{
	for (size_t i = 0; i < r->benchmarks.len; i++)
		record_benchmark_release(&r->benchmarks.items[i]);
	vec_release(&r->benchmarks);
}

/* ---- Writing ---- */

static void put_bytes(struct json_writer *w, const char *key, const char *bytes)
{
	json_put_bytes(w, key, bytes, strlen(bytes));
}

static void put_image(struct json_writer *w, const struct record_image *image)
{
	json_begin_object(w, NULL);
	put_bytes(w, "command", image->command);
	json_put_bool(w, "measured", image->measured);
	json_put_bool(w, "forked", image->forked);
	json_begin_array(w, "flaws");
	for (size_t i = 0; i < ARRAY_SIZE(flaw_words); i++)
		if (image->flaws & flaw_words[i].flaw)
			json_put_text(w, NULL, flaw_words[i].word);
	json_end(w);
	json_begin_array(w, "dumps");
	for (size_t i = 0; i < image->dumps.len; i++)
		put_bytes(w, NULL, image->dumps.items[i]);
	json_end(w);
	json_end(w);
}

static void put_process(struct json_writer *w, const struct record_process *p, size_t order)
{
	json_begin_object(w, NULL);
	json_put_i64(w, "pid", p->pid);
	json_put_u64(w, "order", order);
	json_put_i64(w, "parent", p->parent);
	json_put_bool(w, "outlived", p->outlived);
	json_put_i64(w, "status", p->status);
	json_begin_array(w, "images");
	for (size_t i = 0; i < p->images.len; i++)
		put_image(w, &p->images.items[i]);
	json_end(w);
	json_end(w);
}

static void put_benchmark(struct json_writer *w, const struct record_benchmark *b)
{
	json_begin_object(w, NULL);
	put_bytes(w, "uri", b->uri);
	put_bytes(w, "name", b->name);
	json_put_i64(w, "status", b->status);
	json_put_i64(w, "signal", b->signal);
	json_put_bool(w, "random_addresses", b->random_addresses);
	json_put_bool(w, "untraced", b->untraced);
	json_put_i64(w, "root", b->processes.len ? b->processes.items[0].pid : 0);
	json_begin_array(w, "processes");
	for (size_t i = 0; i < b->processes.len; i++)
		put_process(w, &b->processes.items[i], i);
	json_end(w);
	json_end(w);
}

static int write_record(const char *path, const struct simulation_record *r,
			const struct record_benchmark *added)
{
	struct json_writer *w = json_writer_new();
	struct buf text = BUF_INIT;
	int rc;

	json_begin_object(w, NULL);
	json_put_u64(w, "version", RECORD_VERSION);
	json_begin_array(w, "benchmarks");
	for (size_t i = 0; i < r->benchmarks.len; i++)
		put_benchmark(w, &r->benchmarks.items[i]);
	put_benchmark(w, added);
	json_end(w);
	json_end(w);
	json_writer_finish(w, JSON_PRETTY, &text);
	rc = write_file_atomic(path, text.data, text.len, 0644);
	buf_release(&text);
	return rc;
}

int simulation_record_append(const char *folder, const struct record_benchmark *b)
{
	char *path = xasprintf("%s/%s", folder, SIMULATION_RECORD_FILE);
	struct simulation_record before = {0};
	int lock, rc;

	lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0) {
		rc = fail_errno("cannot open the profile folder %s", folder);
		goto out;
	}
	while ((rc = flock(lock, LOCK_EX)) && errno == EINTR)
		;
	if (rc) {
		rc = fail_errno("cannot lock the profile folder %s", folder);
		goto out;
	}
	rc = simulation_record_read(folder, &before);
	if (rc == 0 || rc == -ENOENT)
		rc = write_record(path, &before, b);
out:
	if (lock >= 0)
		close(lock); /* and with it the lock */
	simulation_record_release(&before);
	free(path);
	return rc;
}

/* ---- Reading ---- */

static int get_bytes(const struct json_doc *doc, const struct json_value *object, const char *key,
		     char **to)
{
	const char *text;
	struct buf bytes = BUF_INIT;
	int rc = json_get_text(doc, object, key, &text);

	if (rc)
		return rc;
	text_unescape(text, strlen(text), &bytes);
	*to = buf_detach(&bytes);
	return 0;
}

static int get_int(const struct json_doc *doc, const struct json_value *object, const char *key,
		   int *to)
{
	int64_t value;
	int rc = json_get_i64(doc, object, key, &value);

	if (rc)
		return rc;
	if (value < INT32_MIN || value > INT32_MAX)
		return json_fail(doc, object, "%s is out of range", key);
	*to = (int)value;
	return 0;
}

/* A dump is a plain name: a record from elsewhere must not lead out of its folder. */
static int read_dumps(const struct json_doc *doc, const struct json_value *array,
		      struct record_image *image)
{
	struct json_iter it = json_iter(array);
	const struct json_value *v;
	const char *name;
	int rc;

	while ((v = json_next(&it))) {
		rc = json_as_text(doc, v, &name);
		if (rc)
			return rc;
		if (!*name || strchr(name, '/') || str_eq(name, ".") || str_eq(name, ".."))
			return json_fail(doc, v, "is not the name of a dump");
		strvec_push(&image->dumps, name);
	}
	return 0;
}

static int read_flaws(const struct json_doc *doc, const struct json_value *array, unsigned *flaws)
{
	struct json_iter it = json_iter(array);
	const struct json_value *v;
	const char *word;
	int rc;

	while ((v = json_next(&it))) {
		rc = json_as_text(doc, v, &word);
		if (rc)
			return rc;
		for (size_t i = 0; i < ARRAY_SIZE(flaw_words); i++)
			if (str_eq(word, flaw_words[i].word))
				*flaws |= flaw_words[i].flaw;
	}
	return 0;
}

static int read_image(const struct json_doc *doc, const struct json_value *v,
		      struct record_image *image)
{
	const struct json_value *list;
	int rc;

	rc = get_bytes(doc, v, "command", &image->command);
	if (!rc)
		rc = json_get_bool(doc, v, "measured", &image->measured);
	if (!rc)
		rc = json_get_bool(doc, v, "forked", &image->forked);
	if (!rc)
		rc = json_get_array(doc, v, "flaws", &list);
	if (!rc)
		rc = read_flaws(doc, list, &image->flaws);
	if (!rc)
		rc = json_get_array(doc, v, "dumps", &list);
	return rc ? rc : read_dumps(doc, list, image);
}

static int read_process(const struct json_doc *doc, const struct json_value *v,
			struct record_process *p)
{
	const struct json_value *list, *item;
	struct json_iter it;
	int rc;

	rc = json_get_i64(doc, v, "pid", &p->pid);
	if (!rc)
		rc = json_get_i64(doc, v, "parent", &p->parent);
	if (!rc)
		rc = json_get_bool(doc, v, "outlived", &p->outlived);
	if (!rc)
		rc = get_int(doc, v, "status", &p->status);
	if (!rc)
		rc = json_get_array(doc, v, "images", &list);
	if (rc)
		return rc;
	it = json_iter(list);
	while (!rc && (item = json_next(&it))) {
		vec_push(&p->images, (struct record_image){0});
		rc = read_image(doc, item, vec_last(&p->images));
	}
	return rc;
}

static int read_benchmark(const struct json_doc *doc, const struct json_value *v,
			  struct record_benchmark *b)
{
	const struct json_value *list, *item;
	struct json_iter it;
	int rc;

	rc = get_bytes(doc, v, "uri", &b->uri);
	if (!rc)
		rc = get_bytes(doc, v, "name", &b->name);
	if (!rc)
		rc = get_int(doc, v, "status", &b->status);
	if (!rc)
		rc = get_int(doc, v, "signal", &b->signal);
	if (!rc)
		rc = json_get_bool(doc, v, "random_addresses", &b->random_addresses);
	if (!rc)
		rc = json_get_bool(doc, v, "untraced", &b->untraced);
	if (!rc)
		rc = json_get_array(doc, v, "processes", &list);
	if (rc)
		return rc;
	it = json_iter(list);
	while (!rc && (item = json_next(&it))) {
		vec_push(&b->processes, (struct record_process){0});
		rc = read_process(doc, item, vec_last(&b->processes));
	}
	return rc;
}

static int read_document(const struct json_doc *doc, struct simulation_record *r)
{
	const struct json_value *list, *item;
	struct json_iter it;
	uint64_t version;
	int rc;

	rc = json_get_u64(doc, doc->root, "version", &version);
	if (rc)
		return rc;
	if (!version)
		return fail(-EINVAL, "%s: there is no version 0", doc->name);
	if (version > RECORD_VERSION)
		return fail(-EINVAL, "%s: version %llu is newer than this program reads (%d)",
			    doc->name, (unsigned long long)version, RECORD_VERSION);
	rc = json_get_array(doc, doc->root, "benchmarks", &list);
	if (rc)
		return rc;
	it = json_iter(list);
	while (!rc && (item = json_next(&it))) {
		vec_push(&r->benchmarks, (struct record_benchmark){0});
		rc = read_benchmark(doc, item, vec_last(&r->benchmarks));
	}
	return rc;
}

int simulation_record_read(const char *folder, struct simulation_record *r)
{
	char *path = xasprintf("%s/%s", folder, SIMULATION_RECORD_FILE);
	struct buf text = BUF_INIT;
	struct json_doc doc;
	int rc;

	rc = read_plain_file(path, &text);
	if (rc == -ENOENT)
		error_clear();
	if (rc)
		goto out;
	rc = json_parse(&doc, path, text.data, text.len);
	if (!rc) {
		rc = read_document(&doc, r);
		json_release(&doc);
	}
out:
	buf_release(&text);
	free(path);
	return rc;
}
