/* SPDX-License-Identifier: MIT */
/* report.c - a result to where it was asked for */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base.h"
#include "core/build_id.h"
#include "core/exit_code.h"
#include "core/io.h"

#include "applets/runner/report/report.h"
#include "applets/runner/results/system_info.h"

void report_describe(struct result *r, const char *valgrind)
{
	r->tool.name = xstrdup("codspeed");
	r->tool.version = xstrdup(CODSPEED_VERSION);
	r->tool.build_id = build_id_dup();
	system_info_collect(&r->system, valgrind);
	r->run.host = system_info_host_dup();
}

int report_json(const struct result *r, const char *path)
{
	struct buf text = BUF_INIT;
	int rc;

	result_write_json(r, &text);
	if (str_eq(path, "-")) {
		rc = write_full(STDOUT_FILENO, text.data, text.len);
		if (rc)
			fail(rc, "cannot write the results to standard output: %s", strerror(-rc));
	} else {
		rc = write_output(path, text.data, text.len);
	}
	buf_release(&text);
	return rc;
}

void report_print(report_printer *print, const void *ctx, struct table_style style)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		die(EXIT_FAILED, "out of memory");
	print(to, ctx, &style);
	if (fclose(to))
		die(EXIT_FAILED, "out of memory");
	output_text(text, len); /* before messages that follow on the other stream */
	free(text);
}

static void print_result(FILE *to, const void *result, const struct table_style *style)
{
	table_print(to, result, style);
}

void report_table(const struct result *r, size_t top)
{
	struct table_style style = table_style_for(stdout);

	style.top = top;
	report_print(print_result, r, style);
}
