/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - from a list of return addresses to a small number.
 */
#ifndef AMUX_TRACE_STACKS_H
#define AMUX_TRACE_STACKS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The id of this stack, the innermost frame first: the same for the same
 * frames and epoch, counted from 1. A new stack is defined in the trace file.
 * 0 if there is no memory. Lock-free when the stack is known.
 */
uint32_t stacks_id(const uint64_t *frames, size_t count, uint32_t epoch);

/* Distinct stacks so far. */
uint32_t stacks_count(void);

/* Forget all: a new file begins. No other thread runs. */
void stacks_reset(void);

#endif
