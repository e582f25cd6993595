/* SPDX-License-Identifier: MIT */
/* cpu_list.h - sets of processors as text, the kernel's form: "0,2-3" */
#ifndef CORE_CPU_LIST_H
#define CORE_CPU_LIST_H

#include <sched.h>

/* Processors that a set has room for; CPU_SETSIZE is less than that in musl. */
#define CPU_LIST_MAX ((int)(8 * sizeof(cpu_set_t)))

/* 0, or -EINVAL with a frame that says what was expected. Nobody asks whether they exist. */
int parse_cpu_list(const char *text, cpu_set_t *set);

#endif
