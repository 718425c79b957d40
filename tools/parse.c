/* SPDX-License-Identifier: MIT */
/*
 * parse.c - options of subcommands: from the table to getopt_long(3) and to
 * --help.
 *
 * Not here: what an option does (the subcommand decides).
 */
#include "tool.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64, KEY_HELP = 'h' };

static int getopt_kind(const struct tool_option *option)
{
	if (option->value == NULL) {
		return no_argument;
	}
	return option->value[0] == '[' ? optional_argument : required_argument;
}

static bool has_letter(const struct tool_option *option)
{
	return option->key < 256 && isgraph(option->key);
}

/* Fill getopt_long's two tables from ours. */
static void tables_fill(
	const struct command *command, struct option *longs, char *shorts)
{
	int count = 0;

	*shorts++ = '+'; /* stop at the first operand */
	*shorts++ = ':'; /* tell a missing value from an unknown option */
	*shorts++ = KEY_HELP;
	longs[count++] = (struct option){"help", no_argument, NULL, KEY_HELP};
	for (const struct tool_option *o = command->options;
		o != NULL && o->name != NULL && count < OPTIONS_MAX; o++) {
		int kind = getopt_kind(o);

		longs[count++] = (struct option){o->name, kind, NULL, o->key};
		if (has_letter(o)) {
			*shorts++ = (char)o->key;
			for (int i = 0; i < kind; i++) {
				*shorts++ = ':';
			}
		}
	}
	longs[count] = (struct option){0};
	*shorts = '\0';
}

int option_next(const struct command *command, int argc, char **argv,
	const char **value)
{
	struct option longs[OPTIONS_MAX + 1];
	char shorts[3 * OPTIONS_MAX + 4];
	int at = optind;
	int key;

	tables_fill(command, longs, shorts);
	opterr = 0;
	key = getopt_long(argc, argv, shorts, longs, NULL);
	*value = optarg;
	switch (key) {
	case -1:
		return 0;
	case KEY_HELP:
		help_command(command);
		exit(fflush(stdout) == 0 ? TOOL_OK : TOOL_BROKEN);
	case ':':
		tool_usage("option `%s' needs a value", argv[optind - 1]);
		return -1;
	case '?':
		if (argv[at][0] == '-' && argv[at][1] != '-') {
			tool_usage("no option `-%c'", optopt);
		} else if (optopt != 0) {
			tool_usage("`%s': the option takes no value", argv[at]);
		} else {
			tool_usage("no option `%s'", argv[at]);
		}
		return -1;
	default:
		return key;
	}
}

int number_parse(
	const char *option, const char *text, double least, double *value)
{
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	if (end == text || *end != '\0' || errno != 0 || !(*value >= least) ||
		*value > 1e9) {
		tool_usage("--%s %s: expected a number, at least %g", option,
			text, least);
		return -1;
	}
	return 0;
}

int count_parse(
	const char *option, const char *text, double least, unsigned *count)
{
	double value;

	if (number_parse(option, text, least, &value) != 0) {
		return -1;
	}
	*count = (unsigned)value;
	if (*count != value) {
		tool_usage("--%s %s: expected a whole number", option, text);
		return -1;
	}
	return 0;
}

enum { HELP_COLUMN = 25, HELP_WIDTH = 79 };

/* Words of one paragraph, wrapped; the cursor is at column `at`. */
static void print_wrapped(const char *text, size_t size, int indent, int at)
{
	const char *end = text + size;
	const char *space = "";

	while (text < end) {
		int length = (int)strcspn(text, " \n");

		if (length > end - text) {
			length = (int)(end - text);
		}
		if (at + (int)strlen(space) + length > HELP_WIDTH) {
			printf("\n%*s", indent, "");
			at = indent;
			space = "";
		}
		at += printf("%s%.*s", space, length, text);
		space = " ";
		text += length + 1;
	}
	putchar('\n');
}

void help_wrapped(const char *text, int indent)
{
	print_wrapped(text, strlen(text), indent, indent);
}

static void print_paragraphs(const char *text)
{
	while (*text != '\0') {
		const char *end = strstr(text, "\n\n");
		size_t size = end != NULL ? (size_t)(end - text) : strlen(text);

		putchar('\n');
		print_wrapped(text, size, 0, 0);
		text += size + (end != NULL ? 2 : 0);
	}
}

static void help_option(const struct tool_option *option)
{
	bool optional = option->value != NULL && option->value[0] == '[';
	char letter[8] = "    ";
	int at;

	if (has_letter(option)) {
		snprintf(letter, sizeof(letter), "-%c, ", option->key);
	}
	at = printf("  %s--%s%s%s", letter, option->name,
		option->value == NULL ? ""
		: optional            ? "[="
				      : " ",
		option->value == NULL ? "" : option->value + optional);
	if (at > HELP_COLUMN - 2) {
		putchar('\n');
		at = 0;
	}
	printf("%*s", HELP_COLUMN - at, "");
	print_wrapped(
		option->help, strlen(option->help), HELP_COLUMN, HELP_COLUMN);
}

void help_command(const struct command *command)
{
	static const struct tool_option help = {
		"help", KEY_HELP, NULL, "Show this help and exit", VALUE_ANY};

	printf("Usage: allocmux %s %s\n\n%s.\n", command->name, command->usage,
		command->summary);
	if (command->text != NULL) {
		print_paragraphs(command->text);
	}
	printf("\nOptions:\n");
	for (const struct tool_option *o = command->options;
		o != NULL && o->name != NULL; o++) {
		help_option(o);
	}
	help_option(&help);
}

void help_tool(void)
{
	printf("Usage: allocmux SUBCOMMAND [OPTION]... [ARGUMENT]...\n\n"
	       "One malloc shim, many allocators: run, compare and watch "
	       "programs under any of them.\n\nSubcommands:\n");
	for (int i = 0; tool_commands[i] != NULL; i++) {
		if (!tool_commands[i]->hidden) {
			printf("  %-12s %s\n", tool_commands[i]->name,
				tool_commands[i]->summary);
		}
	}
	printf("\n`allocmux SUBCOMMAND --help' tells more, `man allocmux' "
	       "everything.\n"
	       "  -h, --help     Show this help and exit\n"
	       "  -V, --version  Show the version and exit\n");
}
