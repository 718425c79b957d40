/* SPDX-License-Identifier: MIT */
/*
 * mixed.h - sparse spans, whose holes serve blocks of other sizes.
 *
 * When the sizes a program uses drift, survivors of the old sizes pin spans
 * that nobody allocates from any more. Such a span is adopted here: two bits
 * per 16 bytes then say what is used and where a block begins, and the holes
 * between its blocks are given to any class that would otherwise touch fresh
 * pages. Blocks of adopted spans stay valid; their free takes the slow path,
 * since the class map cannot tell their class.
 *
 * The functions take the mixed lock themselves; a class lock may be held.
 */
#ifndef AMUX_PERCPU_MIXED_H
#define AMUX_PERCPU_MIXED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pages.h"

/* Spans of more pages than this are not adopted. */
enum { MIXED_PAGES = 8 };

/*
 * Adopt a span that is in no list of its class, whose lock is held. False,
 * and nothing done, if there is no memory for the bits.
 */
bool mixed_adopt(uint32_t first);

/* Put blocks of the class onto the chain, until it is half full or no more. */
uint64_t mixed_take(unsigned class, uint64_t chain);

/* A block comes back. False if ptr is not the start of a block in use. */
bool mixed_free(uint32_t page, const void *ptr);

/* Bytes of the block at ptr, which is a class's size; 0 if it is none. */
size_t mixed_size(uint32_t page, const void *ptr);

/* Return pages without a block in adopted spans; how many. */
size_t mixed_purge(void);

/* Visit the blocks in use, at rest. */
int mixed_each(uint32_t first, const struct page *span,
	int (*visit)(void *block, size_t usable, void *arg), void *arg);

void mixed_prefork(void);
void mixed_postfork(void);

#endif
