// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* memtrack.bpf.c - the kernel side of memtrack: heap calls of a process tree, into a ring */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "arch.h"
#include "kernel.h"
#include "memtrack.h"
/* Of this file, in the order in which they build upon each other. */
#include "tasks.bpf.h"
#include "calls.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum {
	MAP_EXECUTABLE = 4, /* PROT_EXEC */
	FLAG_SIGNALED = 0x400, /* PF_SIGNALED: a signal ends the thread */
};

/* ---- Allocator calls ---- */

/* Newer kernels give it an argument; libbpf leaves out of a name what stands behind ___. */
extern bool bpf_session_is_return(void) __ksym __weak;
extern bool bpf_session_is_return___context(void *ctx) __ksym __weak;

static __always_inline bool is_return(void *ctx)
{
	if (bpf_ksym_exists(bpf_session_is_return___context))
		return bpf_session_is_return___context(ctx);
	return bpf_session_is_return();
}

SEC("uprobe.multi") /* made a session before it is loaded, where the kernel has them */
int alloc_session(struct pt_regs *ctx)
{
	if (!is_return(ctx))
		return enter(ctx) ? 0 : 1; /* 1: no return probe for this call */
	leave(ctx, PT_REGS_SP(ctx) - RETURN_ADDRESS);
	return 0;
}

SEC("uprobe.multi")
int alloc_enter(struct pt_regs *ctx)
{
	enter(ctx);
	return 0;
}

SEC("uretprobe.multi")
int alloc_leave(struct pt_regs *ctx)
{
	leave(ctx, PT_REGS_SP(ctx) - RETURN_ADDRESS);
	return 0;
}

/* On the `ret` instructions of a function that may throw: a return probe would break unwinding. */
SEC("uprobe.multi")
int alloc_ret(struct pt_regs *ctx)
{
	leave(ctx, PT_REGS_SP(ctx));
	return 0;
}

SEC("uprobe.multi")
int free_enter(struct pt_regs *ctx)
{
	__u64 sp = PT_REGS_SP(ctx), cookie, addr;
	struct task *t;

	if (!tracking)
		return 0;
	t = current_task();
	if (!t)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	addr = argument(ctx, TRACK_COOKIE_BLOCK(cookie));
	if (!addr || was_passed_on(ctx, t, sp, addr) || is_part_of_realloc(ctx, t, sp, addr))
		return 0;
	if (TRACK_COOKIE_FLAGS(cookie) & TRACK_PASSES_ON) {
		t->passed = addr;
		t->passed_sp = sp;
		t->passed_ip = PT_REGS_IP(ctx);
	}
	tell_free(t, addr);
	return 0;
}

/* A wrapper that will ask for more than it is asked for. */
SEC("uprobe.multi")
int size_enter(struct pt_regs *ctx)
{
	__u64 sp = PT_REGS_SP(ctx);
	struct task *t = tracking ? current_task() : NULL;

	if (!t || is_nested(ctx, t, sp))
		return 0;
	t->wish = argument(ctx, TRACK_COOKIE_SIZE(bpf_get_attach_cookie(ctx)));
	t->wish_sp = sp;
	return 0;
}

/*
 * An exception is being made, whose block comes from the same allocator: it will leave the call
 * that it is made in.
 */
SEC("uprobe.multi")
int throw_enter(struct pt_regs *ctx)
{
	struct task *t = current_task();

	if (t && may_throw(t))
		t->sp = 0;
	return 0;
}

SEC("uprobe.multi")
int unseen_enter(struct pt_regs *ctx)
{
	__u64 place = bpf_get_attach_cookie(ctx);

	if (tracking && current_task() && place < TRACK_UNSEEN_MAX)
		unseen[place] = 1;
	return 0;
}

/* ---- The tree ---- */

/* In the parent, before the child runs. A new thread is the same event. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	if (!find_task(parent))
		return 0;
	if (bpf_task_storage_get(&tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE))
		__sync_fetch_and_add(&alive, 1);
	else
		__sync_fetch_and_add(&lost_tasks, 1);
	return 0;
}

/*
 * Of each thread, when it is not counted any more. Of several that end at once more than one may
 * see that none is left: an end told twice is no harm, and the id stays theirs until then. A thread
 * that executes a program is counted all the time, although its leader ends and gives it its id.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct task *t = find_task(task);

	if (!t)
		return 0;
	if (!(task->flags & FLAG_SIGNALED)) /* killed, it has not gone on */
		see_to_stop(t);
	__sync_fetch_and_add(&alive, -1);
	if (!task->signal->live.counter)
		tell_end(t, TRACK_EXIT);
	return 0;
}

/* ---- Files ---- */

enum { NSEC_BITS = (1 << 30) - 1, NSEC_PER_SECOND = 1000000000 };

/* When the file was changed (ctime), ns; READ(pointer, field) is how the kernel's memory is read. */
#define CHANGED_AT(inode_, READ)                                                                   \
	({                                                                                         \
		struct inode___since_6_6 *since_6_6 = (void *)(inode_);                            \
		struct inode___before_6_6 *before_6_6 = (void *)(inode_);                          \
		__s64 seconds;                                                                     \
		__u64 rest;                                                                        \
                                                                                                   \
		if (bpf_core_field_exists(struct inode, i_ctime_sec)) {                            \
			seconds = READ(inode_, i_ctime_sec);                                       \
			rest = READ(inode_, i_ctime_nsec);                                         \
		} else if (bpf_core_field_exists(struct inode___since_6_6, __i_ctime)) {           \
			seconds = READ(since_6_6, __i_ctime.tv_sec);                               \
			rest = READ(since_6_6, __i_ctime.tv_nsec);                                 \
		} else {                                                                           \
			seconds = READ(before_6_6, i_ctime.tv_sec);                                \
			rest = READ(before_6_6, i_ctime.tv_nsec);                                  \
		}                                                                                  \
		(__u64)seconds * NSEC_PER_SECOND + (rest & NSEC_BITS);                             \
	})
#define FIELD(pointer, field) ((pointer)->field)

/* The new image stands before its first instruction. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct task *t = find_task(task);
	struct track_file file = {};
	struct inode *inode;

	if (!t)
		return 0;
	if (own_user_only && BPF_CORE_READ_BITFIELD(program, secureexec)) {
		leave_alone(t);
		return 0;
	}
	t->sp = t->wish_sp = t->passed_sp = 0;
	t->pid = t->tid = 0; /* a thread that executes takes its leader's id */
	tell_end(t, TRACK_EXEC);
	inode = program->file->f_inode;
	file.device = inode->i_sb->s_dev;
	file.inode = inode->i_ino;
	stop_at_new_file(t, file, CHANGED_AT(inode, FIELD));
	return 0;
}

static __always_inline void look_at_mapping(struct task *t, unsigned int fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file **table, *mapped = NULL;
	struct track_file file = {};
	struct inode *inode;

	if (memory_hidden) {
		if ((int)fd >= 0)
			stop(t, TRACK_STOP_FILE, no_file, 0); /* memtrack will see which it is */
		return;
	}
	if (fd >= BPF_CORE_READ(task, files, fdt, max_fds))
		return; /* no file: an anonymous mapping */
	table = BPF_CORE_READ(task, files, fdt, fd);
	if (bpf_probe_read_kernel(&mapped, sizeof(mapped), &table[fd]) || !mapped) {
		stop(t, TRACK_STOP_FILE, no_file, 0); /* another thread has closed it just now */
		return;
	}
	inode = BPF_CORE_READ(mapped, f_inode);
	file.device = BPF_CORE_READ(inode, i_sb, s_dev);
	file.inode = BPF_CORE_READ(inode, i_ino);
	stop_at_new_file(t, file, CHANGED_AT(inode, BPF_CORE_READ));
}

/* A library was mapped: by the loader, or by dlopen() at any time. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs___kernel *regs, long result)
{
	struct task *t;

	if (SYSCALL_NUMBER(regs) != SYSCALL_MMAP || !(MMAP_PROTECTION(regs) & MAP_EXECUTABLE) ||
	    (unsigned long)result > -4096UL)
		return 0;
	t = current_task();
	if (t)
		look_at_mapping(t, MMAP_FILE(regs));
	return 0;
}
