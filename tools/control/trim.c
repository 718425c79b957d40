/* SPDX-License-Identifier: MIT */
/* trim.c - `allocmux trim`: a running program gives free memory back. */
#include <stdio.h>

#include "channel.h"
#include "operands.h"
#include "tool.h"

static int trim_main(int argc, char **argv);

const struct command command_trim = {
	.name = "trim",
	.usage = "PID",
	.summary = "Let a running program give free memory back",
	.text = "Each of its backends returns to the kernel what it keeps of "
		"freed memory, as malloc_trim(3) does.\n\n" TARGET_STATUS_TEXT
		".",
	.main = trim_main,
};

static int trim_main(int argc, char **argv)
{
	const char *operand;
	struct target target;
	struct answer answer;
	uint64_t any;
	int status;

	status = operands_read(&command_trim, argc, argv, &operand, 1, NULL);
	if (status == 0) {
		status = target_find(operand, &target);
	}
	if (status == 0) {
		status = channel_do(&target, "trim", NULL, &answer);
	}
	if (status != 0) {
		return status;
	}
	for (size_t i = 0; i < answer.count; i++) {
		const char *keys = answer_line(answer.lines[i], "trimmed");

		if (keys != NULL && answer_number(keys, "any", &any)) {
			printf("%s: %s\n", answer_rest(keys, "name"),
				any ? "gave memory back" : "had nothing free");
		}
	}
	answer_free(&answer);
	return TOOL_OK;
}
