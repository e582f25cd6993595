/* SPDX-License-Identifier: MIT */
/* probes.c - from what allocators.h finds in a file to the probes that the tracker attaches */
#include <elf.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/build_id.h"
#include "core/elf.h"

#include "applets/memtrack/allocators.h"
#include "applets/memtrack/probes.h"

/* The kernel side numbers registers as the processor does, and has no use for the stack pointer. */
static unsigned register_number(uint8_t reg)
{
	return reg == PROBE_NO_REGISTER ? (unsigned)TRACK_NO_ARG : reg;
}

static unsigned track_kind(const struct probe_site *site)
{
	switch (site->kind) {
	case HEAP_FREE: return TRACK_FREE;
	case HEAP_CALLOC: return TRACK_CALLOC;
	case HEAP_REALLOC: return TRACK_REALLOC;
	case HEAP_ALIGNED_ALLOC: return TRACK_ALIGNED_ALLOC;
	default: return TRACK_MALLOC;
	}
}

static uint64_t cookie_of(const struct probe_site *site)
{
	unsigned flags = (site->class == PROBE_OUT ? TRACK_INDIRECT : 0) |
			 (site->frees_on_failure ? TRACK_FREES_ON_FAILURE : 0) |
			 (site->passes_on ? TRACK_PASSES_ON : 0) | (site->may_throw ? TRACK_THROWS : 0) |
			 (site->keeps_frames ? TRACK_KEEPS_FRAMES : 0);

	return TRACK_COOKIE(track_kind(site), register_number(site->at.size),
			    register_number(site->at.count), register_number(site->at.block), flags);
}

/* A function that may throw gets no return probe: an exception would end the program. */
static void add_call(struct probes *to, const struct probe_list *found, const struct probe_site *site)
{
	uint64_t cookie = cookie_of(site);

	vec_push(&to->list, (struct probe){site->may_throw ? PLACE_ENTRY : PLACE_CALL, site->offset,
					   cookie});
	for (uint32_t i = 0; site->may_throw && i < site->return_count; i++)
		vec_push(&to->list, (struct probe){PLACE_RET,
						   found->returns.items[site->first_return + i], cookie});
}

static void add_unseen(struct probes *to, const struct probe_site *site, const char *file,
		       struct strvec *unseen)
{
	if (unseen->len == TRACK_UNSEEN_MAX)
		return; /* a few hundred names say enough */
	vec_push(&to->list, (struct probe){PLACE_UNSEEN, site->offset, unseen->len});
	strvec_pushf(unseen, "%s in %s", site->name, file);
}

static void add_site(struct probes *to, const struct probe_list *found, const struct probe_site *site,
		     const char *file, struct strvec *unseen)
{
	switch (site->class) {
	case PROBE_ALLOC:
	case PROBE_REALLOC:
	case PROBE_OUT:
		add_call(to, found, site);
		break;
	case PROBE_FREE:
		vec_push(&to->list, (struct probe){PLACE_FREE, site->offset, cookie_of(site)});
		break;
	case PROBE_SIZE:
		vec_push(&to->list, (struct probe){PLACE_SIZE, site->offset, cookie_of(site)});
		break;
	case PROBE_THROW:
		vec_push(&to->list, (struct probe){PLACE_THROW, site->offset, 0});
		break;
	case PROBE_UNSEEN:
		add_unseen(to, site, file, unseen);
		break;
	}
}

static const char *first_missing(const struct probe_list *found)
{
	for (unsigned i = 0; i < PROBE_MISSING_CORE; i++)
		if (found->missing & 1u << i)
			return probe_core_names[i];
	return NULL;
}

/* A static program has only the functions that it uses; a library for all has all four. */
static int check(const struct probe_list *found, const struct elf_file *f, const char *file)
{
	struct elf_traits traits = elf_file_traits(f);
	bool library = traits.shared_library_or_pie && traits.dynamic_symbols;

	if (found->too_many)
		return fail(-ENOEXEC, "%s has thousands of functions by the names of allocators: it is "
				      "damaged or not understood", file);
	if (library && found->is_libc && found->missing)
		return fail(-ENOEXEC, "%s is a libc without %s: it is damaged or not understood", file,
			    first_missing(found));
	if (found->families && !found->sites.len && !found->covered)
		return fail(-ENOEXEC, "%s holds %s, of which no function can be probed", file,
			    allocator_family_name(probe_list_family(found)));
	return 0;
}

/*
 * A static program without symbols has an allocator for certain, and nobody can say where; but one
 * of Go has a heap of another kind, and calls malloc only from C.
 */
static void tell_of_program(const struct elf_file *f, const char *file, bool known,
			    struct heap_gaps *gaps)
{
	struct elf_traits traits = elf_file_traits(f);

	if (traits.go)
		heap_gaps_remark(gaps, "%s is a Go program: only what it allocates by C is counted", file);
	else if (!known && !traits.interpreter && !traits.symbol_table)
		heap_gaps_tell(gaps, "%s is a static program without symbols: its allocations cannot be "
			       "seen", file);
}

/* What cannot be opened as an ELF file of 64 bits is of no matter, unless it runs all the same. */
static void tell_of_32_bits(int fd, const char *file, struct heap_gaps *gaps)
{
	unsigned char start[EI_CLASS + 1];

	if (pread(fd, start, sizeof(start), 0) == sizeof(start) && !memcmp(start, ELFMAG, SELFMAG) &&
	    start[EI_CLASS] == ELFCLASS32)
		heap_gaps_tell(gaps, "%s is a 32-bit program: its allocations cannot be seen", file);
}

/* Our own binary by another name, or the one that the capable copy was made of. */
static bool is_own_build(struct elf_file *f)
{
	char *own = build_id_dup();
	bool is = own && elf_file_has_build_id(f, own);

	free(own);
	return is;
}

int probes_find(struct probes *probes, int fd, const char *name, bool is_program,
		struct strvec *unseen, struct heap_gaps *gaps)
{
	struct probe_list found = {0};
	struct elf_file *f;
	int rc = elf_file_open(&f, fd, name);

	if (rc == -ENOEXEC) {
		error_clear(); /* data, or a program of another machine */
		if (is_program)
			tell_of_32_bits(fd, name, gaps);
		return 0;
	}
	if (rc)
		return rc;
	if (is_own_build(f)) {
		elf_file_close(f);
		return 0;
	}
	probe_list_find(&found, f, true);
	if (is_program)
		tell_of_program(f, name, found.families, gaps);
	if (found.switches_stacks)
		heap_gaps_tell(gaps, "%s has a malloc of its own and switches stacks (swapcontext): calls may "
			       "be missing", name);
	rc = check(&found, f, name);
	for (size_t i = 0; !rc && i < found.sites.len; i++)
		add_site(probes, &found, &found.sites.items[i], name, unseen);
	if (!rc && found.families)
		log_debug("%s: %s, %zu probes", name, allocator_family_name(probe_list_family(&found)),
			  probes->list.len);
	probe_list_release(&found);
	elf_file_close(f);
	return rc;
}
