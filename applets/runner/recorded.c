/* SPDX-License-Identifier: MIT */
/* recorded.c - results of an earlier run, from a file or from a profile folder */
#include <sys/stat.h>

#include "core/base.h"
#include "core/execution_timestamps.h"
#include "core/io.h"

#include "applets/runner/folder.h"
#include "applets/runner/memory/artifacts.h"
#include "applets/runner/memory/profile.h"
#include "applets/runner/recorded.h"
#include "applets/runner/report/report.h"
#include "applets/runner/simulation/profile.h"
#include "applets/runner/walltime/profile.h"

int recorded_read(struct result *r, const char *path)
{
	struct buf text = BUF_INIT;
	int rc = read_file(path, &text);

	if (!rc)
		rc = result_read_json(r, path, text.data, text.len);
	buf_release(&text);
	return rc;
}

static int load_simulation(struct result *r, const char *folder, size_t top, struct buf *found)
{
	struct profile_summary summary = {0};
	int rc = profile_load(r, folder, &(struct profile_wanted){.top = top}, &summary);

	buf_printf(found, "%zu dumps, %zu of them empty", summary.dumps, summary.empty_dumps);
	free(summary.integration);
	return rc;
}

/* Without these files, timestamps alone say nothing that results.json does not say better. */
static int load_memory(struct result *r, const char *folder, struct buf *found)
{
	struct memory_profile_summary summary = {0};
	int rc;

	if (!artifacts_exist(folder))
		return 0;
	if (!ENABLE_MEMTRACK)
		return fail(-ENOTSUP, "%s is a memory profile, which this build cannot read (a "
				      "results.json in it can be shown)", folder);
	rc = memory_profile_load(r, folder, &summary);
	buf_printf(found, ", %zu files of memtrack, %s", summary.artifacts,
		   summary.no_timestamps ? "no " EXECUTION_TIMESTAMPS_FILE
					 : "no benchmark that reported itself");
	return rc;
}

/* Other modes' integrations leave result files, too, with nothing in them. */
static int load_walltime(struct result *r, const char *folder, struct buf *found)
{
	struct walltime_profile_summary summary = {0};
	int rc;

	if (!ENABLE_WALLTIME || r->benchmarks.len || !walltime_profile_exists(folder))
		return 0;
	rc = walltime_profile_load(r, folder, &summary);
	buf_printf(found, ", %zu result files, %zu of them empty", summary.files, summary.empty_files);
	free(summary.integration);
	return rc;
}

/* What describes the run stands only in results.json; the figures come from the raw data. */
static void take_description(struct result *r, struct result *saved)
{
	r->tool = saved->tool;
	r->system = saved->system;
	r->run = saved->run;
	saved->tool = (struct result_tool){0};
	saved->system = (struct result_system){0};
	saved->run = (struct result_run){0};
}

/* `<folder>/results.json`, where there is one. */
static int read_saved(struct result *saved, const char *folder)
{
	char *path = profile_result_path(folder);
	struct stat st;
	int rc = 0;

	if (stat(path, &st) == 0)
		rc = S_ISREG(st.st_mode) ? recorded_read(saved, path)
					 : fail(-EINVAL, "%s is not a plain file", path);
	free(path);
	return rc;
}

static int load_folder(struct result *r, const char *folder, size_t top)
{
	struct result saved = RESULT_INIT;
	struct buf found = BUF_INIT;
	int rc = read_saved(&saved, folder);

	if (!rc)
		rc = load_simulation(r, folder, top, &found);
	if (!rc)
		rc = load_memory(r, folder, &found);
	if (!rc)
		rc = load_walltime(r, folder, &found);
	if (!rc && !r->benchmarks.len && saved.benchmarks.len) {
		*r = saved; /* the raw data were removed */
		saved = (struct result)RESULT_INIT;
	} else if (!rc && saved.tool.name) {
		take_description(r, &saved);
	} else if (!rc) {
		report_describe(r, NULL);
	}
	if (!rc && !r->benchmarks.len)
		rc = fail(-ENODATA, "%s holds no benchmark (%s)", folder, found.data);
	buf_release(&found);
	result_release(&saved);
	return rc;
}

int recorded_load(struct result *r, const char *path, size_t top)
{
	struct stat st;

	if (stat(path, &st))
		return fail_errno("cannot open %s", path);
	return S_ISDIR(st.st_mode) ? load_folder(r, path, top) : recorded_read(r, path);
}
