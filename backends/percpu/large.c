/* SPDX-License-Identifier: MIT */
/*
 * large.c - blocks that are runs of pages.
 *
 * realloc: shrinking gives the tail back; growing takes what is free behind
 * the block; otherwise the pages move to a place with as much room again
 * behind it, so that a buffer grown in small steps moves a logarithmic number
 * of times. Pages are moved by mremap(2), which costs the same however much
 * of them has been touched; MREMAP_DONTUNMAP keeps the old range mapped, so
 * no hole opens that another thread's mmap could fall into.
 *
 * A moved mapping cannot merge with its neighbours (its offset differs), so
 * both ends are mapped afresh when they become free: the number of mappings
 * stays bounded by the number of moved live blocks.
 *
 * Cache: a few blocks of up to CACHE_PAGES are kept as they were freed, one per
 * slot, the slot picked by the number of pages. They go and come by one atomic
 * instruction; nothing else knows them. Ageing and trimming empty the slots.
 *
 * Locks: none of its own. A live block's descriptor belongs to who holds the
 * block.
 */
#include "large.h"

#include <string.h>
#include <sys/mman.h>

#include "bits.h"
#include "os.h"

enum {
	/*
	 * Below this a copy into resident memory is cheaper than the kernel's
	 * work on mappings, and than the faults when moved pages are renewed.
	 */
	MOVE_PAGES = 256,
	CACHE_PAGES = 128, /* of one block: half a MiB, 4 MiB in all */
	CACHE_SLOTS = 8
};

/* page << 32 | pages, or 0; sync: atomic */
static _Atomic uint64_t cache[CACHE_SLOTS];

static void block_describe(uint32_t page, uint32_t pages, bool moved)
{
	struct page *desc = page_desc(page);

	desc->pages = pages;
	page_set_state(desc, PAGE_LARGE);
	desc->moved = moved;
	page_mark(page, WORD_LARGE);
}

static bool pages_of(size_t size, uint32_t *pages)
{
	size_t count = (size + PAGE_SIZE - 1) >> PAGE_SHIFT;

	if (size > MAX_OBJECT || count >= UINT32_MAX / 4) {
		return false;
	}
	*pages = (uint32_t)count;
	return true;
}

void *large_malloc(size_t size, size_t align, bool *zero)
{
	size_t align_pages = align > PAGE_SIZE ? align >> PAGE_SHIFT : 1;
	uint32_t pages, page;

	if (!pages_of(size, &pages) || align_pages >= UINT32_MAX / 4) {
		return NULL;
	}
	if (!pages) {
		pages = 1;
	}
	page = pages_alloc(pages, (uint32_t)align_pages, zero);
	if (!page) {
		return NULL;
	}
	block_describe(page, pages, false);
	return page_addr(page);
}

/* Free a run whose mapping may be odd: fresh pages in its place. */
static void run_renew(uint32_t page, uint32_t pages)
{
	bool renewed =
		os_map_at(page_addr(page), (size_t)pages << PAGE_SHIFT) == 0;

	pages_free(page, pages, renewed);
}

static void run_free(uint32_t page, uint32_t pages)
{
	if (page_desc(page)->moved) {
		run_renew(page, pages);
	} else {
		pages_free(page, pages, false);
	}
}

bool large_free(uint32_t page)
{
	struct page *desc = page_desc(page);
	uint32_t pages = desc->pages;
	uint64_t old;

	page_mark(page, WORD_NONE);
	page_set_state(desc, PAGE_NONE);
	if (pages > CACHE_PAGES || desc->moved) {
		run_free(page, pages);
		return true;
	}
	/* acq_rel: the descriptor goes with the block, both ways. */
	old = xchg_acq_rel(
		&cache[pages % CACHE_SLOTS], (uint64_t)page << 32 | pages);
	if (old) {
		run_free((uint32_t)(old >> 32), (uint32_t)old);
	}
	return old != 0;
}

void *large_cached(size_t size)
{
	uint64_t pages = (size + PAGE_SIZE - 1) >> PAGE_SHIFT;
	_Atomic uint64_t *slot = &cache[pages % CACHE_SLOTS];
	uint64_t kept = load_relaxed(slot);

	/* The word names the block, so an equal word is the same block. */
	if ((uint32_t)kept != pages || !kept || !cas_acq_rel(slot, &kept, 0)) {
		return NULL;
	}
	block_describe((uint32_t)(kept >> 32), (uint32_t)pages, false);
	return page_addr((uint32_t)(kept >> 32));
}

void large_flush(void)
{
	for (unsigned i = 0; i < CACHE_SLOTS; i++) {
		uint64_t kept = load_relaxed(&cache[i])
					? xchg_acq_rel(&cache[i], 0)
					: 0;

		if (kept) {
			run_free((uint32_t)(kept >> 32), (uint32_t)kept);
		}
	}
}

/*
 * Move pages; what the kernel refuses to move is copied. mremap(2) moves one
 * mapping at a time, and a block grown in place after a move consists of
 * several: EFAULT then, and each half is tried alone.
 */
static void pages_move(char *from, char *to, size_t size)
{
	if (os_move(from, size, to) == 0) {
		return;
	}
	if (size <= (size_t)MOVE_PAGES << PAGE_SHIFT) {
		memcpy(to, from, size);
		return;
	}

	size_t half = round_up(size / 2, (size_t)1 << 16);

	pages_move(from, to, half);
	pages_move(from + half, to + half, size - half);
}

static void *block_move(uint32_t page, uint32_t old, uint32_t pages)
{
	char *from = page_addr(page);
	bool move = old >= MOVE_PAGES;
	uint32_t to = pages_alloc_roomy(pages, !move);
	bool zero;

	if (!to) {
		to = pages_alloc(pages, 1, &zero);
	}
	if (!to) {
		return NULL;
	}
	if (move) {
		pages_move(from, page_addr(to), (size_t)old << PAGE_SHIFT);
	} else {
		memcpy(page_addr(to), from, (size_t)old << PAGE_SHIFT);
	}
	block_describe(to, pages, move);
	page_desc(page)->moved |= (uint8_t)move;
	large_free(page);
	return page_addr(to);
}

void *large_realloc(uint32_t page, size_t size)
{
	uint32_t old = page_desc(page)->pages;
	uint32_t pages;

	if (!pages_of(size, &pages)) {
		return NULL;
	}
	if (pages == old) {
		return page_addr(page);
	}
	if (pages < old) {
		page_desc(page)->pages = pages;
		if (page_desc(page)->moved) {
			run_renew(page + pages, old - pages);
		} else {
			pages_free(page + pages, old - pages, false);
		}
		return page_addr(page);
	}
	if (pages_extend(page, old, pages)) {
		page_desc(page)->pages = pages;
		return page_addr(page);
	}
	return block_move(page, old, pages);
}
