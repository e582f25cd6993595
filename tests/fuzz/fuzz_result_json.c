/* SPDX-License-Identifier: MIT */
/* fuzz_result_json.c - any bytes as results.json: refused with a reason, or stable from then on */
#include "applets/runner/report/comparison_report.h"
#include "applets/runner/report/table.h"
#include "applets/runner/results/result.h"
#include "core/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(const struct result *result, const struct buf *expected)
{
	struct result again = RESULT_INIT;
	struct buf json = BUF_INIT;

	if (result_read_json(&again, "again", expected->data, expected->len))
		die_recorded(1);
	result_write_json(&again, &json);
	if (json.len != expected->len || memcmp(json.data, expected->data, json.len))
		BUG("what was written reads differently");
	if (again.benchmarks.len != result->benchmarks.len)
		BUG("a benchmark is lost");
	buf_release(&json);
	result_release(&again);
}

/* Also the report must bear whatever a file claims; names must not reach the terminal raw. */
static void print(const struct result *result)
{
	const struct table_style style = {.width = 80, .top = 5, .utf8 = true};
	size_t len;
	char *text;
	FILE *to = open_memstream(&text, &len);

	table_print(to, result, &style);
	fclose(to);
	if (memchr(text, '\033', len) || memchr(text, '\0', len))
		BUG("a control character in the report");
	free(text);
}

/* A result is comparable with itself, or it is said why not. */
static void compare(const struct result *result)
{
	const struct comparison_options options = {.across_machines = true};
	const struct table_style style = {.width = 80, .utf8 = true};
	struct broken_gates broken = {.items = VEC_INIT};
	struct comparison c;
	struct comparison_view view = {&c, &broken, METRICS_CHANGED, 3};
	struct buf markdown = BUF_INIT;
	char *text;
	size_t len;
	FILE *to;

	if (comparison_make(&c, result, "base", result, "head", &options)) {
		error_clear(); /* a benchmark that stands there twice */
		comparison_release(&c);
		return;
	}
	if (c.counts[VERDICT_REGRESSED] || c.counts[VERDICT_IMPROVED] || c.counts[VERDICT_NEW] ||
	    c.counts[VERDICT_MISSING])
		BUG("a result differs from itself");
	to = open_memstream(&text, &len);
	comparison_print(to, &view, &style);
	fclose(to);
	if (memchr(text, '\033', len) || memchr(text, '\0', len))
		BUG("a control character in the comparison");
	comparison_markdown(&view, 4096, &markdown);
	if (markdown.len > 4096)
		BUG("Markdown above its limit");
	free(text);
	buf_release(&markdown);
	comparison_release(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result result = RESULT_INIT;
	struct buf json = BUF_INIT;

	if (result_read_json(&result, "fuzz", (const char *)data, size)) {
		if (!*error_text())
			BUG("refused without a reason");
		error_clear();
		return 0;
	}
	result_write_json(&result, &json);
	write_again(&result, &json);
	print(&result);
	compare(&result);
	buf_release(&json);
	result_release(&result);
	return 0;
}
