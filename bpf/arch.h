/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * arch.h - what differs from processor to processor: registers of the program at a probe and at a
 * system call's end, and where a function finds its return address. After bpf_tracing.h.
 */
#ifndef BPF_ARCH_H
#define BPF_ARCH_H

/*
 * By hand: clang would make one load of many, at an address that it chooses by the number, and the
 * verifier does not let a program compute places in its context.
 */
#define LOAD_REGISTER(to, ctx, type, name)                                \
	asm volatile("%0 = *(u64 *)(%1 + %2)"                             \
		     : "=r"(to)                                           \
		     : "r"(ctx), "i"(__builtin_offsetof(type, name)))

/* The kernel's own names of the registers; <asm/ptrace.h> has user space's. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_arm64)

struct pt_regs___kernel {
	__u64 regs[31];
	__s32 syscallno;
};

enum {
	SYSCALL_MMAP = 222,
	RETURN_ADDRESS = 0, /* bytes that a return has taken off the stack */
};

#define SYSCALL_NUMBER(regs_) ((regs_)->syscallno)
#define MMAP_PROTECTION(regs_) ((regs_)->regs[2])
#define MMAP_FILE(regs_) ((unsigned int)(regs_)->regs[4])

#else

struct pt_regs___kernel {
	unsigned long orig_ax;
	unsigned long dx;
	unsigned long r8;
};

enum {
	SYSCALL_MMAP = 9,
	RETURN_ADDRESS = 8,
};

#define SYSCALL_NUMBER(regs_) ((regs_)->orig_ax)
#define MMAP_PROTECTION(regs_) ((regs_)->dx)
#define MMAP_FILE(regs_) ((unsigned int)(regs_)->r8)

#endif

#pragma clang attribute pop

#if defined(__TARGET_ARCH_arm64)

/* What the register with this number holds (TRACK_COOKIE). */
static __always_inline __u64 argument(struct pt_regs *ctx, __u64 number)
{
	__u64 value = 0;

	switch (number) {
	case 0: LOAD_REGISTER(value, ctx, struct user_pt_regs, regs[0]); break;
	case 1: LOAD_REGISTER(value, ctx, struct user_pt_regs, regs[1]); break;
	case 2: LOAD_REGISTER(value, ctx, struct user_pt_regs, regs[2]); break;
	case 3: LOAD_REGISTER(value, ctx, struct user_pt_regs, regs[3]); break;
	}
	return value;
}

/* At a function's entry the return address is in a register. */
enum { RETURN_IN_REGISTER = 1 };

static __always_inline __u64 return_register(struct pt_regs *ctx)
{
	return PT_REGS_RET(ctx);
}

/* One that was signed (PAC) has its signature above the address. */
static __always_inline bool same_address(__u64 a, __u64 b)
{
	return !((a ^ b) << 16);
}

#else

static __always_inline __u64 argument(struct pt_regs *ctx, __u64 number)
{
	__u64 value = 0;

	switch (number) {
	case 0: LOAD_REGISTER(value, ctx, struct pt_regs, rax); break;
	case 1: LOAD_REGISTER(value, ctx, struct pt_regs, rcx); break;
	case 2: LOAD_REGISTER(value, ctx, struct pt_regs, rdx); break;
	case 3: LOAD_REGISTER(value, ctx, struct pt_regs, rbx); break;
	case 5: LOAD_REGISTER(value, ctx, struct pt_regs, rbp); break;
	case 6: LOAD_REGISTER(value, ctx, struct pt_regs, rsi); break;
	case 7: LOAD_REGISTER(value, ctx, struct pt_regs, rdi); break;
	case 8: LOAD_REGISTER(value, ctx, struct pt_regs, r8); break;
	case 9: LOAD_REGISTER(value, ctx, struct pt_regs, r9); break;
	case 10: LOAD_REGISTER(value, ctx, struct pt_regs, r10); break;
	case 11: LOAD_REGISTER(value, ctx, struct pt_regs, r11); break;
	case 12: LOAD_REGISTER(value, ctx, struct pt_regs, r12); break;
	case 13: LOAD_REGISTER(value, ctx, struct pt_regs, r13); break;
	case 14: LOAD_REGISTER(value, ctx, struct pt_regs, r14); break;
	case 15: LOAD_REGISTER(value, ctx, struct pt_regs, r15); break;
	}
	return value;
}

/* At a function's entry the return address is where the stack pointer points to. */
enum { RETURN_IN_REGISTER = 0 };

static __always_inline __u64 return_register(struct pt_regs *ctx)
{
	return 0;
}

#endif

#endif
