/* SPDX-License-Identifier: MIT */
/*
 * target.h - another process, as far as /proc tells about it.
 *
 * The subcommands that act on a running program share these exit statuses,
 * beside those of tool.h.
 */
#ifndef AMUX_TOOLS_TARGET_H
#define AMUX_TOOLS_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
	TARGET_GONE = 4,       /* no such process */
	TARGET_NOT_YOURS = 5,  /* of another user, or closed to you */
	TARGET_NO_SHIM = 6,    /* runs without the shim */
	TARGET_NO_CHANNEL = 7, /* under the shim, without ALLOC_CONTROL */
	TARGET_UNFIT = 8,      /* attach: cannot be done to this program */
	TARGET_BUSY = 9,       /* attach: no safe moment was found */
};

/* What the help of each of them says about the above. */
#define TARGET_STATUS_TEXT                                                     \
	"Exit status: 0 done; 1 the program refused; 2 wrong usage; 3 the "    \
	"tool could not go on; 4 no such process; 5 it belongs to another "    \
	"user; 6 it runs without the shim; 7 it has no control channel"

struct target {
	pid_t pid;
	pid_t inner_pid; /* as the process itself sees it */
	uid_t uid;       /* its effective user */
	char state;      /* as in proc(5): 'R', 'T', 'Z' ... */
	pid_t tracer;    /* who debugs it, or 0 */
	int seccomp;     /* 0, 1 strict, 2 filtered */
	char name[64];   /* its command name */
};

/*
 * Look at the process that `operand` names. 0, or the exit status after one
 * line on stderr.
 */
int target_find(const char *operand, struct target *target);

/* "/proc/PID/NAME", in a buffer that the next call overwrites. */
const char *target_path(const struct target *target, const char *name);

/* Is a file of this base name mapped there? -1 if we may not know. */
int target_has_mapped(const struct target *target, const char *name);

#endif
