/* SPDX-License-Identifier: MIT */
/*
 * proctree.h - what /proc says about a process and its descendants.
 *
 * Descendants are found through /proc/PID/task/TID/children. A process that
 * ends while it is read counts as much as was read.
 */
#ifndef AMUX_TOOLS_PROCTREE_H
#define AMUX_TOOLS_PROCTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tree_usage {
	/* Including children that have been waited for. */
	double user_seconds;
	double system_seconds;
	double minor_faults;
	double major_faults;
};

/* VmHWM or VmRSS of one process in KiB, or -1. `field` without the colon. */
double process_memory(pid_t pid, const char *field);

/* Does the process, or the process or one below it, map a file of this path? */
bool process_maps_file(pid_t pid, const char *path);
bool tree_maps_file(pid_t root, const char *path);

/*
 * Resident memory of the tree in KiB: of a single process its VmRSS; of several
 * the sum of their proportional shares (Pss), so that what they share counts
 * once. *processes (may be NULL) := how many there are.
 */
double tree_rss(pid_t root, size_t *processes);

struct tree_usage tree_usage(pid_t root);

struct pids {
	pid_t *list;
	size_t count;
};

/* root first, then level by level; the caller frees the list. */
struct pids tree_list(pid_t root);

/*
 * End whatever this process, being the subreaper, has below it except those
 * in `keep` (may be NULL): SIGKILL, then reap.
 */
void tree_end_others(const struct pids *keep);

#endif
