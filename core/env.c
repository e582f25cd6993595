/* SPDX-License-Identifier: MIT */
/* env.c - environments for child processes */
#include "core/base.h"
#include "core/env.h"

static size_t find(const struct strvec *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->len; i++)
		if (strncmp(env->items[i], name, len) == 0 && env->items[i][len] == '=')
			return i;
	return env->len;
}

const char *env_get(const struct strvec *env, const char *name)
{
	size_t at = find(env, name);

	return at < env->len ? env->items[at] + strlen(name) + 1 : NULL;
}

void env_set(struct strvec *env, const char *name, const char *value)
{
	size_t at = find(env, name);
	char *entry = xasprintf("%s=%s", name, value);

	if (at == env->len) {
		strvec_take(env, entry);
		return;
	}
	free(env->items[at]);
	env->items[at] = entry;
}

void env_unset(struct strvec *env, const char *name)
{
	size_t at = find(env, name);

	if (at == env->len)
		return;
	free(env->items[at]);
	memmove(&env->items[at], &env->items[at + 1], (env->len - at) * sizeof(*env->items));
	env->len--;
}
