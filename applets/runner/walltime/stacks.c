/* SPDX-License-Identifier: MIT */
/* stacks.c - samples with the functions they were in, and files of them */
#include "core/base.h"
#include "core/io.h"
#include "core/text.h"

#include "applets/runner/walltime/stacks.h"

void stacks_init(struct stacks *s)
{
	*s = (struct stacks){0};
	intern_init(&s->texts);
}

void stacks_release(struct stacks *s)
{
	intern_release(&s->texts);
	vec_release(&s->samples);
}

void stacks_add(struct stacks *s, uint64_t time, const char *folded, size_t len)
{
	vec_push(&s->samples, (struct stack_sample){time, intern_add(&s->texts, folded, len)});
}

void stacks_add_frame(struct buf *line, const char *name, size_t len)
{
	size_t from = line->len + (line->len > 0);

	if (line->len)
		buf_addch(line, ';');
	text_printable(name, len, line);
	for (size_t i = from; i < line->len; i++)
		if (line->data[i] == ';')
			line->data[i] = ':';
}

static bool is_inside(const struct execution_windows *windows, const struct execution_timestamps *t,
		      const char *uri, uint64_t time)
{
	for (size_t i = 0; i < windows->list.len; i++) {
		const struct execution_window *w = &windows->list.items[i];

		if (time >= w->start && time <= w->end && w->uri != EXECUTION_NO_URI &&
		    str_eq(t->uris.items[w->uri].uri, uri))
			return true;
	}
	return false;
}

/* How often each stack was seen in a benchmark's windows; the sum is returned. */
static uint64_t count_stacks(const struct stacks *s, const struct execution_windows *windows,
			     const struct execution_timestamps *t, const char *uri, uint64_t *counts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->samples.len; i++) {
		const struct stack_sample *sample = &s->samples.items[i];

		if (!is_inside(windows, t, uri, sample->time))
			continue;
		counts[sample->stack]++;
		sum++;
	}
	return sum;
}

static int write_folded(const struct stacks *s, const uint64_t *counts, const char *path)
{
	struct buf text = BUF_INIT;
	int rc;

	for (size_t i = 0; i < intern_count(&s->texts); i++)
		if (counts[i])
			buf_printf(&text, "%s %llu\n", intern_text(&s->texts, (uint32_t)i),
				   (unsigned long long)counts[i]);
	rc = write_file_atomic(path, text.data, text.len, 0644);
	buf_release(&text);
	return rc;
}

int stacks_write(const struct stacks *s, const struct execution_timestamps *t, struct result *r,
		 const char *folder)
{
	uint64_t *counts = xcalloc(intern_count(&s->texts) + 1, sizeof(*counts));
	struct execution_windows windows;
	int rc = 0, written = 0;

	execution_windows_find(t, &windows);
	for (size_t i = 0; !rc && i < r->benchmarks.len; i++) {
		struct benchmark *b = &r->benchmarks.items[i];
		char *path = xasprintf("%s/profile-%zu.folded", folder, i + 1);
		uint64_t sum;

		memset(counts, 0, intern_count(&s->texts) * sizeof(*counts));
		sum = count_stacks(s, &windows, t, b->uri, counts);
		if (sum) {
			rc = write_folded(s, counts, path);
			written++;
			log_debug("%s: %llu samples in %s", b->name, (unsigned long long)sum, path);
		}
		free(path);
	}
	execution_windows_release(&windows);
	free(counts);
	return rc ? rc : written;
}
