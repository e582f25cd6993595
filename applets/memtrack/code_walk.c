/* SPDX-License-Identifier: MIT */
/* code_walk.c - every way through a piece of code */
#include "applets/memtrack/code_walk.h"
#include "applets/memtrack/instruction.h"
#include "core/base.h"

enum {
	STEPS = 8192,        /* instructions looked at, all ways together */
	SLOTS = 2 * STEPS,   /* of the set of places; a power of two */
	PATHS = 4,           /* values of `path` */
};

struct place {
	uint64_t address;
	unsigned path;
};

struct walker {
	struct code_walk *result;
	struct elf_file *file;
	struct code_range range;
	bool (*is_goal)(void *ctx, const struct code_target *t);
	void *ctx;
	VEC(struct place) todo;
	uint64_t *seen; /* address * PATHS + path + 1, 0 = free */
	unsigned steps;
};

/* True the first time. */
static bool mark(struct walker *w, struct place p)
{
	uint64_t key = p.address * PATHS + p.path + 1;
	size_t slot = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (SLOTS - 1);

	while (w->seen[slot] && w->seen[slot] != key)
		slot = (slot + 1) & (SLOTS - 1);
	if (w->seen[slot])
		return false;
	w->seen[slot] = key;
	return true;
}

static bool decode_at(struct elf_file *f, uint64_t address, struct instruction *i)
{
	uint8_t bytes[INSTRUCTION_MAX];
	size_t len = elf_file_code(f, address, bytes, sizeof(bytes));

	return instruction_decode(bytes, len, i);
}

static bool read_slot(struct elf_file *f, uint64_t slot, struct code_target *to)
{
	struct elf_slot found;

	if (!elf_file_slot(f, slot, &found))
		return false;
	*to = (struct code_target){.address = found.address, .name = found.name};
	return true;
}

/* What a direct jump or call to `address` means: a stub stands for what its slot holds. */
static struct code_target see_through(struct elf_file *f, uint64_t address)
{
	struct code_target target = {.address = address};
	uint8_t bytes[STUB_MAX];
	size_t len = elf_file_code(f, address, bytes, sizeof(bytes));
	uint64_t slot;

	if (instruction_is_stub(bytes, len, address, &slot))
		read_slot(f, slot, &target);
	return target;
}

static bool is_goal(const struct walker *w, const struct code_target *t)
{
	return w->is_goal && w->is_goal(w->ctx, t);
}

static void leave(struct walker *w, enum code_exit_type type, struct place p,
		  struct code_target target)
{
	if (type == CODE_JUMP && is_goal(w, &target))
		p.path |= CODE_GOAL;
	vec_push(&w->result->exits, (struct code_exit){type, p.path, p.address, target});
}

static bool in_range(const struct walker *w, uint64_t address)
{
	return address >= w->range.from && address < w->range.to;
}

static void jump(struct walker *w, struct place from, struct code_target target)
{
	if (target.address && in_range(w, target.address))
		vec_push(&w->todo, (struct place){target.address, from.path});
	else
		leave(w, CODE_JUMP, from, target);
}

/* Functions by which allocators end. Behind such a call may stand anything. */
static bool never_returns(const char *name)
{
	static const char *const names[] = {
		"abort", "exit", "_exit", "__stack_chk_fail", "__assert_fail", "_Unwind_Resume",
		"__cxa_throw", "__cxa_rethrow", "_ZSt9terminatev",
	};

	if (!name)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(name, names[i]))
			return true;
	return str_starts(name, "_ZSt") && strstr(name, "__throw_");
}

/* False where it does not come back. */
static bool call(struct walker *w, struct place *p, struct code_target target)
{
	vec_push(&w->result->calls, (struct code_call){p->address, target});
	p->path |= is_goal(w, &target) ? CODE_GOAL : CODE_WORKED;
	return !never_returns(target.name);
}

static int by_address(const void *key, const void *element)
{
	uint64_t a = *(const uint64_t *)key, b = *(const uint64_t *)element;

	return a < b ? -1 : a > b;
}

/* Whether the code just before may run on to here. */
static bool runs_on(const struct walker *w, uint64_t address)
{
	return in_range(w, address) &&
	       !(w->range.start_count && bsearch(&address, w->range.starts, w->range.start_count,
						 sizeof(address), by_address));
}

/* Take one step; false where this way ends. */
static bool step(struct walker *w, struct place *p)
{
	struct code_target target = {0};
	struct instruction i;
	uint64_t there;

	if (!decode_at(w->file, p->address, &i)) {
		leave(w, CODE_UNKNOWN, *p, target);
		return false;
	}
	there = p->address + (uint64_t)i.target;
	switch (i.flow) {
	case FLOW_STOP:
		return false;
	case FLOW_RETURN:
		leave(w, CODE_RETURN, *p, target);
		return false;
	case FLOW_JUMP:
		jump(w, *p, in_range(w, there) ? (struct code_target){.address = there}
					       : see_through(w->file, there));
		return false;
	case FLOW_JUMP_IF:
		jump(w, *p, (struct code_target){.address = there});
		break;
	case FLOW_JUMP_INDIRECT:
		if (i.through_slot && read_slot(w->file, there, &target))
			jump(w, *p, target);
		else
			leave(w, CODE_UNKNOWN, *p, target);
		return false;
	case FLOW_CALL:
		if (!call(w, p, see_through(w->file, there)))
			return false;
		break;
	case FLOW_CALL_INDIRECT:
		if (i.through_slot)
			read_slot(w->file, there, &target);
		if (!call(w, p, target))
			return false;
		break;
	default:
		if (i.stores)
			p->path |= CODE_WORKED;
	}
	p->address += i.length;
	return runs_on(w, p->address);
}

void code_walk(struct code_walk *result, struct elf_file *f, uint64_t start, struct code_range range,
	       bool (*goal)(void *ctx, const struct code_target *t), void *ctx)
{
	struct walker w = {.result = result, .file = f, .range = range, .is_goal = goal, .ctx = ctx};

	*result = (struct code_walk){.complete = true};
	w.seen = xcalloc(SLOTS, sizeof(*w.seen));
	vec_push(&w.todo, (struct place){.address = start});
	while (w.todo.len) {
		struct place p = w.todo.items[--w.todo.len];

		while (mark(&w, p)) {
			if (++w.steps > STEPS) {
				result->complete = false;
				w.todo.len = 0;
				break;
			}
			if (!step(&w, &p))
				break;
		}
	}
	free(w.seen);
	vec_release(&w.todo);
}

void code_walk_release(struct code_walk *w)
{
	vec_release(&w->exits);
	vec_release(&w->calls);
}
