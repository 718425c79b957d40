/* SPDX-License-Identifier: MIT */
/* dl_space.c - see dl_space.h. */
#include "dl_space.h"

#include <string.h>

#include "bits.h"
#include "os.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

unsigned space_init(
	struct space *space, const struct amux_host *host, unsigned heaps)
{
	size_t limit = os_address_limit();

	lock_init(&space->lock, LOCK_RANK_PAGES);
	space->host = host;
	space->extent_step = 64 * MIB;
	if (limit == SIZE_MAX) {
		space->heaps_size = (size_t)heaps << SPAN_LOG;
		space->size = space->heaps_size + AREA_SIZE;
		space->base = host->reserve(
			host, space->size, (size_t)1 << GRANULE_LOG);
		if (space->base) {
			return heaps;
		}
	} else if (limit / 64 < space->extent_step) {
		space->extent_step = round_up(limit / 64, 64 * KIB);
	}
	/* Address space is dear: everything in extents, taken as needed. */
	space->size = space->heaps_size = 0;
	return 1;
}

char *space_span(const struct space *space, unsigned i, size_t *size)
{
	if (!space->size) {
		*size = 0;
		return NULL;
	}
	*size = (size_t)1 << SPAN_LOG;
	return space->base + ((size_t)i << SPAN_LOG);
}

/* Index of the first extent that ends above addr. */
static size_t extent_index(const struct space *space, const char *addr)
{
	size_t low = 0;
	size_t high = space->extent_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct extent *e = &space->extents[middle];

		if (e->base + e->size <= addr) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static bool extent_insert(
	struct space *space, char *base, size_t size, struct heap *heap)
{
	size_t i = extent_index(space, base);

	if (space->extent_count == MAX_EXTENTS) {
		return false;
	}
	memmove(&space->extents[i + 1], &space->extents[i],
		(space->extent_count - i) * sizeof(space->extents[0]));
	space->extents[i] = (struct extent){base, size, heap};
	space->extent_count++;
	/*
	 * Relaxed: whoever holds a block of this extent got it from a thread
	 * that passed through the lock after this.
	 */
	if (space->extent_count == 1 ||
		(uintptr_t)base < load_relaxed(&space->extents_low)) {
		store_relaxed(&space->extents_low, (uintptr_t)base);
	}
	if ((uintptr_t)base + size > load_relaxed(&space->extents_high)) {
		store_relaxed(&space->extents_high, (uintptr_t)base + size);
	}
	return true;
}

void *space_reserve(struct space *space, size_t *size, struct heap *heap)
{
	size_t page = os_page_size();
	size_t need = round_up(*size, page);
	size_t step = heap ? space->extent_step : 0;
	size_t want = round_up(step > need ? step : need, page);
	char *base;
	bool fits;

	if (need < *size) {
		return NULL;
	}
	for (;;) {
		base = space->host->reserve(space->host, want, page);
		if (base || want == need) {
			break;
		}
		want = round_up(want / 2, page);
		want = want > need ? want : need;
	}
	if (!base) {
		return NULL;
	}
	if (heap == SPACE_SELF) {
		heap = (struct heap *)base;
	}
	lock_acquire(&space->lock);
	fits = extent_insert(space, base, want, heap);
	lock_release(&space->lock);
	if (!fits) {
		space->host->release(space->host, base, want);
		return NULL;
	}
	*size = want;
	return base;
}

void space_release(struct space *space, void *addr, size_t size)
{
	lock_acquire(&space->lock);

	size_t i = extent_index(space, addr);

	AMUX_CHECK(i < space->extent_count && space->extents[i].base == addr &&
		   space->extents[i].size == size);
	space->extent_count--;
	memmove(&space->extents[i], &space->extents[i + 1],
		(space->extent_count - i) * sizeof(space->extents[0]));
	lock_release(&space->lock);
	space->host->release(space->host, addr, size);
}

bool space_find(struct space *space, const void *addr, struct extent *extent)
{
	bool found;

	if ((uintptr_t)addr < load_relaxed(&space->extents_low) ||
		(uintptr_t)addr >= load_relaxed(&space->extents_high)) {
		return false;
	}
	lock_acquire(&space->lock);

	size_t i = extent_index(space, addr);

	found = i < space->extent_count &&
		space->extents[i].base <= (const char *)addr;
	if (found) {
		*extent = space->extents[i];
	}
	lock_release(&space->lock);
	return found;
}

size_t space_extent_bytes(struct space *space)
{
	size_t bytes = 0;

	lock_acquire(&space->lock);
	for (size_t i = 0; i < space->extent_count; i++) {
		bytes += space->extents[i].size;
	}
	lock_release(&space->lock);
	return bytes;
}

static char *area_base(const struct space *space)
{
	return space->base + space->heaps_size;
}

static bool granule_is_taken(const struct space *space, size_t i)
{
	return space->taken[i / 64] >> (i % 64) & 1;
}

/* The first granule from i on that is (is not) taken; granules if none. */
static size_t granule_find(const struct space *space, size_t i, bool taken)
{
	while (i < GRANULES) {
		uint64_t word = space->taken[i / 64];

		word = (taken ? word : ~word) >> (i % 64);
		if (word) {
			i += (size_t)__builtin_ctzll(word);
			return i < GRANULES ? i : GRANULES;
		}
		i = round_down(i, 64) + 64;
	}
	return GRANULES;
}

void *area_take(struct space *space, size_t size, size_t align)
{
	size_t granule = (size_t)1 << GRANULE_LOG;
	size_t count = (size + granule - 1) >> GRANULE_LOG;
	size_t step = align > granule ? align >> GRANULE_LOG : 1;
	/* Granules before the first address that is aligned. */
	size_t skew =
		-((uintptr_t)area_base(space) >> GRANULE_LOG) & (step - 1);
	size_t i = space->first_free;

	if (size > (space->size ? AREA_SIZE : 0)) {
		return NULL;
	}
	for (;;) {
		i = granule_find(space, i, false);
		i = i <= skew ? skew : round_up(i - skew, step) + skew;
		if (i > GRANULES || GRANULES - i < count) {
			return NULL;
		}

		size_t busy = granule_find(space, i, true);

		if (busy - i >= count) {
			break;
		}
		i = busy;
	}
	for (size_t n = i; n < i + count; n++) {
		space->taken[n / 64] |= (uint64_t)1 << (n % 64);
	}
	space->first_free = granule_find(space, space->first_free, false);
	return area_base(space) + (i << GRANULE_LOG);
}

void area_give(struct space *space, void *addr, size_t size)
{
	size_t i = (size_t)((char *)addr - area_base(space)) >> GRANULE_LOG;
	size_t end =
		i + ((size + ((size_t)1 << GRANULE_LOG) - 1) >> GRANULE_LOG);

	for (size_t n = i; n < end; n++) {
		AMUX_ASSERT(granule_is_taken(space, n));
		space->taken[n / 64] &= ~((uint64_t)1 << (n % 64));
	}
	if (i < space->first_free) {
		space->first_free = i;
	}
}

bool area_is_taken(const struct space *space, const void *addr)
{
	return granule_is_taken(space,
		(size_t)((const char *)addr - area_base(space)) >> GRANULE_LOG);
}
