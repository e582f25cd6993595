/* SPDX-License-Identifier: MIT */
/* token.c - what a BPF token delegates, and what it does not */
#include <stdio.h>
#include <sys/stat.h>

#include <linux/bpf.h>

#include "core/base.h"
#include "core/io.h"

#include "applets/memtrack/token.h"

const char *token_path(void)
{
	const char *path = getenv(TOKEN_VARIABLE);
	struct stat st;

	return path && *path && !stat(path, &st) && S_ISDIR(st.st_mode) ? path : NULL;
}

/* ---- What is needed ---- */

/* Of Linux 6.6, which the headers of Debian 12 do not have; a build without libbpf has only those. */
enum { TRACE_UPROBE_MULTI = BPF_TRACE_KPROBE_MULTI + 6 };

struct need {
	const char *name; /* as the mount option has it */
	unsigned number;  /* in a mask, which stands there for what the kernel has no name for */
};

static const struct need commands[] = {
	{"map_create", BPF_MAP_CREATE}, {"prog_load", BPF_PROG_LOAD}, {"btf_load", BPF_BTF_LOAD}, {0},
};
static const struct need maps[] = {
	{"hash", BPF_MAP_TYPE_HASH},       {"array", BPF_MAP_TYPE_ARRAY},
	{"ringbuf", BPF_MAP_TYPE_RINGBUF}, {"task_storage", BPF_MAP_TYPE_TASK_STORAGE}, {0},
};
/* The first is of a program that libbpf loads for trial. */
static const struct need programs[] = {
	{"socket_filter", BPF_PROG_TYPE_SOCKET_FILTER}, {"kprobe", BPF_PROG_TYPE_KPROBE},
	{"tracing", BPF_PROG_TYPE_TRACING}, {0},
};
/* The first is number 0, which programs carry that attach in no particular way. */
static const struct need attachments[] = {
	{"cgroup_inet_ingress", 0}, {"trace_raw_tp", BPF_TRACE_RAW_TP},
	{"trace_uprobe_multi", TRACE_UPROBE_MULTI}, {0},
};

static const struct {
	const char *option;
	const struct need *needs;
} options_needed[] = {
	{"delegate_cmds", commands},
	{"delegate_maps", maps},
	{"delegate_progs", programs},
	{"delegate_attachs", attachments},
};

/* ---- What is there ---- */

/* The value of an option among others, which commas part; its length in *len. NULL: not there. */
static const char *find_option(const char *options, const char *name, size_t *len)
{
	size_t name_len = strlen(name);

	for (const char *at = options; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		if (strncmp(at, name, name_len) || at[name_len] != '=')
			continue;
		at += name_len + 1;
		*len = strcspn(at, ", \n");
		return at;
	}
	return NULL;
}

/* The value: "any", or names and hexadecimal masks, which colons part. */
static bool has(const char *value, size_t len, const struct need *need)
{
	const char *end = value + len;

	while (value < end) {
		size_t word = strcspn(value, ":, \n");

		if (word > (size_t)(end - value))
			word = (size_t)(end - value);
		if (word == strlen("any") && !memcmp(value, "any", word))
			return true;
		if (word == strlen(need->name) && !memcmp(value, need->name, word))
			return true;
		if (word > 2 && !memcmp(value, "0x", 2) && need->number < 64 &&
		    strtoull(value, NULL, 16) >> need->number & 1)
			return true;
		value += word + 1;
	}
	return false;
}

void token_missing(const char *options, struct buf *to)
{
	const char *before_option = "";

	for (size_t i = 0; i < ARRAY_SIZE(options_needed); i++) {
		size_t len = 0;
		const char *value = find_option(options, options_needed[i].option, &len);
		const char *before = "=";

		for (const struct need *need = options_needed[i].needs; need->name; need++) {
			if (value && has(value, len, need))
				continue;
			if (*before == '=')
				buf_printf(to, "%s%s", before_option, options_needed[i].option);
			buf_printf(to, "%s%s", before, need->name);
			before = ":";
			before_option = " ";
		}
	}
}

/* ---- The mount ---- */

/* "ID PARENT MAJOR:MINOR ROOT PLACE OPTIONS... - TYPE SOURCE OPTIONS"; the last mount is on top. */
static const char *options_of_mount(char *mounts, const char *path)
{
	const char *found = NULL;
	char *save, place[4096];

	for (char *line = strtok_r(mounts, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *tail = strstr(line, " - bpf ");

		if (!tail || sscanf(line, "%*s %*s %*s %*s %4095s", place) != 1 || !str_eq(place, path))
			continue;
		tail = strchr(tail + strlen(" - bpf "), ' ');
		if (tail)
			found = tail + 1;
	}
	return found;
}

void token_explain(const char *path, struct buf *to)
{
	char *place = realpath(path, NULL);
	struct buf mounts = BUF_INIT;
	const char *options = NULL;

	if (read_file("/proc/self/mountinfo", &mounts))
		error_clear();
	if (place && mounts.len)
		options = options_of_mount(mounts.data, place);
	if (options)
		token_missing(options, to);
	else
		buf_printf(to, "no bpffs is mounted on %s", path);
	buf_release(&mounts);
	free(place);
}
