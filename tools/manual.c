/* SPDX-License-Identifier: MIT */
/*
 * manual.c - `allocmux manual`: allocmux(1) in mdoc(7), from the tables.
 *
 * Run by the build, which installs its output; hidden, since a user has man(1).
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <allocmux/allocmux.h>

#include "tool.h"
#include "version.h"

static int manual_main(int argc, char **argv);

const struct command command_manual = {
	.name = "manual",
	.usage = "",
	.summary = "Print the manual page of this program in mdoc(7)",
	.hidden = true,
	.main = manual_main,
};

/* Running text: what roff would take for a request or an escape is quoted. */
static void roff_text(const char *text, size_t size)
{
	bool line_start = true;

	for (size_t i = 0; i < size; i++) {
		if (line_start && (text[i] == '.' || text[i] == '\'')) {
			printf("\\&");
		}
		line_start = text[i] == '\n';
		switch (text[i]) {
		case '\\':
			printf("\\e");
			break;
		case '-':
			printf("\\-");
			break;
		case '`':
			printf("\\(oq");
			break;
		case '\'':
			printf("\\(cq");
			break;
		case '~':
			printf("\\(ti");
			break;
		case '^':
			printf("\\(ha");
			break;
		default:
			putchar(text[i]);
		}
	}
	putchar('\n');
}

static void roff_paragraphs(const char *text)
{
	while (*text != '\0') {
		const char *end = strstr(text, "\n\n");
		size_t size = end != NULL ? (size_t)(end - text) : strlen(text);

		printf(".Pp\n");
		roff_text(text, size);
		text += size + (end != NULL ? 2 : 0);
	}
}

/* A quoted macro argument: a value may hold spaces. */
static void roff_argument(const char *text)
{
	putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"') {
			printf("\\(dq");
		} else if (*text == '\\') {
			printf("\\e");
		} else {
			putchar(*text);
		}
	}
	putchar('"');
}

static void manual_option(const struct tool_option *option)
{
	printf(".It ");
	if (option->key < 256) {
		printf("Fl %c , ", option->key);
	}
	printf("Fl \\-%s", option->name);
	if (option->value != NULL && option->value[0] == '[') {
		printf("\\fR[=\\fP");
		printf("%s", option->value + 1);
	} else if (option->value != NULL) {
		printf(" Ar ");
		roff_argument(option->value);
	}
	putchar('\n');
	roff_text(option->help, strlen(option->help));
}

static void manual_command(const struct command *command)
{
	printf(".Ss allocmux %s\n", command->name);
	printf(".Nm allocmux %s\n", command->name);
	roff_text(command->usage, strlen(command->usage));
	printf(".Pp\n");
	roff_text(command->summary, strlen(command->summary));
	if (command->text != NULL) {
		roff_paragraphs(command->text);
	}
	if (command->options != NULL) {
		printf(".Bl -tag -width Ds\n");
		for (const struct tool_option *o = command->options;
			o->name != NULL; o++) {
			manual_option(o);
		}
		printf(".El\n");
	}
}

static void manual_environment(void)
{
	const struct amux_option *option;

	printf(".Sh ENVIRONMENT\n"
	       "The program itself reads\n.Bl -tag -width Ds\n"
	       ".It Ev ALLOCMUX_SHIM\nPath of the preload library, if it does "
	       "not lie beside this program.\n.El\n.Pp\n"
	       "The preload library reads, in the process that it serves,\n"
	       ".Bl -tag -width Ds\n");
	for (size_t i = 0; (option = amux_option_at(i)) != NULL; i++) {
		printf(".It Ev %s Ns = Ns Ar ", option->variable);
		roff_argument(option->type);
		putchar('\n');
		roff_text(option->help, strlen(option->help));
		if (option->fallback != NULL) {
			printf("Default:\n.Dq ");
			roff_text(option->fallback, strlen(option->fallback));
		}
	}
	printf(".El\n");
}

static int manual_main(int argc, char **argv)
{
	const char *value;

	if (option_next(&command_manual, argc, argv, &value) < 0) {
		return TOOL_USAGE;
	}
	if (optind != argc) {
		return tool_usage("no arguments are taken");
	}
	printf(".\\\" Printed by `allocmux manual'; change the tables in "
	       "tools/ instead.\n"
	       ".Dd $Mdocdate$\n.Dt ALLOCMUX 1\n.Os Allocmux " AMUX_VERSION_TEXT
	       "\n.Sh NAME\n.Nm allocmux\n"
	       ".Nd run, compare and watch programs under any allocator\n"
	       ".Sh SYNOPSIS\n.Nm\n.Ar subcommand\n.Op Ar option ...\n"
	       ".Op Ar argument ...\n.Nm\n.Fl \\-help | \\-version\n"
	       ".Sh DESCRIPTION\n.Nm\n"
	       "works on unmodified programs: a small preload library takes "
	       "the place of\n.Xr malloc 3\nand its family and sends each call "
	       "to the allocator, the backend, that was named.\n"
	       "Each subcommand also answers\n.Fl \\-help .\n"
	       ".Sh SUBCOMMANDS\n");
	for (int i = 0; tool_commands[i] != NULL; i++) {
		if (!tool_commands[i]->hidden) {
			manual_command(tool_commands[i]);
		}
	}
	manual_environment();
	printf(".Sh EXIT STATUS\n"
	       "Unless a subcommand says otherwise:\n"
	       ".Bl -tag -width Ds -compact\n"
	       ".It 0\nDone.\n"
	       ".It 1\nDone, but some of the work failed.\n"
	       ".It 2\nWrong usage.\n"
	       ".It 3\nThe tool could not go on: a file or a program that it "
	       "needs is missing.\n.El\n"
	       ".Sh SEE ALSO\n.Xr ld.so 8 ,\n.Xr malloc 3\n");
	return TOOL_OK;
}
