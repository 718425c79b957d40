/* SPDX-License-Identifier: MIT */
/*
 * central.h - what the bins of all CPUs share: whole chains, and spans.
 *
 * Chains are those of hot.h. All functions take the class's lock themselves,
 * are not async-signal-safe and leave errno alone.
 */
#ifndef AMUX_PERCPU_CENTRAL_H
#define AMUX_PERCPU_CENTRAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocmux/backend.h>

#include "hot.h"
#include "pages.h"

void central_init(const struct amux_host *host);

/* A chain with at least one block; 0 if there is no memory. */
uint64_t central_take(unsigned class);

/* Take a chain over. Returns nothing and cannot fail. */
void central_put(unsigned class, uint64_t chain);

/*
 * Return blocks that lay here unused since the last call to their spans, or
 * all of them; empty spans go back to the page heap.
 */
void central_age(void);
void central_flush(void);

/* Hand all sparse spans over to mixed.c, so that their empty pages can go. */
void central_adopt(void);

struct central_counts {
	size_t out;    /* blocks out of the class's spans */
	size_t cached; /* part of them in chains here */
	size_t spans;
};
void central_count(unsigned class, struct central_counts *counts);

/*
 * The block that ptr is the start of, by the span's own arithmetic: false if
 * ptr is not the start of a block that has ever been handed out.
 */
bool span_is_block(uint32_t page, const void *ptr);

/* The first page of the span that `page` belongs to. */
uint32_t span_head(uint32_t page);

/* Blocks of a span that are not in its free list, at rest. */
int span_each_live(uint32_t first, struct page *page,
	int (*visit)(void *block, size_t usable, void *arg), void *arg);

/* NULL if every span of the class is as it should be; otherwise a reason. */
const char *central_check(unsigned class);

void central_prefork(void);
void central_postfork(void);

#endif
