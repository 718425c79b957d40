/* SPDX-License-Identifier: MIT */
/* target.c - see target.h; the formats are proc(5)'s. */
#include "target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

const char *target_path(const struct target *target, const char *name)
{
	static char path[64 + NAME_MAX];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)target->pid, name);
	return path;
}

static bool pid_parse(const char *text, pid_t *pid)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	*pid = (pid_t)number;
	return errno == 0 && end != text && *end == '\0' && number > 0 &&
	       number <= INT_MAX;
}

/* One "Key:\tvalue" line of /proc/PID/status. */
static void status_line(struct target *target, const char *line)
{
	unsigned real, effective;
	const char *last;

	if (sscanf(line, "Name: %63[^\n]", target->name) == 1 ||
		sscanf(line, "State: %c", &target->state) == 1 ||
		sscanf(line, "TracerPid: %d", &target->tracer) == 1 ||
		sscanf(line, "Seccomp: %d", &target->seccomp) == 1) {
		return;
	}
	if (sscanf(line, "Uid: %u %u", &real, &effective) == 2) {
		target->uid = effective;
	} else if (strncmp(line, "NSpid:", 6) == 0) {
		last = strrchr(line, '\t'); /* the innermost name space's */
		target->inner_pid = last != NULL ? atoi(last) : target->pid;
	}
}

int target_find(const char *operand, struct target *target)
{
	char line[512];
	FILE *status;

	memset(target, 0, sizeof(*target));
	if (!pid_parse(operand, &target->pid)) {
		return tool_usage("`%s' is not a process id", operand);
	}
	target->inner_pid = target->pid;
	status = fopen(target_path(target, "status"), "re");
	if (status == NULL) {
		if (errno != ENOENT) {
			tool_perror("%s", target_path(target, "status"));
			return TOOL_BROKEN;
		}
		tool_error("no process %s", operand);
		return TARGET_GONE;
	}
	while (fgets(line, sizeof(line), status) != NULL) {
		status_line(target, line);
	}
	fclose(status);
	if (target->state == 'Z' || target->state == 'X') {
		tool_error("process %s has ended", operand);
		return TARGET_GONE;
	}
	if (geteuid() != 0 && geteuid() != target->uid) {
		tool_error("process %s (%s) belongs to another user (uid %u)",
			operand, target->name, (unsigned)target->uid);
		return TARGET_NOT_YOURS;
	}
	return 0;
}

int target_has_mapped(const struct target *target, const char *name)
{
	FILE *maps = fopen(target_path(target, "maps"), "re");
	char line[PATH_MAX + 128];
	bool found = false;

	if (maps == NULL) {
		return -1;
	}
	while (!found && fgets(line, sizeof(line), maps) != NULL) {
		const char *slash = strrchr(line, '/');

		found = slash != NULL &&
			strncmp(slash + 1, name, strlen(name)) == 0;
	}
	fclose(maps);
	return found;
}
