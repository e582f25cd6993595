/* SPDX-License-Identifier: MIT */
/* fingerprint.c - what of the machine figures depend on */
#include <inttypes.h>
#include <stdio.h>

#include "applets/runner/results/fingerprint.h"
#include "core/base.h"

/* Names that a glibc does not know are passed over by it. */
const char dispatch_tunables[] =
	"glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-FMA,-FMA4,-BMI1,-BMI2,-LZCNT,-MOVBE,"
	"-POPCNT,-SSE4_2,-SSE4_1,-SSSE3,-ERMS,-FSRM,-RTM,-XSAVEC,-Prefer_ERMS,-Prefer_FSRM,"
	/* preferences that it derives from the processor before it looks at the above */
	"-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Load,-Fast_Unaligned_Copy,-Fast_Rep_String,"
	"-Fast_Copy_Backward,-Slow_BSF,-Slow_SSE4_2,-Prefer_PMINUB_for_stringop,-Prefer_No_VZEROUPPER,"
	"-Prefer_No_AVX512_Probing"
	":glibc.cpu.x86_data_cache_size=32768"
	":glibc.cpu.x86_shared_cache_size=1048576"
	":glibc.cpu.x86_non_temporal_threshold=786432"
	":glibc.cpu.x86_rep_movsb_threshold=2048"
	":glibc.cpu.x86_rep_stosb_threshold=2048"
	":glibc.malloc.arena_max=8";

/*
 * The flags of which valgrind's own CPUID instruction depends; with AVX2 it always shows an Intel
 * Core i7-4910MQ (tried on an AMD processor with AVX-512 and FSRM; VEX, guest_amd64_toIR.c).
 */
static const char *const valgrind_flags[] = {
	"abm", "avx", "avx2", "bmi1", "bmi2", "cx16", "f16c", "fma", "movbe", "pni", "popcnt",
	"rdrand", "rdseed", "sse4_1", "sse4_2", "ssse3",
};

bool dispatch_is_pinned(const char *tunables)
{
	return tunables && str_ends(tunables, dispatch_tunables);
}

static void add(struct buf *to, const char *name, const char *base, const char *head)
{
	buf_printf(to, "%s%s: %s, %s", to->len ? "; " : "", name, base ? base : "unknown",
		head ? head : "unknown");
}

static void compare_texts(struct buf *to, const char *name, const char *base, const char *head)
{
	if (!base && !head)
		return;
	if (!base || !head || !str_eq(base, head) || str_eq(base, FINGERPRINT_SEVERAL))
		add(to, name, base, head);
}

static void compare_numbers(struct buf *to, const char *name, struct measure base,
	struct measure head)
{
	char texts[2][24] = {"unknown", "unknown"};

	if (base.known && head.known && base.value == head.value)
		return;
	if (base.known)
		snprintf(texts[0], sizeof(texts[0]), "%" PRIu64, base.value);
	if (head.known)
		snprintf(texts[1], sizeof(texts[1]), "%" PRIu64, head.value);
	add(to, name, texts[0], texts[1]);
}

/* Append to `only` what stands in `a` and not in `b`, of `relevant` words where these are given. */
static void subtract(const struct strvec *a, const struct strvec *b, bool relevant_only,
	char sign, struct buf *only)
{
	for (size_t i = 0; i < a->len; i++) {
		bool relevant = !relevant_only;

		for (size_t j = 0; !relevant && j < ARRAY_SIZE(valgrind_flags); j++)
			relevant = str_eq(a->items[i], valgrind_flags[j]);
		if (relevant && !strvec_contains(b, a->items[i]))
			buf_printf(only, "%s%c%s", only->len ? " " : "", sign, a->items[i]);
	}
}

static void compare_lists(struct buf *to, const char *name, const struct strvec *base,
	const struct strvec *head, bool relevant_only)
{
	struct buf only = BUF_INIT;

	if (strvec_contains(base, FINGERPRINT_SEVERAL) || strvec_contains(head, FINGERPRINT_SEVERAL))
		buf_addstr(&only, FINGERPRINT_SEVERAL);
	subtract(base, head, relevant_only, '-', &only);
	subtract(head, base, relevant_only, '+', &only);
	if (only.len)
		buf_printf(to, "%s%s: %s", to->len ? "; " : "", name, only.data);
	buf_release(&only);
}

/* GLIBC_TUNABLES is long: that it differs says enough. */
static void compare_tunables(struct buf *to, const struct result_system *base,
	const struct result_system *head)
{
	const char *a = base->glibc_tunables ? base->glibc_tunables : "";
	const char *b = head->glibc_tunables ? head->glibc_tunables : "";

	if (str_eq(a, b) && !str_eq(a, FINGERPRINT_SEVERAL))
		return;
	if (dispatch_is_pinned(a) != dispatch_is_pinned(b))
		add(to, "dispatch", dispatch_is_pinned(a) ? "pinned" : "not pinned",
			dispatch_is_pinned(b) ? "pinned" : "not pinned");
	else
		buf_printf(to, "%sGLIBC_TUNABLES differ", to->len ? "; " : "");
}

static void compare_dispatch(struct buf *to, const struct result_system *base,
	const struct result_system *head, bool simulated)
{
	bool x86 = str_eq(base->arch, "x86_64");

	compare_tunables(to, base, head);
	if (dispatch_is_pinned(base->glibc_tunables) && dispatch_is_pinned(head->glibc_tunables))
		return;
	compare_lists(to, "CPU flags", &base->cpu_flags, &head->cpu_flags, simulated && x86);
}

void fingerprint_differences(const struct result *base, const struct result *head, enum mode mode,
	struct buf *to)
{
	const struct result_system *a = &base->system, *b = &head->system;

	compare_texts(to, "architecture", a->arch, b->arch);
	if (mode == MODE_MEMORY)
		return;
	compare_texts(to, "libc", a->libc, b->libc);
	if (mode == MODE_SIMULATION) {
		compare_texts(to, "valgrind", a->valgrind, b->valgrind);
		compare_lists(to, "valgrind's options", &a->valgrind_options, &b->valgrind_options,
			false);
		compare_dispatch(to, a, b, true);
		return;
	}
	compare_texts(to, "CPU", a->cpu_model, b->cpu_model);
	compare_dispatch(to, a, b, false);
	compare_numbers(to, "cores", a->cores, b->cores);
	compare_texts(to, "kernel", a->kernel, b->kernel);
	compare_texts(to, "governor", a->governor, b->governor);
	compare_texts(to, "host", base->run.host, head->run.host);
}
