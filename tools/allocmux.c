/* SPDX-License-Identifier: MIT */
/*
 * allocmux.c - the `allocmux` program: find the subcommand and call it.
 *
 * Not here: any subcommand (one file each), their options (parse.c).
 */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

static struct {
	const char *command; /* the subcommand's name, for messages; or NULL */
} g;

static void print_line(const char *format, va_list args, const char *after)
{
	fflush(stdout);
	fprintf(stderr, "allocmux%s%s: ", g.command ? " " : "",
		g.command ? g.command : "");
	vfprintf(stderr, format, args);
	fprintf(stderr, "%s%s\n", after ? ": " : "", after ? after : "");
}

void tool_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(format, args, NULL);
	va_end(args);
}

void tool_perror(const char *format, ...)
{
	const char *reason = strerror(errno);
	va_list args;

	va_start(args, format);
	print_line(format, args, reason);
	va_end(args);
}

int tool_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(format, args, NULL);
	va_end(args);
	fprintf(stderr, "Try `allocmux %s%s--help'.\n",
		g.command ? g.command : "", g.command ? " " : "");
	return TOOL_USAGE;
}

static void *or_die(void *ptr)
{
	if (ptr == NULL) {
		tool_error("out of memory");
		exit(TOOL_BROKEN);
	}
	return ptr;
}

void *tool_alloc(size_t size)
{
	return or_die(calloc(1, size > 0 ? size : 1));
}

void *tool_realloc(void *ptr, size_t size)
{
	return or_die(realloc(ptr, size > 0 ? size : 1));
}

char *tool_strdup(const char *text)
{
	return or_die(strdup(text));
}

char *tool_format(const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
	}
	va_end(args);
	return or_die(text);
}

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
	g.command = command->name;
	return finish(command->main(argc - 1, argv + 1));
}
