/* SPDX-License-Identifier: MIT */
/*
 * uri_parts.c - benchmarks of an integration: the parts of dumps that name a URI.
 *
 * A client request ends each part; its text, in the part's Trigger line, is the benchmark's URI or
 * announces the integration. A dump that a fork or an exec made inside a benchmark's window belongs
 * to the next part with a URI; without one it lies outside and is dropped. So is what a process
 * spends that a benchmark starts: only CodSpeed's valgrind tells whose child it is.
 */
#include "core/base.h"
#include "core/text.h"

#include "applets/runner/simulation/perf_map.h"
#include "applets/runner/simulation/profile.h"

#define REQUEST "Client Request: "
#define METADATA "Metadata: "

/* A benchmark on its way. Kept apart from the result, whose benchmarks move when one is added. */
struct gathered {
	char *uri;
	struct costs costs;
	struct function_costs functions;
	size_t runs;
	bool divided;          /* its window has a dump before a fork or the like */
	VEC(uint64_t) spawned; /* processes that its parts started (CodSpeed's valgrind) */
	char *damage;          /* what was wrong with a dump it is in, NULL */
};

struct gathering {
	const char *folder;
	const struct profile_wanted *wanted;
	struct profile_summary *summary;
	bool functions_wanted;
	VEC(struct gathered) benchmarks;

	/* Parts since the last one with a name. */
	struct costs pending;
	struct function_costs pending_functions;
	VEC(uint64_t) pending_spawned;
	bool pending_divided;
	size_t last_here; /* benchmark of the last named part in the dump at hand, + 1 */
	bool counted_here; /* the dump at hand has costs */

	size_t nameless; /* dumps with costs, and without a URI: of processes born in a window */
};

/* The URI that ends this part, or NULL. */
static const char *uri_of(const struct callgrind_part *part)
{
	const char *text = part->trigger + strlen(REQUEST);

	if (!str_starts(part->trigger, REQUEST) || str_starts(text, METADATA) || !*text)
		return NULL;
	return text;
}

static bool is_dump_point(const struct callgrind_part *part)
{
	return str_starts(part->trigger, "--dump-before=");
}

static void forget_pending(struct gathering *g)
{
	g->pending = (struct costs){0};
	g->pending_spawned.len = 0;
	g->pending_divided = false;
	if (g->pending_functions.rows.len) {
		function_costs_release(&g->pending_functions);
		profile_init_functions(&g->pending_functions, g->wanted);
	}
}

static struct gathered *gathered_of(struct gathering *g, const char *uri)
{
	for (size_t i = 0; i < g->benchmarks.len; i++)
		if (str_eq(g->benchmarks.items[i].uri, uri))
			return &g->benchmarks.items[i];
	vec_push(&g->benchmarks, (struct gathered){.uri = xstrdup(uri)});
	profile_init_functions(&vec_last(&g->benchmarks)->functions, g->wanted);
	return vec_last(&g->benchmarks);
}

static struct function_costs *on_part_begin(void *ctx, const struct callgrind_part *part)
{
	struct gathering *g = ctx;

	if (!g->functions_wanted || !(uri_of(part) || is_dump_point(part)))
		return NULL;
	return &g->pending_functions;
}

static void add_pending(struct gathering *g, const struct callgrind_part *part)
{
	costs_add_part(&g->pending, part);
	for (size_t i = 0; i < part->spawned_count; i++)
		vec_push(&g->pending_spawned, part->spawned[i]);
}

static void note_integration(struct gathering *g, const struct callgrind_part *part)
{
	const char *text = part->trigger + strlen(REQUEST);

	if (!str_starts(part->trigger, REQUEST METADATA) || g->summary->integration)
		return;
	g->summary->integration = xstrdup(text + strlen(METADATA));
}

static int on_part_end(void *ctx, const struct callgrind_part *part)
{
	struct gathering *g = ctx;
	const char *uri = uri_of(part);
	struct gathered *b;

	g->counted_here |= part->costs[CG_IR] > 0;
	if (is_dump_point(part)) {
		add_pending(g, part);
		g->pending_divided |= part->costs[CG_IR] > 0;
		return 0;
	}
	note_integration(g, part);
	if (uri) {
		add_pending(g, part);
		b = gathered_of(g, uri);
		costs_add(&b->costs, &g->pending);
		perf_map_merge(&b->functions, &g->pending_functions, g->folder, part->file->pid);
		for (size_t i = 0; i < g->pending_spawned.len; i++)
			vec_push(&b->spawned, g->pending_spawned.items[i]);
		b->divided |= g->pending_divided;
		b->runs++;
		g->last_here = (size_t)(b - g->benchmarks.items) + 1;
	}
	forget_pending(g);
	return 0;
}

static const struct callgrind_ops ops = {on_part_begin, on_part_end};

/* Only the first damage is kept: it says enough. */
static void note_damage(struct gathered *b, const char *folder, const char *name, const char *what)
{
	if (!b->damage)
		b->damage = xasprintf("%s/%s %s", folder, name, what);
}

static void read_dump(struct gathering *g, const char *name)
{
	size_t damaged = g->summary->damaged_dumps;

	g->last_here = 0;
	g->counted_here = false;
	profile_read_dump(g->folder, name, &ops, g, NULL, g->summary);
	forget_pending(g);
	g->nameless += g->counted_here && !g->last_here;
	if (g->summary->damaged_dumps > damaged && g->last_here)
		note_damage(&g->benchmarks.items[g->last_here - 1], g->folder, name,
			    "is damaged: parts after this one may be missing");
}

/* ---- Processes that a benchmark started, by the edges of CodSpeed's valgrind ---- */

struct subtree {
	struct gathering *g;
	struct gathered *b;
	VEC(uint64_t) todo; /* grows while it is walked; also what was seen */
};

static void plan(struct subtree *s, uint64_t pid)
{
	for (size_t i = 0; i < s->todo.len; i++)
		if (s->todo.items[i] == pid)
			return;
	vec_push(&s->todo, pid);
}

static struct function_costs *on_child_part_begin(void *ctx, const struct callgrind_part *part UNUSED)
{
	struct subtree *s = ctx;

	return s->g->functions_wanted ? &s->b->functions : NULL;
}

static int on_child_part_end(void *ctx, const struct callgrind_part *part)
{
	struct subtree *s = ctx;

	costs_add_part(&s->b->costs, part);
	for (size_t i = 0; i < part->spawned_count; i++)
		plan(s, part->spawned[i]);
	return 0;
}

static const struct callgrind_ops child_ops = {on_child_part_begin, on_child_part_end};

static void add_subtree(struct gathering *g, struct gathered *b)
{
	struct subtree s = {.g = g, .b = b};

	for (size_t i = 0; i < b->spawned.len; i++)
		plan(&s, b->spawned.items[i]);
	for (size_t i = 0; i < s.todo.len; i++) {
		char *name = xasprintf("%llu.out", (unsigned long long)s.todo.items[i]);
		size_t damaged = g->summary->damaged_dumps;

		if (!profile_read_dump(g->folder, name, &child_ops, &s, NULL, g->summary) ||
		    g->summary->damaged_dumps > damaged)
			note_damage(b, g->folder, name, "of a process that it started is empty, "
							"missing or damaged");
		free(name);
	}
	vec_release(&s.todo);
}

/* ---- Into the result ---- */

static void put_benchmark(struct result *result, const struct gathering *g,
			  const struct gathered *from)
{
	char *uri = text_escape_dup(from->uri);
	struct benchmark *b = result_add(result, MODE_SIMULATION, uri, result_name_of_uri(uri));

	costs_to_metrics(&from->costs, b->metrics);
	if (from->runs > 1)
		benchmark_note(b, "ran %zu times; the figures are the sum", from->runs);
	if (from->divided && g->nameless && !from->spawned.len)
		benchmark_note(b, "lower bound: it starts processes, whose cost is not counted here "
				  "('codspeed exec' measures a program with all it starts; CodSpeed's "
				  "valgrind can, by --simulation-track-subprocess)");
	if (from->damage) {
		b->status = BENCHMARK_INCOMPLETE;
		benchmark_note(b, "%s", from->damage);
	}
	profile_put_functions(b, &from->functions, g->wanted);
	free(uri);
}

static void gathered_release(struct gathered *b)
{
	free(b->uri);
	free(b->damage);
	function_costs_release(&b->functions);
	vec_release(&b->spawned);
}

void profile_load_uris(struct result *result, const char *folder,
		       const struct profile_wanted *wanted, const struct strvec *dumps,
		       struct profile_summary *summary)
{
	struct gathering g = {
		.folder = folder, .wanted = wanted, .summary = summary,
		.functions_wanted = profile_wants_functions(wanted),
	};

	profile_init_functions(&g.pending_functions, wanted);
	for (size_t i = 0; i < dumps->len; i++)
		read_dump(&g, dumps->items[i]);
	for (size_t i = 0; i < g.benchmarks.len; i++) {
		add_subtree(&g, &g.benchmarks.items[i]);
		put_benchmark(result, &g, &g.benchmarks.items[i]);
		gathered_release(&g.benchmarks.items[i]);
	}
	function_costs_release(&g.pending_functions);
	vec_release(&g.benchmarks);
	vec_release(&g.pending_spawned);
}
