/* SPDX-License-Identifier: MIT */
/* profile.c - the folder of a walltime run into benchmarks */
#include <dirent.h>

#include "core/base.h"
#include "core/execution_timestamps.h"
#include "core/io.h"
#include "core/path.h"
#include "core/round_record.h"
#include "core/walltime_results.h"

#include "applets/runner/walltime/profile.h"

/* ---- The files ---- */

struct file {
	char *path;
	uint64_t pid;
};

struct files {
	VEC(struct file) list;
};

static int compare_files(const void *a, const void *b)
{
	const struct file *left = a, *right = b;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return strcmp(left->path, right->path);
}

static void files_release(struct files *f)
{
	for (size_t i = 0; i < f->list.len; i++)
		free(f->list.items[i].path);
	vec_release(&f->list);
}

/* Every PREFIX*.json of a folder, whatever else its name is: the number, if there is one, orders them. */
static int find_files(struct files *f, const char *folder, const char *prefix)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? 0 : fail_errno("cannot read %s", folder);
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!str_starts(name, prefix) || !str_ends(name, ".json"))
			continue;
		vec_push(&f->list, (struct file){.path = xasprintf("%s/%s", folder, name),
						 .pid = strtoull(name + strlen(prefix), NULL, 10)});
	}
	closedir(dir);
	if (f->list.len)
		qsort(f->list.items, f->list.len, sizeof(*f->list.items), compare_files);
	return 0;
}

static int find_results(struct files *f, const char *folder)
{
	char *results = xasprintf("%s/results", folder);
	int rc = find_files(f, results, "");

	free(results);
	return rc;
}

/* ---- Benchmarks ---- */

/* Files come from anywhere: what is no number of nanoseconds is not known. */
static struct measure measure_of(double ns)
{
	return ns >= 0 && ns < 1e18 ? MEASURE((uint64_t)(ns + 0.5)) : MEASURE_NULL;
}

static void set_statistics(struct benchmark *b, const struct round_statistics *s)
{
	b->metrics[WALLTIME_MEAN] = measure_of(s->mean_ns);
	b->metrics[WALLTIME_MEDIAN] = measure_of(s->median_ns);
	b->metrics[WALLTIME_MIN] = measure_of(s->min_ns);
	b->metrics[WALLTIME_MAX] = measure_of(s->max_ns);
	b->metrics[WALLTIME_STDEV] = measure_of(s->stdev_ns);
	b->metrics[WALLTIME_Q1] = measure_of(s->q1_ns);
	b->metrics[WALLTIME_Q3] = measure_of(s->q3_ns);
	b->metrics[WALLTIME_ROUNDS] = MEASURE(s->rounds);
	b->metrics[WALLTIME_OUTLIERS] = MEASURE(s->iqr_outlier_rounds);
}

static void add_benchmark(struct result *r, const struct walltime_benchmark *from)
{
	struct benchmark *b = result_add(r, MODE_WALLTIME, from->uri, from->name);

	set_statistics(b, &from->stats);
	if (from->stats.rounds)
		return;
	b->status = BENCHMARK_FAILED;
	benchmark_note(b, "it was run no round: the integration measured nothing");
	for (size_t i = 0; i < WALLTIME_METRICS; i++)
		b->metrics[i] = MEASURE_NULL;
}

/* How many iterations a round of each benchmark of the result files was, in their order. */
struct iterations {
	VEC(uint64_t) list;
};

static int load_results(struct result *r, const char *path, struct iterations *iterations,
			struct walltime_profile_summary *summary)
{
	struct walltime_results results;
	struct buf text = BUF_INIT;
	int rc = read_plain_file(path, &text);

	if (!rc)
		rc = walltime_results_decode(&results, path, text.data ? text.data : "", text.len);
	buf_release(&text);
	if (rc)
		return rc;
	for (size_t i = 0; i < results.benchmarks.len; i++) {
		add_benchmark(r, &results.benchmarks.items[i]);
		vec_push(&iterations->list, results.benchmarks.items[i].stats.iter_per_round);
	}
	summary->empty_files += !results.benchmarks.len;
	free(summary->integration);
	summary->integration = xasprintf("%s %s", results.creator, results.version);
	walltime_results_release(&results);
	return 0;
}

/* ---- What our own harness adds ---- */

/* The newest of this URI that has no rounds yet: harnesses of one run may repeat a name. */
static struct benchmark *find_benchmark(struct result *r, size_t from, const char *uri)
{
	for (size_t i = from; i < r->benchmarks.len; i++) {
		struct benchmark *b = &r->benchmarks.items[i];

		if (b->mode == MODE_WALLTIME && !b->rounds.len && str_eq(b->uri, uri))
			return b;
	}
	return NULL;
}

/* Means of the rounds, and the largest of them. */
static void add_rounds(struct benchmark *b, const struct round_benchmark *from)
{
	uint64_t user = 0, system = 0, largest = 0, count = from->rounds.len;

	for (size_t i = 0; i < count; i++) {
		const struct round *round = &from->rounds.items[i];

		vec_push(&b->rounds, round->end - round->start);
		user = add_capped(user, round->user_ns);
		system = add_capped(system, round->system_ns);
		largest = round->max_rss_bytes > largest ? round->max_rss_bytes : largest;
	}
	if (!count)
		return;
	b->metrics[WALLTIME_USER] = MEASURE(user / count);
	b->metrics[WALLTIME_SYSTEM] = MEASURE(system / count);
	b->metrics[WALLTIME_MAX_RSS] = MEASURE(largest);
}

static void add_record(struct result *r, size_t first, const struct round_benchmark *from)
{
	struct benchmark *b = from->outcome == ROUNDS_FAILED ? NULL
							     : find_benchmark(r, first, from->uri);

	if (!b) /* it has no statistics */
		b = result_add(r, MODE_WALLTIME, from->uri, from->name);
	if (from->outcome == ROUNDS_FAILED)
		b->status = BENCHMARK_FAILED;
	else if (from->outcome == ROUNDS_INTERRUPTED)
		b->status = BENCHMARK_INCOMPLETE;
	add_rounds(b, from);
	for (size_t i = 0; i < from->notes.len; i++)
		benchmark_note(b, "%s", from->notes.items[i]);
}

static int load_record(struct result *r, size_t first, const char *path)
{
	struct round_record record = {0};
	int rc = round_record_read(&record, path);

	if (rc)
		return rc;
	for (size_t i = 0; i < record.benchmarks.len; i++)
		add_record(r, first, &record.benchmarks.items[i]);
	round_record_release(&record);
	return 0;
}

/* ---- What integrations say of their rounds ---- */

/*
 * Whether the rounds may be those that the file has the statistics of: an integration may give each
 * round another number of iterations and tell only the mean. Its clock may be another one.
 */
static bool agree_with_statistics(const struct benchmark *b)
{
	double min = 0.9 * (double)b->metrics[WALLTIME_MIN].value;
	double max = 1.1 * (double)b->metrics[WALLTIME_MAX].value;

	for (size_t i = 0; i < b->rounds.len; i++)
		if ((double)b->rounds.items[i] < min || (double)b->rounds.items[i] > max)
			return false;
	return true;
}

/*
 * The rounds inside a window, in ns an iteration as all figures are; not when the file counts others
 * than were marked.
 */
static void add_marked_rounds(struct benchmark *b, const struct execution_timestamps *t,
			      const struct execution_window *window, uint64_t iterations)
{
	uint64_t start = 0, rounds = b->metrics[WALLTIME_ROUNDS].value;
	bool open = false;

	for (size_t i = 0; i < t->markers.len; i++) {
		const struct marker *m = &t->markers.items[i];

		if (m->time < window->start || m->time > window->end)
			continue;
		if (m->type == MARKER_ROUND_START) {
			start = m->time;
			open = true;
		} else if (m->type == MARKER_ROUND_END && open && m->time >= start) {
			vec_push(&b->rounds, (m->time - start) / iterations);
			open = false;
		}
	}
	if (b->rounds.len != rounds || (iterations > 1 && !agree_with_statistics(b)))
		b->rounds.len = 0;
}

/* At least one; of a benchmark of our harness it is one. */
static uint64_t iterations_of(const struct iterations *iterations, size_t benchmark)
{
	uint64_t count = benchmark < iterations->list.len ? iterations->list.items[benchmark] : 1;

	return count ? count : 1;
}

static int load_marked_rounds(struct result *r, size_t first, const struct iterations *iterations,
			      const char *folder)
{
	char *path = xasprintf("%s/" EXECUTION_TIMESTAMPS_FILE, folder);
	struct execution_timestamps t = EXECUTION_TIMESTAMPS_INIT;
	struct execution_windows windows = {0};
	int rc = execution_timestamps_read(&t, path);

	free(path);
	if (rc == -ENOENT) {
		error_clear();
		return 0;
	}
	if (rc)
		return rc;
	execution_windows_find(&t, &windows);
	for (size_t i = 0; i < windows.list.len; i++) {
		const struct execution_window *window = &windows.list.items[i];
		struct benchmark *b = window->uri == EXECUTION_NO_URI
			? NULL : find_benchmark(r, first, t.uris.items[window->uri].uri);

		if (b)
			add_marked_rounds(b, &t, window, iterations_of(iterations,
				(size_t)(b - r->benchmarks.items) - first));
	}
	execution_windows_release(&windows);
	execution_timestamps_release(&t);
	return 0;
}

/* ---- The folder ---- */

bool walltime_profile_exists(const char *folder)
{
	struct files results = {0}, records = {0};
	bool found;

	if (find_results(&results, folder) || find_files(&records, folder, ROUND_RECORD_PREFIX))
		error_clear();
	found = results.list.len || records.list.len;
	files_release(&results);
	files_release(&records);
	return found;
}

int walltime_profile_load(struct result *r, const char *folder,
			  struct walltime_profile_summary *summary)
{
	struct files results = {0}, records = {0};
	struct iterations iterations = {.list = VEC_INIT};
	size_t first = r->benchmarks.len;
	int rc = find_results(&results, folder);

	*summary = (struct walltime_profile_summary){0};
	if (!rc)
		rc = find_files(&records, folder, ROUND_RECORD_PREFIX);
	for (size_t i = 0; !rc && i < results.list.len; i++)
		rc = load_results(r, results.list.items[i].path, &iterations, summary);
	for (size_t i = 0; !rc && i < records.list.len; i++)
		rc = load_record(r, first, records.list.items[i].path);
	if (!rc)
		rc = load_marked_rounds(r, first, &iterations, folder);
	summary->files = results.list.len;
	summary->records = records.list.len;
	vec_release(&iterations.list);
	files_release(&results);
	files_release(&records);
	return rc;
}
