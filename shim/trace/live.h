/* SPDX-License-Identifier: MIT */
/*
 * live.h - a table of live blocks, kept outside the blocks.
 */
#ifndef AMUX_TRACE_LIVE_H
#define AMUX_TRACE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

struct live_block {
	uint64_t addr; /* not 0 */
	uint64_t size; /* requested */
	uint32_t excess;
	uint32_t stack;
	uint32_t ms; /* time of allocation, milliseconds of the trace */
	uint32_t unused;
};

/*
 * Add a block. *old is the block that was known at the address, with addr 0 if
 * there was none. False if there is no memory.
 */
bool live_insert(const struct live_block *block, struct live_block *old);

/* Take a block out. False if it is not known. */
bool live_remove(uint64_t addr, struct live_block *block);

/* Forget all, in a forked child. */
void live_reset(void);

void live_prefork(void);
void live_postfork(void);

#endif
