/* SPDX-License-Identifier: MIT */
/*
 * dl_space.h - the address space of one backend, and whose an address is.
 *
 * At start one range is reserved: a span of 4 GiB for each heap, then an area
 * for direct blocks. So the heap of an address is one subtraction and a shift.
 * What does not fit there (a private heap, a heap longer than its span, or
 * everything if the address space is limited) lies in extents: ranges reserved
 * one by one and found by binary search. The range is not larger because the
 * host's map of owners costs a page for every 8 GiB.
 *
 *     | heap 0 | heap 1 | ... | area of direct blocks |
 *
 * Locks: `lock`, rank LOCK_RANK_PAGES, guards extents and area. The geometry
 * is constant after space_init().
 */
#ifndef AMUX_BACKENDS_DL_DL_SPACE_H
#define AMUX_BACKENDS_DL_DL_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocmux/backend.h>

#include "lock.h"

struct heap;
struct direct;

/* Of the range: for each heap, and for direct blocks in granules. */
#define SPAN_LOG    32
#define AREA_SIZE   ((size_t)8 << 30)
#define GRANULE_LOG 20

enum { MAX_EXTENTS = 4096, GRANULES = AREA_SIZE >> GRANULE_LOG };

/* One range of address space; heap is NULL for a direct block. */
struct extent {
	char *base;
	size_t size;
	struct heap *heap;
};

struct space {
	struct lock lock;
	const struct amux_host *host; /* sync: constant, like geometry below */
	char *base;
	size_t size;         /* of the whole range; 0 if there is none */
	size_t heaps_size;   /* of the heaps' part of it */
	size_t extent_step;  /* preferred size of an extent */
	size_t extent_count; /* sync: lock, like all below */
	struct extent extents[MAX_EXTENTS]; /* sorted by base */
	size_t first_free;                  /* no free granule lies below */
	struct direct *directs;             /* list of all direct blocks */
	size_t direct_bytes, direct_blocks, direct_returned;
	uint64_t taken[GRANULES / 64];  /* bit per granule of the area */
	_Atomic uintptr_t extents_low;  /* sync: atomic; all extents lie */
	_Atomic uintptr_t extents_high; /* between these two */
};

/* heaps: number of heaps wanted; the number that got a span, 1 or more. */
unsigned space_init(
	struct space *space, const struct amux_host *host, unsigned heaps);

/* Span of heap number i; size 0 if heaps live in extents only. */
char *space_span(const struct space *space, unsigned i, size_t *size);

/* For space_reserve(): the heap lies at the start of its extent. */
#define SPACE_SELF ((struct heap *)1)

/*
 * An extent of at least *size bytes; *size is set to what it has. Registered
 * as heap's, or as a direct block's if heap is NULL. NULL if refused.
 */
void *space_reserve(struct space *space, size_t *size, struct heap *heap);
void space_release(struct space *space, void *addr, size_t size);

/* The extent that addr lies in; false if none. */
bool space_find(struct space *space, const void *addr, struct extent *extent);

/* Bytes of all extents. */
size_t space_extent_bytes(struct space *space);

/* Granules of the area, aligned; the caller holds the lock. NULL if none. */
void *area_take(struct space *space, size_t size, size_t align);
void area_give(struct space *space, void *addr, size_t size);
/* Is the granule of addr taken? addr lies in the area. */
bool area_is_taken(const struct space *space, const void *addr);

static inline bool space_in_heaps(const struct space *space, const void *addr)
{
	return (size_t)((const char *)addr - space->base) < space->heaps_size;
}

static inline bool space_in_range(const struct space *space, const void *addr)
{
	return (size_t)((const char *)addr - space->base) < space->size;
}

/* addr lies in the heaps' part. */
static inline unsigned space_heap_index(
	const struct space *space, const void *addr)
{
	return (unsigned)((size_t)((const char *)addr - space->base) >>
			  SPAN_LOG);
}

#endif
