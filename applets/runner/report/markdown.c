/* SPDX-License-Identifier: MIT */
/* markdown.c - GitHub's Markdown: any text made harmless, results as tables, where it goes to */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applets/runner/report/markdown.h"
#include "core/base.h"
#include "core/io.h"
#include "core/text.h"
#include "core/units.h"

enum { TAIL = 256 }; /* bytes kept for what is said at the end */

/* A character reference is text everywhere, in code only where HTML begins: see below. */
static void add_character(char c, struct buf *to)
{
	if (strchr("\\`*_[]<>&|~@#$:", c))
		buf_printf(to, "&#%d;", c);
	else
		buf_addch(to, c);
}

void markdown_text(const char *text, struct buf *to)
{
	struct buf safe = BUF_INIT;

	text_printable(text, strlen(text), &safe);
	for (const char *c = safe.data; *c; c++)
		add_character(*c, to);
	buf_release(&safe);
}

/* Not by backquotes: a name may hold them, and a bar in them still ends a table's cell. */
void markdown_code(const char *text, struct buf *to)
{
	if (!*text)
		return;
	buf_addstr(to, "<code>");
	markdown_text(text, to);
	buf_addstr(to, "</code>");
}

void markdown_cut(struct buf *to, size_t len)
{
	to->len = len;
	if (to->data)
		to->data[len] = '\0';
}

/* Results */

static void add_head(const struct mode_info *mode, struct buf *to)
{
	buf_addstr(to, "| Benchmark |");
	for (size_t i = 0; i < mode->metric_count; i++)
		buf_printf(to, " %s |", mode->metrics[i].title);
	buf_addstr(to, "\n|---|");
	for (size_t i = 0; i < mode->metric_count; i++)
		buf_addstr(to, "--:|");
	buf_addch(to, '\n');
}

static void add_benchmark(const struct benchmark *benchmark, struct buf *to)
{
	char count[UNIT_TEXT];

	buf_addstr(to, "| ");
	markdown_code(benchmark->name, to);
	if (benchmark->status != BENCHMARK_OK)
		buf_printf(to, " **%s**", benchmark_status_name(benchmark->status));
	for (size_t i = 0; i < result_mode_info(benchmark->mode)->metric_count; i++)
		buf_printf(to, " | %s", benchmark->metrics[i].known
			? format_count(count, benchmark->metrics[i].value) : "-");
	buf_addstr(to, " |\n");
}

/* How many found no room within `end`. */
static size_t add_mode(const struct result *result, enum mode mode, size_t end, struct buf *to)
{
	size_t rows = 0, left_out = 0;

	for (size_t i = 0; i < result->benchmarks.len; i++) {
		size_t before = to->len;

		if (result->benchmarks.items[i].mode != mode)
			continue;
		if (!rows++)
			add_head(result_mode_info(mode), to);
		add_benchmark(&result->benchmarks.items[i], to);
		if (to->len > end) {
			markdown_cut(to, before);
			left_out++;
		}
	}
	if (rows)
		buf_addch(to, '\n');
	return left_out;
}

void markdown_results(const struct result *result, size_t limit, struct buf *to)
{
	size_t left_out = 0, end;

	if (limit < 2 * TAIL)
		return;
	end = to->len + limit - TAIL;
	buf_addstr(to, "### Benchmarks\n\n");
	for (size_t i = 0; i < MODE_COUNT; i++)
		left_out += add_mode(result, (enum mode)i, end, to);
	if (left_out)
		buf_printf(to, "%zu more benchmarks found no room here.\n\n", left_out);
}

/* Where it goes to */

/* GitHub makes the file; whatever else the name leads to is not written to. */
static int append_summary(markdown_writer *write, const void *ctx, const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc = 0;
	struct buf text = BUF_INIT;
	struct stat st;

	if (fd < 0)
		return fail_errno("cannot open GITHUB_STEP_SUMMARY %s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = fail(-EINVAL, "GITHUB_STEP_SUMMARY %s is not a plain file", path);
	} else if (st.st_size < STEP_SUMMARY_MAX) {
		write(ctx, STEP_SUMMARY_MAX - (size_t)st.st_size, &text);
		rc = text.len ? write_full(fd, text.data, text.len) : 0;
		if (rc)
			fail(rc, "cannot write GITHUB_STEP_SUMMARY %s: %s", path, strerror(-rc));
	}
	if (close(fd) && !rc)
		rc = fail_errno("cannot write GITHUB_STEP_SUMMARY %s", path);
	buf_release(&text);
	return rc;
}

int markdown_deliver(markdown_writer *write, const void *ctx, const char *path)
{
	const char *summary = getenv("GITHUB_STEP_SUMMARY");
	struct buf text = BUF_INIT;
	int rc = 0, added = 0;

	if (path) {
		write(ctx, STEP_SUMMARY_MAX, &text);
		rc = write_output(path, text.data ? text.data : "", text.len);
		buf_release(&text);
	}
	if (summary && *summary)
		added = append_summary(write, ctx, summary);
	return rc ? rc : added;
}
