/* SPDX-License-Identifier: MIT */
/*
 * sites.h - the table of call sites in the trace file (mode profile).
 */
#ifndef AMUX_TRACE_SITES_H
#define AMUX_TRACE_SITES_H

#include <stdbool.h>
#include <stdint.h>

struct live_block;

/* What happened to a block besides its end. */
struct site_free {
	uint32_t ms;    /* now */
	bool temporary; /* see docs/trace-format.md */
};

/* Count a block that was allocated. False if there is no room. */
bool sites_count_alloc(const struct live_block *block, bool is_realloc);

/* Count the end of a block that sites_count_alloc() counted. */
void sites_count_free(
	const struct live_block *block, const struct site_free *how);

/* Copy the table into the file as snapshot `number`. */
void sites_snapshot(uint32_t number);

/* Forget all: a new file begins. No other thread runs. */
void sites_reset(void);

#endif
