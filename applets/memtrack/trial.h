/* SPDX-License-Identifier: MIT */
/*
 * trial.h - a function of our own that probes are tried on. On x86-64 a `push` comes first: the kernel
 * emulates it, as at most places that are probed.
 */
#ifndef MEMTRACK_TRIAL_H
#define MEMTRACK_TRIAL_H

#if defined(__aarch64__)
#define TRIAL_CODE "nop\n\tret"
#else
#define TRIAL_CODE "push %rax\n\tpop %rax\n\tret"
#endif

void trial(void);
__asm__(".pushsection .text.trial, \"ax\", %progbits\n"
	"\t.type trial, %function\n"
	"trial:\n\t" TRIAL_CODE "\n"
	"\t.size trial, . - trial\n"
	"\t.popsection");

#endif
