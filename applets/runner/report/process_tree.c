/* SPDX-License-Identifier: MIT */
/* process_tree.c - the processes of a benchmark as a tree; no recursion, a tree may be deep */
#include "applets/runner/report/process_tree.h"
#include "core/base.h"

enum { MAX_DRAWN = 16 }; /* levels; a line must leave room for the command */

/* A process by its id, and its place among those that had the id before it. */
struct known {
	int64_t pid;
	int index;
};

static int by_pid_and_index(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static struct known *sort_by_pid(const struct benchmark *benchmark)
{
	struct known *known = xcalloc(benchmark->processes.len, sizeof(*known));

	for (size_t i = 0; i < benchmark->processes.len; i++)
		known[i] = (struct known){benchmark->processes.items[i].pid, (int)i};
	qsort(known, benchmark->processes.len, sizeof(*known), by_pid_and_index);
	return known;
}

/* The newest earlier process with the right id: the last entry before (ppid, child). */
static int find_parent(const struct known *known, int count, int64_t ppid, int child)
{
	const struct known wanted = {ppid, child};
	int low = 0, high = count;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (by_pid_and_index(&known[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && known[low - 1].pid == ppid ? known[low - 1].index : PROCESS_NONE;
}

/* Put `node` in front of its siblings. */
static void link_node(struct process_tree *tree, int node)
{
	int parent = tree->nodes[node].parent;
	int *first = parent == PROCESS_NONE ? &tree->first : &tree->nodes[parent].first_child;

	tree->nodes[node].next_sibling = *first;
	*first = node;
}

/* Whether `b`, a sibling of `a`, would only repeat its line. */
static bool alike(const struct process_tree *tree, const struct benchmark *benchmark, int a, int b)
{
	const char *x = benchmark->processes.items[a].command;
	const char *y = benchmark->processes.items[b].command;

	return tree->nodes[a].first_child == PROCESS_NONE &&
	       tree->nodes[b].first_child == PROCESS_NONE && x && y && str_eq(x, y);
}

static void fold_into(struct process_node *to, const struct process_node *from)
{
	to->count += from->count;
	to->instructions.known &= from->instructions.known;
	to->instructions.value = add_capped(to->instructions.value, from->instructions.value);
	to->next_sibling = from->next_sibling;
}

/* Make one line of each long run among the siblings from `first` on. */
static void fold_siblings(struct process_tree *tree, const struct benchmark *benchmark, int first)
{
	for (int at = first; at != PROCESS_NONE; at = tree->nodes[at].next_sibling) {
		size_t run = 1;

		for (int i = tree->nodes[at].next_sibling; i != PROCESS_NONE && alike(tree, benchmark, at, i);
		     i = tree->nodes[i].next_sibling)
			run++;
		if (run <= PROCESS_RUN_SHOWN)
			continue;
		while (--run)
			fold_into(&tree->nodes[at], &tree->nodes[tree->nodes[at].next_sibling]);
	}
}

void process_tree_init(struct process_tree *tree, const struct benchmark *benchmark)
{
	struct known *known = sort_by_pid(benchmark);
	int count = (int)benchmark->processes.len;

	tree->first = PROCESS_NONE;
	tree->nodes = xcalloc(benchmark->processes.len, sizeof(*tree->nodes));
	for (int i = 0; i < count; i++) {
		tree->nodes[i].parent = find_parent(known, count,
						    benchmark->processes.items[i].ppid, i);
		tree->nodes[i].first_child = PROCESS_NONE;
		tree->nodes[i].count = 1;
		tree->nodes[i].instructions = benchmark->processes.items[i].instructions;
	}
	for (int i = count - 1; i >= 0; i--)
		link_node(tree, i);
	fold_siblings(tree, benchmark, tree->first);
	for (int i = 0; i < count; i++)
		fold_siblings(tree, benchmark, tree->nodes[i].first_child);
	free(known);
}

void process_tree_release(struct process_tree *tree)
{
	free(tree->nodes);
	tree->nodes = NULL;
}

int process_tree_next(const struct process_tree *tree, int at)
{
	if (tree->nodes[at].first_child != PROCESS_NONE)
		return tree->nodes[at].first_child;
	while (at != PROCESS_NONE && tree->nodes[at].next_sibling == PROCESS_NONE)
		at = tree->nodes[at].parent;
	return at == PROCESS_NONE ? PROCESS_NONE : tree->nodes[at].next_sibling;
}

void process_tree_draw(const struct process_tree *tree, int at, bool utf8, struct buf *to)
{
	const char *branch = utf8 ? "├ " : "+ ", *last = utf8 ? "└ " : "+ ";
	const char *through = utf8 ? "│ " : "| ";
	bool goes_on[MAX_DRAWN];
	int depth = 0;

	/* From the inside to the outside; what is too deep loses its outer levels. */
	for (int i = at; i != PROCESS_NONE && depth < MAX_DRAWN; i = tree->nodes[i].parent)
		goes_on[depth++] = tree->nodes[i].next_sibling != PROCESS_NONE;
	while (--depth > 0)
		buf_addstr(to, goes_on[depth] ? through : "  ");
	buf_addstr(to, goes_on[0] ? branch : last);
}
