/* SPDX-License-Identifier: MIT */
/*
 * fuzz_simulation_record.c - any bytes as simulation.json, beside a few dumps: refused with a
 * reason, or the same after being written, and a report in any case.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applets/runner/results/result.h"
#include "applets/runner/simulation/profile.h"
#include "core/base.h"
#include "core/io.h"
#include "core/path.h"
#include "core/simulation_record.h"
#include "core/text.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *given, *copied; /* folders */

static const char dump[] = "# callgrind format\nversion: 1\ncreator: x\npid: 1\ncmd: x\npart: 1\n"
	"desc: Trigger: Program termination\npositions: line\nevents: Ir Dr\nsummary: 0\n\n"
	"fn=(below main)\n1 3 1\ncfn=main\ncalls=1 1\n1 7\n\nfn=main\n1 7\n\ntotals: 10 1\n";

static void put(const char *folder, const char *name, const void *data, size_t len)
{
	char *path = xasprintf("%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write_full(fd, data, len))
		BUG("cannot write");
	close(fd);
	free(path);
}

static void remove_folders(void)
{
	path_remove_tree(given);
	path_remove_tree(copied);
}

static char *make_folder(void)
{
	char *path = xstrdup("/dev/shm/codspeed-fuzz.XXXXXX");

	if (!mkdtemp(path))
		BUG("cannot make a folder");
	return path;
}

int LLVMFuzzerInitialize(int *argc UNUSED, char ***argv UNUSED)
{
	setenv("CODSPEED_LOG", "off", 1);
	log_init("fuzz");
	given = make_folder();
	copied = make_folder();
	put(given, "100.out", dump, sizeof(dump) - 1);
	put(given, "101.out", dump, sizeof(dump) - 20); /* cut off */
	put(given, "102.out", "", 0);
	atexit(remove_folders);
	return 0;
}

static void expect_same(const struct record_benchmark *a, const struct record_benchmark *b)
{
	if (!str_eq(a->uri, b->uri) || !str_eq(a->name, b->name) || a->status != b->status ||
	    a->signal != b->signal || a->processes.len != b->processes.len)
		BUG("a benchmark reads differently");
	for (size_t i = 0; i < a->processes.len; i++) {
		const struct record_process *p = &a->processes.items[i], *q = &b->processes.items[i];

		if (p->pid != q->pid || p->parent != q->parent || p->status != q->status ||
		    p->images.len != q->images.len)
			BUG("a process reads differently");
		for (size_t k = 0; k < p->images.len; k++)
			if (!str_eq(p->images.items[k].command, q->images.items[k].command) ||
			    p->images.items[k].flaws != q->images.items[k].flaws ||
			    p->images.items[k].dumps.len != q->images.items[k].dumps.len)
				BUG("an image reads differently");
	}
}

/* Few, so that the time goes into reading: appending writes the whole file every time. */
static void write_again(const struct simulation_record *r)
{
	struct simulation_record again = {0};
	char *path = xasprintf("%s/" SIMULATION_RECORD_FILE, copied);
	size_t count = r->benchmarks.len < 3 ? r->benchmarks.len : 3;

	unlink(path);
	for (size_t i = 0; i < count; i++)
		if (simulation_record_append(copied, &r->benchmarks.items[i]))
			die_recorded(1);
	if (count && simulation_record_read(copied, &again))
		die_recorded(1);
	for (size_t i = 0; i < count; i++)
		expect_same(&r->benchmarks.items[i], &again.benchmarks.items[i]);
	simulation_record_release(&again);
	free(path);
}

static void report(bool readable)
{
	struct result result = RESULT_INIT;
	struct profile_summary summary = {0};
	struct buf json = BUF_INIT;
	int rc = profile_load(&result, given, &(struct profile_wanted){.top = 3}, &summary);

	if (rc && readable)
		die_recorded(1);
	if (!rc) {
		result_write_json(&result, &json);
		if (!text_is_utf8(json.data, json.len))
			BUG("results that are not UTF-8");
	}
	error_clear();
	buf_release(&json);
	free(summary.integration);
	result_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct simulation_record r = {0};
	int rc;

	put(given, SIMULATION_RECORD_FILE, data, size);
	rc = simulation_record_read(given, &r);
	if (rc && !*error_text())
		BUG("refused without a reason");
	error_clear();
	if (!rc)
		write_again(&r);
	simulation_record_release(&r);
	report(!rc);
	return 0;
}
