/* SPDX-License-Identifier: MIT */
/*
 * channel.h - the tool's end of <allocmux/control.h>.
 */
#ifndef AMUX_TOOLS_CHANNEL_H
#define AMUX_TOOLS_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target.h"

/* A whole answer, without its last line. */
struct answer {
	char *text;         /* owned; the lines are parts of it */
	const char **lines; /* owned */
	size_t count;
	int error;       /* an errno value of the program, 0 if all is well */
	const char *why; /* the words behind it; part of text */
};

/*
 * Send "COMMAND[ ARGUMENT]" (argument may be NULL) and read the answer. 0, or
 * the exit status after one line on stderr; an answer with an error is 0 here.
 */
int channel_ask(const struct target *target, const char *command,
	const char *argument, struct answer *answer);

/* The same; an answer with an error is reported and is TOOL_FAILED. */
int channel_do(const struct target *target, const char *command,
	const char *argument, struct answer *answer);

void answer_free(struct answer *answer);

/*
 * What stands behind "KEYWORD " in an answer's line, or NULL. answer_number()
 * is false if the line has no such key; answer_rest() is the value of a line's
 * last key, or NULL.
 */
const char *answer_line(const char *line, const char *keyword);
bool answer_number(const char *keys, const char *key, uint64_t *number);
const char *answer_rest(const char *keys, const char *key);

#endif
