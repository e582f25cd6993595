/* SPDX-License-Identifier: MIT */
/* capabilities.c - the rights of this thread, and those that a file carries */
#include <endian.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/base.h"
#include "core/capabilities.h"

typedef struct __user_cap_data_struct cap_words[_LINUX_CAPABILITY_U32S_3];

/* ---- Of this thread ---- */

/* musl has no name for these calls. */
static int get(cap_words words)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capget, &header, words);
}

static int set(const cap_words words)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capset, &header, words);
}

static uint64_t join(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

/* A prctl() that answers 1 for a bit that is set, and fails behind the last one. */
static uint64_t ask_each(int option, unsigned long argument)
{
	uint64_t mask = 0;

	for (unsigned cap = 0; cap <= CAP_LAST_CAP; cap++) {
		int answer = option == PR_CAPBSET_READ
			? prctl(option, (unsigned long)cap)
			: prctl(option, argument, (unsigned long)cap, 0ul, 0ul);

		if (answer == 1)
			mask |= CAP_BIT(cap);
	}
	return mask;
}

struct cap_sets caps_get(void)
{
	struct cap_sets sets = {
		.bounding = ask_each(PR_CAPBSET_READ, 0),
		.ambient = ask_each(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET),
	};
	cap_words words;

	if (get(words))
		return sets;
	sets.effective = join(words[0].effective, words[1].effective);
	sets.permitted = join(words[0].permitted, words[1].permitted);
	sets.inheritable = join(words[0].inheritable, words[1].inheritable);
	return sets;
}

int caps_keep(uint64_t mask)
{
	cap_words words;

	if (get(words))
		return fail_errno("capget");
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = (struct __user_cap_data_struct){
			.permitted = words[i].permitted & (uint32_t)(mask >> 32 * i),
		};
	if (set(words)) /* what is neither permitted nor inheritable leaves the ambient set, too */
		return fail_errno("cannot give up capabilities");
	return 0;
}

void caps_use(uint64_t mask)
{
	cap_words words;

	if (get(words))
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		words[i].effective = words[i].permitted & (uint32_t)(mask >> 32 * i);
	set(words); /* effective bits within the permitted ones are never refused */
}

/* ---- Of a file ---- */

static void put(unsigned char *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
}

static uint32_t word(const unsigned char *bytes, size_t index)
{
	uint32_t value;

	memcpy(&value, bytes + index * sizeof(value), sizeof(value));
	return le32toh(value);
}

/* struct vfs_cap_data: magic, then {permitted, inheritable} of the low and of the high half. */
void file_caps_encode(uint64_t permitted, unsigned char to[FILE_CAPS_BYTES])
{
	memset(to, 0, FILE_CAPS_BYTES);
	put(to, VFS_CAP_REVISION_2);
	put(to + 4, (uint32_t)permitted);
	put(to + 12, (uint32_t)(permitted >> 32));
}

static size_t revision_bytes(uint32_t magic)
{
	switch (magic & VFS_CAP_REVISION_MASK) {
	case VFS_CAP_REVISION_1: return XATTR_CAPS_SZ_1;
	case VFS_CAP_REVISION_2: return XATTR_CAPS_SZ_2;
	case VFS_CAP_REVISION_3: return XATTR_CAPS_SZ_3; /* a user id at the end */
	}
	return 0;
}

bool file_caps_decode(struct file_caps *to, const void *bytes, size_t len)
{
	uint32_t magic = len >= sizeof(magic) ? word(bytes, 0) : 0;
	bool high = len > XATTR_CAPS_SZ_1;

	*to = (struct file_caps){0};
	if (len < sizeof(magic) || len != revision_bytes(magic))
		return false;
	to->effective = magic & VFS_CAP_FLAGS_EFFECTIVE;
	to->permitted = join(word(bytes, 1), high ? word(bytes, 3) : 0);
	to->inheritable = join(word(bytes, 2), high ? word(bytes, 4) : 0);
	return true;
}

struct file_caps file_caps_of(int fd)
{
	unsigned char bytes[FILE_CAPS_MOST];
	ssize_t len = fgetxattr(fd, FILE_CAPS_ATTRIBUTE, bytes, sizeof(bytes));
	struct file_caps caps = {0};

	if (len >= 0)
		file_caps_decode(&caps, bytes, (size_t)len);
	return caps;
}

/* ---- For people ---- */

static const char *const names[] = {
	[CAP_CHOWN] = "chown", [CAP_DAC_OVERRIDE] = "dac_override",
	[CAP_DAC_READ_SEARCH] = "dac_read_search", [CAP_FOWNER] = "fowner",
	[CAP_FSETID] = "fsetid", [CAP_KILL] = "kill", [CAP_SETGID] = "setgid",
	[CAP_SETUID] = "setuid", [CAP_SETPCAP] = "setpcap",
	[CAP_SYS_PTRACE] = "sys_ptrace", [CAP_SYS_ADMIN] = "sys_admin",
	[CAP_SYS_RESOURCE] = "sys_resource", [CAP_SETFCAP] = "setfcap",
	[CAP_PERFMON] = "perfmon", [CAP_BPF] = "bpf",
	[CAP_CHECKPOINT_RESTORE] = "checkpoint_restore",
};

void caps_text(uint64_t mask, struct buf *to)
{
	const char *before = "";

	for (unsigned cap = 0; mask; cap++, mask >>= 1) {
		if (!(mask & 1))
			continue;
		if (cap < ARRAY_SIZE(names) && names[cap])
			buf_printf(to, "%scap_%s", before, names[cap]);
		else
			buf_printf(to, "%scap_%u", before, cap);
		before = ",";
	}
	if (!*before)
		buf_addstr(to, "none");
}
