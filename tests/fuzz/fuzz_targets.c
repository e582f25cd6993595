/* SPDX-License-Identifier: MIT */
/* fuzz_targets.c - any bytes as exec-harness's list on stdin: refused with a reason, or usable */
#include "applets/exec-harness/targets.h"
#include "core/base.h"
#include "core/text.h"

#define URI_PREFIX "exec_harness::"

enum { URI_MAX = sizeof(URI_PREFIX) - 1 + 924 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc UNUSED, char ***argv UNUSED)
{
	setenv("CODSPEED_LOG", "off", 1);
	log_init("fuzz");
	return 0;
}

static void check(const struct targets *targets, size_t at)
{
	const struct target *t = &targets->list.items[at];
	size_t len = strlen(t->uri);

	if (!t->command.len || !*t->command.items[0] || t->command.items[t->command.len])
		BUG("no command");
	if (!t->name)
		BUG("no name");
	if (len > URI_MAX || !str_starts(t->uri, URI_PREFIX) || !text_is_utf8(t->uri, len))
		BUG("a URI that is none");
	for (size_t i = 0; i < at; i++)
		if (str_eq(targets->list.items[i].uri, t->uri))
			BUG("two benchmarks of one name");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct targets targets = {0};
	int rc = targets_read_json(&targets, (const char *)data, size);

	if (rc && !*error_text())
		BUG("refused without a reason");
	if (!rc && !targets.list.len)
		BUG("an empty list");
	if (!rc)
		for (size_t i = 0; i < targets.list.len; i++)
			check(&targets, i);
	error_clear();
	targets_release(&targets);
	return 0;
}
