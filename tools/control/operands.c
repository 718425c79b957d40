/* SPDX-License-Identifier: MIT */
/* operands.c - see operands.h. */
#include "operands.h"

#include <getopt.h>

int operands_read(const struct command *command, int argc, char **argv,
	const char **operands, int count, operands_option_fn *option)
{
	const char *value;
	int found = 0;

	while (true) {
		int key = option_next(command, argc, argv, &value);

		if (key < 0) {
			return TOOL_USAGE;
		}
		if (key > 0) {
			option(key, value);
			continue;
		}
		if (optind >= argc) {
			break;
		}
		if (found == count) {
			return tool_usage(
				"`%s' is one operand too many", argv[optind]);
		}
		operands[found++] = argv[optind++];
	}
	if (found < count) {
		return tool_usage(
			"usage: allocmux %s %s", command->name, command->usage);
	}
	return 0;
}
