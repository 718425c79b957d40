/* SPDX-License-Identifier: MIT */
/* backends.c - amux_backend_list() as a table. */
#include "backends.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

static struct {
	bool found;
	struct backend_table table;
} g;

static char *copy(const char *text)
{
	return text != NULL ? tool_strdup(text) : NULL;
}

static int entry_append(const struct amux_backend_info *info, void *arg)
{
	struct backend_table *table = arg;
	struct backend_entry entry = {
		.kind = (enum amux_backend_kind)info->kind,
		.name = copy(info->name),
		.path = copy(info->path),
		.version = copy(info->version),
		.summary = copy(info->summary),
		.caveat = copy(info->caveat),
	};

	table->entries = tool_realloc(
		table->entries, (table->count + 1) * sizeof(*table->entries));
	table->entries[table->count++] = entry;
	return 0;
}

/*
 * The library acts on its environment when it is first used: it would load the
 * backend that is meant for the program. Only where to look is for us.
 */
static void list_in_own_environment(struct backend_table *table)
{
	static const char kept[] = "ALLOC_PLUGIN_PATH";
	const struct amux_option *option;
	char **saved = NULL;
	size_t count = 0;

	for (; (option = amux_option_at(count)) != NULL; count++) {
		const char *value = getenv(option->variable);

		saved = tool_realloc(saved, (count + 1) * sizeof(*saved));
		saved[count] = copy(value);
		if (value != NULL && strcmp(option->variable, kept) != 0) {
			unsetenv(option->variable);
		}
	}
	setenv("ALLOC_BACKEND", "system", 1);
	amux_backend_list(entry_append, table);
	unsetenv("ALLOC_BACKEND");
	for (size_t i = 0; i < count; i++) {
		if (saved[i] != NULL) {
			setenv(amux_option_at(i)->variable, saved[i], 1);
		}
		free(saved[i]);
	}
	free(saved);
}

const struct backend_table *backends_find(void)
{
	if (!g.found) {
		list_in_own_environment(&g.table);
		g.found = true;
	}
	return &g.table;
}

const struct backend_entry *backends_named(const char *name)
{
	const struct backend_table *table = backends_find();

	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->entries[i].name, name) == 0) {
			return &table->entries[i];
		}
	}
	return NULL;
}
