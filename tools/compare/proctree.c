/* SPDX-License-Identifier: MIT */
/*
 * proctree.c - see proctree.h; proc(5) describes the files.
 */
#include "proctree.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

static FILE *proc_open(pid_t pid, const char *file)
{
	char *path = tool_format("/proc/%d/%s", (int)pid, file);
	FILE *in = fopen(path, "re");

	free(path);
	return in;
}

static void pids_append(struct pids *pids, pid_t pid)
{
	pids->list = tool_realloc(
		pids->list, (pids->count + 1) * sizeof(*pids->list));
	pids->list[pids->count++] = pid;
}

static void children_append(struct pids *pids, pid_t pid)
{
	char path[64];
	DIR *tasks;
	struct dirent *task;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (tasks == NULL) {
		return;
	}
	while ((task = readdir(tasks)) != NULL) {
		char *file;
		FILE *in;
		int child;

		if (task->d_name[0] == '.') {
			continue;
		}
		file = tool_format("task/%s/children", task->d_name);
		in = proc_open(pid, file);
		free(file);
		while (in != NULL && fscanf(in, "%d", &child) == 1) {
			pids_append(pids, child);
		}
		if (in != NULL) {
			fclose(in);
		}
	}
	closedir(tasks);
}

struct pids tree_list(pid_t root)
{
	struct pids pids = {0};

	pids_append(&pids, root);
	for (size_t i = 0; i < pids.count; i++) {
		children_append(&pids, pids.list[i]);
	}
	return pids;
}

/* "Field:   123 kB" in one of the files of that form; -1 if absent. */
static double field_read(pid_t pid, const char *file, const char *field)
{
	FILE *in = proc_open(pid, file);
	size_t length = strlen(field);
	char line[256];
	double value = -1;

	while (in != NULL && value < 0 && fgets(line, sizeof(line), in)) {
		if (strncmp(line, field, length) == 0 && line[length] == ':') {
			value = strtod(line + length + 1, NULL);
		}
	}
	if (in != NULL) {
		fclose(in);
	}
	return value;
}

double process_memory(pid_t pid, const char *field)
{
	return field_read(pid, "status", field);
}

bool process_maps_file(pid_t pid, const char *path)
{
	FILE *in = proc_open(pid, "maps");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (in != NULL && !found && getline(&line, &size, in) > 0) {
		char *name = strchr(line, '/');

		if (name != NULL) {
			name[strcspn(name, "\n")] = '\0';
			found = strcmp(name, path) == 0;
		}
	}
	free(line);
	if (in != NULL) {
		fclose(in);
	}
	return found;
}

bool tree_maps_file(pid_t root, const char *path)
{
	struct pids pids = tree_list(root);
	bool found = false;

	for (size_t i = 0; i < pids.count && !found; i++) {
		found = process_maps_file(pids.list[i], path);
	}
	free(pids.list);
	return found;
}

double tree_rss(pid_t root, size_t *processes)
{
	struct pids pids = tree_list(root);
	double sum = 0;

	for (size_t i = 0; i < pids.count; i++) {
		double part = pids.count == 1
				      ? process_memory(pids.list[i], "VmRSS")
				      : field_read(pids.list[i], "smaps_rollup",
						"Pss");

		sum += part > 0 ? part : 0;
	}
	if (processes != NULL) {
		*processes = pids.count;
	}
	free(pids.list);
	return sum;
}

static void usage_add(struct tree_usage *usage, pid_t pid)
{
	FILE *in = proc_open(pid, "stat");
	char line[1024];
	unsigned long minor, minor_waited, major, major_waited;
	unsigned long user, kernel;
	long user_waited, kernel_waited;
	double ticks = (double)sysconf(_SC_CLK_TCK);
	char *rest;

	if (in == NULL) {
		return;
	}
	/* The name in parentheses may hold anything; fields follow it. */
	rest = fgets(line, sizeof(line), in) ? strrchr(line, ')') : NULL;
	fclose(in);
	if (rest == NULL ||
		sscanf(rest + 1,
			" %*c %*d %*d %*d %*d %*d %*u %lu %lu %lu %lu %lu %lu "
			"%ld %ld",
			&minor, &minor_waited, &major, &major_waited, &user,
			&kernel, &user_waited, &kernel_waited) != 8) {
		return;
	}
	usage->minor_faults += (double)(minor + minor_waited);
	usage->major_faults += (double)(major + major_waited);
	usage->user_seconds += ((double)user + (double)user_waited) / ticks;
	usage->system_seconds +=
		((double)kernel + (double)kernel_waited) / ticks;
}

struct tree_usage tree_usage(pid_t root)
{
	struct pids pids = tree_list(root);
	struct tree_usage usage = {0};

	for (size_t i = 0; i < pids.count; i++) {
		usage_add(&usage, pids.list[i]);
	}
	free(pids.list);
	return usage;
}

static bool pids_have(const struct pids *pids, pid_t pid)
{
	for (size_t i = 0; pids != NULL && i < pids->count; i++) {
		if (pids->list[i] == pid) {
			return true;
		}
	}
	return false;
}

void tree_end_others(const struct pids *keep)
{
	const struct timespec pause = {0, 1000000};
	size_t left;

	do {
		struct pids pids = tree_list(getpid());
		int status;
		pid_t pid;

		left = 0;
		for (size_t i = 1; i < pids.count; i++) {
			if (!pids_have(keep, pids.list[i])) {
				kill(pids.list[i], SIGKILL);
				left++;
			}
		}
		free(pids.list);
		/* Whoever lost its parent has become ours to reap. */
		while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
			if (WIFSTOPPED(status)) {
				/* A tracee at its exit. */
				ptrace(PTRACE_CONT, pid, NULL, 0L);
			}
		}
		if (left > 0) {
			nanosleep(&pause, NULL);
		}
	} while (left > 0);
}
