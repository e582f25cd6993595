/* SPDX-License-Identifier: MIT */
/* perf_map.c - names of code that a runtime made while it ran */
//config:config FEATURE_PERF_MAP
//config:	bool "names of run-time code (2 kb)"
//config:	depends on EXEC || RUN || SHOW || COMPARE || EXPORT
//config:	default y
//config:	help
//config:	  Functions that node or Python compile while they run are shown by
//config:	  name instead of by address.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/io.h"
#include "core/path.h"

#include "applets/runner/simulation/call_graph.h"
#include "applets/runner/simulation/perf_map.h"

/* ---- Reading ---- */

static int by_start(const void *a, const void *b)
{
	const struct perf_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void read_line(struct perf_map *m, char *line)
{
	struct perf_symbol s = {.order = m->symbols.len};
	char *end;

	s.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return;
	line = end + 1;
	s.size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1])
		return;
	s.name = xstrdup(end + 1);
	vec_push(&m->symbols, s);
}

int perf_map_read(struct perf_map *m, const char *path)
{
	struct buf text = BUF_INIT;
	int rc = read_plain_file(path, &text);
	char *save;

	if (rc)
		return rc;
	if (text.len)
		for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			read_line(m, line);
	buf_release(&text);
	if (m->symbols.len)
		qsort(m->symbols.items, m->symbols.len, sizeof(*m->symbols.items), by_start);
	return 0;
}

void perf_map_release(struct perf_map *m)
{
	for (size_t i = 0; i < m->symbols.len; i++)
		free(m->symbols.items[i].name);
	vec_release(&m->symbols);
}

const char *perf_map_find(const struct perf_map *m, uint64_t address)
{
	size_t low = 0, high = m->symbols.len; /* the last start that is not past the address */

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->symbols.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - m->symbols.items[low - 1].start >= m->symbols.items[low - 1].size)
		return NULL;
	return m->symbols.items[low - 1].name;
}

/* ---- Naming ---- */

/* callgrind's name for code in no object: "0x" and 16 hex digits, the address it ran at. */
static bool is_address(const char *name, const char *object, uint64_t *address)
{
	char *end;

	if (!str_eq(object, "???") || !str_starts(name, "0x"))
		return false;
	*address = strtoull(name, &end, 16);
	return !*end;
}

static bool any_address(const struct function_costs *t)
{
	uint64_t address;

	for (size_t i = 0; i < t->rows.len; i++)
		if (is_address(function_costs_name(t, &t->rows.items[i]),
			       function_costs_object(t, &t->rows.items[i]), &address))
			return true;
	return false;
}

static uint32_t merge_row(struct function_costs *to, const struct function_costs *from,
			  const struct function_cost *row, const struct perf_map *m)
{
	const char *object = function_costs_object(from, row), *name;
	uint64_t address;

	name = is_address(function_costs_name(from, row), object, &address)
		? perf_map_find(m, address) : NULL;
	return name ? function_costs_add(to, name, object, row->self, row->inclusive)
		    : function_costs_add_row(to, from, row);
}

void perf_map_merge(struct function_costs *to, const struct function_costs *from,
		    const char *folder, uint64_t pid)
{
	struct perf_map m = {0};
	uint32_t *rows;
	char *path;

	if (!ENABLE_FEATURE_PERF_MAP || !any_address(from)) {
		function_costs_merge(to, from);
		return;
	}
	path = xasprintf("%s/perf-%llu.map", folder, (unsigned long long)pid);
	if (perf_map_read(&m, path))
		error_clear(); /* a runtime that writes none */
	rows = xreallocarray(NULL, from->rows.len, sizeof(*rows));
	for (size_t i = 0; i < from->rows.len; i++)
		rows[i] = merge_row(to, from, &from->rows.items[i], &m);
	if (to->graph && from->graph)
		call_graph_add(to->graph, from->graph, rows);
	free(rows);
	perf_map_release(&m);
	free(path);
}

/* ---- Harvest ---- */

/* The file is a plain one of this user, of this run, through no link; its descriptor, else -1. */
static int open_own(const char *path, int64_t since)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mtime < since) {
		close(fd);
		return -1;
	}
	return fd;
}

static void harvest_one(const char *folder, uint64_t pid, int64_t since)
{
	char *from = xasprintf("/tmp/perf-%llu.map", (unsigned long long)pid);
	char *to = xasprintf("%s/perf-%llu.map", folder, (unsigned long long)pid);
	struct buf text = BUF_INIT;
	int fd = open_own(from, since);

	if (fd < 0)
		goto out;
	if (read_rest(fd, &text) || write_file_atomic(to, text.data ? text.data : "", text.len, 0644)) {
		log_warn("the names of run-time code in %s are lost: %s", from, error_text());
		error_clear();
	} else {
		unlink(from);
	}
	close(fd);
out:
	buf_release(&text);
	free(from);
	free(to);
}

void perf_map_harvest(const char *folder, int64_t since)
{
	struct dirent *entry;
	DIR *dir;

	if (!ENABLE_FEATURE_PERF_MAP)
		return;
	dir = opendir(folder);
	if (!dir)
		return; /* whoever reads the results next says so */
	while ((entry = readdir(dir))) {
		uint64_t pid;

		if (path_is_numbered(entry->d_name, "", ".out", &pid))
			harvest_one(folder, pid, since);
	}
	closedir(dir);
}
