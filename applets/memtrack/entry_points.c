/* SPDX-License-Identifier: MIT */
/* entry_points.c - the functions of the allocators: the table, and names looked up in it */
#include "applets/memtrack/entry_points.h"
#include "core/base.h"

#define ALLOC(name, kind, size, flags) {name, PROBE_ALLOC, kind, size, 0, 0, flags}
#define ARRAY(name, kind, flags) {name, PROBE_ALLOC, kind, 2, 1, 0, flags}
#define REALLOC(name, size, count, flags) {name, PROBE_REALLOC, HEAP_REALLOC, size, count, 1, flags}
#define FREE(name, flags) {name, PROBE_FREE, HEAP_FREE, 0, 0, 1, flags}
#define UNSEEN(name) {name, PROBE_UNSEEN, HEAP_MALLOC, 0, 0, 0, ENTRY_WRAPS}

/* In this order the first name of a function is the one that is shown. */
static const struct entry_point standard[] = {
	ALLOC("malloc", HEAP_MALLOC, 1, 0),
	ARRAY("calloc", HEAP_CALLOC, 0),
	REALLOC("realloc", 2, 0, 0),
	FREE("free", 0),
	ALLOC("aligned_alloc", HEAP_ALIGNED_ALLOC, 2, 0),
	ALLOC("memalign", HEAP_ALIGNED_ALLOC, 2, 0),
	{"posix_memalign", PROBE_OUT, HEAP_ALIGNED_ALLOC, 3, 0, 1, ENTRY_WRAPS},
	ALLOC("valloc", HEAP_MALLOC, 1, 0),
	ALLOC("pvalloc", HEAP_MALLOC, 1, 0), /* never as a wrapper: it rounds the size up */
	REALLOC("reallocarray", 3, 2, ENTRY_WRAPS),
	REALLOC("reallocf", 2, 0, ENTRY_FREES_FAILED),
	UNSEEN("reallocarr"),
	FREE("cfree", 0),
	FREE("free_sized", 0),
	FREE("free_aligned_sized", 0),
};

#define NEW(name, flags) ALLOC(name, HEAP_MALLOC, 1, ENTRY_CXX | ENTRY_WRAPS | (flags))
#define NEW_ALIGNED(name, flags)                                                              \
	ALLOC(name, HEAP_ALIGNED_ALLOC, 1, ENTRY_CXX | ENTRY_WRAPS | ENTRY_ALIGNED_NEW | (flags))
#define DELETE(name) FREE(name, ENTRY_CXX)
/* The eight forms of operator new, with `hint` behind the other arguments. */
#define NEWS(hint)                                                                            \
	NEW("_Znwm" hint, ENTRY_THROWS),                                                      \
	NEW("_Znam" hint, ENTRY_THROWS),                                                      \
	NEW("_ZnwmRKSt9nothrow_t" hint, 0),                                                   \
	NEW("_ZnamRKSt9nothrow_t" hint, 0),                                                   \
	NEW_ALIGNED("_ZnwmSt11align_val_t" hint, ENTRY_THROWS),                               \
	NEW_ALIGNED("_ZnamSt11align_val_t" hint, ENTRY_THROWS),                               \
	NEW_ALIGNED("_ZnwmSt11align_val_tRKSt9nothrow_t" hint, 0),                            \
	NEW_ALIGNED("_ZnamSt11align_val_tRKSt9nothrow_t" hint, 0)

static const struct entry_point operators[] = {
	NEWS(""),
	DELETE("_ZdlPv"),
	DELETE("_ZdaPv"),
	DELETE("_ZdlPvm"),
	DELETE("_ZdaPvm"),
	DELETE("_ZdlPvRKSt9nothrow_t"),
	DELETE("_ZdaPvRKSt9nothrow_t"),
	DELETE("_ZdlPvSt11align_val_t"),
	DELETE("_ZdaPvSt11align_val_t"),
	DELETE("_ZdlPvmSt11align_val_t"),
	DELETE("_ZdaPvmSt11align_val_t"),
	DELETE("_ZdlPvSt11align_val_tRKSt9nothrow_t"),
	DELETE("_ZdaPvSt11align_val_tRKSt9nothrow_t"),
	NEWS("12__hot_cold_t"), /* Google's */
	{"__cxa_allocate_exception", PROBE_THROW, HEAP_MALLOC, 0, 0, 0, 0},
};

static const struct entry_point jemalloc_api[] = {
	ALLOC("mallocx", HEAP_MALLOC, 1, 0),
	REALLOC("rallocx", 2, 0, 0),
	FREE("dallocx", 0),
	FREE("sdallocx", 0),
	UNSEEN("xallocx"),
};

/* gperftools, behind tc_. */
static const struct entry_point tc_api[] = {
	ALLOC("malloc_skip_new_handler", HEAP_MALLOC, 1, 0),
	ALLOC("new", HEAP_MALLOC, 1, ENTRY_THROWS),
	ALLOC("newarray", HEAP_MALLOC, 1, ENTRY_THROWS),
	ALLOC("new_nothrow", HEAP_MALLOC, 1, 0),
	ALLOC("newarray_nothrow", HEAP_MALLOC, 1, 0),
	ALLOC("new_aligned", HEAP_ALIGNED_ALLOC, 1, ENTRY_THROWS),
	ALLOC("newarray_aligned", HEAP_ALIGNED_ALLOC, 1, ENTRY_THROWS),
	ALLOC("new_aligned_nothrow", HEAP_ALIGNED_ALLOC, 1, 0),
	ALLOC("newarray_aligned_nothrow", HEAP_ALIGNED_ALLOC, 1, 0),
	FREE("delete", 0),
	FREE("deletearray", 0),
	FREE("delete_sized", 0),
	FREE("deletearray_sized", 0),
	FREE("delete_nothrow", 0),
	FREE("deletearray_nothrow", 0),
	FREE("delete_aligned", 0),
	FREE("deletearray_aligned", 0),
	FREE("delete_sized_aligned", 0),
	FREE("deletearray_sized_aligned", 0),
	FREE("delete_aligned_nothrow", 0),
	FREE("deletearray_aligned_nothrow", 0),
};

/* Google's, beyond the standard names, of which its internal ones are aliases. */
static const struct entry_point google_api[] = {
	FREE("sdallocx", 0),
	ALLOC("alloc_at_least", HEAP_MALLOC, 1, 0),
	ALLOC("aligned_alloc_at_least", HEAP_ALIGNED_ALLOC, 2, 0),
	ALLOC("__size_returning_new", HEAP_MALLOC, 1, ENTRY_THROWS),
	ALLOC("__size_returning_new_aligned", HEAP_ALIGNED_ALLOC, 1, ENTRY_THROWS),
	ALLOC("__size_returning_new_hot_cold", HEAP_MALLOC, 1, ENTRY_THROWS),
	ALLOC("__size_returning_new_aligned_hot_cold", HEAP_ALIGNED_ALLOC, 1, ENTRY_THROWS),
	ALLOC("TCMallocInternalMalloc", HEAP_MALLOC, 1, 0),
	FREE("TCMallocInternalFree", 0),
	ALLOC("TCMallocInternalNew", HEAP_MALLOC, 1, ENTRY_THROWS),
	FREE("TCMallocInternalDelete", 0),
};

/* mimalloc, behind mi_, and with a heap before the arguments behind mi_heap_. */
static const struct entry_point mi_api[] = {
	ALLOC("malloc_small", HEAP_MALLOC, 1, 0),
	ALLOC("zalloc", HEAP_CALLOC, 1, 0),
	ALLOC("zalloc_small", HEAP_CALLOC, 1, 0),
	ARRAY("mallocn", HEAP_MALLOC, 0),
	ALLOC("malloc_aligned", HEAP_ALIGNED_ALLOC, 1, 0),
	ALLOC("malloc_aligned_at", HEAP_ALIGNED_ALLOC, 1, 0),
	ALLOC("zalloc_aligned", HEAP_CALLOC, 1, 0),
	ALLOC("zalloc_aligned_at", HEAP_CALLOC, 1, 0),
	ARRAY("calloc_aligned", HEAP_CALLOC, 0),
	ARRAY("calloc_aligned_at", HEAP_CALLOC, 0),
	REALLOC("reallocn", 3, 2, 0),
	REALLOC("rezalloc", 2, 0, 0),
	REALLOC("recalloc", 3, 2, 0),
	REALLOC("realloc_aligned", 2, 0, 0),
	REALLOC("realloc_aligned_at", 2, 0, 0),
	REALLOC("rezalloc_aligned", 2, 0, 0),
	REALLOC("rezalloc_aligned_at", 2, 0, 0),
	REALLOC("recalloc_aligned", 3, 2, 0),
	REALLOC("recalloc_aligned_at", 3, 2, 0),
	UNSEEN("strdup"),
	UNSEEN("strndup"),
	UNSEEN("realpath"),
};

/* Behind mi_ alone. */
static const struct entry_point mi_plain_api[] = {
	REALLOC("expand", 2, 0, 0),
	ALLOC("new", HEAP_MALLOC, 1, ENTRY_THROWS),
	ALLOC("new_nothrow", HEAP_MALLOC, 1, 0),
	ALLOC("new_aligned", HEAP_ALIGNED_ALLOC, 1, ENTRY_THROWS | ENTRY_WRAPS),
	ALLOC("new_aligned_nothrow", HEAP_ALIGNED_ALLOC, 1, ENTRY_WRAPS),
	ARRAY("new_n", HEAP_MALLOC, ENTRY_THROWS),
	REALLOC("new_realloc", 2, 0, ENTRY_THROWS | ENTRY_WRAPS),
	REALLOC("new_reallocn", 3, 2, ENTRY_THROWS | ENTRY_WRAPS),
	FREE("free_size", 0),
	FREE("free_size_aligned", 0),
	FREE("free_aligned", 0),
	UNSEEN("wcsdup"),
	UNSEEN("mbsdup"),
};

/* Behind mi_heap_ alone. */
static const struct entry_point mi_heap_api[] = {
	ALLOC("alloc_new", HEAP_MALLOC, 1, ENTRY_THROWS),
	ARRAY("alloc_new_n", HEAP_MALLOC, ENTRY_THROWS),
	UNSEEN("destroy"), /* all blocks of a heap at once */
};

static const struct entry_point *find_in(const struct entry_point *table, size_t count,
					 const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(table[i].name, name))
			return &table[i];
	return NULL;
}

#define FIND_IN(table, name) find_in(table, ARRAY_SIZE(table), name)

#define HAS(families, family) ((families) & 1u << (family))

struct prefix {
	const char *text;
	unsigned family, shift;
	const struct entry_point *api[2];
	size_t counts[2];
};

/* The rest of a name behind one of the prefixes. */
static const struct entry_point *find_behind(const char *rest, const struct prefix *prefix)
{
	const struct entry_point *found = FIND_IN(standard, rest);

	for (int i = 0; i < 2 && !found; i++)
		found = find_in(prefix->api[i], prefix->counts[i], rest);
	return found;
}

#define JEMALLOC_NAMES(prefix)                                                                  \
	{prefix, ALLOCATOR_JEMALLOC, 0, {jemalloc_api, NULL}, {ARRAY_SIZE(jemalloc_api), 0}}

static bool find_prefixed(const char *name, unsigned families, const char *jemalloc,
			  struct entry_match *to)
{
	const struct prefix prefixes[] = {
		JEMALLOC_NAMES("_rjem_"),
		JEMALLOC_NAMES("je_"),
		{"tc_", ALLOCATOR_TCMALLOC, 0, {tc_api, NULL}, {ARRAY_SIZE(tc_api), 0}},
		{"mi_heap_", ALLOCATOR_MIMALLOC, 1, {mi_api, mi_heap_api},
		 {ARRAY_SIZE(mi_api), ARRAY_SIZE(mi_heap_api)}},
		{"mi_", ALLOCATOR_MIMALLOC, 0, {mi_api, mi_plain_api},
		 {ARRAY_SIZE(mi_api), ARRAY_SIZE(mi_plain_api)}},
		JEMALLOC_NAMES(jemalloc),
	};

	to->rank = 1;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		const struct prefix *p = &prefixes[i];

		if (!p->text || !HAS(families, p->family) || !str_starts(name, p->text))
			continue;
		to->shift = p->shift;
		to->entry = find_behind(name + strlen(p->text), p);
		if (to->entry)
			return true;
	}
	return false;
}

/* Nearly all symbols of a file are none of these; this tells without a look at the tables. */
static bool may_be_known(const char *name)
{
	static const char parts[][5] = {"allo", "alig", "free", "_Zn", "_Zd", "new", "dele", "dup",
					"expa", "realp", "dest", "TCMa"};
	char first = *name;

	if (first == '_' && name[1] == 'Z' && name[2] != 'n' && name[2] != 'd')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

bool entry_point_find(const char *name, unsigned families, const char *jemalloc,
		      struct entry_match *to)
{
	*to = (struct entry_match){.plain = true};
	if (!may_be_known(name))
		return false;
	if ((to->entry = FIND_IN(standard, name)))
		return true;
	to->plain = false;
	if ((to->entry = FIND_IN(operators, name)))
		return true;
	if (HAS(families, ALLOCATOR_JEMALLOC) && (to->entry = FIND_IN(jemalloc_api, name)))
		return true;
	if (HAS(families, ALLOCATOR_TCMALLOC) && (to->entry = FIND_IN(google_api, name)))
		return true;
	return find_prefixed(name, families, jemalloc, to);
}

unsigned entry_point_order(const struct entry_point *entry)
{
	if (entry >= standard && entry < standard + ARRAY_SIZE(standard))
		return (unsigned)(entry - standard);
	if (entry >= operators && entry < operators + ARRAY_SIZE(operators))
		return (unsigned)(ARRAY_SIZE(standard) + (size_t)(entry - operators));
	return UINT32_MAX;
}

unsigned entry_point_families(const char *name)
{
	static const struct {
		const char *name;
		unsigned family;
	} proofs[] = {
		{"malloc", ALLOCATOR_LIBC},
		{"free", ALLOCATOR_LIBC},
		{"_Znwm", ALLOCATOR_CXX},
		{"_Znam", ALLOCATOR_CXX},
		{"_ZdlPv", ALLOCATOR_CXX},
		{"_ZdaPv", ALLOCATOR_CXX},
		{"_rjem_malloc", ALLOCATOR_JEMALLOC},
		{"je_malloc", ALLOCATOR_JEMALLOC},
		{"je_malloc_default", ALLOCATOR_JEMALLOC},
		{"mallocx", ALLOCATOR_JEMALLOC},
		{"tc_malloc", ALLOCATOR_TCMALLOC},
		{"tc_free", ALLOCATOR_TCMALLOC},
		{"tc_version", ALLOCATOR_TCMALLOC},
		{"TCMallocInternalMalloc", ALLOCATOR_TCMALLOC},
		{"TCMallocInternalNew", ALLOCATOR_TCMALLOC},
		{"mi_malloc_aligned", ALLOCATOR_MIMALLOC},
		{"mi_malloc", ALLOCATOR_MIMALLOC},
		{"mi_free", ALLOCATOR_MIMALLOC},
	};

	if (!strchr("mf_jtT", *name))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(proofs); i++)
		if (str_eq(proofs[i].name, name))
			return 1u << proofs[i].family;
	return 0;
}
