/* SPDX-License-Identifier: MIT */
/*
 * completion.c - `allocmux completion`: shell completions from the tables.
 *
 * Names of backends are asked for when they are needed, from `allocmux list`,
 * because they depend on the machine and not on this program's build.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

static int completion_main(int argc, char **argv);

const struct command command_completion = {
	.name = "completion",
	.usage = "bash|zsh",
	.summary = "Print the completions for a shell",
	.text = "Load them with `source <(allocmux completion bash)', or put "
		"the output where the shell looks for completions.",
	.main = completion_main,
};

static bool takes_value(const struct tool_option *option)
{
	return option->value != NULL && option->value[0] != '[';
}

/* "--a|-b" for the options of `command` of one kind; the first has no "|". */
static int bash_pattern(const struct command *command, enum value_kind kind)
{
	int count = 0;

	for (const struct tool_option *o = command->options;
		o != NULL && o->name != NULL; o++) {
		if (!takes_value(o) || o->kind != kind) {
			continue;
		}
		printf("%s--%s", count++ == 0 ? "\t\t" : "|", o->name);
		if (o->key < 256) {
			printf("|-%c", o->key);
		}
	}
	return count;
}

static void bash_values(const struct command *command)
{
	static const struct {
		enum value_kind kind;
		const char *action;
	} actions[] = {
		{VALUE_BACKEND, "COMPREPLY=($(compgen -W "
				"\"$(allocmux list --names 2>/dev/null)\" "
				"-- \"$cur\"))"},
		{VALUE_FILE, "COMPREPLY=($(compgen -f -- \"$cur\"))"},
		{VALUE_COMMAND, "COMPREPLY=($(compgen -c -- \"$cur\"))"},
		{VALUE_ANY, "COMPREPLY=()"},
	};

	printf("\t\tcase $prev in\n");
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (bash_pattern(command, actions[i].kind) > 0) {
			printf(")\n\t\t\t%s\n\t\t\treturn ;;\n",
				actions[i].action);
		}
	}
	printf("\t\tesac\n");
}

static void bash_print(void)
{
	printf("# bash completion for allocmux, printed by "
	       "`allocmux completion bash'\n"
	       "_allocmux() {\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} "
	       "prev=${COMP_WORDS[COMP_CWORD-1]} i\n"
	       "\tif ((COMP_CWORD == 1)); then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"--help --version");
	for (int i = 0; tool_commands[i] != NULL; i++) {
		if (!tool_commands[i]->hidden) {
			printf(" %s", tool_commands[i]->name);
		}
	}
	printf("\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	       "\t# Behind `--' comes another command with its own rules.\n"
	       "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	       "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	       "\t\t\tif declare -F _command_offset >/dev/null; then\n"
	       "\t\t\t\t_command_offset $((i + 1))\n"
	       "\t\t\telse\n"
	       "\t\t\t\tCOMPREPLY=($(compgen -c -f -- \"$cur\"))\n"
	       "\t\t\tfi\n\t\t\treturn\n\t\tfi\n\tdone\n"
	       "\tcase ${COMP_WORDS[1]} in\n");
	for (int i = 0; tool_commands[i] != NULL; i++) {
		const struct command *command = tool_commands[i];

		if (command->hidden) {
			continue;
		}
		printf("\t%s)\n", command->name);
		bash_values(command);
		printf("\t\tif [[ $cur == -* ]]; then\n"
		       "\t\t\tCOMPREPLY=($(compgen -W \"--help");
		for (const struct tool_option *o = command->options;
			o != NULL && o->name != NULL; o++) {
			printf(" --%s", o->name);
		}
		printf("\" -- \"$cur\"))\n\t\telse\n"
		       "\t\t\tCOMPREPLY=($(compgen -c -f -- \"$cur\"))\n"
		       "\t\tfi ;;\n");
	}
	printf("\tesac\n}\ncomplete -F _allocmux allocmux\n");
}

/* A text inside '...' and inside [...] of an _arguments specification. */
static void zsh_text(const char *text)
{
	for (; *text != '\0'; text++) {
		if (strchr("[]:\\", *text) != NULL) {
			putchar('\\');
		}
		if (*text == '\'') {
			printf("'\\''");
		} else {
			putchar(*text);
		}
	}
}

static void zsh_option(const struct tool_option *option)
{
	static const char *const actions[] = {
		[VALUE_ANY] = " ",
		[VALUE_FILE] = "_files",
		[VALUE_BACKEND] = "_allocmux_backends",
		[VALUE_COMMAND] = "_cmdstring",
	};
	const char *equals = option->value == NULL ? ""
			     : takes_value(option) ? "="
						   : "=-";

	if (option->key < 256) {
		printf(" \\\n\t\t\t'(-%c --%s)'{-%c%s,--%s%s}'[", option->key,
			option->name, option->key,
			option->value != NULL ? "+" : "", option->name, equals);
	} else {
		printf(" \\\n\t\t\t'--%s%s[", option->name, equals);
	}
	zsh_text(option->help);
	putchar(']');
	if (option->value != NULL) {
		printf("%s:", takes_value(option) ? "" : ":");
		zsh_text(takes_value(option) ? option->value : "file");
		printf(":%s", actions[option->kind]);
	}
	putchar('\'');
}

static void zsh_print(void)
{
	printf("#compdef allocmux\n"
	       "# zsh completion for allocmux, printed by "
	       "`allocmux completion zsh'\n"
	       "_allocmux_backends() {\n"
	       "\tlocal -a names\n"
	       "\tnames=(${(f)\"$(allocmux list --names 2>/dev/null)\"})\n"
	       "\t_sequence compadd - $names\n"
	       "}\n"
	       "_allocmux() {\n"
	       "\tlocal -a subcommands\n\tsubcommands=(\n");
	for (int i = 0; tool_commands[i] != NULL; i++) {
		if (!tool_commands[i]->hidden) {
			printf("\t\t'%s:", tool_commands[i]->name);
			zsh_text(tool_commands[i]->summary);
			printf("'\n");
		}
	}
	printf("\t)\n\tif ((CURRENT == 2)); then\n"
	       "\t\t_describe subcommand subcommands\n\t\treturn\n\tfi\n"
	       "\tshift words\n\t((CURRENT--))\n"
	       "\tcase $words[1] in\n");
	for (int i = 0; tool_commands[i] != NULL; i++) {
		const struct command *command = tool_commands[i];

		if (command->hidden) {
			continue;
		}
		printf("\t%s)\n\t\t_arguments -S -A '-*' \\\n"
		       "\t\t\t'(-h --help)'{-h,--help}'[Show help]'",
			command->name);
		for (const struct tool_option *o = command->options;
			o != NULL && o->name != NULL; o++) {
			zsh_option(o);
		}
		printf(" \\\n\t\t\t'*::argument:_normal' ;;\n");
	}
	printf("\tesac\n}\n_allocmux \"$@\"\n");
}

static int completion_main(int argc, char **argv)
{
	const char *value;
	int key = option_next(&command_completion, argc, argv, &value);

	if (key < 0) {
		return TOOL_USAGE;
	}
	if (argc != optind + 1) {
		return tool_usage("name one shell: bash or zsh");
	}
	if (strcmp(argv[optind], "bash") == 0) {
		bash_print();
	} else if (strcmp(argv[optind], "zsh") == 0) {
		zsh_print();
	} else {
		return tool_usage("no completions for `%s'; there are bash "
				  "and zsh",
			argv[optind]);
	}
	return TOOL_OK;
}
