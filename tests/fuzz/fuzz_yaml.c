/* SPDX-License-Identifier: MIT */
/* fuzz_yaml.c - any bytes as YAML: refused with one line, or a tree that holds together */
#include "core/base.h"
#include "core/yaml.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc UNUSED, char ***argv UNUSED)
{
	setenv("CODSPEED_LOG", "off", 1);
	log_init("fuzz");
	return 0;
}

static void check(const struct yaml_node *node)
{
	if (!node->place.line || !node->place.column || node->open)
		BUG("a value without a place");
	if ((node->kind <= YAML_TEXT) != (node->text != NULL))
		BUG("a scalar without a text");
	for (size_t i = 0; i < node->items.len; i++)
		if (!node->items.items[i])
			BUG("a hole in a list");
	for (size_t i = 0; i < node->entries.len; i++) {
		const struct yaml_entry *entry = &node->entries.items[i];

		if (!entry->value || yaml_find(node, entry->key) != entry->value)
			BUG("a key that is not found");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct yaml_doc doc;

	if (!yaml_parse(&doc, "f", (const char *)data, size))
		for (size_t i = 0; i < doc.nodes.len; i++)
			check(doc.nodes.items[i]);
	else if (!*error_text() || strchr(error_text(), '\n') || doc.root || doc.nodes.len)
		BUG("refused without a reason");
	error_clear();
	yaml_release(&doc);
	return 0;
}
