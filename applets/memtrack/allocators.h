/* SPDX-License-Identifier: MIT */
/*
 * allocators.h - which allocators a file holds, and where their entry points are probed.
 *
 * A file is read by its symbols; each known entry point becomes a probe site, with the class of
 * probe it takes and the registers where that finds its arguments. What follows for the programs
 * at the sites, so that one call of the program is one event:
 *
 * 1. Several names of one function are one site.
 *
 * 2. Nested calls. Entry points call each other (operator new calls malloc, posix_memalign calls
 *    aligned_alloc), also across files. A thread that is inside a site of class ALLOC, REALLOC or
 *    OUT reports nothing of the sites it enters from there; the outermost one reports. Being
 *    inside ends at the return, and also when a site is entered with a stack pointer above that of
 *    the entry: a longjmp or an exception has left it. (With the same one too if the outer site
 *    may throw; else that is a jump into the inner function, whose return address is by then the
 *    return probe's.) Below it, the return address of the outer call must still be in its place.
 *    A site that may throw is also left when it enters one of class THROW: the block of the
 *    exception is reported. A free in there is reported, unless it is of the block that a realloc
 *    was given.
 *
 * 3. Sites of class FREE have no return, so nesting is not seen. Functions that only pass the
 *    block on to another FREE site are no site themselves (operator delete of libstdc++). Those
 *    that may pass it on at times, or to where their code does not tell (an interposer), have
 *    `passes_on`: the next free by the same thread, of the same block, with a stack pointer not
 *    above and at another site, is the same call.
 *
 * 4. Functions that may throw get no return probe: an exception through it ends the program. They
 *    are no site where they call another entry point (operator new of libstdc++), else they have
 *    `returns`, the `ret` instructions that may end the call: one that is hit with the stack
 *    pointer of the entry is its return. The code of others may be shared, hence that condition.
 *
 *    So are those of a file with a malloc of its own that switches stacks: the kernel ends a program
 *    that returns to return probes in another order than it called.
 *
 * 5. A SIZE site only tells how much the program asked for, where a wrapper then asks for more
 *    (aligned operator new of libstdc++ rounds up). It is noted, with its stack pointer, and is the
 *    size of the next block that is returned to a deeper frame.
 */
#ifndef MEMTRACK_ALLOCATORS_H
#define MEMTRACK_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/elf.h"
#include "core/heap_event.h"
#include "core/vec.h"

enum allocator_family {
	ALLOCATOR_LIBC,     /* defines malloc or free: a libc, or a program with a malloc of its own */
	ALLOCATOR_CXX,      /* operator new or delete */
	ALLOCATOR_JEMALLOC, /* with any prefix */
	ALLOCATOR_TCMALLOC, /* gperftools' and Google's */
	ALLOCATOR_MIMALLOC,
	ALLOCATOR_FAMILIES,
};

const char *allocator_family_name(enum allocator_family family);

enum probe_class {
	PROBE_ALLOC,   /* returns a block (0: failed) of `size` bytes, times `count` if it has one */
	PROBE_REALLOC, /* the same; `block` was the block before (0: none). Fails with 0 and leaves
			  the block, unless the size is 0 or frees_on_failure is set */
	PROBE_OUT,     /* posix_memalign: returns 0, and the block at *block; else failed */
	PROBE_FREE,    /* `block` ends; entry only */
	PROBE_SIZE,    /* `size`, entry only: rule 5 */
	PROBE_THROW,   /* makes exceptions, entry only: rule 2 */
	PROBE_UNSEEN,  /* an entry point whose blocks will not be seen; entry only, to be told when
			  it is hit */
};

enum { PROBE_NO_REGISTER = 0xff };

/* Where an argument is when the entry probe is hit. */
struct probe_arguments {
	uint8_t size, count, block; /* the processor's numbers, or PROBE_NO_REGISTER */
};

struct probe_site {
	const char *name;   /* of the entry point, as in the file; owned by the list */
	enum probe_class class;
	enum heap_event_kind kind; /* of the event: HEAP_MALLOC ... */
	uint64_t function;  /* offsets in the file: of the function, */
	uint64_t offset;    /* of the entry probe, and of the return probe if it takes one */
	bool keeps_frames;  /* instruction_keeps_frames() */
	bool emulated;      /* false: the kernel will single-step there, which is slow */
	struct probe_arguments at;
	bool may_throw;     /* rule 4: no return probe, but probes at `returns`; only of the classes
			       that return something */
	bool frees_on_failure;
	bool passes_on;     /* rule 3 */
	uint32_t first_return, return_count; /* in probe_list.returns */
};

struct probe_list {
	unsigned families; /* bits of enum allocator_family; 0: no allocator, the rest is empty. A
			      family without a site and without `covered` is not understood */
	VEC(struct probe_site) sites; /* by offset of the function */
	VEC(uint64_t) returns;        /* offsets in the file */
	VEC(char *) names;            /* backs the sites' names */
	bool too_many;  /* names of entry points; not all were looked at */
	size_t covered; /* entry points that are no site because their calls are seen elsewhere */

	/*
	 * Of malloc, calloc, realloc and free, as bits in this order, those that a file of family
	 * LIBC does not define. A whole libc (`is_libc`) has them all, else the file is damaged or
	 * not understood; a program with only a malloc is just that.
	 */
	unsigned missing;
	bool is_libc;

	/*
	 * It has a malloc of its own and switches stacks (swapcontext), perhaps in the middle of a
	 * call: its functions are probed as if they could throw, and calls may be taken for nested.
	 */
	bool switches_stacks;
};

enum { PROBE_MISSING_CORE = 4 };
extern const char *const probe_core_names[PROBE_MISSING_CORE];

/* The first family of the file in the order that upstream uses, for messages. */
enum allocator_family probe_list_family(const struct probe_list *list);

/*
 * Find the sites of `f`. `moved`: probes can read arguments from any register; else they are
 * always in the registers of the calling convention. Any file is fine; a damaged one has fewer
 * sites, and the worst that can come is a site that the kernel refuses.
 */
void probe_list_find(struct probe_list *list, struct elf_file *f, bool moved);
void probe_list_release(struct probe_list *list); /* frees the contents; the list is as new */

#endif
