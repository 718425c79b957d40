/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - from a list of return addresses to a small number.
 */
#ifndef AMUX_TRACE_STACKS_H
#define AMUX_TRACE_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "walk.h"

/*
 * The id of the stack with this hash (walk.h), counted from 1; 0 if it is not
 * known. Lock-free.
 */
uint32_t stacks_find(struct walk_hash hash);

/*
 * The same for a stack that was not known, the innermost frame first: it is
 * defined in the trace file. 0 if there is no memory. Takes the trace lock.
 */
uint32_t stacks_define(
	struct walk_hash hash, const uint64_t *frames, size_t count);

/* Distinct stacks so far. */
uint32_t stacks_count(void);

/* Forget all: a new file begins. No other thread runs. */
void stacks_reset(void);

#endif
