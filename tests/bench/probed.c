/* SPDX-License-Identifier: MIT */
/*
 * probed.c - run a command with a library probed in another way than by memtrack, to compare with
 *
 *	probed session|multi|perf empty.bpf.o LIBRARY COMMAND [ARG]...    memtrack's probes, whose
 *		programs do nothing
 *	probed field field.bpf.o LIBRARY COMMAND [ARG]...    malloc and free at their symbols, by perf
 *		events; what the programs tell is read and dropped
 *
 * scripts/bench-memory builds it, linked with build/libcodspeed.a; it holds the lock.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/base.h"
#include "core/elf.h"
#include "applets/memtrack/probes.h"

enum {
	TRACE_UPROBE_SESSION = BPF_TRACE_KPROBE_SESSION + 1, /* libbpf 1.5 has no name for it */
	DRAIN_MS = 10,
};

struct probed {
	const char *kind, *library;
	struct bpf_object *object;
};

static struct bpf_program *program(const struct probed *p, const char *name)
{
	struct bpf_program *found = bpf_object__find_program_by_name(p->object, name);

	if (!found)
		die(1, "no program %s", name);
	return found;
}

static bool is_kind(const struct probed *p, const char *kind)
{
	return str_eq(p->kind, kind);
}

/* ---- Attaching ---- */

static void attach_perf(const struct probed *p, const char *name, bool returns, uint64_t offset)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = returns);

	if (!bpf_program__attach_uprobe_opts(program(p, name), -1, p->library, offset, &opts))
		die(1, "cannot attach %s: %s", name, strerror(errno));
}

static void attach_multi(const struct probed *p, const char *name, int type, bool returns,
			 const unsigned long *offsets, size_t count)
{
	union bpf_attr attr = {0};

	attr.link_create.prog_fd = (uint32_t)bpf_program__fd(program(p, name));
	attr.link_create.attach_type = (uint32_t)type;
	attr.link_create.uprobe_multi.path = (uint64_t)(uintptr_t)p->library;
	attr.link_create.uprobe_multi.offsets = (uint64_t)(uintptr_t)offsets;
	attr.link_create.uprobe_multi.cnt = (uint32_t)count;
	attr.link_create.uprobe_multi.flags = returns ? BPF_F_UPROBE_MULTI_RETURN : 0;
	if (syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)) < 0)
		die(1, "cannot attach %s: %s", name, strerror(errno));
}

static void attach(const struct probed *p, const char *name, bool returns,
		   const unsigned long *offsets, size_t count)
{
	bool session = str_eq(name, "alloc_session");

	if (!is_kind(p, "perf"))
		attach_multi(p, name, session ? (int)TRACE_UPROBE_SESSION : (int)BPF_TRACE_UPROBE_MULTI,
			     returns, offsets, count);
	for (size_t i = 0; is_kind(p, "perf") && i < count; i++)
		attach_perf(p, name, returns, offsets[i]);
}

static void attach_place(const struct probed *p, const struct probes *probes, enum probe_place place)
{
	unsigned long *offsets = xcalloc(probes->list.len, sizeof(*offsets));
	size_t count = 0;

	for (size_t i = 0; i < probes->list.len; i++)
		if (probes->list.items[i].place == place)
			offsets[count++] = probes->list.items[i].offset;
	if (!count)
		die(1, "%s is no libc", p->library);
	if (place == PLACE_FREE) {
		attach(p, "free_enter", false, offsets, count);
	} else if (is_kind(p, "session")) {
		attach(p, "alloc_session", false, offsets, count);
	} else {
		attach(p, "alloc_enter", false, offsets, count);
		attach(p, "alloc_leave", true, offsets, count);
	}
	free(offsets);
}

static void attach_as_memtrack(const struct probed *p, int fd)
{
	struct strvec unseen = STRVEC_INIT;
	struct heap_gaps gaps = HEAP_GAPS_INIT;
	struct probes probes = {0};

	if (probes_find(&probes, fd, p->library, false, &unseen, &gaps))
		die_recorded(1);
	attach_place(p, &probes, PLACE_CALL);
	attach_place(p, &probes, PLACE_FREE);
	vec_release(&probes.list);
	strvec_release(&unseen);
	heap_gaps_release(&gaps);
}

struct symbols {
	uint64_t malloc, free;
};

static void note_symbol(void *ctx, const struct elf_symbol *s)
{
	struct symbols *found = ctx;

	if (str_eq(s->name, "malloc"))
		found->malloc = s->offset;
	if (str_eq(s->name, "free"))
		found->free = s->offset;
}

static void attach_as_field(const struct probed *p, int fd)
{
	struct symbols found = {0};
	struct elf_file *f;

	if (elf_file_open(&f, fd, p->library))
		die_recorded(1);
	elf_file_symbols(f, note_symbol, &found);
	elf_file_close(f);
	attach_perf(p, "malloc_enter", false, found.malloc);
	attach_perf(p, "malloc_leave", true, found.malloc);
	attach_perf(p, "free_enter", false, found.free);
}

/* ---- Loading ---- */

static int be_silent(enum libbpf_print_level level UNUSED, const char *fmt UNUSED,
		     va_list args UNUSED)
{
	return 0;
}

static void choose_types(const struct probed *p)
{
	struct bpf_program *one;

	if (is_kind(p, "field"))
		return;
	bpf_program__set_autoload(program(p, "alloc_session"), is_kind(p, "session"));
	bpf_object__for_each_program(one, p->object)
		if (is_kind(p, "perf"))
			bpf_program__set_expected_attach_type(one, 0);
	bpf_program__set_expected_attach_type(program(p, "alloc_session"),
					      (enum bpf_attach_type)TRACE_UPROBE_SESSION);
}

static void load(struct probed *p, const char *object)
{
	int fd = open(p->library, O_RDONLY | O_CLOEXEC);

	libbpf_set_print(be_silent);
	p->object = bpf_object__open_file(object, NULL);
	if (!p->object)
		die(1, "cannot open %s: %s", object, strerror(errno));
	choose_types(p);
	if (fd < 0 || bpf_object__load(p->object))
		die(1, "cannot load %s: %s", object, strerror(errno));
	if (is_kind(p, "field"))
		attach_as_field(p, fd);
	else
		attach_as_memtrack(p, fd);
	close(fd);
}

/* ---- Running ---- */

static int map(const struct probed *p, const char *name)
{
	return bpf_object__find_map_fd_by_name(p->object, name);
}

static int drop_event(void *ctx UNUSED, void *data, size_t len)
{
	static unsigned char batch[1024][64];
	static size_t at;

	memcpy(batch[at++ % ARRAY_SIZE(batch)], data, len < 64 ? len : 64);
	return 0;
}

/* Reads until the command ends, and returns its status as of waitpid(). */
static int read_events(const struct probed *p, pid_t pid)
{
	struct ring_buffer *ring = ring_buffer__new(map(p, "events"), drop_event, NULL, NULL);
	uint64_t lost = 0;
	uint32_t zero = 0;
	int status;

	if (!ring)
		die(1, "cannot map the ring: %s", strerror(errno));
	while (!waitpid(pid, &status, WNOHANG)) {
		ring_buffer__poll(ring, DRAIN_MS);
		ring_buffer__consume(ring);
	}
	ring_buffer__free(ring);
	if (bpf_map_lookup_elem(map(p, "dropped_events"), &zero, &lost) || lost)
		die(1, "%llu events were lost", (unsigned long long)lost);
	return status;
}

static void follow(const struct probed *p, pid_t pid)
{
	uint32_t zero = 0, key = (uint32_t)pid;
	uint8_t one = 1;

	if (bpf_map_update_elem(map(p, "tracking_enabled"), &zero, &one, BPF_ANY) ||
	    bpf_map_update_elem(map(p, "tracked_pids"), &key, &one, BPF_ANY))
		die(1, "cannot follow the command: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct probed p = {0};
	int hold[2], status;
	pid_t pid;

	if (argc < 5 || pipe(hold))
		die(2, "usage: probed session|multi|perf|field OBJECT LIBRARY COMMAND [ARG]...");
	p.kind = argv[1];
	p.library = argv[3];
	load(&p, argv[2]);
	pid = fork();
	if (pid == 0) {
		close(hold[1]);
		if (read(hold[0], &status, 1) != 0) /* until it is closed */
			_exit(1);
		execv(argv[4], argv + 4);
		_exit(127);
	}
	if (is_kind(&p, "field"))
		follow(&p, pid);
	close(hold[0]);
	close(hold[1]);
	if (is_kind(&p, "field"))
		status = read_events(&p, pid);
	else
		waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
