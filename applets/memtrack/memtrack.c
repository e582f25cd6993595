/* SPDX-License-Identifier: MIT */
/* memtrack.c - record the heap calls of a command and everything it starts */
//config:config MEMTRACK
//config:	bool "memtrack (380 kb)"
//config:	default y
//config:	select LIB_BPF
//config:	select LIB_ELF
//config:	select LIB_ZSTD
//config:	help
//config:	  Exact heap figures of any program, without preloading, by eBPF
//config:	  uprobes. Memory mode needs it.
//applet:IF_MEMTRACK(APPLET("codspeed-memtrack", memtrack_main, PRIV_KEEP, NULL))
//applet:IF_MEMTRACK(APPLET("memtrack", memtrack_main, PRIV_KEEP, "record the heap calls of a command"))
//usage:track [OPTION]... -- COMMAND [ARG]...
//usage:track [OPTION]... 'SHELL TEXT'
//example:memtrack track -o results -- ./program --its options
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "applet_prototypes.h"
#include "core/artifact.h"
#include "core/base.h"
#include "core/buf.h"
#include "core/cleanup.h"
#include "core/clock.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/measuring_lock.h"
#include "core/memtrack_control.h"
#include "core/memtrack_supplement.h"
#include "core/opts.h"
#include "core/orphans.h"
#include "core/path.h"
#include "core/shell.h"
#include "core/spawn.h"
#include "core/supervise.h"
#include "core/units.h"

#include "applets/memtrack/bpf_engine.h"
#include "applets/memtrack/rights.h"
#include "applets/memtrack/tracker.h"

enum {
	BATCH = 4096,
	TICK_BATCHES = 128, /* some 50 ms */
	DRAIN_MS = 10, /* a ring of the least size holds a hundred times as much at full rate */
	GRACE_SECONDS = 1,
	LINGER_SECONDS = 1,
	CORES_LEFT = 2, /* to the program, and to the reader of the ring */
};

struct cfg {
	const char *output;
	int flavour;
	uint64_t ring_mb;
	uint64_t control; /* descriptor + 1; 0: none */
};

static const struct opt_choice flavours[] = {
	CHOICE("auto", -1),
	CHOICE("session", UPROBE_SESSION),
	CHOICE("multi", UPROBE_MULTI),
	CHOICE("perf", UPROBE_PERF),
	CHOICE_END,
};

static const struct opt rows[] = {
	OPT_PATH('o', "output", struct cfg, output, .meta = "DIR", .def = ".",
		 .help = "folder for PID.MemtrackArtifact.msgpack"),
	OPT_CHOICE(0, "uprobes", struct cfg, flavour, flavours, .meta = "KIND", .def = "auto",
		   .help = "kind of probes"),
	OPT_UINT(0, "ring-size", struct cfg, ring_mb, .meta = "MB", .max = 2048,
		 .help = "memory for events that are not read yet (default: by free memory and cores)"),
	OPT_UINT(0, "control", struct cfg, control, .flags = OPT_HIDDEN, .max = INT_MAX,
		 .help = "descriptor, plus one, that switches tracking on and off"),
	OPT_END
};

struct track {
	struct cfg cfg;
	struct engine *engine;
	struct artifact_writer *artifact;
	struct supplement_writer *supplement;
	struct heap_gaps gaps;
	struct supervise watching;
	bool failed; /* told already */
};

/* ---- Events ---- */

static void give_up(struct track *t)
{
	log_error("%s", error_text());
	error_clear();
	t->failed = true;
	t->watching.give_up = true;
}

/* Ends of processes are not the artifact's. Returns how many events are left in the batch. */
static size_t take_ends(struct track *t, struct heap_event *batch, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		if (heap_event_is_end(&batch[i]))
			supplement_add_end(t->supplement, &batch[i]);
		else if (left++ != i)
			batch[left - 1] = batch[i];
	}
	return left;
}

/* False when there are no more, which is where a failure of the engine shows. */
static bool drain_batch(struct track *t)
{
	static struct heap_event batch[BATCH];
	ssize_t n;

	if (t->failed)
		return false;
	n = t->engine->ops->next(t->engine, batch, BATCH);
	if (n < 0 || (n > 0 && artifact_add(t->artifact, batch, take_ends(t, batch, (size_t)n))))
		give_up(t);
	return n > 0 && !t->failed;
}

static void drain(struct track *t)
{
	while (drain_batch(t))
		;
}

/* Who outlived its parent became our child (subreaper), and would stay a zombie. */
static void reap_orphans(pid_t root)
{
	siginfo_t ended = {0};

	while (!waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) && ended.si_pid &&
	       ended.si_pid != root) {
		waitpid(ended.si_pid, NULL, WNOHANG);
		ended.si_pid = 0;
	}
}

static void on_tick(void *ctx)
{
	struct track *t = ctx;

	/* many cores may produce faster than we drain: signals and requests get their turn */
	for (int i = 0; i < TICK_BATCHES && drain_batch(t); i++)
		;
	reap_orphans(t->watching.child);
}

/* ---- Control ---- */

static void on_control(void *ctx)
{
	struct track *t = ctx;
	struct memtrack_packet packet;
	ssize_t n = recv(t->watching.extra, &packet, sizeof(packet), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != sizeof(packet)) { /* the runner has ended, or has no more to say */
		t->watching.extra = -1;
		return;
	}
	if (packet.what == MEMTRACK_ENABLE || packet.what == MEMTRACK_DISABLE) {
		t->engine->ops->track(t->engine, packet.what == MEMTRACK_ENABLE);
		packet.what = MEMTRACK_OK;
	} else {
		packet.what = MEMTRACK_REFUSED;
	}
	if (send(t->watching.extra, &packet, sizeof(packet), MSG_NOSIGNAL) != sizeof(packet))
		log_debug("the runner does not take answers any more");
}

/*
 * It is not for the command, which would hold it open and could use it. A program with capabilities
 * has lost the signal that the runner asked for in case of its own death.
 */
static void take_control(struct track *t)
{
	int fd = (int)t->cfg.control - 1;
	struct pollfd left = {.fd = fd};
	struct stat st;

	if (fstat(fd, &st) || !S_ISSOCK(st.st_mode))
		die_usage("--control is for the runner, which hands over a socket");
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (poll(&left, 1, 0) > 0 && left.revents & POLLHUP)
		raise(SIGTERM); /* it has died before */
	t->watching.extra = fd;
}

/* ---- The command ---- */

static char *find_command(const struct strvec *words)
{
	char *path;
	int rc = path_find_program(words->items[0], getenv("PATH"), &path);

	if (rc == -ENOENT)
		die(EXIT_NOT_FOUND, "%s: command not found", words->items[0]);
	if (rc)
		die(EXIT_NOT_EXECUTABLE, "%s: not executable", words->items[0]);
	return path;
}

static unsigned encoder_threads(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores > CORES_LEFT ? (unsigned)(cores - CORES_LEFT) : 1;
}

/* Held before its first instruction until everything that it does will be seen. */
static int start(struct track *t, struct spawn *s)
{
	int rc = spawn_start(s);

	if (rc)
		return rc;
	rc = artifact_create(&t->artifact, t->cfg.output, s->pid, encoder_threads());
	if (!rc)
		rc = supplement_create(&t->supplement, t->cfg.output, s->pid);
	if (!rc)
		rc = t->engine->ops->follow(t->engine, s->pid);
	if (!rc && !t->cfg.control)
		t->engine->ops->track(t->engine, true);
	if (!rc)
		rc = spawn_release(s);
	if (rc) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
		artifact_discard(t->artifact);
		supplement_discard(t->supplement);
		t->engine->ops->free(t->engine, &t->gaps);
	}
	return rc;
}

static int watch(struct track *t, pid_t pid)
{
	struct supervise *w = &t->watching;

	w->child = pid;
	w->grace_ns = GRACE_SECONDS * NS_PER_SECOND;
	w->tick_ns = DRAIN_MS * NS_PER_MS;
	w->tick = on_tick;
	w->on_extra = on_control;
	w->ctx = t;
	return supervise(w);
}

/* ---- The end ---- */

static void tell_of_orphan(void *ctx, pid_t pid, const char *name)
{
	struct track *t = ctx;

	heap_gaps_tell(&t->gaps, "still running after the command ended: %s (pid %d); what it does from "
		       "now on is not recorded", name, pid);
}

/* We were told to end: so are all whom the command has left behind, and those they leave in turn. */
static void end_the_rest(struct track *t)
{
	uint64_t from = clock_now();
	int number = SIGTERM;

	while (orphans_visit(t->engine->helper, orphans_signal, &number) &&
	       clock_now() < from + 2 * LINGER_SECONDS * NS_PER_SECOND) {
		drain(t);
		nanosleep(&(struct timespec){.tv_nsec = DRAIN_MS * NS_PER_MS}, NULL);
		if (clock_now() > from + LINGER_SECONDS * NS_PER_SECOND / 2)
			number = SIGKILL;
	}
}

static void wait_for_the_rest(struct track *t)
{
	uint64_t deadline = clock_now() + LINGER_SECONDS * NS_PER_SECOND;

	while (t->engine->ops->alive(t->engine) && clock_now() < deadline && !t->failed) {
		drain(t);
		nanosleep(&(struct timespec){.tv_nsec = DRAIN_MS * NS_PER_MS}, NULL);
	}
	if (t->engine->ops->alive(t->engine))
		orphans_visit(t->engine->helper, tell_of_orphan, t);
}

/* 0 when nothing was lost. */
static int check_losses(struct track *t)
{
	struct engine_losses lost = t->engine->ops->losses(t->engine);

	if (lost.addresses)
		return fail(-EPERM, "the record is incomplete: the addresses of %llu blocks of posix_memalign "
				    "are not known, because this kernel lets nobody read memory "
				    "(lockdown=confidentiality)", (unsigned long long)lost.addresses);
	if (!lost.events && !lost.processes && !lost.files)
		return 0;
	return fail(-ENOBUFS, "the record is incomplete: %llu events, %llu threads and %llu files were "
			      "missed; allocate less, or give a larger --ring-size",
		    (unsigned long long)lost.events, (unsigned long long)lost.processes,
		    (unsigned long long)lost.files);
}

/* Returns 0 with a whole artifact; else what there is was kept under another name. */
static int finish(struct track *t)
{
	unsigned long long events = 0;
	int rc;

	if (t->watching.signal || t->failed)
		end_the_rest(t);
	else
		wait_for_the_rest(t);
	t->engine->ops->track(t->engine, false);
	drain(t);
	rc = t->failed ? -EIO : check_losses(t);
	t->engine->ops->free(t->engine, &t->gaps);
	if (!rc) {
		events = artifact_count(t->artifact);
		rc = supplement_finish(t->supplement, &t->gaps);
	} else {
		supplement_abandon(t->supplement);
	}
	if (!rc)
		rc = artifact_finish(t->artifact);
	else
		artifact_abandon(t->artifact);
	if (rc && !t->failed)
		log_error("%s", error_text());
	else if (!rc && !events && !t->cfg.control) /* else the runner tells */
		log_warn("no heap call was seen, the record is empty (codspeed's own programs are never "
			 "recorded)");
	else if (!rc)
		log_debug("%llu events", events);
	error_clear();
	heap_gaps_release(&t->gaps);
	return rc;
}

static int track_command(struct track *t, const struct strvec *words)
{
	struct spawn s = SPAWN_INIT;
	char *path = find_command(words);
	int status, rc;

	s.path = path;
	s.argv = words->items;
	s.envp = rights_environment();
	s.death_signal = SIGTERM;
	s.as_user = sudo_invoker(&s.uid, &s.gid);
	orphans_adopt();
	if (start(t, &s))
		die_recorded(s.not_executed ? EXIT_NOT_EXECUTABLE : EXIT_WRAPPER);
	if (watch(t, s.pid))
		die_recorded(EXIT_WRAPPER);
	status = status_of_wait(t->watching.status);
	rc = finish(t);
	free(path);
	if (t->watching.signal)
		supervise_reraise(t->watching.signal);
	return rc ? (int)EXIT_WRAPPER : status;
}

/* One word is shell text, as upstream's memtrack takes it. */
static void make_words(struct strvec *words, const struct opts_args *args)
{
	if (!args->count || !str_eq(args->words[0], "track"))
		die_usage("the subcommand is `track`");
	if (args->count < 2 || str_is_blank(args->words[1]))
		die_usage("no command is given");
	if (args->count > 2 || args->separated)
		strvec_push_all(words, args->words + 1);
	else if (shell_command(words, args->words[1], getenv("PATH")))
		die_recorded(EXIT_WRAPPER);
}

int memtrack_main(int argc, char **argv)
{
	struct bpf_engine_options options = {0};
	struct strvec words = STRVEC_INIT;
	struct track t = {.watching = SUPERVISE_INIT};
	struct opts_args args;
	int status;

	rights_begin();
	opts_parse(rows, &t.cfg, argc, argv, OPTS_INTERLEAVED | OPTS_COMMAND | OPTS_WRAPPER, &args);
	make_words(&words, &args);
	if (access(t.cfg.output, W_OK))
		die(EXIT_WRAPPER, "the folder %s cannot be written: %s", t.cfg.output,
		    strerror(errno));
	options.flavour = t.cfg.flavour;
	options.ring_bytes = (size_t)t.cfg.ring_mb * 1024 * 1024;
	supervise_prepare();
	if (t.cfg.control)
		take_control(&t);
	spawn_raise_files(); /* every file with an allocator costs links */
	if (measuring_lock_take(MODE_MEMORY)) /* here, where the probes will be */
		die_recorded(EXIT_WRAPPER);
	if (bpf_engine_new(&t.engine, &options))
		die_recorded(EXIT_WRAPPER);
	rights_keep(0); /* the watcher has what it takes */
	status = track_command(&t, &words);
	strvec_release(&words);
	args_release(&args);
	return status;
}
