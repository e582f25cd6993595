/* SPDX-License-Identifier: MIT */
/* heap_timeline.c - a level over time in a fixed number of steps */
#include "applets/runner/memory/heap_timeline.h"
#include "core/base.h"

enum { FINEST = 10 }; /* about a microsecond */

void heap_timeline_init(struct heap_timeline *t)
{
	*t = (struct heap_timeline){.shift = FINEST};
}

static struct heap_timeline_step join(struct heap_timeline_step a, struct heap_timeline_step b)
{
	struct heap_timeline_step both = b.known ? b : a;

	if (a.known && a.most > both.most)
		both.most = a.most;
	return both;
}

static void fold(struct heap_timeline *t)
{
	for (size_t i = 0; i < HEAP_TIMELINE_POINTS; i++)
		t->steps[i] = i < HEAP_TIMELINE_POINTS / 2
				      ? join(t->steps[2 * i], t->steps[2 * i + 1])
				      : (struct heap_timeline_step){0};
	t->shift++;
}

void heap_timeline_note(struct heap_timeline *t, uint64_t ns, uint64_t before, uint64_t after)
{
	struct heap_timeline_step *step;

	while (ns >> t->shift >= HEAP_TIMELINE_POINTS)
		fold(t);
	step = &t->steps[ns >> t->shift];
	if (!step->known || before > step->most)
		step->most = before;
	if (after > step->most)
		step->most = after;
	step->last = after;
	step->known = true;
}

void heap_timeline_points(const struct heap_timeline *t, struct heap_benchmark *to)
{
	uint64_t shown = UINT64_MAX, level = 0;

	for (size_t i = 0; i < HEAP_TIMELINE_POINTS; i++) {
		const struct heap_timeline_step *step = &t->steps[i];
		uint64_t most = step->known ? step->most : level;

		if (step->known)
			level = step->last;
		else if (i == 0 || !to->timeline.len)
			continue;
		if (most != shown)
			vec_push(&to->timeline, (struct heap_point){(uint64_t)i << t->shift, most});
		shown = most;
	}
}
