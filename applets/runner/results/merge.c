/* SPDX-License-Identifier: MIT */
/* merge.c - results of a CI matrix's shards made one */
#include "applets/runner/results/benchmark_index.h"
#include "applets/runner/results/fingerprint.h"
#include "applets/runner/results/merge.h"
#include "core/base.h"

/* Whether they can be merged */

static void add_differences(const struct merge_part *parts, size_t count, enum mode mode,
	struct buf *to)
{
	const struct merge_part *first = NULL;

	for (size_t i = 0; i < count; i++) {
		struct buf why = BUF_INIT;

		if (!result_has_mode(&parts[i].result, mode))
			continue;
		if (!first)
			first = &parts[i];
		else
			fingerprint_differences(&first->result, &parts[i].result, mode, &why);
		if (why.len) {
			buf_printf(to, "%s%s and %s (%s): %s", to->len ? "\n" : "", first->name,
				parts[i].name, mode_name(mode), why.data);
			buf_release(&why);
			return;
		}
	}
}

void merge_differences(const struct merge_part *parts, size_t count, struct buf *to)
{
	for (size_t i = 0; i < MODE_COUNT; i++)
		add_differences(parts, count, (enum mode)i, to);
}

/* What describes them */

static void merge_text(char **to, char **from)
{
	if (*to && *from && str_eq(*to, *from))
		return;
	if (!*to && !*from)
		return;
	free(*to);
	*to = xstrdup(FINGERPRINT_SEVERAL);
}

static void merge_measure(struct measure *to, const struct measure *from)
{
	if (to->known != from->known || to->value != from->value)
		*to = MEASURE_NULL;
}

static bool same_list(const struct strvec *a, const struct strvec *b)
{
	for (size_t i = 0; a->len == b->len && i < a->len; i++)
		if (!str_eq(a->items[i], b->items[i]))
			return false;
	return a->len == b->len;
}

static void merge_list(struct strvec *to, const struct strvec *from)
{
	if (same_list(to, from))
		return;
	strvec_release(to);
	strvec_push(to, FINGERPRINT_SEVERAL);
}

static void merge_system(struct result_system *to, struct result_system *from)
{
	merge_text(&to->os, &from->os);
	merge_text(&to->arch, &from->arch);
	merge_text(&to->cpu_model, &from->cpu_model);
	merge_list(&to->cpu_flags, &from->cpu_flags);
	merge_measure(&to->cores, &from->cores);
	merge_measure(&to->memory_bytes, &from->memory_bytes);
	merge_text(&to->kernel, &from->kernel);
	merge_text(&to->libc, &from->libc);
	merge_text(&to->valgrind, &from->valgrind);
	merge_list(&to->valgrind_options, &from->valgrind_options);
	merge_text(&to->governor, &from->governor);
	merge_text(&to->glibc_tunables, &from->glibc_tunables);
}

static void add_modes(struct strvec *to, const struct strvec *from)
{
	for (size_t i = 0; i < from->len; i++)
		if (!strvec_contains(to, from->items[i]))
			strvec_push(to, from->items[i]);
}

static void merge_run(struct result_run *to, struct result_run *from)
{
	if (strcmp(from->started, to->started) < 0) { /* ISO 8601 sorts by time */
		free(to->started);
		to->started = xstrdup(from->started);
	}
	to->duration_ns = add_capped(to->duration_ns, from->duration_ns);
	merge_text(&to->host, &from->host);
	merge_text(&to->command, &from->command);
	merge_text(&to->working_directory, &from->working_directory);
	add_modes(&to->modes, &from->modes);
}

static void merge_description(struct result *to, struct result *from)
{
	merge_text(&to->tool.name, &from->tool.name);
	merge_text(&to->tool.version, &from->tool.version);
	merge_text(&to->tool.build_id, &from->tool.build_id);
	merge_system(&to->system, &from->system);
	merge_run(&to->run, &from->run);
}

static void move_description(struct result *to, struct result *from)
{
	to->tool = from->tool;
	to->system = from->system;
	to->run = from->run;
	from->tool = (struct result_tool){0};
	from->system = (struct result_system){0};
	from->run = (struct result_run){0};
}

/* Benchmarks */

/* Where the benchmark with the number of an identity came from. */
struct origin {
	const char *name;
};

struct merging {
	struct result *to;
	struct intern keys; /* the number is the place in `to` */
	VEC(struct origin) origins;
	bool replace;
};

static void take(struct benchmark *to, struct benchmark *from)
{
	benchmark_release(to);
	*to = *from;
	*from = (struct benchmark){0};
}

static int add_benchmark(struct merging *m, struct benchmark *from, const char *name)
{
	struct benchmark *there;
	uint32_t at = benchmark_key(&m->keys, from);

	if (at == m->to->benchmarks.len) {
		vec_push(&m->to->benchmarks, (struct benchmark){0});
		vec_push(&m->origins, (struct origin){name});
		take(vec_last(&m->to->benchmarks), from);
		return 0;
	}
	there = &m->to->benchmarks.items[at];
	if (!m->replace)
		return fail(-EINVAL, "%s (%s) stands in %s and in %s (--replace lets the later one count)",
			    there->uri, mode_name(there->mode), m->origins.items[at].name, name);
	m->origins.items[at].name = name;
	take(there, from);
	return 0;
}

static int add_part(struct merging *m, struct merge_part *part)
{
	struct benchmark_index index;
	int rc = benchmark_index_init(&index, &part->result, part->name);

	benchmark_index_release(&index);
	for (size_t i = 0; !rc && i < part->result.benchmarks.len; i++)
		rc = add_benchmark(m, &part->result.benchmarks.items[i], part->name);
	return rc;
}

static int by_identity(const void *a, const void *b)
{
	const struct benchmark *x = a, *y = b;
	int order = strcmp(x->uri, y->uri);

	return order ? order : (int)x->mode - (int)y->mode;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int merge(struct result *to, struct merge_part *parts, size_t count, bool replace)
{
	struct merging m = {.to = to, .replace = replace};
	int rc = 0;

	intern_init(&m.keys);
	for (size_t i = 0; !rc && i < count; i++) {
		rc = add_part(&m, &parts[i]);
		if (i)
			merge_description(to, &parts[i].result);
		else
			move_description(to, &parts[i].result);
	}
	if (to->benchmarks.len)
		qsort(to->benchmarks.items, to->benchmarks.len, sizeof(*to->benchmarks.items),
		      by_identity);
	if (to->run.modes.len)
		qsort(to->run.modes.items, to->run.modes.len, sizeof(*to->run.modes.items), by_text);
	intern_release(&m.keys);
	vec_release(&m.origins);
	return rc;
}
