/* SPDX-License-Identifier: MIT */
/*
 * operands.h - a fixed number of operands, with options before, between or
 * after them: `allocmux status PID --json`.
 */
#ifndef AMUX_TOOLS_OPERANDS_H
#define AMUX_TOOLS_OPERANDS_H

#include "tool.h"

/* Told of each option. */
typedef void operands_option_fn(int key, const char *value);

/*
 * Fill `operands` with exactly `count`; `option` may be NULL if the command has
 * none. 0, or TOOL_USAGE after it has been reported.
 */
int operands_read(const struct command *command, int argc, char **argv,
	const char **operands, int count, operands_option_fn *option);

#endif
