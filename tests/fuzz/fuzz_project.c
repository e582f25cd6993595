/* SPDX-License-Identifier: MIT */
/* fuzz_project.c - any bytes as codspeed.yml: refused with one line, or benchmarks that can run */
#include "applets/runner/project/project.h"
#include "core/base.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc UNUSED, char ***argv UNUSED)
{
	setenv("CODSPEED_LOG", "off", 1);
	log_init("fuzz");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct project p;
	int rc = project_parse(&p, "f", (const char *)data, size);

	if (rc && (!str_starts(error_text(), "f:") || strchr(error_text(), '\n')))
		BUG("refused without a place");
	for (size_t i = 0; !rc && i < p.benchmarks.len; i++) {
		const struct project_benchmark *b = &p.benchmarks.items[i];

		if (!b->exec == !b->entrypoint || (b->exec && !b->words.len))
			BUG("a benchmark that cannot run");
	}
	error_clear();
	project_release(&p);
	return 0;
}
