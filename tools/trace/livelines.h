/* SPDX-License-Identifier: MIT */
/*
 * livelines.h - live bytes over time of the call sites that hold most.
 */
#ifndef AMUX_TOOLS_LIVELINES_H
#define AMUX_TOOLS_LIVELINES_H

#include "heapview.h"

struct livelines {
	uint32_t count;
	uint32_t *places; /* by line */
	uint64_t *values; /* [line * steps + step]: live at its end */
	uint64_t *others; /* [step]: of all shown stacks that have no line */
};

/* At most `limit` lines, those with the greatest sum over time first. */
void livelines_init(
	struct livelines *lines, const struct view *view, uint32_t limit);
void livelines_fini(struct livelines *lines);

#endif
