/* SPDX-License-Identifier: MIT */
/* fuzz_artifact.c - any bytes as an artifact: events, then an end or a reason; replayed they add up */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "applets/runner/memory/heap.h"
#include "core/artifact_reader.h"
#include "core/base.h"
#include "core/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A bomb of zeros would only be slow. */
enum { MOST = 20000 };

struct outcome {
	size_t count;
	int rc;
	uint64_t offset;
	uint64_t sum; /* of everything that the events say */
};

static uint64_t digest(const struct heap_event *e)
{
	uint64_t d = e->timestamp;

	d = d * 31 + e->addr;
	d = d * 31 + e->old_addr;
	d = d * 31 + e->size;
	d = d * 31 + (uint32_t)e->pid;
	d = d * 31 + (uint32_t)e->tid;
	return d * 31 + e->kind * 2u + e->old_known;
}

/* What memtrack would have written for the event must give the event. */
static void check_encoding(const struct heap_event *e, int fd)
{
	unsigned char bytes[ARTIFACT_EVENT_MAX];
	struct artifact_reader *r;
	struct heap_event again;
	size_t len = artifact_encode(e, bytes);

	if (len > ARTIFACT_EVENT_MAX || ftruncate(fd, 0) || pwrite(fd, bytes, len, 0) != (ssize_t)len ||
	    lseek(fd, 0, SEEK_SET))
		BUG("an event that cannot be written");
	if (artifact_open_fd(&r, fd, "again") || artifact_read(r, &again, 1) != 1 ||
	    digest(&again) != digest(e) || artifact_read(r, &again, 1) != 0 || r->good != len)
		BUG("an event changes when it is written");
	artifact_close(r);
}

static void check_figures(struct heap *heap)
{
	const struct heap_benchmark *b;
	uint64_t allocations = 0, bytes = 0;

	heap_finish(heap);
	b = heap_benchmark(heap, 0);
	for (size_t i = 0; i < HEAP_SIZE_CLASSES; i++) {
		allocations += b->classes[i].allocations;
		bytes += b->classes[i].bytes;
	}
	if (allocations != b->allocations || bytes != b->total_bytes)
		BUG("the classes are not the total");
	if (b->leaked_bytes > b->peak_bytes || b->leaked_blocks > b->allocations)
		BUG("more is left than there ever was");
	if (b->timeline.len > HEAP_TIMELINE_POINTS)
		BUG("a time line without bounds");
	for (size_t i = 0; i < b->timeline.len; i++)
		if (b->timeline.items[i].live_bytes > b->peak_bytes)
			BUG("a level above the peak");
}

static struct outcome read_all(int fd, size_t at_a_time, struct heap *heap, int scratch)
{
	struct outcome o = {0};
	struct artifact_reader *r;
	struct heap_event events[64];
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET))
		BUG("no seek");
	o.rc = artifact_open_fd(&r, fd, "fuzz");
	if (o.rc)
		return o;
	while ((n = artifact_read(r, events, at_a_time)) > 0 && o.count < MOST) {
		for (ssize_t i = 0; i < n; i++)
			o.sum = o.sum * 31 + digest(&events[i]);
		o.count += (size_t)n;
		if (heap)
			heap_add(heap, events, (size_t)n);
		if (scratch >= 0)
			check_encoding(&events[0], scratch);
	}
	o.rc = n < 0 ? (int)n : 0;
	o.offset = n > 0 ? 0 : r->good;
	artifact_close(r);
	return o;
}

static void check_reason(const struct outcome *o)
{
	if ((o->rc < 0) != (*error_text() != '\0'))
		BUG("a refusal without a reason, or a reason without a refusal");
	error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heap_window all = {.start = 0, .end = UINT64_MAX};
	struct heap *heap = heap_new(&all, 1, 1);
	int fd = memfd_create("artifact", MFD_CLOEXEC), scratch = memfd_create("again", MFD_CLOEXEC);
	struct outcome one, many;

	if (fd < 0 || scratch < 0 || write_full(fd, data, size))
		BUG("no file");
	one = read_all(fd, 1, NULL, scratch);
	check_reason(&one);
	many = read_all(fd, 64, heap, -1);
	check_reason(&many);
	if (one.count < MOST && many.count < MOST &&
	    (one.count != many.count || one.rc != many.rc || one.sum != many.sum ||
	     one.offset != many.offset))
		BUG("it depends on how it is read");
	check_figures(heap);
	heap_free(heap);
	close(fd);
	close(scratch);
	return 0;
}
