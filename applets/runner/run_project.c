/* SPDX-License-Identifier: MIT */
/* run_project.c - the benchmarks of codspeed.yml as parts of a run */
#include "core/base.h"
#include "core/exit_code.h"
#include "core/json.h"
#include "core/suggest.h"
#include "core/units.h"

#include "applets/runner/parts.h"
#include "applets/runner/run_project.h"

/* ---- Which ---- */

static bool is_called(const struct project_benchmark *b, const char *text)
{
	return (b->id && str_eq(b->id, text)) || (b->name && str_eq(b->name, text));
}

static bool is_chosen(const struct project_benchmark *b, const struct bench_list *only)
{
	for (size_t i = 0; i < only->len; i++)
		if (is_called(b, only->items[i]))
			return true;
	return !only->len;
}

static void check_known(const struct project *p, const char *wanted)
{
	struct suggest near = suggest_for(wanted);
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < p->benchmarks.len; i++) {
		const struct project_benchmark *b = &p->benchmarks.items[i];

		if (is_called(b, wanted))
			return;
		if (b->id)
			suggest_add(&near, b->id);
		if (b->name)
			suggest_add(&near, b->name);
	}
	suggest_text(&near, "; ", "", &text);
	die_usage("%s has no benchmark with the id or name '%s'%s", p->path, wanted,
		  text.data ? text.data : "");
}

static void check_choice(const struct settings *s, const struct bench_list *only)
{
	if (!s->has_project)
		die_usage("there is no command, and no codspeed.yml here or above in the repository");
	if (!s->project.benchmarks.len)
		die_usage("there is no command, and %s lists no benchmarks", s->project.path);
	for (size_t i = 0; i < only->len; i++)
		check_known(&s->project, only->items[i]);
}

/* ---- What exec-harness reads ---- */

static void put_limit(struct json_writer *w, const char *key, const char *text, bool count)
{
	uint64_t value;

	if (count && text && !parse_uint64(text, &value))
		json_put_u64(w, key, value);
	else
		json_put_text(w, key, text);
}

/* All five, in this order: what exec-harness of other makers expects, too. */
static void put_limits(struct json_writer *w, const struct project_limits *limits)
{
	json_begin_object(w, "walltime_args");
	put_limit(w, "warmup_time", limits->texts[LIMIT_WARMUP_TIME], false);
	put_limit(w, "max_time", limits->texts[LIMIT_MAX_TIME], false);
	put_limit(w, "min_time", limits->texts[LIMIT_MIN_TIME], false);
	put_limit(w, "max_rounds", limits->texts[LIMIT_MAX_ROUNDS], true);
	put_limit(w, "min_rounds", limits->texts[LIMIT_MIN_ROUNDS], true);
	json_end(w);
}

static void put_target(struct json_writer *w, const struct project_benchmark *b)
{
	json_begin_object(w, NULL);
	json_begin_array(w, "command");
	for (size_t i = 0; i < b->words.len; i++)
		json_put_text(w, NULL, b->words.items[i]);
	json_end(w);
	if (b->name)
		json_put_text(w, "name", b->name);
	put_limits(w, &b->limits);
	json_end(w);
}

/* ---- Parts ---- */

/* `codspeed exec` with the list on its standard input. */
static void add_commands(struct parts *parts, const struct project *p, const struct bench_list *only,
			 const struct run_options *options, const struct strvec *common)
{
	struct json_writer *w = json_writer_new();
	struct strvec before = STRVEC_INIT;
	struct buf list = BUF_INIT;
	size_t count = 0;
	char *title;

	json_begin_array(w, NULL);
	for (size_t i = 0; i < p->benchmarks.len; i++) {
		const struct project_benchmark *b = &p->benchmarks.items[i];

		if (!b->exec || !is_chosen(b, only))
			continue;
		put_target(w, b);
		count++;
	}
	json_end(w);
	json_writer_finish(w, JSON_ONE_LINE, &list);
	title = xasprintf("%zu command%s of %s", count, count == 1 ? "" : "s", p->path);
	strvec_push(&before, "exec");
	if (common->len)
		strvec_push_all(&before, common->items);
	strvec_pushf(&before, "--list=%s", title);
	if (count)
		parts_add(parts, &options->modes, before.items, NULL, list.data, title);
	free(title);
	buf_release(&list);
	strvec_release(&before);
}

static void add_entrypoints(struct parts *parts, const struct project *p,
			    const struct bench_list *only, const struct run_options *options,
			    const struct strvec *common, const struct strvec *entry)
{
	struct strvec before = STRVEC_INIT;

	strvec_push(&before, "run");
	if (common->len)
		strvec_push_all(&before, common->items);
	if (entry->len)
		strvec_push_all(&before, entry->items);
	for (size_t i = 0; i < p->benchmarks.len; i++) {
		const struct project_benchmark *b = &p->benchmarks.items[i];
		char *const after[] = {(char[]){"--"}, (char *)b->entrypoint, NULL};

		if (b->entrypoint && is_chosen(b, only))
			parts_add(parts, &options->modes, before.items, after, NULL,
				  b->name ? b->name : b->entrypoint);
	}
	strvec_release(&before);
}

/* Without it the command line's own, relative to where codspeed was started. */
static char *choose_directory(const struct project *p, const struct run_options *options)
{
	char *directory;

	if (options->working_directory)
		return NULL;
	directory = project_directory_dup(p);
	if (!directory)
		die_recorded(EXIT_USAGE);
	return directory;
}

int run_project(const struct settings *settings, const struct run_options *options,
		const struct bench_list *only, const struct strvec *common, const struct strvec *entry)
{
	const struct project *p = &settings->project;
	struct run_options own = *options;
	struct strvec all = STRVEC_INIT;
	struct parts parts = PARTS_INIT;
	char *directory, *command;
	int status;

	check_choice(settings, only);
	directory = choose_directory(p, options);
	if (common->len)
		strvec_push_all(&all, common->items);
	if (directory) {
		own.working_directory = directory;
		strvec_pushf(&all, "--working-directory=%s", directory);
	}
	add_commands(&parts, p, only, &own, &all);
	add_entrypoints(&parts, p, only, &own, &all, entry);
	command = xasprintf("the benchmarks of %s", p->path);
	status = parts_run(&parts, &own, command);
	strvec_release(&all);
	free(command);
	free(directory);
	return status;
}
