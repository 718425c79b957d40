/* SPDX-License-Identifier: MIT */
/*
 * allocmux/control.h - how a running program is spoken to from outside.
 *
 * A program started under the shim with ALLOC_CONTROL=1 listens on a
 * stream socket in Linux's abstract namespace, whose name is AMUX_CONTROL_NAME
 * with the program's process id as it sees it itself (unix(7); no file, gone
 * with the process). `allocmux status`, `switch`, `trim` and `trace` are
 * clients; docs/control.md describes the protocol and who may speak.
 *
 * One connection carries one request and its answer, in lines of ASCII or
 * UTF-8 text that end in '\n':
 *
 *     request   COMMAND[ ARGUMENT]
 *     answer    any number of  KEYWORD[ key=value]...
 *               then one of    ok
 *                              error ERRNO TEXT
 *
 * A value has no spaces, except that of the last key of a line, which runs to
 * its end. Readers skip keywords and keys they do not know. An answer without
 * its last line was cut short by the program's end. Both sides bound each read
 * and write by AMUX_CONTROL_TIMEOUT_MS.
 */
#ifndef ALLOCMUX_CONTROL_H
#define ALLOCMUX_CONTROL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when, and only when, an old client or program is misunderstood. */
#define AMUX_CONTROL_PROTOCOL 1

/* A printf format for one int, to be put behind a NUL in sun_path. */
#define AMUX_CONTROL_NAME "allocmux/%d"

/* Bytes of a line with its '\n', in both directions. */
#define AMUX_CONTROL_LINE 1024

#define AMUX_CONTROL_TIMEOUT_MS 5000

/*
 * Listen from now on, whatever ALLOC_CONTROL said at start, and, in a shim that
 * was loaded late, undo an amux_detach(). 0 if it listens, else an errno value.
 * `allocmux attach` calls this in the program. Not async-signal-safe. In
 * liballocmux_shim only.
 */
int amux_control_start(void);

#ifdef __cplusplus
}
#endif

#endif
