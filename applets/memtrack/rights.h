/* SPDX-License-Identifier: MIT */
/*
 * rights.h - what memtrack may do, when a user started the capable copy (core/capable_copy.h).
 *
 * The rights are lent: the user decides on arguments, environment, descriptors and files, so they
 * are in effect only for the few calls that take them, in the thread that makes these, and are given
 * up as soon as nothing will take them any more. Started by root, or with rights that the caller
 * has anyway (ambient capabilities, a BPF token), none of this does anything.
 */
#ifndef MEMTRACK_RIGHTS_H
#define MEMTRACK_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/capabilities.h"

/* Loading programs and attaching them; opening a mapping that has no path any more. */
#define RIGHTS_BPF (CAPS_FULL & ~CAP_BIT(CAP_CHECKPOINT_RESTORE))
#define RIGHTS_OPEN CAP_BIT(CAP_CHECKPOINT_RESTORE)

/*
 * First of all, while there is one thread. Libraries see no environment but PATH from here on. Ends
 * the process when rights cannot be given up.
 */
void rights_begin(void);

bool rights_are_lent(void);

/*
 * No other user's processes can be signalled, and what setuid programs do is not for the user's eyes.
 * False with a token: ids are another namespace's then, which has its own rules.
 */
bool rights_over_own_user_only(void);

/*
 * Where libbpf is to take a token from: "" for none at all, NULL where the machine's own one will do
 * (/sys/fs/bpf of a container).
 */
const char *rights_token(void);

/* The environment as it was, for the command; NULL where it was not touched. */
char *const *rights_environment(void);

/* These are in effect in this thread from now on; 0: none. */
void rights_use(uint64_t mask);

/* This thread keeps these at the most, for good; 0: none. */
void rights_keep(uint64_t mask);

/* Whether loading failed with `rc` for want of rights: a token that lacks some gives -EINVAL, too. */
bool rights_are_lacking(int rc);

/* Why loading is refused, and what helps. Caller frees. */
char *rights_explain_dup(void);

#endif
