/* SPDX-License-Identifier: MIT */
/* switch.c - `allocmux switch`: another backend for a running program. */
#include <getopt.h>
#include <stdio.h>

#include "channel.h"
#include "operands.h"
#include "tool.h"

static int switch_main(int argc, char **argv);

const struct command command_switch = {
	.name = "switch",
	.usage = "PID NAME",
	.summary = "Give a running program another backend",
	.text = "New blocks come from backend NAME (see `allocmux list', or a "
		"path) from now on; old ones stay with their owner and go home "
		"when they are freed. The program was started under the shim "
		"with ALLOC_CONTROL=1, or attached to.\n\n" TARGET_STATUS_TEXT
		".",
	.main = switch_main,
};

static int switch_main(int argc, char **argv)
{
	const char *operands[2], *name;
	struct target target;
	struct answer answer;
	int status;

	status = operands_read(&command_switch, argc, argv, operands, 2, NULL);
	if (status == 0) {
		status = target_find(operands[0], &target);
	}
	if (status == 0) {
		status = channel_do(&target, "switch", operands[1], &answer);
	}
	if (status != 0) {
		return status;
	}
	for (size_t i = 0; i < answer.count; i++) {
		const char *keys = answer_line(answer.lines[i], "active");

		name = keys != NULL ? answer_rest(keys, "name") : NULL;
		if (name != NULL) {
			printf("%d (%s): new blocks come from %s\n",
				(int)target.pid, target.name, name);
		}
	}
	answer_free(&answer);
	return TOOL_OK;
}
