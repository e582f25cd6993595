/* SPDX-License-Identifier: MIT */
/* perf_script.c - the text of `perf script` into stacks */
#include "core/base.h"
#include "core/clock.h"
#include "core/path.h"

#include "applets/runner/walltime/perf_script.h"

struct frame {
	const char *name;
	size_t len;
};

struct sample {
	uint64_t time;
	const char *program;
	VEC(struct frame) frames; /* innermost first */
	bool open;
};

static void end_sample(struct sample *s, struct stacks *to)
{
	struct buf line = BUF_INIT;

	if (!s->open)
		return;
	stacks_add_frame(&line, s->program, strlen(s->program));
	for (size_t i = s->frames.len; i-- > 0;)
		stacks_add_frame(&line, s->frames.items[i].name, s->frames.items[i].len);
	stacks_add(to, s->time, line.data, line.len);
	buf_release(&line);
	s->frames.len = 0;
	s->open = false;
}

/* Cut off the last word, which is returned; blanks in front of it go, too. NULL: there is none. */
static char *cut_word(char *line)
{
	char *word = strrchr(line, ' '), *end = word;

	if (!word)
		return NULL;
	while (end > line && end[-1] == ' ')
		end--;
	*end = '\0';
	return word + 1;
}

/* From its end, for the name may hold blanks. */
static void begin_sample(struct sample *s, char *line, pid_t without)
{
	char *colon = strrchr(line, ':'), *time, *pid, *point;

	if (!colon)
		return;
	*colon = '\0';
	time = cut_word(line);
	pid = time ? cut_word(line) : NULL;
	if (!pid || strtol(pid, NULL, 10) == without)
		return;
	s->time = strtoull(time, &point, 10) * NS_PER_SECOND;
	if (*point != '.')
		return;
	s->time += strtoull(point + 1, NULL, 10);
	s->program = line + strspn(line, " ");
	s->open = true;
}

static void push_frame(struct sample *s, const char *name, const char *end)
{
	vec_push(&s->frames, (struct frame){name, (size_t)(end - name)});
}

/* Where "(FILE)" begins; FILE may end in "(deleted)". NULL: nowhere. */
static const char *find_file(const char *line)
{
	const char *file = strrchr(line, '(');

	if (!file || !str_starts(file, "(deleted)"))
		return file;
	while (file > line && *--file != '(')
		;
	return *file == '(' ? file : NULL;
}

/* "   ADDRESS FUNCTION (FILE)"; a function that is not known is told by its file. */
static void add_frame(struct sample *s, const char *line)
{
	const char *name = line + strspn(line, " \t"), *file;

	name += strspn(name, "0123456789abcdef");
	name += *name == ' ';
	file = find_file(name);
	if (!s->open || !file || file == name)
		return;
	if (!str_starts(name, "[unknown]")) {
		while (file > name && file[-1] == ' ')
			file--;
		push_frame(s, name, file);
		return;
	}
	name = path_base(file + 1);
	if (*name != '[') /* [unknown] again: where frame pointers end, an address is nothing */
		push_frame(s, name, name + strcspn(name, ")"));
}

void perf_script_read(char *text, pid_t without, struct stacks *to)
{
	struct sample sample = {0};
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!*line) {
			end_sample(&sample, to);
		} else if (*line == '\t') {
			add_frame(&sample, line);
		} else {
			end_sample(&sample, to);
			begin_sample(&sample, line, without);
		}
	}
	end_sample(&sample, to);
	vec_release(&sample.frames);
}
