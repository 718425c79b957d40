/* SPDX-License-Identifier: MIT */
/*
 * large.h - blocks above SMALL_MAX: runs of pages of their own.
 *
 * All functions may be called from any thread; none is async-signal-safe; all
 * leave errno alone. Sizes are bytes, aligns are powers of two.
 */
#ifndef AMUX_PERCPU_LARGE_H
#define AMUX_PERCPU_LARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pages.h"

/* NULL if there is no memory. *zero: it reads as zero. */
void *large_malloc(size_t size, size_t align, bool *zero);

/* A block of the same number of pages freed a moment ago; NULL if none. */
void *large_cached(size_t size);

/*
 * page is the page of ptr and marked WORD_LARGE. True if its pages became free;
 * false if the block is kept for large_cached().
 */
bool large_free(uint32_t page);

/* Free what is kept for large_cached(). */
void large_flush(void);

static inline size_t large_size(uint32_t page)
{
	return (size_t)page_desc(page)->pages << PAGE_SHIFT;
}

/*
 * Another size above SMALL_MAX: in place or by moving pages, without copying
 * where the kernel can. NULL if there is no memory; the block is untouched.
 */
void *large_realloc(uint32_t page, size_t size);

#endif
