/* SPDX-License-Identifier: MIT */
/* tracker.c - the kernel side of memtrack seen from user space; the only file that knows libbpf */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/base.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/vec.h"

#include "applets/memtrack/rights.h"
#include "applets/memtrack/token.h"
#include "applets/memtrack/tracker.h"
#include "applets/memtrack/trial.h"
#include "memtrack.skel.h"

enum {
	TRACE_UPROBE_SESSION = BPF_TRACE_KPROBE_SESSION + 1, /* libbpf 1.5 has no name for it */
	TRIAL_CALLS = 2000,
	TRIAL_GROUP = 0,
	DETACHERS = 32,
	HIGH_PERCENT = 75, /* of the ring, from which on producers are held */
};

/* Where events or stops that are read go. */
struct sink {
	void *to;
	size_t len, max;
};

/* All probes of one program in a file, or with perf events a single one. */
struct link {
	unsigned group;
	int fd;                /* of a session or multi link */
	struct bpf_link *perf; /* else NULL */
};

struct tracker {
	struct memtrack *skel;
	enum uprobe_flavour flavour;
	struct ring_buffer *events, *stops;
	struct sink event_sink, stop_sink;
	VEC(struct link) links;
	size_t high;
};

const char *uprobe_flavour_name(enum uprobe_flavour flavour)
{
	static const char *const names[] = {"session", "multi", "perf"};

	return names[flavour];
}

/*
 * libbpf tells more than a user wants to know; the reason of a failure is in the errno. Of lent rights
 * nothing at all: the verifier's log has addresses of the kernel.
 */
static int print_debug(enum libbpf_print_level level, const char *fmt, va_list args)
{
	struct buf text = BUF_INIT;

	if (rights_are_lent())
		return 0;
	if (log_enabled(LOG_TRACE) || (level == LIBBPF_WARN && log_enabled(LOG_DEBUG))) {
		buf_vprintf(&text, fmt, args);
		log_debug("libbpf: %s", text.data);
		buf_release(&text);
	}
	return 0;
}

/* ---- Loading ---- */

/* Where one program is to run in a file. */
struct places {
	unsigned group;
	const char *path;
	unsigned long *offsets;
	uint64_t *cookies;
	size_t count;
};

/* Sessions and multi probes: all places of one program in a file are one link. */
static int link_multi(int program, int type, const struct places *p, bool returns)
{
	union bpf_attr attr = {0};

	attr.link_create.prog_fd = (uint32_t)program;
	attr.link_create.attach_type = (uint32_t)type;
	attr.link_create.uprobe_multi.path = (uint64_t)(uintptr_t)p->path;
	attr.link_create.uprobe_multi.offsets = (uint64_t)(uintptr_t)p->offsets;
	attr.link_create.uprobe_multi.cookies = (uint64_t)(uintptr_t)p->cookies;
	attr.link_create.uprobe_multi.cnt = (uint32_t)p->count;
	attr.link_create.uprobe_multi.flags = returns ? BPF_F_UPROBE_MULTI_RETURN : 0;
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

/*
 * Asked with a link that cannot be made: a kernel that knows sessions gets as far as the path, which
 * is no file. To look for them in the kernel's BTF takes 15 ms.
 */
static bool kernel_has_sessions(void)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)TRACE_UPROBE_SESSION);
	const struct places root = {.path = "/", .offsets = (unsigned long[]){0},
				    .cookies = (uint64_t[]){0}, .count = 1};
	int program, link, error;

	rights_use(RIGHTS_BPF);
	program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "session", "GPL", nothing, ARRAY_SIZE(nothing),
				&opts);
	rights_use(0);
	if (program < 0)
		return true; /* the reason is told when the programs proper are loaded */
	rights_use(RIGHTS_BPF);
	link = link_multi(program, TRACE_UPROBE_SESSION, &root, false);
	error = errno;
	rights_use(0);
	if (link >= 0)
		close(link);
	close(program);
	return link >= 0 || error != EINVAL;
}

/* Ids are told as they are in our own pid namespace; in the first one that costs nothing. */
static void choose_namespace(struct memtrack *skel)
{
	enum { FIRST_NAMESPACE = 0xEFFFFFFC }; /* PROC_PID_INIT_INO, fixed by the kernel */
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == (ino_t)(uint32_t)FIRST_NAMESPACE)
		return;
	skel->rodata->namespace_device = st.st_dev;
	skel->rodata->namespace_inode = st.st_ino;
}

/* Only the programs of this flavour are loaded: another's may be refused. */
static void choose_programs(struct memtrack *skel, enum uprobe_flavour flavour)
{
	struct bpf_program *all[] = {skel->progs.alloc_enter, skel->progs.alloc_leave,
				     skel->progs.alloc_ret,   skel->progs.free_enter,
				     skel->progs.size_enter,  skel->progs.throw_enter,
				     skel->progs.unseen_enter};

	bpf_program__set_autoload(skel->progs.alloc_session, flavour == UPROBE_SESSION);
	bpf_program__set_expected_attach_type(skel->progs.alloc_session,
					      (enum bpf_attach_type)TRACE_UPROBE_SESSION);
	bpf_program__set_autoload(skel->progs.alloc_leave, flavour != UPROBE_SESSION);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (flavour == UPROBE_PERF)
			bpf_program__set_expected_attach_type(all[i], 0);
}

static size_t power_of_two(size_t bytes)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	while (size < bytes && size < SIZE_MAX / 2)
		size *= 2;
	return size;
}

static int load_object(struct tracker *t, size_t ring_bytes, bool memory_hidden)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .bpf_token_path = rights_token());
	size_t size = power_of_two(ring_bytes);
	int rc;

	t->skel = memtrack__open_opts(&opts);
	if (!t->skel)
		return fail_errno("cannot open the BPF object");
	t->high = size / 100 * HIGH_PERCENT;
	t->skel->rodata->ring_high = t->high;
	t->skel->rodata->memory_hidden = memory_hidden;
	choose_namespace(t->skel);
	t->skel->rodata->own_user_only = rights_over_own_user_only();
	t->skel->rodata->own_uid = getuid();
	choose_programs(t->skel, t->flavour);
	bpf_map__set_max_entries(t->skel->maps.events, (uint32_t)size);
	rights_use(RIGHTS_BPF);
	rc = memtrack__load(t->skel);
	rights_use(0);
	return rc;
}

/* Under lockdown=confidentiality a program that may read memory is refused: with EINVAL. */
static int load(struct tracker *t, size_t ring_bytes)
{
	int rc = load_object(t, ring_bytes, false);

	if (rc == -EINVAL) {
		memtrack__destroy(t->skel);
		rc = load_object(t, ring_bytes, true);
		if (!rc)
			log_debug("BPF programs read no memory here (lockdown)");
	}
	if (rc)
		return fail(rc, "cannot load the BPF programs: %s", strerror(-rc));
	rights_use(RIGHTS_BPF);
	rc = memtrack__attach(t->skel);
	rights_use(0);
	return rc ? fail(rc, "cannot attach to the kernel's process events: %s", strerror(-rc)) : 0;
}

static int on_event(void *ctx, void *data, size_t len);
static int on_stop(void *ctx, void *data, size_t len);

static int open_rings(struct tracker *t)
{
	t->events = ring_buffer__new(bpf_map__fd(t->skel->maps.events), on_event, t, NULL);
	t->stops = ring_buffer__new(bpf_map__fd(t->skel->maps.stops), on_stop, t, NULL);
	return t->events && t->stops ? 0 : fail_errno("cannot map the event ring");
}

/* ---- Attaching ---- */

/* Before 6.6: each probe is a perf event of its own. */
static int link_perf(struct tracker *t, struct bpf_program *program, const struct places *p,
		     bool returns)
{
	for (size_t i = 0; i < p->count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = returns, .bpf_cookie = p->cookies[i]);
		struct bpf_link *link = bpf_program__attach_uprobe_opts(program, -1, p->path,
									p->offsets[i], &opts);

		if (!link)
			return -errno;
		vec_push(&t->links, (struct link){.group = p->group, .fd = -1, .perf = link});
	}
	return 0;
}

static int link_all(struct tracker *t, struct bpf_program *program, const struct places *p,
		    bool returns)
{
	int type = program == t->skel->progs.alloc_session ? (int)TRACE_UPROBE_SESSION
							   : (int)BPF_TRACE_UPROBE_MULTI;
	int link;

	if (t->flavour == UPROBE_PERF)
		return link_perf(t, program, p, returns);
	link = link_multi(bpf_program__fd(program), type, p, returns);
	if (link < 0)
		return -errno;
	vec_push(&t->links, (struct link){.group = p->group, .fd = link});
	return 0;
}

static int attach_place(struct tracker *t, enum probe_place place, const struct places *p)
{
	struct memtrack *skel = t->skel;
	int rc;

	switch (place) {
	case PLACE_CALL:
		if (t->flavour == UPROBE_SESSION)
			return link_all(t, skel->progs.alloc_session, p, false);
		rc = link_all(t, skel->progs.alloc_enter, p, false);
		return rc ? rc : link_all(t, skel->progs.alloc_leave, p, true);
	case PLACE_ENTRY: return link_all(t, skel->progs.alloc_enter, p, false);
	case PLACE_RET: return link_all(t, skel->progs.alloc_ret, p, false);
	case PLACE_FREE: return link_all(t, skel->progs.free_enter, p, false);
	case PLACE_SIZE: return link_all(t, skel->progs.size_enter, p, false);
	case PLACE_THROW: return link_all(t, skel->progs.throw_enter, p, false);
	case PLACE_UNSEEN: return link_all(t, skel->progs.unseen_enter, p, false);
	case PLACES: break;
	}
	BUG("place of a probe");
}

/* The kernel's own number for what it cannot do has no text in user space. */
static const char *attach_error(int error)
{
	enum { KERNEL_ENOTSUPP = 524 };

	return error == KERNEL_ENOTSUPP ? "no probe can stand on an instruction there" : strerror(error);
}

int tracker_attach(struct tracker *t, int fd, unsigned group, const struct probe *probes,
		   size_t count)
{
	char path[64];
	struct places p = {
		.group = group,
		.path = path,
		.offsets = xcalloc(count, sizeof(*p.offsets)),
		.cookies = xcalloc(count, sizeof(*p.cookies)),
	};
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int place = 0; !rc && place < PLACES; place++) {
		p.count = 0;
		for (size_t i = 0; i < count; i++) {
			if (probes[i].place != (enum probe_place)place)
				continue;
			p.offsets[p.count] = probes[i].offset;
			p.cookies[p.count++] = probes[i].cookie;
		}
		rights_use(RIGHTS_BPF);
		if (p.count)
			rc = attach_place(t, (enum probe_place)place, &p);
		rights_use(0);
	}
	free(p.offsets);
	free(p.cookies);
	return rc ? fail(rc, "cannot attach probes: %s", attach_error(-rc)) : 0;
}

/* ---- Choosing a flavour, by attaching to a function of our own ---- */

/* Where in our own file that is: a static program lies as its headers say. */
static uint64_t trial_offset(void)
{
	const ElfW(Phdr) *header = (const void *)getauxval(AT_PHDR);
	uintptr_t address = (uintptr_t)trial;

	for (size_t i = 0; header && i < getauxval(AT_PHNUM); i++, header++)
		if (header->p_type == PT_LOAD && address >= header->p_vaddr &&
		    address < header->p_vaddr + header->p_memsz)
			return address - header->p_vaddr + header->p_offset;
	return 0;
}

static int attach_trial(struct tracker *t)
{
	struct probe probe = {
		PLACE_CALL, trial_offset(),
		TRACK_COOKIE(TRACK_MALLOC, TRACK_NO_ARG, TRACK_NO_ARG, TRACK_NO_ARG, 0),
	};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return fail_errno("cannot open /proc/self/exe");
	rc = tracker_attach(t, fd, TRIAL_GROUP, &probe, 1);
	close(fd);
	return rc;
}

/* ---- Taking probes away ---- */

struct detacher {
	pthread_t thread;
	const struct link *links;
	size_t count, first; /* and every DETACHERS-th from there */
};

static void *detach(void *ctx)
{
	const struct detacher *d = ctx;

	for (size_t i = d->first; i < d->count; i += DETACHERS)
		if (d->links[i].perf)
			bpf_link__destroy(d->links[i].perf);
		else
			close(d->links[i].fd);
	return NULL;
}

/* The kernel waits some 50 ms for each link; side by side those waits cost as much as one. */
static void drop(const struct link *links, size_t count)
{
	struct detacher d[DETACHERS];
	size_t n = count < DETACHERS ? count : DETACHERS, started = 0;

	for (size_t i = 0; i < n; i++)
		d[i] = (struct detacher){.links = links, .count = count, .first = i};
	while (started < n && !pthread_create(&d[started].thread, NULL, detach, &d[started]))
		started++;
	for (size_t i = started; i < n; i++)
		detach(&d[i]);
	for (size_t i = 0; i < started; i++)
		pthread_join(d[i].thread, NULL);
}

static void drop_links(struct tracker *t)
{
	drop(t->links.items, t->links.len);
	t->links.len = 0;
}

void tracker_detach(struct tracker *t, unsigned group)
{
	VEC(struct link) gone = {0};
	size_t left = 0;

	for (size_t i = 0; i < t->links.len; i++) {
		if (t->links.items[i].group == group)
			vec_push(&gone, t->links.items[i]);
		else
			t->links.items[left++] = t->links.items[i];
	}
	t->links.len = left;
	drop(gone.items, gone.len);
	vec_release(&gone);
}

static int load_flavour(struct tracker *t, enum uprobe_flavour flavour, size_t ring_bytes)
{
	int rc;

	t->flavour = flavour;
	rc = load(t, ring_bytes);
	if (!rc)
		rc = attach_trial(t);
	if (rc) {
		drop_links(t);
		memtrack__destroy(t->skel);
		t->skel = NULL;
	}
	return rc;
}

/* Why a kind of probes does not do, behind what was said of the others. */
static void add_reason(struct buf *reasons, enum uprobe_flavour flavour)
{
	buf_printf(reasons, "%s%s: %s", reasons->len ? "; " : "", uprobe_flavour_name(flavour),
		   error_text());
	error_clear();
}

static int load_best(struct tracker *t, const struct tracker_options *o)
{
	int first = o->flavour < 0 ? 0 : o->flavour, last = o->flavour < 0 ? UPROBE_PERF : o->flavour;
	struct buf reasons = BUF_INIT;
	int rc = -ENOTSUP;

	for (int flavour = first; flavour <= last; flavour++) {
		if (flavour == UPROBE_SESSION && !kernel_has_sessions())
			rc = fail(-ENOTSUP, "this kernel has no uprobe sessions");
		else
			rc = load_flavour(t, (enum uprobe_flavour)flavour, o->ring_bytes);
		if (!rc)
			break;
		add_reason(&reasons, (enum uprobe_flavour)flavour);
		if ((rc == -EPERM && !token_path()) || rc == -ENOMEM || rc == -EMFILE || rc == -ENOENT)
			break; /* another flavour needs no less; of tokens, one may be delegated alone */
	}
	if (rc)
		fail(rc, "%s", reasons.data);
	buf_release(&reasons);
	return rc;
}

/* Cost of one trap on this machine, measured on a function of our own. */
static uint64_t trap_ns(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIAL_CALLS; i++) {
		uint64_t from = clock_now(), ns;

		trial();
		ns = clock_now() - from;
		best = ns < best ? ns : best;
	}
	return best;
}

int tracker_new(struct tracker **to, const struct tracker_options *options)
{
	struct tracker *t = xcalloc(1, sizeof(*t));
	int rc;

	libbpf_set_print(print_debug);
	rc = load_best(t, options);
	if (!rc)
		rc = open_rings(t);
	if (rc) {
		tracker_free(t);
		return rc;
	}
	if (t->flavour != UPROBE_PERF)
		rights_keep(CAPS_MINIMAL | RIGHTS_OPEN);
	if (log_enabled(LOG_DEBUG)) /* it takes some milliseconds */
		log_debug("uprobes: %s, %llu ns a trap", uprobe_flavour_name(t->flavour),
			  (unsigned long long)trap_ns());
	*to = t; /* the trial's link goes with the others: closing it alone would take 50 ms */
	return 0;
}

void tracker_free(struct tracker *t)
{
	drop_links(t);
	vec_release(&t->links);
	ring_buffer__free(t->events);
	ring_buffer__free(t->stops);
	memtrack__destroy(t->skel);
	free(t);
}

/* ---- Following ---- */

int tracker_follow(struct tracker *t, pid_t pid)
{
	size_t bytes = bpf_map__value_size(t->skel->maps.tasks);
	void *fresh = xcalloc(1, bytes);
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), rc;

	if (fd < 0) {
		rc = fail_errno("cannot watch process %d", pid);
	} else {
		rc = bpf_map__update_elem(t->skel->maps.tasks, &fd, sizeof(fd), fresh, bytes, BPF_ANY);
		if (rc)
			rc = fail(rc, "cannot follow process %d: %s", pid, strerror(-rc));
		close(fd);
	}
	free(fresh);
	if (!rc)
		__atomic_fetch_add(&t->skel->bss->alive, 1, __ATOMIC_RELAXED);
	return rc;
}

void tracker_track(struct tracker *t, bool on)
{
	__atomic_store_n(&t->skel->bss->tracking, on, __ATOMIC_SEQ_CST);
}

struct tracker_counts tracker_counts(struct tracker *t)
{
	return (struct tracker_counts){
		.lost_events = __atomic_load_n(&t->skel->bss->lost_events, __ATOMIC_RELAXED),
		.lost_stops = __atomic_load_n(&t->skel->bss->lost_stops, __ATOMIC_RELAXED),
		.lost_addresses = __atomic_load_n(&t->skel->bss->lost_addresses, __ATOMIC_RELAXED),
		.lost_tasks = __atomic_load_n(&t->skel->bss->lost_tasks, __ATOMIC_RELAXED),
		.strangers = __atomic_load_n(&t->skel->bss->strangers, __ATOMIC_RELAXED),
		.escaped = __atomic_load_n(&t->skel->bss->escaped, __ATOMIC_RELAXED),
		.first_stranger = __atomic_load_n(&t->skel->bss->first_stranger, __ATOMIC_RELAXED),
		.alive = __atomic_load_n(&t->skel->bss->alive, __ATOMIC_RELAXED),
	};
}

const volatile uint32_t *tracker_held(const struct tracker *t, size_t *count)
{
	*count = ARRAY_SIZE(t->skel->bss->held);
	return t->skel->bss->held;
}

void tracker_end_stops(struct tracker *t)
{
	__atomic_store_n(&t->skel->bss->no_more_stops, true, __ATOMIC_SEQ_CST);
}

/* ---- Reading ---- */

static enum heap_event_kind kind_of(uint64_t kind)
{
	switch (kind) {
	case TRACK_MALLOC: return HEAP_MALLOC;
	case TRACK_FREE: return HEAP_FREE;
	case TRACK_CALLOC: return HEAP_CALLOC;
	case TRACK_REALLOC: return HEAP_REALLOC;
	case TRACK_ALIGNED_ALLOC: return HEAP_ALIGNED_ALLOC;
	case TRACK_EXEC: return HEAP_EXEC;
	case TRACK_EXIT: return HEAP_EXIT;
	}
	BUG("kind of an event");
}

static int on_event(void *ctx, void *data, size_t len)
{
	struct sink *sink = &((struct tracker *)ctx)->event_sink;
	const struct track_event *from = data;
	struct heap_event *to = (struct heap_event *)sink->to + sink->len++;

	*to = (struct heap_event){
		.kind = kind_of(from->kind_addr >> TRACK_KIND_SHIFT),
		.pid = (int32_t)from->pid,
		.tid = (int32_t)from->tid,
		.timestamp = from->time,
		.addr = from->kind_addr & (((uint64_t)1 << TRACK_KIND_SHIFT) - 1),
		.size = len >= TRACK_ALLOC_BYTES ? from->size : 0,
		.old_addr = len >= TRACK_REALLOC_BYTES ? from->old : 0,
		.old_known = true,
	};
	return 0;
}

size_t tracker_read(struct tracker *t, struct heap_event *to, size_t max)
{
	t->event_sink = (struct sink){.to = to, .max = max};
	ring_buffer__consume_n(t->events, max);
	return t->event_sink.len;
}

size_t tracker_unread(struct tracker *t)
{
	return ring__avail_data_size(ring_buffer__ring(t->events, 0));
}

size_t tracker_high(const struct tracker *t)
{
	return t->high;
}

static int on_stop(void *ctx, void *data, size_t len UNUSED)
{
	struct sink *sink = &((struct tracker *)ctx)->stop_sink;

	((struct track_stop *)sink->to)[sink->len++] = *(const struct track_stop *)data;
	return 0;
}

size_t tracker_take_stops(struct tracker *t, struct track_stop *to, size_t max)
{
	t->stop_sink = (struct sink){.to = to, .max = max};
	ring_buffer__consume_n(t->stops, max);
	return t->stop_sink.len;
}

void tracker_answered(struct tracker *t, const struct track_stop *stop)
{
	__atomic_store_n(&t->skel->bss->answered[(stop->number - 1) % TRACK_HELD], stop->number,
			 __ATOMIC_SEQ_CST);
}

int tracker_stops_fd(const struct tracker *t)
{
	return ring_buffer__epoll_fd(t->stops);
}

/* ---- Files ---- */

void tracker_forget_files(struct tracker *t)
{
	const struct bpf_map *files = t->skel->maps.files;
	struct track_file key;

	while (!bpf_map__get_next_key(files, NULL, &key, sizeof(key)))
		bpf_map__delete_elem(files, &key, sizeof(key), 0);
}

int tracker_know_file(struct tracker *t, struct track_file file, uint64_t changed)
{
	const struct bpf_map *files = t->skel->maps.files;
	int rc = bpf_map__update_elem(files, &file, sizeof(file), &changed, sizeof(changed), BPF_ANY);

	if (rc == -E2BIG) {
		tracker_forget_files(t);
		rc = bpf_map__update_elem(files, &file, sizeof(file), &changed, sizeof(changed),
					  BPF_ANY);
	}
	return rc ? fail(rc, "cannot remember a file: %s", strerror(-rc)) : 0;
}

bool tracker_unseen(const struct tracker *t, size_t place)
{
	return t->skel->bss->unseen[place];
}
