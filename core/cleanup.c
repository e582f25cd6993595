/* SPDX-License-Identifier: MIT */
/* cleanup.c - the stack of what must be undone */
#include <unistd.h>

#include "core/base.h"
#include "core/cleanup.h"
#include "core/vec.h"

struct entry {
	void (*undo)(void *arg);
	void *arg;
};

static VEC(struct entry) stack;
static pid_t owner;

void cleanup_push(void (*undo)(void *arg), void *arg)
{
	if (!owner) {
		owner = getpid();
		atexit(cleanup_run);
	}
	vec_push(&stack, (struct entry){undo, arg});
}

void cleanup_drop(void (*undo)(void *arg), void *arg)
{
	for (size_t i = stack.len; i-- > 0;) {
		if (stack.items[i].undo != undo || stack.items[i].arg != arg)
			continue;
		memmove(&stack.items[i], &stack.items[i + 1],
			(stack.len - i - 1) * sizeof(stack.items[0]));
		stack.len--;
		return;
	}
}

void cleanup_run(void)
{
	if (owner != getpid())
		return;
	while (stack.len) {
		struct entry entry = stack.items[--stack.len];

		entry.undo(entry.arg);
	}
}
