/* SPDX-License-Identifier: MIT */
/*
 * tool.h - what the subcommands of `allocmux` share.
 *
 * A subcommand is one `const struct command command_NAME` in a file of its own
 * and one line in commands.h. From its option table come the parser, --help,
 * the man page and the completions, so that they cannot disagree.
 *
 * Exit statuses, for all subcommands that do not say otherwise:
 *   0  done;  1  done, but some of the work failed;  2  wrong usage;
 *   3  the tool itself could not go on (a file, a missing program).
 */
#ifndef AMUX_TOOLS_TOOL_H
#define AMUX_TOOLS_TOOL_H

#include <stdbool.h>
#include <stddef.h>

enum {
	TOOL_OK = 0,
	TOOL_FAILED = 1,
	TOOL_USAGE = 2,
	TOOL_BROKEN = 3,
};

/* What completions offer as the value of an option. */
enum value_kind {
	VALUE_ANY = 0,
	VALUE_FILE,
	VALUE_BACKEND,
	VALUE_COMMAND,
};

struct tool_option {
	const char *name; /* long name without dashes; NULL ends the table */
	int key;          /* its letter, or a number above 255 if it has none */
	const char *value; /* NULL: takes none; "[X]": may be left out */
	const char *help;  /* without a full stop; may be several sentences */
	enum value_kind kind;
};

struct command {
	const char *name;
	const char *usage;   /* what follows the name: "[OPTION]... FILE" */
	const char *summary; /* one line, without a full stop */
	/* Paragraphs for the man page, an empty line between two; or NULL. */
	const char *text;
	const struct tool_option *options; /* or NULL */
	bool hidden;                       /* not listed anywhere */
	/* argv[0] is the subcommand's name. Returns the exit status. */
	int (*main)(int argc, char **argv);
};

/* All subcommands, NULL at the end. */
extern const struct command *const tool_commands[];

/*
 * The next option of `command`: its key, 0 when only operands are left (then
 * optind is the index of the first), or -1 after a mistake that has been
 * reported. Options end at the first operand or at "--". --help is answered
 * here and does not return.
 */
int option_next(const struct command *command, int argc, char **argv,
	const char **value);

/* The subcommand that messages name from now on. */
void tool_set_command(const char *name);

/* A line on stderr: "allocmux SUBCOMMAND: ...". */
void tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with the text of errno behind it. */
void tool_perror(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports a mistake and points to --help. Returns TOOL_USAGE. */
int tool_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print the help of one subcommand, or of the tool, on stdout. */
void help_command(const struct command *command);
void help_tool(void);

/*
 * One paragraph on stdout, wrapped at 79 columns and indented; the cursor is at
 * column `indent`.
 */
void help_wrapped(const char *text, int indent);

/*
 * "--OPTION TEXT" as a number of at least `least`, or as a whole one. 0, or -1
 * when it has been said what is wrong.
 */
int number_parse(
	const char *option, const char *text, double least, double *value);
int count_parse(
	const char *option, const char *text, double least, unsigned *count);

/*
 * As malloc(3) and friends, but the tool ends with a line on stderr when there
 * is no memory. tool_format() is asprintf(3). Free with free(3).
 */
void *tool_alloc(size_t size);
void *tool_realloc(void *ptr, size_t size);
char *tool_strdup(const char *text);
char *tool_format(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif
