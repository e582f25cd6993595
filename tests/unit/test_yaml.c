/* SPDX-License-Identifier: MIT */
/* test_yaml.c - YAML as people write it, and as an attacker does */
#include <setjmp.h>
#include <stdarg.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/yaml.h"
#include <cmocka.h>

static struct yaml_doc parsed(const char *text)
{
	struct yaml_doc doc;

	if (yaml_parse(&doc, "f.yml", text, strlen(text)))
		fail_msg("refused: %s", error_text());
	return doc;
}

static void expect_refused(const char *text, size_t len, const char *expected)
{
	struct yaml_doc doc;

	assert_int_equal(yaml_parse(&doc, "f.yml", text, len), -EINVAL);
	assert_string_equal(error_text(), expected);
	assert_null(strchr(error_text(), '\n'));
	assert_null(doc.root);
	error_clear();
	yaml_release(&doc);
}

#define EXPECT_REFUSED(text, expected) expect_refused(text, sizeof(text) - 1, expected)

static const struct yaml_node *text_of(const struct yaml_node *map, const char *key,
				       const char *expected)
{
	const struct yaml_node *node = yaml_find(map, key);

	assert_non_null(node);
	assert_string_equal(node->text, expected);
	return node;
}

static void values_know_their_place(void **state UNUSED)
{
	struct yaml_doc doc = parsed("# one\na: 1\nb:\n  - x\n  - {c: \"é\", d: y}\n");
	const struct yaml_node *list = yaml_find(doc.root, "b"), *map;

	assert_int_equal(doc.root->kind, YAML_MAP);
	assert_int_equal(text_of(doc.root, "a", "1")->place.line, 2);
	assert_int_equal(yaml_find(doc.root, "a")->place.column, 4);
	assert_int_equal(list->kind, YAML_LIST);
	assert_int_equal(list->items.len, 2);
	map = list->items.items[1];
	assert_int_equal(map->entries.items[1].place.line, 5);
	assert_int_equal(map->entries.items[1].place.column, 14); /* characters, not bytes */
	assert_null(yaml_find(map, "e"));
	yaml_release(&doc);
}

static void scalars_have_their_kind(void **state UNUSED)
{
	static const struct {
		const char *text, *kind;
		bool string;
	} cases[] = {
		{"a", "text", true},         {"'5'", "text", true},      {"\"true\"", "text", true},
		{"!!str 5", "text", true},   {"5", "a number", false},   {"-5", "a number", false},
		{"+1.5e-3", "a number", false}, {".5", "a number", false}, {"5.", "a number", false},
		{"0x1F", "a number", false}, {"0o17", "a number", false}, {".inf", "a number", false},
		{"-.nan", "a number", false}, {"1e5", "a number", false}, {"0x", "text", true},
		{".", "text", true},         {"1.2.3", "text", true},    {"e5", "text", true},
		{"1s", "text", true},        {"1e", "text", true},       {"-", "a list", false},
		{"true", "a truth value", false}, {"FALSE", "a truth value", false},
		{"yes", "text", true},       {"~", "null", false},       {"null", "null", false},
		{"''", "text", true},        {"[1]", "a list", false},   {"{}", "a mapping", false},
		{"|\n  5\n", "text", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct yaml_doc doc = parsed(cases[i].text);

		assert_string_equal(yaml_kind_text(doc.root), cases[i].kind);
		if (yaml_is_string(doc.root) != cases[i].string)
			fail_msg("%s: not as expected", cases[i].text);
		yaml_release(&doc);
	}
}

static void an_empty_file_has_no_root(void **state UNUSED)
{
	static const char *const texts[] = {"", "# note\n", "---\n", "\n\n", "\xef\xbb\xbf", "---\n# x\n..."};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct yaml_doc doc = parsed(texts[i]);

		assert_null(doc.root);
		yaml_release(&doc);
	}
}

static void a_byte_order_mark_is_no_text(void **state UNUSED)
{
	struct yaml_doc doc = parsed("\xef\xbb\xbf" "a: b\r\nc: d\r\n");

	text_of(doc.root, "a", "b");
	text_of(doc.root, "c", "d");
	yaml_release(&doc);
}

static void anchors_and_merge_keys(void **state UNUSED)
{
	struct yaml_doc doc = parsed("x: &x {a: 1, b: 2}\n"
				     "y: &y {b: 3, c: 4}\n"
				     "one: {<<: *x, a: own}\n"
				     "both: {a: own, <<: [*x, *y]}\n"
				     "deep: {<<: {<<: *y, d: 5}}\n"
				     "same: *x\n"
				     "quoted: {\"<<\": 1}\n"
				     "z: &x again\nlast: *x\n");
	const struct yaml_node *map = yaml_find(doc.root, "one");

	text_of(map, "a", "own");
	text_of(map, "b", "2");
	assert_int_equal(map->entries.len, 2);
	map = yaml_find(doc.root, "both");
	text_of(map, "a", "own");
	text_of(map, "b", "2");
	text_of(map, "c", "4");
	map = yaml_find(doc.root, "deep");
	text_of(map, "b", "3");
	text_of(map, "d", "5");
	assert_ptr_equal(yaml_find(doc.root, "same"), yaml_find(doc.root, "x"));
	text_of(yaml_find(doc.root, "quoted"), "<<", "1");
	text_of(doc.root, "last", "again");
	yaml_release(&doc);
}

static void what_is_no_yaml_is_told_with_its_place(void **state UNUSED)
{
	EXPECT_REFUSED("a: b: c\n", "f.yml:1:5: mapping values are not allowed in this context");
	EXPECT_REFUSED("a: 1\nb: [1, 2\n", "f.yml:3:1: did not find expected ',' or ']', while parsing a "
					   "flow sequence that began at 2:4");
	EXPECT_REFUSED("a: 1\n\tb: 2\n", "f.yml:2:1: found a tab character that violates indentation, "
					  "while scanning a plain scalar that began at 1:4");
	EXPECT_REFUSED("a: 1\nb: 2\na: 3\n", "f.yml:3:1: the key 'a' stands on line 1 already");
	EXPECT_REFUSED("a: 1\n---\nb: 2\n", "f.yml:2:1: a second document");
	EXPECT_REFUSED("a: *b\n", "f.yml:1:4: there is no anchor &b before this alias");
	EXPECT_REFUSED("a: &a [*a]\n", "f.yml:1:8: the alias *a stands inside what it means");
	EXPECT_REFUSED("? [a]\n: b\n", "f.yml:1:3: a key that is a list");
	EXPECT_REFUSED("a: {<<: 3}\n", "f.yml:1:9: a number cannot be merged, only a mapping");
	EXPECT_REFUSED("a: {<<: *b}\n", "f.yml:1:9: there is no anchor &b before this alias");
}

static void bytes_that_are_no_text(void **state UNUSED)
{
	EXPECT_REFUSED("a: 1\nb: \xff\n", "f.yml:2:4: not UTF-8");
	EXPECT_REFUSED("a: \xc3\xa9\0x\n", "f.yml:1:5: a control character (\\x00)");
	EXPECT_REFUSED("a: \033[2J\n", "f.yml:1:4: a control character (\\x1b)");
	EXPECT_REFUSED("a: \"x\\0y\"\n", "f.yml:1:4: a NUL in a text");
	EXPECT_REFUSED("\xff\xfe" "a\0:\0", "f.yml:1:1: not UTF-8");
}

static void repeat(struct buf *to, const char *text, size_t times)
{
	while (times--)
		buf_addstr(to, text);
}

static void what_only_an_attack_needs(void **state UNUSED)
{
	struct buf text = BUF_INIT;

	repeat(&text, "[", 65);
	expect_refused(text.data, text.len, "f.yml:1:65: more than 64 levels deep");
	buf_clear(&text);
	repeat(&text, "[", 1000000);
	expect_refused(text.data, text.len, "f.yml:1:65: more than 64 levels deep");
	buf_clear(&text);
	repeat(&text, "- ", 40000);
	expect_refused(text.data, text.len, "f.yml:1:129: more than 64 levels deep");
	buf_clear(&text);
	repeat(&text, "- x\n", 70000);
	expect_refused(text.data, text.len, "f.yml:65536:3: more than 65536 values");
	buf_clear(&text);
	repeat(&text, "#", YAML_BYTES_MAX + 1);
	expect_refused(text.data, text.len, "f.yml: larger than 1048576 bytes");
	buf_clear(&text);
	for (int i = 0; i < 1025; i++)
		buf_printf(&text, "k%d: 1\n", i);
	expect_refused(text.data, text.len, "f.yml:1025:1: a mapping of more than 1024 keys");
	buf_release(&text);
}

/* Nine levels of nine aliases: a billion values if they were copied. */
static void alias_bombs_stay_small(void **state UNUSED)
{
	struct buf text = BUF_INIT;
	struct yaml_doc doc;

	buf_addstr(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 10; i++) {
		buf_printf(&text, "a%d: &a%d [", i, i);
		for (int j = 0; j < 9; j++)
			buf_printf(&text, "%s*a%d", j ? "," : "", i - 1);
		buf_addstr(&text, "]\n");
	}
	doc = parsed(text.data);
	assert_true(doc.nodes.len < 100);
	yaml_release(&doc);
	buf_clear(&text);
	buf_addstr(&text, "m0: &m0 {k: 1}\n");
	for (int i = 1; i < 30; i++)
		buf_printf(&text, "m%d: &m%d {<<: [*m%d, *m%d]}\n", i, i, i - 1, i - 1);
	doc = parsed(text.data);
	text_of(yaml_find(doc.root, "m29"), "k", "1");
	yaml_release(&doc);
	buf_release(&text);
}

/* Many large mappings made of one another. */
static void merges_count(void **state UNUSED)
{
	struct buf text = BUF_INIT;
	struct yaml_doc doc;

	buf_addstr(&text, "- &a {");
	for (int i = 0; i < 1000; i++)
		buf_printf(&text, "k%d: 1, ", i);
	buf_addstr(&text, "}\n");
	repeat(&text, "- {<<: *a}\n", 100);
	assert_int_equal(yaml_parse(&doc, "f.yml", text.data, text.len), -EINVAL);
	assert_non_null(strstr(error_text(), "more than 65536 values"));
	error_clear();
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_know_their_place),
		cmocka_unit_test(scalars_have_their_kind),
		cmocka_unit_test(an_empty_file_has_no_root),
		cmocka_unit_test(a_byte_order_mark_is_no_text),
		cmocka_unit_test(anchors_and_merge_keys),
		cmocka_unit_test(what_is_no_yaml_is_told_with_its_place),
		cmocka_unit_test(bytes_that_are_no_text),
		cmocka_unit_test(what_only_an_attack_needs),
		cmocka_unit_test(alias_bombs_stay_small),
		cmocka_unit_test(merges_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
