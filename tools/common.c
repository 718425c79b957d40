/* SPDX-License-Identifier: MIT */
/* common.c - messages and memory for all subcommands; see tool.h. */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const char *command; /* the subcommand's name, for messages; or NULL */
} g;

void tool_set_command(const char *name)
{
	g.command = name;
}

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
