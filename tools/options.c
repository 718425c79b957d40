/* SPDX-License-Identifier: MIT */
/* options.c - `allocmux options`: what the shim reads from the environment. */
#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include <allocmux/allocmux.h>

#include "tool.h"

enum { KEY_JSON = 256 };

static const struct tool_option options_options[] = {
	{"json", KEY_JSON, NULL, "Print JSON", VALUE_ANY},
	{0},
};

static int options_main(int argc, char **argv);

const struct command command_options = {
	.name = "options",
	.usage = "[--json]",
	.summary = "List the environment variables that the shim reads",
	.text = "Each is shown with the form of its value, its default, what "
		"it does, and what it is set to here, if it is.",
	.options = options_options,
	.main = options_main,
};

static void print_table(void)
{
	const struct amux_option *option;

	for (size_t i = 0; (option = amux_option_at(i)) != NULL; i++) {
		const char *value = getenv(option->variable);

		printf("%s=%s%s%s\n", option->variable, option->type,
			option->fallback != NULL ? "  default: " : "",
			option->fallback != NULL ? option->fallback : "");
		printf("    ");
		help_wrapped(option->help, 4);
		if (value != NULL) {
			printf("    set to: %s\n", value);
		}
	}
}

static void text_add(
	struct json_object *object, const char *name, const char *text)
{
	json_object_object_add(object, name,
		text != NULL ? json_object_new_string(text) : NULL);
}

static void print_json(void)
{
	struct json_object *array = json_object_new_array();
	const struct amux_option *option;

	for (size_t i = 0; (option = amux_option_at(i)) != NULL; i++) {
		struct json_object *object = json_object_new_object();

		text_add(object, "variable", option->variable);
		text_add(object, "type", option->type);
		text_add(object, "default", option->fallback);
		text_add(object, "help", option->help);
		text_add(object, "value", getenv(option->variable));
		json_object_array_add(array, object);
	}
	puts(json_object_to_json_string_ext(
		array, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
			       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(array);
}

static int options_main(int argc, char **argv)
{
	const char *value;
	bool json = false;
	int key;

	while ((key = option_next(&command_options, argc, argv, &value)) > 0) {
		json = true;
	}
	if (key < 0) {
		return TOOL_USAGE;
	}
	if (optind != argc) {
		return tool_usage("no arguments are taken");
	}
	if (json) {
		print_json();
	} else {
		print_table();
	}
	return TOOL_OK;
}
