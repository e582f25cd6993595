/* SPDX-License-Identifier: MIT */
/* profile.c - from a simulation's profile folder to benchmarks */
#include <dirent.h>

#include "core/base.h"
#include "core/path.h"

#include "applets/runner/simulation/call_graph.h"
#include "applets/runner/simulation/profile.h"

void profile_init_functions(struct function_costs *functions, const struct profile_wanted *wanted)
{
	function_costs_init(functions);
	if (wanted->use)
		functions->graph = call_graph_new();
}

bool profile_wants_functions(const struct profile_wanted *wanted)
{
	return wanted->top || wanted->use;
}

void profile_put_functions(struct benchmark *b, const struct function_costs *functions,
			   const struct profile_wanted *wanted)
{
	size_t count;
	struct function_cost *rows = function_costs_top(functions, FUNCTIONS_BY_SELF, wanted->top,
							&count);
	struct measure total = b->metrics[SIMULATION_INSTRUCTIONS];

	for (size_t i = 0; i < count; i++) {
		const char *object = function_costs_object(functions, &rows[i]);
		bool known = *object && !str_eq(object, "???");

		vec_push(&b->functions, (struct result_function){
			.name = xstrdup(function_costs_name(functions, &rows[i])),
			.object = known ? xstrdup(object) : NULL,
			.self = rows[i].self,
			/* blocks of one run-time function call each other: their sum says too much */
			.inclusive = total.known && rows[i].inclusive > total.value
				? total.value : rows[i].inclusive,
		});
	}
	free(rows);
	if (wanted->use)
		wanted->use(wanted->ctx, b, functions);
}

bool profile_read_dump(const char *folder, const char *name, const struct callgrind_ops *ops,
		       void *ctx, struct benchmark *b, struct profile_summary *summary)
{
	char *path = xasprintf("%s/%s", folder, name);
	int rc = callgrind_read(path, ops, ctx);

	free(path);
	summary->dumps++;
	if (rc == CALLGRIND_COMPLETE)
		return true;
	if (rc == CALLGRIND_EMPTY) {
		summary->empty_dumps++;
		return false;
	}
	summary->damaged_dumps++;
	if (rc == CALLGRIND_TRUNCATED)
		fail(-ENODATA, "%s/%s: the dump is cut off, its last part is missing", folder, name);
	if (b) {
		b->status = b->status == BENCHMARK_OK ? BENCHMARK_INCOMPLETE : b->status;
		benchmark_note(b, "%s", error_text());
	} else {
		log_warn("%s", error_text());
	}
	error_clear();
	return true;
}

/* By process, a process's earlier images first: `7.1.out`, `7.2.out`, `7.out`. */
static int by_process(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	char *x_rest, *y_rest;
	unsigned long long p = strtoull(x, &x_rest, 10), q = strtoull(y, &y_rest, 10);

	if (p != q)
		return p < q ? -1 : 1;
	p = strtoull(x_rest + 1, NULL, 10); /* 0 for ".out": the last */
	q = strtoull(y_rest + 1, NULL, 10);
	return p - 1 < q - 1 ? -1 : p != q;
}

static int list_dumps(const char *folder, struct strvec *names)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);

	if (!dir)
		return fail_errno("cannot read the profile folder %s", folder);
	while ((entry = readdir(dir)))
		if (path_is_numbered(entry->d_name, "", ".out", NULL))
			strvec_push(names, entry->d_name);
	closedir(dir);
	if (names->len)
		qsort(names->items, names->len, sizeof(*names->items), by_process);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What is in `all`, but not in `claimed`. */
static void subtract(const struct strvec *all, struct strvec *claimed, struct strvec *rest)
{
	if (claimed->len)
		qsort(claimed->items, claimed->len, sizeof(*claimed->items), by_text);
	for (size_t i = 0; i < all->len; i++)
		if (!claimed->len || !bsearch(&all->items[i], claimed->items, claimed->len,
					      sizeof(*claimed->items), by_text))
			strvec_push(rest, all->items[i]);
}

int profile_load(struct result *result, const char *folder, const struct profile_wanted *wanted,
		 struct profile_summary *summary)
{
	struct strvec all = STRVEC_INIT, claimed = STRVEC_INIT, rest = STRVEC_INIT;
	struct simulation_record record = {0};
	int rc;

	*summary = (struct profile_summary){0};
	rc = list_dumps(folder, &all);
	if (rc)
		goto out;
	rc = simulation_record_read(folder, &record);
	if (rc && rc != -ENOENT)
		goto out;
	profile_load_trees(result, folder, wanted, &record, &claimed, summary);
	subtract(&all, &claimed, &rest);
	profile_load_uris(result, folder, wanted, &rest, summary);
	rc = 0;
out:
	simulation_record_release(&record);
	strvec_release(&all);
	strvec_release(&claimed);
	strvec_release(&rest);
	return rc;
}
