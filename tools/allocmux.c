/* SPDX-License-Identifier: MIT */
/*
 * allocmux.c - the `allocmux` program: find the subcommand and call it.
 *
 * Not here: any subcommand (one file each), their options (parse.c), messages
 * (common.c).
 */
#include "tool.h"

#include <stdio.h>
#include <string.h>

#include "version.h"

#define COMMAND(name) extern const struct command command_##name;
#include "commands.h"
#undef COMMAND

#define COMMAND(name) &command_##name,
const struct command *const tool_commands[] = {
#include "commands.h"
	NULL};
#undef COMMAND

static const struct command *command_find(const char *name)
{
	for (int i = 0; tool_commands[i] != NULL; i++) {
		if (strcmp(tool_commands[i]->name, name) == 0) {
			return tool_commands[i];
		}
	}
	return NULL;
}

/* Output that could not be written must not look like success. */
static int finish(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		tool_perror("cannot write to stdout");
		return status == TOOL_OK ? TOOL_BROKEN : status;
	}
	return status;
}

int main(int argc, char **argv)
{
	const struct command *command;
	const char *name = argc > 1 ? argv[1] : "--help";

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
		(strcmp(name, "help") == 0 && argc < 3)) {
		help_tool();
		return finish(argc > 1 ? TOOL_OK : TOOL_USAGE);
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		puts("allocmux " AMUX_VERSION_TEXT);
		return finish(TOOL_OK);
	}
	if (strcmp(name, "help") == 0) {
		command = command_find(argv[2]);
		if (command == NULL) {
			return tool_usage("no subcommand `%s'", argv[2]);
		}
		help_command(command);
		return finish(TOOL_OK);
	}
	command = command_find(name);
	if (command == NULL) {
		return tool_usage("no %s `%s'",
			name[0] == '-' ? "option" : "subcommand", name);
	}
	tool_set_command(command->name);
	return finish(command->main(argc - 1, argv + 1));
}
