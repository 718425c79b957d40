/* SPDX-License-Identifier: MIT */
/*
 * pages.h - runs of pages: what spans and large blocks are made of.
 *
 * Pages are numbered through all ranges; number 0 is never handed out, so 0
 * means none. Each page has a descriptor; that of a run's first page speaks
 * for the run. "Page" is PAGE_SIZE here, whatever the kernel's is; only purging
 * rounds to the kernel's.
 *
 * All functions take the pages lock themselves unless they say otherwise;
 * they are not async-signal-safe and leave errno alone.
 */
#ifndef AMUX_PERCPU_PAGES_H
#define AMUX_PERCPU_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocmux/backend.h>

#include "compiler.h"
#include "hot.h"

enum page_state {
	PAGE_NONE = 0, /* beyond the top, or inside a run */
	PAGE_SPAN,     /* first page of a span */
	PAGE_TAIL,     /* further page of a span; .head is its first */
	PAGE_MIXED,    /* first page of an adopted span: mixed.h */
	PAGE_LARGE,    /* first page of a large block */
	PAGE_DIRTY,    /* first or last of a free run that may be resident */
	PAGE_CLEAN     /* first or last of a free run that reads as zero */
};

struct page {
	uint64_t chain;  /* span: its free blocks, linked; 0 none */
	uint32_t next;   /* in a list of spans or free runs */
	uint32_t prev;   /* the same */
	uint32_t pages;  /* length of the run, at its first and last page */
	uint32_t head;   /* tail of a span: its first page */
	uint16_t live;   /* span: blocks out of it */
	uint16_t carved; /* span: blocks that have ever been out of it */
	uint8_t class;   /* span */
	_Atomic uint8_t state; /* enum page_state */
	uint8_t list;          /* span: which list of its class it is in */
	uint8_t moved;         /* large: its mapping was moved by mremap */
};
/* sync: spans: lock of the class; large: whoever holds the block; free runs:
 * pages lock. state is atomic since neighbours look at it under their locks. */

static_assert(sizeof(struct page) == 32, "two to a cache line");

enum { PAGE_RANGES = 32 };

struct page_range {
	char *base;
	uint32_t first; /* number of its first page */
	uint32_t pages;
};

/* What everybody may read; sync: written under the pages lock, append-only. */
struct page_table {
	struct page *desc;
	uint32_t max_pages; /* the tables' size */
	/*
	 * Much free memory waits to age: the bins are to be left such that a
	 * slow path comes by again even if a program only swings around one
	 * block (bins.c, "Armed").
	 */
	_Atomic bool armed;
	_Atomic uint32_t range_count;
	struct page_range ranges[PAGE_RANGES];
};

extern struct page_table percpu_pages;

/* Reserve the first range and the tables. 0 or an errno value. */
int pages_init(const struct amux_host *host, uint32_t first);

/*
 * A run of n pages whose address is a multiple of align pages; 0 if there is
 * no memory. *zero says whether it is known to read as zero. The caller fills
 * in the descriptors and the map.
 */
uint32_t pages_alloc(uint32_t n, uint32_t align, bool *zero);

/* Would pages_alloc() of n pages be resident? A moment's answer. */
bool pages_resident(uint32_t n);

/*
 * As pages_alloc(), with as much again free behind it to grow into; from
 * resident memory only if asked for.
 */
uint32_t pages_alloc_roomy(uint32_t n, bool resident);

/* Give a run back. */
void pages_free(uint32_t first, uint32_t n, bool clean);

/* Lengthen a run in place by taking what is free behind it. */
bool pages_extend(uint32_t first, uint32_t n, uint32_t new_n);

/*
 * Return resident free pages to the kernel, longest runs first, until at most
 * `keep` are left or `limit` have been returned. The pages returned.
 */
size_t pages_purge(size_t keep, size_t limit);

/* Purge what has not been needed for a while; cheap. now from os_now_ms(). */
void pages_age(uint64_t now);

struct page_counts {
	size_t used;     /* in spans and large blocks */
	size_t dirty;    /* free, may be resident */
	size_t clean;    /* free, not resident */
	size_t reserved; /* address space */
	size_t returned; /* to the kernel, ever */
	size_t tables;   /* bytes of descriptors and map in use */
};
void pages_count(struct page_counts *counts);

/* Call visit for each span and large block until it returns non-zero. */
int pages_each(
	int (*visit)(uint32_t first, struct page *page, void *arg), void *arg);

/* 0 if the free runs and lists are as they should be; otherwise a reason. */
const char *pages_check(void);

void pages_prefork(void);
void pages_postfork(void);

static inline struct page *page_desc(uint32_t number)
{
	return &percpu_pages.desc[number];
}

static inline enum page_state page_state(const struct page *page)
{
	return (enum page_state)load_relaxed(&page->state);
}

static inline void page_set_state(struct page *page, enum page_state state)
{
	store_relaxed(&page->state, (uint8_t)state);
}

/* Does ptr lie in any range? *number is its page. */
static inline bool page_find(const void *ptr, uint32_t *number)
{
	/* acquire: pairs with the release that publishes a range. */
	uint32_t count = load_acquire(&percpu_pages.range_count);

	for (uint32_t i = 0; i < count; i++) {
		const struct page_range *range = &percpu_pages.ranges[i];
		size_t offset = (size_t)((const char *)ptr - range->base);

		if (offset >> PAGE_SHIFT < range->pages) {
			*number =
				range->first + (uint32_t)(offset >> PAGE_SHIFT);
			return true;
		}
	}
	return false;
}

static inline char *page_addr(uint32_t number)
{
	const struct page_range *range = &percpu_pages.ranges[0];

	while (unlikely(number - range->first >= range->pages)) {
		range++;
	}
	return range->base + ((size_t)(number - range->first) << PAGE_SHIFT);
}

/* The map says what a free of a pointer into the page does: classes.h. */
static inline void page_mark(uint32_t number, uint8_t word)
{
	percpu_hot.map[number] = word;
}

static inline AMUX_RACY uint8_t page_word(uint32_t number)
{
	return percpu_hot.map[number];
}

#endif
