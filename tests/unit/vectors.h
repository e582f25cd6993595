/* SPDX-License-Identifier: MIT */
/* vectors.h - recorded bytes for tests: files of tests/data, and tables with columns in hex */
#ifndef TESTS_VECTORS_H
#define TESTS_VECTORS_H

#include <setjmp.h>
#include <stdarg.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include <cmocka.h>
#undef fail

/* tests/data/NAME, appended. */
static inline void read_vector(const char *name, struct buf *to)
{
	const char *folder = getenv("DATA");
	char *path = xasprintf("%s/%s", folder ? folder : "tests/data", name);

	assert_int_equal(read_file(path, to), 0);
	buf_addstr(to, "");
	free(path);
}

/* "0a ff" as two bytes, appended. */
static inline void parse_hex(const char *hex, struct buf *to)
{
	while (*hex) {
		char *end;
		unsigned long byte = strtoul(hex, &end, 16);

		assert_true(end > hex && byte <= 0xff);
		buf_addch(to, (char)byte);
		hex = end + strspn(end, " ");
	}
}

static inline void expect_bytes(const struct buf *got, const void *bytes, size_t len)
{
	assert_int_equal(got->len, len);
	if (len)
		assert_memory_equal(got->data, bytes, len);
}

/* Call `row` with the three columns of each line of a .tsv; returns how many there were. */
static inline size_t each_row(const char *name, void (*row)(char *columns[3]))
{
	struct buf table = BUF_INIT;
	size_t count = 0;
	char *rest, *line;

	read_vector(name, &table);
	rest = table.data;
	while ((line = strsep(&rest, "\n"))) {
		char *columns[3];

		if (!*line)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
			columns[i] = strsep(&line, "\t");
		assert_non_null(columns[2]);
		row(columns);
		count++;
	}
	buf_release(&table);
	return count;
}

#endif
