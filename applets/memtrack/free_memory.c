/* SPDX-License-Identifier: MIT */
/* free_memory.c - how much memory there is to take, for the event ring */
#include <sys/sysinfo.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include "core/text.h"
#include "core/units.h"

#include "applets/memtrack/free_memory.h"

/* Where a version keeps its groups, and what its files are called. */
struct cgroup_layout {
	const char *mount, *limit, *usage;
};

static const struct cgroup_layout unified = {"/sys/fs/cgroup", "memory.max", "memory.current"};
static const struct cgroup_layout memory_controller = {
	"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"};

/* The number in a file of a group; UINT64_MAX for "max" and where there is none. */
static uint64_t read_number(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct buf text = BUF_INIT;
	uint64_t value = UINT64_MAX;

	if (!read_file(path, &text) && text.len) {
		text.data[strcspn(text.data, "\n")] = '\0';
		if (parse_uint64(text.data, &value))
			value = UINT64_MAX;
	}
	error_clear();
	buf_release(&text);
	free(path);
	return value;
}

static uint64_t room_of_group(const char *folder, const struct cgroup_layout *layout)
{
	uint64_t limit = read_number(folder, layout->limit);
	uint64_t usage = limit == UINT64_MAX ? UINT64_MAX : read_number(folder, layout->usage);

	if (usage == UINT64_MAX)
		return UINT64_MAX;
	return usage < limit ? limit - usage : 0;
}

/*
 * From the group up to the root of what is mounted. A container may be told a path that is not
 * there: what it sees as the root is its own group.
 */
static uint64_t room_of_path(const char *root, const struct cgroup_layout *layout, const char *path)
{
	char *folder = xasprintf("%s%s%s", root, layout->mount, path);
	size_t least = strlen(root) + strlen(layout->mount);
	uint64_t room = UINT64_MAX;

	for (;;) {
		uint64_t here = room_of_group(folder, layout);
		char *slash = strrchr(folder, '/');

		room = here < room ? here : room;
		if (!slash || (size_t)(slash - folder) < least)
			break;
		*slash = '\0';
	}
	free(folder);
	return room;
}

/* "0::PATH" for version 2, "N:CONTROLLER,CONTROLLER...:PATH" for version 1. */
static uint64_t room_of_line(const char *root, char *line)
{
	char *controllers = strchr(line, ':'), *path, *save, *name;

	path = controllers ? strchr(++controllers, ':') : NULL;
	if (!path)
		return UINT64_MAX;
	*path++ = '\0';
	if (!*controllers)
		return room_of_path(root, &unified, path);
	for (name = strtok_r(controllers, ",", &save); name; name = strtok_r(NULL, ",", &save))
		if (str_eq(name, "memory"))
			return room_of_path(root, &memory_controller, path);
	return UINT64_MAX;
}

uint64_t cgroup_room(const char *root)
{
	char *path = xasprintf("%s/proc/self/cgroup", root), *save;
	struct buf text = BUF_INIT;
	uint64_t room = UINT64_MAX;

	if (read_file(path, &text))
		error_clear();
	for (char *line = text.len ? strtok_r(text.data, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		uint64_t here = room_of_line(root, line);

		room = here < room ? here : room;
	}
	buf_release(&text);
	free(path);
	return room;
}

uint64_t free_memory(void)
{
	uint64_t room = cgroup_room("");
	struct sysinfo host;
	uint64_t available;

	if (sysinfo(&host))
		return room == UINT64_MAX ? 0 : room;
	available = (uint64_t)(host.freeram + host.bufferram) * host.mem_unit;
	return room < available ? room : available;
}
