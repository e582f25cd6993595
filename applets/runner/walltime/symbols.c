/* SPDX-License-Identifier: MIT */
/* symbols.c - the functions of the files that samples point into */
#include <fcntl.h>
#include <unistd.h>

#include "core/base.h"
#include "core/elf.h"

#include "applets/runner/walltime/symbols.h"

static void add_symbol(void *ctx, const struct elf_symbol *symbol)
{
	struct symbols *s = ctx;

	if (!symbol->code || !*symbol->name)
		return;
	vec_push(&s->functions, (struct function){
		.offset = symbol->offset, .size = symbol->size, .name = xstrdup(symbol->name),
	});
}

/* Of several names for one place the longest function first, so that the search finds it. */
static int compare_functions(const void *a, const void *b)
{
	const struct function *left = a, *right = b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	if (left->size != right->size)
		return left->size < right->size ? -1 : 1;
	return -strcmp(left->name, right->name);
}

void symbols_read(struct symbols *s, const char *path)
{
	/* Whatever a process mapped; a FIFO in its place since then must not hold us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elf_file *file;

	*s = (struct symbols){0};
	if (fd < 0)
		return;
	if (elf_file_open(&file, fd, path)) {
		error_clear();
	} else {
		elf_file_symbols(file, add_symbol, s);
		elf_file_close(file);
	}
	close(fd);
	if (s->functions.len)
		qsort(s->functions.items, s->functions.len, sizeof(*s->functions.items),
		      compare_functions);
}

void symbols_release(struct symbols *s)
{
	for (size_t i = 0; i < s->functions.len; i++)
		free(s->functions.items[i].name);
	vec_release(&s->functions);
}

const char *symbols_find(const struct symbols *s, uint64_t offset)
{
	size_t low = 0, high = s->functions.len;
	const struct function *f;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->functions.items[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	f = &s->functions.items[low - 1];
	return !f->size || offset - f->offset < f->size ? f->name : NULL;
}
