/* SPDX-License-Identifier: MIT */
/*
 * ops.h - the file between `allocmux replay` and its player: a header, then one
 * record for each call, in the order of the whole trace.
 *
 * Private to one version on one machine: native byte order, made for one
 * replay and deleted after it.
 */
#ifndef AMUX_TOOLS_OPS_H
#define AMUX_TOOLS_OPS_H

#include <stdint.h>

#define OPS_MAGIC UINT64_C(0x31706f78756d61)

struct ops_header {
	uint64_t magic;
	uint64_t count;     /* of records */
	uint32_t slots;     /* blocks live at once, at most */
	uint32_t threads;   /* numbers of threads are below */
	uint64_t peak_live; /* requested bytes live at once, at most */
};

enum op_kind {
	OP_MALLOC,
	OP_CALLOC,
	OP_ALIGNED,
	OP_REALLOC, /* of the block in the slot */
	OP_FREE,
};

/* Set in `kind`: the thread does nothing after this. */
#define OP_LAST 0x80u

struct op {
	uint64_t size; /* requested; 0 for OP_FREE */
	uint32_t slot;
	uint16_t thread;
	uint8_t kind;
	uint8_t align; /* log2, for OP_ALIGNED */
};

#endif
