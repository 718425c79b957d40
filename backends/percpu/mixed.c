/* SPDX-License-Identifier: MIT */
/*
 * mixed.c - see mixed.h.
 *
 * Of an adopted span's descriptor, `live` counts the cells in use and `carved`
 * is the longest hole in cells; the span is in the list of that length. A span
 * without blocks returns its pages.
 *
 * Invariants:
 *   - a block is a start bit and the used bits from there to the next start
 *     bit or hole; its length is its class's size;
 *   - the cells of a block change only by its own malloc and free, so
 *     mixed_size() reads them without the lock.
 * Locks: g.lock, rank LOCK_RANK_HEAP, inside a class lock; pages lock below.
 * Not here: when to adopt (central.c).
 */
#include "mixed.h"

#include <string.h>

#include "bits.h"
#include "lock.h"
#include "os.h"

enum {
	CELL = 16,
	WORD_BITS = 64,
	PAGE_WORDS = 4, /* of 64 cells */
	LISTS = 32,     /* by the longest hole, 4 cells apart; the last: more */
	TRIES = 8
};

/* The cells of one page. */
struct cells {
	_Atomic uint64_t used[PAGE_WORDS];
	_Atomic uint64_t start[PAGE_WORDS];
};

static struct {
	struct lock lock;
	struct cells *cells;     /* by page; sync: set once under the lock */
	uint32_t ready;          /* pages whose cells are usable; sync: lock */
	uint32_t lists[LISTS];   /* sync: lock */
	_Atomic uint32_t filled; /* bit per list; written under the lock */
} g;

/* The cells of a span, as one array. */
struct view {
	struct cells *cells;
	unsigned count;
};

static struct view view_of(uint32_t first)
{
	return (struct view){&g.cells[first],
		page_desc(first)->pages * PAGE_WORDS * WORD_BITS};
}

static _Atomic uint64_t *used_word(const struct view *view, unsigned cell)
{
	return &view->cells[cell / 256].used[cell / WORD_BITS % PAGE_WORDS];
}

static _Atomic uint64_t *start_word(const struct view *view, unsigned cell)
{
	return &view->cells[cell / 256].start[cell / WORD_BITS % PAGE_WORDS];
}

static bool bit_get(_Atomic uint64_t *word, unsigned cell)
{
	return load_relaxed(word) >> (cell % WORD_BITS) & 1;
}

/* The first cell from `cell` on that is used, or is free; count if none. */
static unsigned cell_find(const struct view *view, unsigned cell, bool used)
{
	while (cell < view->count) {
		uint64_t word = load_relaxed(used_word(view, cell));

		word = (used ? word : ~word) >> (cell % WORD_BITS);
		if (word) {
			return cell + (unsigned)__builtin_ctzll(word);
		}
		cell = (cell / WORD_BITS + 1) * WORD_BITS;
	}
	return view->count;
}

/* The cell after the block that starts at `cell`. */
static unsigned block_end(const struct view *view, unsigned cell)
{
	unsigned end = cell + 1;

	while (end < view->count && bit_get(used_word(view, end), end) &&
		!bit_get(start_word(view, end), end)) {
		end++;
	}
	return end;
}

static void cells_mark(
	const struct view *view, unsigned cell, unsigned count, bool used)
{
	_Atomic uint64_t *start = start_word(view, cell);
	uint64_t first = UINT64_C(1) << (cell % WORD_BITS);

	store_relaxed(start, used ? load_relaxed(start) | first
				  : load_relaxed(start) & ~first);
	while (count) {
		unsigned shift = cell % WORD_BITS;
		unsigned part = WORD_BITS - shift;
		_Atomic uint64_t *word = used_word(view, cell);
		uint64_t mask;

		part = part < count ? part : count;
		mask = (part == WORD_BITS ? ~UINT64_C(0)
					  : (UINT64_C(1) << part) - 1)
		       << shift;
		store_relaxed(word, used ? load_relaxed(word) | mask
					 : load_relaxed(word) & ~mask);
		cell += part;
		count -= part;
	}
}

static unsigned list_of(unsigned hole)
{
	return hole / 4 < LISTS ? hole / 4 : LISTS - 1;
}

static void list_remove(uint32_t first)
{
	struct page *span = page_desc(first);

	if (span->prev) {
		page_desc(span->prev)->next = span->next;
	} else {
		g.lists[span->list] = span->next;
	}
	if (span->next) {
		page_desc(span->next)->prev = span->prev;
	}
	if (!g.lists[span->list]) {
		store_relaxed(&g.filled,
			load_relaxed(&g.filled) & ~(1u << span->list));
	}
}

static void list_insert(uint32_t first)
{
	struct page *span = page_desc(first);

	span->list = (uint8_t)list_of(span->carved);
	span->prev = 0;
	span->next = g.lists[span->list];
	if (span->next) {
		page_desc(span->next)->prev = first;
	}
	g.lists[span->list] = first;
	store_relaxed(&g.filled, load_relaxed(&g.filled) | 1u << span->list);
}

static void span_set_hole(uint32_t first, unsigned hole)
{
	struct page *span = page_desc(first);

	span->carved = (uint16_t)hole;
	if (list_of(hole) != span->list) {
		list_remove(first);
		list_insert(first);
	}
}

/* Room for the bits of pages below `limit`. */
static bool cells_ready(uint32_t limit)
{
	const uint32_t step = 1024;
	size_t bytes;

	if (limit <= g.ready) {
		return true;
	}
	if (!g.cells) {
		void *cells;

		bytes = (size_t)percpu_pages.max_pages * sizeof(struct cells);
		if (os_reserve(NULL, bytes, &cells)) {
			return false;
		}
		g.cells = cells;
	}
	limit = (uint32_t)round_up(limit, step);
	if (os_commit(&g.cells[g.ready],
		    (size_t)(limit - g.ready) * sizeof(struct cells))) {
		return false;
	}
	g.ready = limit;
	return true;
}

bool mixed_adopt(uint32_t first)
{
	struct page *span = page_desc(first);
	unsigned cells = (unsigned)(class_size(span->class) / CELL);
	char *base = page_addr(first);
	struct view view;
	unsigned longest = 0;

	lock_acquire(&g.lock);
	if (!cells_ready(first + span->pages)) {
		lock_release(&g.lock);
		return false;
	}
	view = view_of(first);
	memset(view.cells, 0, span->pages * sizeof(struct cells));
	for (unsigned i = 0; i < span->carved; i++) {
		cells_mark(&view, i * cells, cells, true);
	}
	for (char *block = (char *)(uintptr_t)span->chain; block;
		block = (char *)(uintptr_t)*block_link(block)) {
		cells_mark(
			&view, (unsigned)((block - base) / CELL), cells, false);
	}
	for (unsigned at = cell_find(&view, 0, false), end; at < view.count;
		at = cell_find(&view, end, false)) {
		end = cell_find(&view, at, true);
		longest = end - at > longest ? end - at : longest;
	}
	memset(percpu_hot.map + first, WORD_MIXED, span->pages);
	span->live = (uint16_t)(span->live * cells);
	span->carved = (uint16_t)longest;
	span->chain = 0;
	page_set_state(span, PAGE_MIXED);
	list_insert(first);
	lock_release(&g.lock);
	return true;
}

/* Fill the chain from one span's holes, and measure what is left. */
static uint64_t span_take(
	uint32_t first, unsigned class, unsigned enough, uint64_t chain)
{
	struct page *span = page_desc(first);
	struct view view = view_of(first);
	size_t size = class_size(class);
	unsigned cells = (unsigned)(size / CELL);
	unsigned align = (unsigned)((size & -size) / CELL);
	unsigned longest = 0, end;
	char *base = page_addr(first);

	for (unsigned at = cell_find(&view, 0, false); at < view.count;
		at = cell_find(&view, end, false)) {
		unsigned block = (unsigned)round_up(at, align);

		end = cell_find(&view, at, true);
		while (block + cells <= end && chain_room(chain) > enough) {
			cells_mark(&view, block, cells, true);
			span->live = (uint16_t)(span->live + cells);
			chain = chain_push(chain, base + block * CELL);
			block += cells;
			at = block;
		}
		if (end - at > longest) {
			longest = end - at;
		}
	}
	span_set_hole(first, longest);
	return chain;
}

/* From the spans of lists `from` on, which all have such a hole. */
static uint64_t lists_take(
	unsigned from, unsigned class, unsigned enough, uint64_t chain)
{
	const uint64_t empty = chain;
	uint32_t filled = from < LISTS ? load_relaxed(&g.filled) >> from : 0;

	/* Alignment may spoil a hole: try a few. */
	for (int i = 0; filled && chain == empty && i < TRIES; i++) {
		unsigned list = from + (unsigned)__builtin_ctz(filled);

		chain = span_take(g.lists[list], class, enough, chain);
		filled = load_relaxed(&g.filled) >> from;
	}
	return chain;
}

/*
 * A hole of several blocks is better than a tight one: the search costs more
 * than the blocks.
 */
uint64_t mixed_take(unsigned class, uint64_t chain)
{
	unsigned cells = (unsigned)(class_size(class) / CELL);
	unsigned enough = percpu_class_info[class].cap / 2;
	unsigned fits = (cells + 3) / 4;
	unsigned roomy = list_of(8 * cells);
	uint64_t empty = chain;

	fits = fits < LISTS ? fits : LISTS - 1;
	/* A look without the lock: a wrong answer only costs a span. */
	if (load_relaxed(&g.filled) >> fits == 0) {
		return chain;
	}
	lock_acquire(&g.lock);
	chain = lists_take(roomy, class, enough, chain);
	if (chain == empty) {
		chain = lists_take(fits, class, enough, chain);
	}
	lock_release(&g.lock);
	return chain;
}

static void span_release(uint32_t first)
{
	uint32_t pages = page_desc(first)->pages;

	list_remove(first);
	memset(percpu_hot.map + first, WORD_NONE, pages);
	for (uint32_t i = 0; i < pages; i++) {
		page_set_state(page_desc(first + i), PAGE_NONE);
	}
	pages_free(first, pages, false);
}

/* The cell where ptr's block starts, or view->count. */
static unsigned start_of(
	const struct view *view, uint32_t first, const void *ptr)
{
	size_t offset = (size_t)((const char *)ptr - page_addr(first));
	unsigned cell = (unsigned)(offset / CELL);

	if (offset % CELL || cell >= view->count ||
		!bit_get(start_word(view, cell), cell)) {
		return view->count;
	}
	return cell;
}

static uint32_t head_of(uint32_t page)
{
	const struct page *desc = page_desc(page);

	return page_state(desc) == PAGE_TAIL ? desc->head : page;
}

bool mixed_free(uint32_t page, const void *ptr)
{
	uint32_t first = head_of(page);
	struct page *span = page_desc(first);
	struct view view = view_of(first);
	unsigned cell, end, from;

	lock_acquire(&g.lock);
	cell = start_of(&view, first, ptr);
	if (cell == view.count) {
		lock_release(&g.lock);
		return false;
	}
	end = block_end(&view, cell);
	cells_mark(&view, cell, end - cell, false);
	span->live = (uint16_t)(span->live - (end - cell));
	if (span->live == 0) {
		span_release(first);
	} else {
		end = cell_find(&view, end, true);
		for (from = cell;
			from && !bit_get(used_word(&view, from - 1), from - 1);
			from--) {
		}
		if (end - from > span->carved) {
			span_set_hole(first, end - from);
		}
	}
	lock_release(&g.lock);
	return true;
}

size_t mixed_size(uint32_t page, const void *ptr)
{
	uint32_t first = head_of(page);
	struct view view = view_of(first);
	unsigned cell = start_of(&view, first, ptr);

	if (cell == view.count) {
		return 0;
	}
	return (size_t)(block_end(&view, cell) - cell) * CELL;
}

static bool page_empty(const struct cells *cells)
{
	uint64_t used = 0;

	for (unsigned i = 0; i < PAGE_WORDS; i++) {
		used |= load_relaxed(&cells->used[i]);
	}
	return used == 0;
}

/* The holes hold nothing of ours, so their pages may go and come back zero. */
size_t mixed_purge(void)
{
	size_t purged = 0;

	if (os_page_size() != PAGE_SIZE) {
		return 0;
	}
	lock_acquire(&g.lock);
	for (unsigned list = 0; list < LISTS; list++) {
		for (uint32_t first = g.lists[list]; first;
			first = page_desc(first)->next) {
			uint32_t pages = page_desc(first)->pages;

			for (uint32_t at = first; at < first + pages; at++) {
				if (page_empty(&g.cells[at]) &&
					os_purge(page_addr(at), PAGE_SIZE) ==
						0) {
					purged++;
				}
			}
		}
	}
	if (!load_relaxed(&g.filled) && g.ready) {
		os_purge(g.cells, g.ready * sizeof(struct cells));
	}
	lock_release(&g.lock);
	return purged;
}

int mixed_each(uint32_t first, const struct page *span,
	int (*visit)(void *block, size_t usable, void *arg), void *arg)
{
	struct view view = view_of(first);
	char *base = page_addr(first);
	int stop = 0;

	(void)span;
	for (unsigned cell = 0; cell < view.count && !stop; cell++) {
		if (bit_get(start_word(&view, cell), cell)) {
			stop = visit(base + cell * CELL,
				(size_t)(block_end(&view, cell) - cell) * CELL,
				arg);
		}
	}
	return stop;
}

void mixed_prefork(void)
{
	lock_prefork(&g.lock);
}

void mixed_postfork(void)
{
	lock_postfork(&g.lock);
}
