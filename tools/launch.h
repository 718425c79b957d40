/* SPDX-License-Identifier: MIT */
/*
 * launch.h - how a program is started under a backend.
 */
#ifndef AMUX_TOOLS_LAUNCH_H
#define AMUX_TOOLS_LAUNCH_H

#include <stdbool.h>

/*
 * The path of liballocmux_shim.so: $ALLOCMUX_SHIM, or where the library lies
 * beside this program (installed, or in a build tree). NULL if there is none,
 * or none that LD_PRELOAD can name; that has then been reported.
 */
const char *launch_shim(void);

/*
 * Set this process's environment so that a program executed from it runs under
 * `backend` (NULL: whatever ALLOC_BACKEND says). What LD_PRELOAD had is kept
 * behind the shim. A library whose thread-local storage is too large to be
 * loaded late is preloaded as well. Returns 0, or -1 when it has been reported
 * why not.
 */
int launch_setenv(const char *backend);

/*
 * Say on stderr if malloc in `program` cannot be replaced, because it is
 * statically linked or runs with more privileges than its caller.
 */
void launch_warn(const char *program);

/*
 * execvp(3). Does not return: when it fails, reports and exits as env(1) does,
 * with 127 if there is no such program and with 126 otherwise.
 */
void launch_exec(char **argv) __attribute__((noreturn));

#endif
