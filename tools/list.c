/* SPDX-License-Identifier: MIT */
/* list.c - `allocmux list`: every backend that this machine can use. */
#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "backends.h"
#include "tool.h"

enum { KEY_JSON = 256, KEY_NAMES };

static const struct tool_option list_options[] = {
	{"json", KEY_JSON, NULL, "Print JSON", VALUE_ANY},
	{"names", KEY_NAMES, NULL, "Print the names alone, one on each line",
		VALUE_ANY},
	{0},
};

static int list_main(int argc, char **argv);

const struct command command_list = {
	.name = "list",
	.usage = "[--json | --names]",
	.summary = "List the backends that this machine can use",
	.text = "Backends are built in; plugins in the library folder and in "
		"ALLOC_PLUGIN_PATH; and libraries that have a malloc and know "
		"nothing of Allocmux, where the loader finds them. Nothing is "
		"loaded to make the list. Any other library can be named by "
		"its path.",
	.options = list_options,
	.main = list_main,
};

static const char *const kinds[] = {
	[AMUX_KIND_BUILTIN] = "built-in",
	[AMUX_KIND_PLUGIN] = "plugin",
	[AMUX_KIND_EXTERNAL] = "library",
};

static const char *or_dash(const char *text)
{
	return text != NULL ? text : "-";
}

static void print_table(const struct backend_table *table)
{
	size_t width = 0;

	for (size_t i = 0; i < table->count; i++) {
		size_t length = strlen(table->entries[i].name);

		width = length > width ? length : width;
	}
	for (size_t i = 0; i < table->count; i++) {
		const struct backend_entry *entry = &table->entries[i];

		printf("%-*s  %-8s  %-8s  %s\n", (int)width, entry->name,
			kinds[entry->kind], or_dash(entry->version),
			or_dash(entry->summary));
		if (entry->path != NULL) {
			printf("%*s  %s\n", (int)width, "", entry->path);
		}
		if (entry->caveat != NULL) {
			printf("%*s  caution: %s\n", (int)width, "",
				entry->caveat);
		}
	}
}

static void text_add(
	struct json_object *object, const char *name, const char *text)
{
	json_object_object_add(object, name,
		text != NULL ? json_object_new_string(text) : NULL);
}

static void print_json(const struct backend_table *table)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < table->count; i++) {
		const struct backend_entry *entry = &table->entries[i];
		struct json_object *object = json_object_new_object();

		text_add(object, "name", entry->name);
		text_add(object, "kind", kinds[entry->kind]);
		text_add(object, "path", entry->path);
		text_add(object, "version", entry->version);
		text_add(object, "summary", entry->summary);
		text_add(object, "caveat", entry->caveat);
		json_object_array_add(array, object);
	}
	puts(json_object_to_json_string_ext(
		array, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
			       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(array);
}

static int list_main(int argc, char **argv)
{
	const struct backend_table *table;
	const char *value;
	int form = 0;
	int key;

	while ((key = option_next(&command_list, argc, argv, &value)) > 0) {
		form = key;
	}
	if (key < 0) {
		return TOOL_USAGE;
	}
	if (optind != argc) {
		return tool_usage("no arguments are taken");
	}
	table = backends_find();
	if (form == KEY_JSON) {
		print_json(table);
	} else if (form == KEY_NAMES) {
		for (size_t i = 0; i < table->count; i++) {
			puts(table->entries[i].name);
		}
	} else {
		print_table(table);
	}
	return TOOL_OK;
}
