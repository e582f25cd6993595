/* SPDX-License-Identifier: MIT */
/* cpu_list.c - sets of processors as text */
#include "core/base.h"
#include "core/cpu_list.h"
#include "core/units.h"

/* "2" or "2-3" */
static int add_range(char *word, cpu_set_t *set)
{
	char *dash = strchr(word, '-');
	uint64_t first, last;
	int rc;

	if (dash)
		*dash = '\0';
	rc = parse_uint64(word, &first);
	last = first;
	if (!rc && dash)
		rc = parse_uint64(dash + 1, &last);
	if (rc)
		return rc;
	if (first > last || last >= (uint64_t)CPU_LIST_MAX)
		return fail(-EINVAL, "expected processors below %d, the smaller one first",
			    CPU_LIST_MAX);
	for (; first <= last; first++)
		CPU_SET((int)first, set);
	return 0;
}

int parse_cpu_list(const char *text, cpu_set_t *set)
{
	char *list = xstrdup(text), *rest = list, *word;
	int rc = 0;

	CPU_ZERO(set);
	while (!rc && (word = strsep(&rest, ",")))
		rc = add_range(word, set);
	free(list);
	if (!rc)
		return 0;
	error_clear();
	return fail(-EINVAL, "expected processors as in 0,2-3");
}
