/* SPDX-License-Identifier: MIT */
/*
 * spawn.h - start commands, take their output, end them in time.
 *
 * Not here: what they use (measure.h, server.h).
 */
#ifndef AMUX_TOOLS_SPAWN_H
#define AMUX_TOOLS_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct subject;

/* Where a command's output goes: two unnamed temporary files. */
struct capture {
	int out;
	int err;
};

/* 0, or -1 when it has been reported why not. */
int capture_open(struct capture *capture);
void capture_close(struct capture *capture);

/* The whole file as a string; the caller frees it. *size may be NULL. */
char *capture_read(int fd, size_t *size);

/* The last line that is not empty, shortened, for a failure's text. */
char *capture_last_line(const struct capture *capture);

/*
 * Start argv in a process group of its own, in the subject's environment (NULL:
 * as ours), with stdin from our own if that is a file, otherwise from
 * /dev/null. It waits until start_release(). Returns its pid, or -1.
 */
struct start {
	pid_t pid;
	int release; /* pipe to the child */
	int result;  /* pipe from the child: errno if it could not execute */
};
int start_prepare(struct start *start, const struct subject *subject,
	char *const *argv, const struct capture *capture);
/* Returns 0, or the errno of execvp(3). */
int start_release(struct start *start);
/* It has been waited for: no longer kill it when this process is told to end.
 */
void start_forget(const struct start *start);

/* A failure's text for a wait status that is not exit(0), or NULL. */
char *failure_of_status(int status, const struct capture *capture);

/* Run `sh -c text` to its end; 0, or -1 with *failure set. */
int shell_run(
	const char *text, double timeout, const char *what, char **failure);

/*
 * Kill the group after `seconds` (0: never). limit_end() returns whether time
 * was up.
 */
void limit_begin(pid_t group, double seconds);
bool limit_end(void);

#endif
