/* SPDX-License-Identifier: MIT */
/* convert.h - from a trace to the player's file. */
#ifndef AMUX_TOOLS_CONVERT_H
#define AMUX_TOOLS_CONVERT_H

#include "ops.h"
#include "traceload.h"

/*
 * Write the calls of a loaded trace to `fd`, from its start. Frees of blocks
 * from before the trace, and calls that failed, are left out. Returns 0, or -1
 * when it has been reported why not.
 */
int ops_write(const struct trace *trace, int fd, struct ops_header *header);

#endif
