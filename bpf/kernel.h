/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kernel.h - the few kernel types that are read, with only the fields that are. Their places are
 * found when the object is loaded (CO-RE), so no kernel headers and no BTF are needed to build.
 */
#ifndef BPF_KERNEL_H
#define BPF_KERNEL_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	__u32 s_dev;
};

/* ctime is here from 6.11 on, with flags in the two highest bits from 6.13 on. */
struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	__s64 i_ctime_sec;
	__u32 i_ctime_nsec;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct inode___since_6_6 {
	struct timespec64 __i_ctime;
};

struct inode___before_6_6 {
	struct timespec64 i_ctime;
};

struct file {
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

/* Where a return probe lets a function return to: the first slot of the process's area. */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct {
	struct uprobes_state uprobes_state;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live; /* threads of the process that have not ended */
};

struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	struct mm_struct *mm;
	struct files_struct *files;
	struct signal_struct *signal;
};

struct linux_binprm {
	struct file *file;
	unsigned int secureexec : 1; /* setuid, setgid, file capabilities */
};

#pragma clang attribute pop

#endif
