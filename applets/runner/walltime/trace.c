/* SPDX-License-Identifier: MIT */
/* trace.c - what a sampler recorded, turned into stacks of function names */
#include "core/base.h"
#include "core/path.h"

#include "applets/runner/walltime/symbols.h"
#include "applets/runner/walltime/trace.h"

enum {
	ADDRESSES_MAX = 8 * 1024 * 1024, /* 64 MB: an hour of one processor, at common depths */
	GENERATIONS_MAX = 1000,          /* of forks that are followed for a mapping */
};

void trace_init(struct trace *t)
{
	*t = (struct trace){0};
	intern_init(&t->texts);
}

void trace_release(struct trace *t)
{
	vec_release(&t->samples);
	vec_release(&t->addresses);
	vec_release(&t->events);
	intern_release(&t->texts);
}

void trace_add_sample(struct trace *t, uint64_t time, pid_t pid, const uint64_t *addresses,
		      size_t count)
{
	if (t->addresses.len + count > ADDRESSES_MAX) {
		t->dropped++;
		return;
	}
	vec_push(&t->samples, (struct trace_sample){time, pid, t->addresses.len, (uint32_t)count});
	for (size_t i = 0; i < count; i++)
		vec_push(&t->addresses, addresses[i]);
}

void trace_add_event(struct trace *t, const struct trace_event *event, const char *text)
{
	struct trace_event copy = *event;

	copy.text = intern_add(&t->texts, text, strlen(text));
	vec_push(&t->events, copy);
}

/* ---- Which file was where ---- */

static int compare_events(const void *a, const void *b)
{
	const struct trace_event *left = a, *right = b;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return (left->time > right->time) - (left->time < right->time);
}

/* The first event after those of `pid` up to `time`; events are sorted. */
static size_t end_of(const struct trace *t, pid_t pid, uint64_t time)
{
	size_t low = 0, high = t->events.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct trace_event *e = &t->events.items[middle];

		if (e->pid < pid || (e->pid == pid && e->time <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Backwards from a moment: the newest mapping over the address, not beyond an exec; over a fork, in
 * the parent from there. With no address, the program's name. NULL: not known.
 */
static const struct trace_event *find_event(const struct trace *t, pid_t pid, uint64_t time,
					    const uint64_t *address)
{
	for (int generation = 0; generation < GENERATIONS_MAX; generation++) {
		const struct trace_event *fork = NULL;

		for (size_t i = end_of(t, pid, time); i-- > 0 && t->events.items[i].pid == pid;) {
			const struct trace_event *e = &t->events.items[i];

			if (e->change == TRACE_EXEC)
				return address ? NULL : e;
			if (address && e->change == TRACE_MAP && *address >= e->start && *address < e->end)
				return e;
			if (e->change == TRACE_FORK) {
				fork = e;
				break;
			}
		}
		if (!fork)
			return NULL;
		pid = fork->parent;
		time = fork->time;
	}
	return NULL;
}

/* ---- Names ---- */

struct files {
	VEC(struct symbols) list; /* by text id; read when asked for */
	VEC(bool) read;
};

static const char *function_name(struct files *files, const struct trace *t,
				 const struct trace_event *map, uint64_t address)
{
	const char *path = intern_text(&t->texts, map->text);
	const char *name;

	if (!files->read.items[map->text]) {
		symbols_read(&files->list.items[map->text], path);
		files->read.items[map->text] = true;
	}
	name = symbols_find(&files->list.items[map->text], address - map->start + map->offset);
	return name ? name : path_base(path);
}

/* A return address may be the next function's first byte: the call is before it. */
static uint64_t place_of(const struct trace *t, const struct trace_sample *s, size_t i)
{
	uint64_t address = t->addresses.items[s->first + i];

	return i ? address - 1 : address;
}

static void resolve_sample(struct files *files, const struct trace *t, const struct trace_sample *s,
			   struct stacks *to)
{
	const struct trace_event *program = find_event(t, s->pid, s->time, NULL);
	const char *name = program ? intern_text(&t->texts, program->text) : "?";
	struct buf line = BUF_INIT;

	stacks_add_frame(&line, name, strlen(name));
	for (size_t i = s->count; i-- > 0;) {
		uint64_t address = place_of(t, s, i);
		const struct trace_event *map = find_event(t, s->pid, s->time, &address);

		if (!map) /* where frame pointers end, an address is nothing */
			continue;
		name = function_name(files, t, map, address);
		stacks_add_frame(&line, name, strlen(name));
	}
	stacks_add(to, s->time, line.data, line.len);
	buf_release(&line);
}

void trace_resolve(struct trace *t, struct stacks *to)
{
	struct files files = {0};

	if (t->events.len)
		qsort(t->events.items, t->events.len, sizeof(*t->events.items), compare_events);
	for (size_t i = 0; i < intern_count(&t->texts); i++) {
		vec_push(&files.list, (struct symbols){0});
		vec_push(&files.read, false);
	}
	for (size_t i = 0; i < t->samples.len; i++)
		resolve_sample(&files, t, &t->samples.items[i], to);
	for (size_t i = 0; i < files.list.len; i++)
		symbols_release(&files.list.items[i]);
	vec_release(&files.list);
	vec_release(&files.read);
}
