/* SPDX-License-Identifier: MIT */
/* callgrind_names.c - names, compressed or not, and the numbers that are no plain ones */
#include <inttypes.h>

#include "core/base.h"
#include "applets/runner/simulation/callgrind_parser.h"

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : INT32_MAX;
}

const char *callgrind_odd_number(const char *p, uint64_t *value)
{
	bool hex = p[0] == '0' && (p[1] | 0x20) == 'x';
	int base = hex ? 16 : 10;
	uint64_t v = 0;

	p += hex ? 2 : 0;
	if (digit_value(*p) >= base) {
		fail(-EBADMSG, "not a number");
		return NULL;
	}
	for (; digit_value(*p) < base; p++) {
		if (__builtin_mul_overflow(v, (unsigned)base, &v) ||
		    __builtin_add_overflow(v, (unsigned)digit_value(*p), &v)) {
			fail(-EBADMSG, "number above 64 bits");
			return NULL;
		}
	}
	*value = v;
	return p;
}

static void define(struct callgrind_parser *cg, struct callgrind_ids *ids, uint64_t id,
		   const struct callgrind_name *name)
{
	while (ids->texts.len <= id)
		vec_push(&ids->texts, UINT32_MAX);
	ids->texts.items[id] = intern_add(&cg->costs.texts, name->text, name->len);
}

static int look_up(const struct callgrind_parser *cg, const struct callgrind_ids *ids, uint64_t id,
		   struct callgrind_name *name)
{
	if (id >= ids->texts.len || ids->texts.items[id] == UINT32_MAX)
		return fail(-EBADMSG, "name (%" PRIu64 ") was never defined", id);
	name->text = intern_text(&cg->costs.texts, ids->texts.items[id]);
	name->len = intern_len(&cg->costs.texts, ids->texts.items[id]);
	return 0;
}

/* "(3) name" or "(3)", whole in `name`. */
static int expand(struct callgrind_parser *cg, struct callgrind_ids *ids,
		  struct callgrind_name *name)
{
	const char *nl = name->text + name->len, *p;
	uint64_t id;

	p = callgrind_number(name->text + 1, &id);
	if (!p)
		return -EBADMSG;
	if (*p != ')')
		return 0; /* a name that looks like this, not compressed */
	if (id > CALLGRIND_ID_MAX)
		return fail(-EBADMSG, "name (%" PRIu64 ") out of range", id);
	p++;
	while (*p == ' ')
		p++;
	if (p == nl)
		return look_up(cg, ids, id, name);
	name->text = p;
	name->len = (size_t)(nl - p);
	define(cg, ids, id, name);
	return 0;
}

int callgrind_name_get(struct callgrind_parser *cg, struct callgrind_ids *ids, const char *text,
		       const char *nl, struct callgrind_name *name)
{
	name->text = text;
	name->len = (size_t)(nl - text);
	if (text[0] == '(' && text[1] >= '0' && text[1] <= '9')
		return expand(cg, ids, name);
	return 0;
}

bool callgrind_name_cut_level(struct callgrind_name *name)
{
	size_t len = name->len;

	while (len && name->text[len - 1] >= '0' && name->text[len - 1] <= '9')
		len--;
	if (len == name->len || len < 2 || name->text[len - 1] != '\'')
		return false;
	name->len = len - 1;
	return true;
}

bool callgrind_name_is(const struct callgrind_name *name, const char *text, size_t len)
{
	return name->len == len && memcmp(name->text, text, len) == 0;
}

bool callgrind_name_is_below_main(const struct callgrind_name *name)
{
	static const char below_main[] = "(below main)";

	return callgrind_name_is(name, below_main, sizeof(below_main) - 1);
}

/*
 * valgrind calls `_start` and `__libc_start_call_main` "(below main)". What glibc 2.34 and later
 * has between the two goes unrecognised for its versioned name, __libc_start_main@@GLIBC_2.34.
 */
bool callgrind_name_is_start_up(const struct callgrind_name *name)
{
	static const char versioned[] = "__libc_start_main@";
	struct callgrind_name base = *name;

	if (name->len >= sizeof(versioned) - 1 &&
	    memcmp(name->text, versioned, sizeof(versioned) - 1) == 0)
		return true;
	callgrind_name_cut_level(&base);
	return callgrind_name_is_below_main(&base);
}
