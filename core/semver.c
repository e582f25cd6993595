/* SPDX-License-Identifier: MIT */
/* semver.c - versions by the rules of semver.org 2.0.0 */
#include "core/base.h"
#include "core/semver.h"

struct identifier {
	const char *text;
	size_t len;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_numeric(const struct identifier *id)
{
	for (size_t i = 0; i < id->len; i++)
		if (!is_digit(id->text[i]))
			return false;
	return id->len > 0;
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

/* A number without leading zeros. Returns its length, 0 for none. */
static size_t take_number(const char *text, size_t len, uint64_t *number)
{
	size_t i = 0;

	*number = 0;
	for (; i < len && is_digit(text[i]); i++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(text[i] - '0'), number))
			return 0;
	return i > 1 && text[0] == '0' ? 0 : i;
}

/* The identifier at `text`, up to a dot or the end. */
static struct identifier identifier_at(const char *text, size_t len)
{
	struct identifier id = {text, 0};

	while (id.len < len && text[id.len] != '.')
		id.len++;
	return id;
}

/* Identifiers joined by dots, none empty; in a pre-release numbers have no leading zeros. */
static bool are_identifiers(const char *text, size_t len, bool prerelease)
{
	for (;;) {
		struct identifier id = identifier_at(text, len);

		for (size_t i = 0; i < id.len; i++)
			if (!is_word(id.text[i]))
				return false;
		if (!id.len || (prerelease && id.len > 1 && text[0] == '0' && is_numeric(&id)))
			return false;
		if (id.len == len)
			return true;
		text += id.len + 1;
		len -= id.len + 1;
	}
}

bool semver_parse(struct semver *v, const char *text, size_t len)
{
	size_t at = 0, n;
	const char *build;

	*v = (struct semver){0};
	for (size_t i = 0; i < ARRAY_SIZE(v->numbers); i++) {
		if (i && (at == len || text[at++] != '.'))
			return false;
		n = take_number(text + at, len - at, &v->numbers[i]);
		if (!n)
			return false;
		at += n;
	}
	build = memchr(text + at, '+', len - at);
	n = build ? (size_t)(build - text) : len;
	if (build && !are_identifiers(build + 1, len - n - 1, false))
		return false;
	if (at == n)
		return true;
	v->prerelease = text + at + 1;
	v->prerelease_len = n - at - 1;
	return text[at] == '-' && are_identifiers(v->prerelease, v->prerelease_len, true);
}

/* Numbers before words, numbers by value (no leading zeros: by length, then by digits). */
static int compare_identifiers(const struct identifier *a, const struct identifier *b)
{
	bool numeric = is_numeric(a);
	size_t shorter = a->len < b->len ? a->len : b->len;
	int order;

	if (numeric != is_numeric(b))
		return numeric ? -1 : 1;
	if (numeric && a->len != b->len)
		return a->len < b->len ? -1 : 1;
	order = memcmp(a->text, b->text, shorter);
	if (order)
		return order;
	return a->len < b->len ? -1 : a->len > b->len;
}

static int compare_prereleases(const struct semver *a, const struct semver *b)
{
	size_t i = 0, k = 0;

	/* Each round ends behind the dot; past the end is one that has run out of identifiers. */
	while (i < a->prerelease_len && k < b->prerelease_len) {
		struct identifier x = identifier_at(a->prerelease + i, a->prerelease_len - i);
		struct identifier y = identifier_at(b->prerelease + k, b->prerelease_len - k);
		int order = compare_identifiers(&x, &y);

		if (order)
			return order;
		i += x.len + 1;
		k += y.len + 1;
	}
	return (i < a->prerelease_len) - (k < b->prerelease_len);
}

int semver_compare(const struct semver *a, const struct semver *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(a->numbers); i++)
		if (a->numbers[i] != b->numbers[i])
			return a->numbers[i] < b->numbers[i] ? -1 : 1;
	if (!a->prerelease_len || !b->prerelease_len)
		return (b->prerelease_len > 0) - (a->prerelease_len > 0);
	return compare_prereleases(a, b);
}
