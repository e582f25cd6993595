/* SPDX-License-Identifier: MIT */
/* result.c - the result model: what there is to know about a mode, and memory */
#include <stdarg.h>
#include <time.h>

#include "applets/runner/results/result.h"
#include "core/base.h"

static const struct metric_info simulation_metrics[] = {
	[SIMULATION_INSTRUCTIONS] = {"instructions", "Instructions", UNIT_COUNT, "Instructions"},
	[SIMULATION_L1_HITS] = {"l1_hits", "L1 hits", UNIT_COUNT, "L1 hits"},
	[SIMULATION_LL_HITS] = {"ll_hits", "LL hits", UNIT_COUNT, "LL hits"},
	[SIMULATION_RAM_HITS] = {"ram_hits", "RAM hits", UNIT_COUNT, "RAM hits"},
	[SIMULATION_ESTIMATED_CYCLES] = {"estimated_cycles", "Est. cycles", UNIT_COUNT, "Est. cycles"},
	[SIMULATION_STARTUP_INSTRUCTIONS] = {"startup_instructions", "Startup", UNIT_COUNT, "Startup"},
};

static const struct metric_info memory_metrics[] = {
	[MEMORY_PEAK_BYTES] = {"peak_bytes", "Peak bytes", UNIT_COUNT, "Peak bytes"},
	[MEMORY_TOTAL_BYTES] = {"total_bytes", "Total bytes", UNIT_COUNT, "Total bytes"},
	[MEMORY_ALLOCATIONS] = {"allocations", "Allocations", UNIT_COUNT, "Allocations"},
	[MEMORY_FREES] = {"frees", "Frees", UNIT_COUNT, "Frees"},
	[MEMORY_LEAKED_BYTES] = {"leaked_bytes", "Leaked bytes", UNIT_COUNT, "Leaked bytes"},
	[MEMORY_LEAKED_BLOCKS] = {"leaked_blocks", "Leaked blocks", UNIT_COUNT, "Leaked blocks"},
	[MEMORY_TEMPORARY_ALLOCATIONS] = {"temporary_allocations", "Temporary", UNIT_COUNT, "Temporary"},
};

static const struct metric_info walltime_metrics[] = {
	[WALLTIME_MEAN] = {"mean_ns", "Mean ns", UNIT_MEAN, "Mean (95%)"},
	[WALLTIME_MEDIAN] = {"median_ns", "Median ns", UNIT_TIME, "Median"},
	[WALLTIME_MIN] = {"min_ns", "Min ns", UNIT_TIME, "Min"},
	[WALLTIME_MAX] = {"max_ns", "Max ns", UNIT_TIME, "Max"},
	[WALLTIME_STDEV] = {"stdev_ns", "Std. dev. ns", UNIT_TIME, "Stdev"},
	[WALLTIME_Q1] = {"q1_ns", "Q1 ns", UNIT_TIME, NULL},
	[WALLTIME_Q3] = {"q3_ns", "Q3 ns", UNIT_TIME, NULL},
	[WALLTIME_ROUNDS] = {"rounds", "Rounds", UNIT_COUNT, "Rounds"},
	[WALLTIME_OUTLIERS] = {"outliers", "Outliers", UNIT_COUNT, "Outliers"},
	[WALLTIME_USER] = {"user_ns", "User ns", UNIT_TIME, "User"},
	[WALLTIME_SYSTEM] = {"system_ns", "System ns", UNIT_TIME, "System"},
	[WALLTIME_MAX_RSS] = {"max_rss_bytes", "Max RSS bytes", UNIT_BYTES, "Max RSS"},
};

static const struct mode_info modes[MODE_COUNT] = {
	[MODE_SIMULATION] = {
		.metrics = simulation_metrics,
		.metric_count = SIMULATION_METRICS,
		.leading = SIMULATION_INSTRUCTIONS,
	},
	[MODE_WALLTIME] = {
		.metrics = walltime_metrics,
		.metric_count = WALLTIME_METRICS,
		.leading = WALLTIME_MEDIAN,
	},
	[MODE_MEMORY] = {
		.metrics = memory_metrics,
		.metric_count = MEMORY_METRICS,
		.leading = MEMORY_PEAK_BYTES,
	},
};

_Static_assert(ARRAY_SIZE(simulation_metrics) <= RESULT_METRICS_MAX, "room for every metric");
_Static_assert(ARRAY_SIZE(walltime_metrics) <= RESULT_METRICS_MAX, "room for every metric");
_Static_assert(ARRAY_SIZE(memory_metrics) <= RESULT_METRICS_MAX, "room for every metric");

static const char *const status_names[] = {
	[BENCHMARK_OK] = "ok",
	[BENCHMARK_FAILED] = "failed",
	[BENCHMARK_INCOMPLETE] = "incomplete",
};

const struct mode_info *result_mode_info(enum mode mode)
{
	return &modes[mode];
}

int result_mode_from_name(const char *name, enum mode *to)
{
	for (size_t i = 0; i < MODE_COUNT; i++) {
		if (!modes[i].metrics || !str_eq(mode_name((enum mode)i), name))
			continue;
		*to = (enum mode)i;
		return 0;
	}
	return -EINVAL;
}

const char *benchmark_status_name(enum benchmark_status status)
{
	return status_names[status];
}

int benchmark_status_from_name(const char *name, enum benchmark_status *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(status_names); i++) {
		if (!str_eq(status_names[i], name))
			continue;
		*to = (enum benchmark_status)i;
		return 0;
	}
	return -EINVAL;
}

void benchmark_release(struct benchmark *benchmark)
{
	for (size_t i = 0; i < benchmark->functions.len; i++) {
		free(benchmark->functions.items[i].name);
		free(benchmark->functions.items[i].object);
	}
	for (size_t i = 0; i < benchmark->processes.len; i++)
		free(benchmark->processes.items[i].command);
	vec_release(&benchmark->rounds);
	vec_release(&benchmark->histogram);
	vec_release(&benchmark->timeline);
	vec_release(&benchmark->functions);
	vec_release(&benchmark->processes);
	strvec_release(&benchmark->notes);
	free(benchmark->uri);
	free(benchmark->name);
	*benchmark = (struct benchmark){0};
}

static void system_release(struct result_system *system)
{
	free(system->os);
	free(system->arch);
	free(system->cpu_model);
	strvec_release(&system->cpu_flags);
	free(system->kernel);
	free(system->libc);
	free(system->valgrind);
	strvec_release(&system->valgrind_options);
	free(system->governor);
	free(system->glibc_tunables);
}

static void run_release(struct result_run *run)
{
	free(run->started);
	free(run->host);
	free(run->command);
	free(run->working_directory);
	strvec_release(&run->modes);
}

void result_release(struct result *result)
{
	free(result->tool.name);
	free(result->tool.version);
	free(result->tool.build_id);
	system_release(&result->system);
	run_release(&result->run);
	for (size_t i = 0; i < result->benchmarks.len; i++)
		benchmark_release(&result->benchmarks.items[i]);
	vec_release(&result->benchmarks);
	*result = (struct result)RESULT_INIT;
}

struct benchmark *result_add(struct result *result, enum mode mode, const char *uri,
	const char *name)
{
	vec_push(&result->benchmarks, (struct benchmark){
		.uri = xstrdup(uri),
		.name = xstrdup(name),
		.mode = mode,
	});
	return vec_last(&result->benchmarks);
}

bool result_has_mode(const struct result *result, enum mode mode)
{
	for (size_t i = 0; i < result->benchmarks.len; i++)
		if (result->benchmarks.items[i].mode == mode)
			return true;
	return false;
}

const char *result_name_of_uri(const char *uri)
{
	size_t end = strcspn(uri, "[");
	const char *name = uri;

	if (str_starts(uri, RESULT_HARNESS_URI))
		return uri[strlen(RESULT_HARNESS_URI)] ? uri + strlen(RESULT_HARNESS_URI) : uri;
	for (size_t i = 0; i + 2 < end; i++)
		if (uri[i] == ':' && uri[i + 1] == ':')
			name = uri + i + 2;
	return name;
}

void benchmark_note(struct benchmark *benchmark, const char *fmt, ...)
{
	struct buf note = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&note, fmt, ap);
	va_end(ap);
	strvec_take(&benchmark->notes, buf_detach(&note));
}

char *result_timestamp_dup(int64_t seconds)
{
	time_t time = (time_t)seconds;
	char text[64];
	struct tm parts;

	if (!gmtime_r(&time, &parts) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
		return xstrdup("unknown");
	return xstrdup(text);
}
