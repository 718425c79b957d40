/* SPDX-License-Identifier: MIT */
/*
 * central.c - per class: a stack of whole chains, and the spans below it.
 *
 * A chain goes in and out in O(1): the second word of its top block links the
 * stack. Above a limit chains are taken apart and each block returns to its
 * span. A refill takes from the fullest span that has free blocks, so sparse
 * ones drain; a span without blocks outside returns its pages.
 *
 * Fresh blocks are carved a page's worth at a time, so that no page is touched
 * before it is used.
 *
 * Invariants:
 *   - span->live is the number of blocks outside the span's own free list,
 *     be they with the program, in a bin or in a chain here;
 *   - a span with something to give is in the list of its fullness, a full
 *     one in none.
 * Locks: one per class, rank LOCK_RANK_HEAP; the pages lock below it.
 * Not here: bins (bins.c), pages (pages.c).
 */
#include "central.h"

#include <string.h>

#include "lock.h"
#include "mixed.h"

enum {
	LISTS = 4, /* of spans, by quarter of their blocks outside */
	LIST_NONE = 0,
	KEEP_SHIFT = 3,    /* chains hold up to 1/8 of what is outside */
	KEEP_SMALL = 1024, /* at least so many of up to 128 bytes */
	MAX_BLOCKS = 512,
	HOLE_MAX = 2048 /* bytes; larger blocks are not looked for in holes */
};

struct central {
	struct lock lock;
	uint64_t chains;       /* stack of chains, 0 if none */
	size_t out;            /* blocks outside the spans */
	uint32_t cached;       /* blocks in the chains */
	uint32_t idle;         /* least `cached` since central_age() */
	uint32_t spans;        /* how many */
	uint32_t lists[LISTS]; /* spans by fullness */
} __attribute__((aligned(64)));
/* sync: all fields by .lock */

static_assert(sizeof(struct central) == 64, "a line each");

static struct {
	struct central classes[CLASS_COUNT];
	const struct amux_host *host; /* sync: set in init, then constant */
} g;

void central_init(const struct amux_host *host)
{
	g.host = host;
	/* Left out of release builds, it spares start-up the pages. */
	for (unsigned class = 0; LOCK_RANKS && class < CLASS_COUNT; class ++) {
		lock_init(&g.classes[class].lock, LOCK_RANK_HEAP);
	}
}

static struct central *class_lock(unsigned class)
{
	struct central *central = &g.classes[class];

	lock_acquire(&central->lock);
	return central;
}

/* A look without the lock, whether it is worth taking. */
static AMUX_RACY bool chains_seen(const struct central *central)
{
	return central->chains != 0;
}

static AMUX_RACY bool spans_seen(const struct central *central)
{
	return central->spans != 0;
}

static uint64_t *next_chain(uint64_t chain)
{
	return block_link(chain_top(chain)) + 1;
}

static void chains_push(struct central *central, unsigned class, uint64_t chain)
{
	*next_chain(chain) = central->chains;
	central->chains = chain;
	central->cached += (uint32_t)chain_count(class, chain);
}

static uint64_t chains_pop(struct central *central, unsigned class)
{
	uint64_t chain = central->chains;

	central->chains = *next_chain(chain);
	central->cached -= (uint32_t)chain_count(class, chain);
	if (central->cached < central->idle) {
		central->idle = central->cached;
	}
	return chain;
}

/* Spans ---------------------------------------------------------------- */

static unsigned list_for(const struct page *span)
{
	unsigned blocks = percpu_class_info[span->class].blocks;

	if (span->live == blocks) {
		return LIST_NONE;
	}
	return 1 + span->live * LISTS / blocks;
}

/* Lists count from 1: LIST_NONE is 0. */
static uint32_t *list_head(struct central *central, unsigned list)
{
	return &central->lists[list - 1];
}

static void list_remove(struct central *central, struct page *span)
{
	if (span->list == LIST_NONE) {
		return;
	}
	if (span->prev) {
		page_desc(span->prev)->next = span->next;
	} else {
		*list_head(central, span->list) = span->next;
	}
	if (span->next) {
		page_desc(span->next)->prev = span->prev;
	}
	span->list = LIST_NONE;
}

static void span_relist(struct central *central, uint32_t first)
{
	struct page *span = page_desc(first);
	unsigned list = list_for(span);

	if (list == span->list) {
		return;
	}
	list_remove(central, span);
	if (list == LIST_NONE) {
		return;
	}
	span->list = (uint8_t)list;
	span->prev = 0;
	span->next = *list_head(central, list);
	if (span->next) {
		page_desc(span->next)->prev = first;
	}
	*list_head(central, list) = first;
}

static uint32_t span_create(struct central *central, unsigned class)
{
	const struct class_info *info = &percpu_class_info[class];
	bool zero;
	uint32_t first = pages_alloc(info->pages, info->align, &zero);

	if (!first) {
		return 0;
	}
	for (uint32_t i = 1; i < info->pages; i++) {
		struct page *tail = page_desc(first + i);

		page_set_state(tail, PAGE_TAIL);
		tail->head = first;
	}

	struct page *span = page_desc(first);

	span->chain = 0;
	span->pages = info->pages;
	span->live = 0;
	span->carved = 0;
	span->class = (uint8_t) class;
	span->list = LIST_NONE;
	page_set_state(span, PAGE_SPAN);
	memset(percpu_hot.map + first, (int)class + WORD_CLASS, info->pages);
	central->spans++;
	span_relist(central, first);
	return first;
}

static void span_destroy(struct central *central, uint32_t first)
{
	struct page *span = page_desc(first);
	uint32_t pages = span->pages;

	list_remove(central, span);
	memset(percpu_hot.map + first, WORD_NONE, pages);
	for (uint32_t i = 0; i < pages; i++) {
		page_set_state(page_desc(first + i), PAGE_NONE);
	}
	central->spans--;
	pages_free(first, pages, false);
}

AMUX_RACY uint32_t span_head(uint32_t page)
{
	const struct page *desc = page_desc(page);

	return page_state(desc) == PAGE_TAIL ? desc->head : page;
}

AMUX_RACY bool span_is_block(uint32_t page, const void *ptr)
{
	uint32_t first = span_head(page);
	const struct page *span = page_desc(first);
	size_t offset = (size_t)((const char *)ptr - page_addr(first));
	unsigned index = class_index_of(span->class, offset);

	return page_state(span) == PAGE_SPAN && index < span->carved &&
	       index * class_size(span->class) == offset;
}

/* Up to `room` blocks of the span's free list onto the chain. */
static uint64_t span_take_free(struct page *span, uint64_t chain)
{
	while (span->chain && chain_room(chain)) {
		void *block = (void *)(uintptr_t)span->chain;

		span->chain = *block_link(block);
		span->live++;
		chain = chain_push(chain, block);
	}
	return chain;
}

/*
 * Fresh blocks: up to the end of the page where the first of them ends, the
 * lowest on top, so that addresses rise as they are used.
 */
static uint64_t span_carve(uint32_t first, struct page *span, uint64_t chain)
{
	size_t size = class_size(span->class);
	unsigned blocks = percpu_class_info[span->class].blocks;
	size_t start = span->carved * size;
	size_t end = (start + size + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
	unsigned count = class_index_of(span->class, end - start);
	char *base = page_addr(first) + start;

	if (count > blocks - span->carved) {
		count = blocks - span->carved;
	}
	if (count > chain_room(chain)) {
		count = chain_room(chain);
	}
	for (unsigned i = count; i-- > 0;) {
		chain = chain_push(chain, base + i * size);
	}
	span->carved = (uint16_t)(span->carved + count);
	span->live = (uint16_t)(span->live + count);
	return chain;
}

static void chains_shrink(struct central *central, unsigned class, size_t keep);

/*
 * Bytes of a class's spans without blocks, if it is worth to adopt them. Read
 * without the lock: a wrong answer is a worse choice.
 */
static AMUX_RACY size_t class_spare(unsigned class)
{
	const struct class_info *info = &percpu_class_info[class];
	const struct central *central = &g.classes[class];
	size_t bytes = (size_t)central->spans * info->pages * PAGE_SIZE;
	size_t used = central->out * class_size(class);

	return info->pages <= MIXED_PAGES && used < bytes / 4 * 3 ? bytes - used
								  : 0;
}

/* Hand up to `most` sparse spans over to mixed.c; how many. */
static unsigned spans_adopt(struct central *central, unsigned most)
{
	unsigned adopted = 0;

	for (unsigned list = 1; list < LISTS; list++) {
		uint32_t first;

		while (adopted < most &&
			(first = *list_head(central, list)) != 0) {
			list_remove(central, page_desc(first));
			if (!mixed_adopt(first)) {
				span_relist(central, first);
				return adopted;
			}
			central->spans--;
			adopted++;
		}
	}
	return adopted;
}

/*
 * Hand the sparse spans of the class with the most free memory over to mixed.c.
 * The class lock of `wanting` is held, so another is only tried for.
 */
static bool holes_make(unsigned wanting)
{
	enum { ADOPT_MAX = 32, WORTH = 32 * 1024 };
	unsigned best = CLASS_COUNT;
	size_t most = WORTH;
	unsigned adopted;

	for (unsigned i = 0; i < CLASS_COUNT; i++) {
		size_t spare = i == wanting ? 0 : class_spare(i);

		if (spare > most) {
			best = i;
			most = spare;
		}
	}
	if (best == CLASS_COUNT || !lock_try_acquire(&g.classes[best].lock)) {
		return false;
	}

	struct central *central = &g.classes[best];

	chains_shrink(central, best, 0);
	adopted = spans_adopt(central, ADOPT_MAX);
	lock_release(&central->lock);
	return adopted > 0;
}

/* Blocks out of holes, if the alternative is to touch fresh pages. */
static uint64_t holes_take(unsigned class, uint64_t chain)
{
	const uint64_t empty = chain;

	if (class_size(class) > HOLE_MAX) {
		return chain;
	}
	chain = mixed_take(class, chain);
	if (chain == empty && !pages_resident(percpu_class_info[class].pages) &&
		holes_make(class)) {
		chain = mixed_take(class, chain);
	}
	return chain;
}

static uint64_t spans_take(struct central *central, unsigned class)
{
	const unsigned cap = percpu_class_info[class].cap;
	const uint64_t empty = chain_empty(class);
	uint64_t chain = empty;

	/* Enough is half a bin: the other half is for blocks coming back. */
	while (chain_room(chain) > cap / 2) {
		unsigned list = LISTS;

		while (list && !*list_head(central, list)) {
			list--;
		}

		uint32_t first = list ? *list_head(central, list) : 0;

		if (!list) {
			if (chain != empty) {
				break;
			}
			chain = holes_take(class, chain);
			if (chain != empty) {
				break;
			}
			first = span_create(central, class);
			if (!first) {
				return 0;
			}
		}

		struct page *span = page_desc(first);
		bool fresh = !span->chain;

		if (fresh && chain != empty) {
			break; /* do not touch new pages without need */
		}
		chain = fresh ? span_carve(first, span, chain)
			      : span_take_free(span, chain);
		span_relist(central, first);
		if (fresh) {
			break;
		}
	}
	central->out += chain_count(class, chain);
	return chain;
}

/* May the empty span go? Not if it is all the class has to give. */
static void span_settle(struct central *central, uint32_t first)
{
	struct page *span = page_desc(first);

	span_relist(central, first);
	if (span->live == 0 &&
		(span->prev || span->next || central->lists[1] ||
			central->lists[2] || central->lists[3])) {
		span_destroy(central, first);
	}
}

/* Take a chain apart. */
static void spans_put(struct central *central, unsigned class, uint64_t chain)
{
	uint32_t first = 0;

	central->out -= chain_count(class, chain);
	for (void *block = chain_top(chain); block;) {
		uint64_t below = *block_link(block);
		uint32_t page;

		if (page_find(block, &page) && page_word(page) == WORD_MIXED &&
			mixed_free(page, block)) {
			block = chain_top(below);
			continue;
		}
		if (!page_find(block, &page) ||
			page_word(page) != class + WORD_CLASS ||
			!span_is_block(page, block) ||
			page_desc(span_head(page))->live == 0) {
			g.host->bad_pointer(g.host, "free", block,
				"double free or corrupted free block");
			break;
		}

		uint32_t head = span_head(page);
		struct page *span = page_desc(head);

		if (first && head != first) {
			span_settle(central, first);
		}
		first = head;
		*block_link(block) = span->chain;
		span->chain = (uint64_t)(uintptr_t)block;
		span->live--;
		block = chain_top(below);
	}
	if (first) {
		span_settle(central, first);
	}
}

/* Chains --------------------------------------------------------------- */

uint64_t central_take(unsigned class)
{
	struct central *central = class_lock(class);
	uint64_t chain = central->chains ? chains_pop(central, class)
					 : spans_take(central, class);

	lock_release(&central->lock);
	return chain;
}

static void chains_shrink(struct central *central, unsigned class, size_t keep)
{
	while (central->chains && central->cached > keep) {
		spans_put(central, class, chains_pop(central, class));
	}
}

/* Blocks kept in chains in any case: a loop over as many costs no search. */
static size_t central_least(unsigned class)
{
	size_t least = 2u * percpu_class_info[class].cap;

	return class_size(class) <= 128 ? KEEP_SMALL : least;
}

void central_put(unsigned class, uint64_t chain)
{
	struct central *central = class_lock(class);
	size_t keep = central->out >> KEEP_SHIFT;
	size_t least = central_least(class);

	chains_push(central, class, chain);
	chains_shrink(central, class, keep > least ? keep : least);
	lock_release(&central->lock);
}

void central_age(void)
{
	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		struct central *central = &g.classes[class];

		/* A look without the lock: a wrong answer only waits. */
		if (!chains_seen(central) ||
			!lock_try_acquire(&central->lock)) {
			continue;
		}
		chains_shrink(central, class, central->cached - central->idle);
		central->idle = central->cached;
		lock_release(&central->lock);
	}
}

/* Destroy what span_settle() kept back. */
static void spans_flush(struct central *central)
{
	uint32_t first = *list_head(central, 1);

	while (first) {
		uint32_t next = page_desc(first)->next;

		if (page_desc(first)->live == 0) {
			span_destroy(central, first);
		}
		first = next;
	}
}

void central_flush(void)
{
	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		struct central *central;

		if (!spans_seen(&g.classes[class])) {
			continue;
		}
		central = class_lock(class);
		chains_shrink(central, class, 0);
		spans_flush(central);
		central->idle = 0;
		lock_release(&central->lock);
	}
}

void central_adopt(void)
{
	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		if (class_spare(class)) {
			spans_adopt(class_lock(class), UINT32_MAX);
			lock_release(&g.classes[class].lock);
		}
	}
}

void central_count(unsigned class, struct central_counts *counts)
{
	struct central *central = &g.classes[class];

	*counts = (struct central_counts){0};
	if (!spans_seen(central)) {
		return;
	}
	central = class_lock(class);
	counts->out = central->out;
	counts->cached = central->cached;
	counts->spans = central->spans;
	lock_release(&central->lock);
}

/* At rest --------------------------------------------------------------- */

int span_each_live(uint32_t first, struct page *span,
	int (*visit)(void *block, size_t usable, void *arg), void *arg)
{
	unsigned char is_free[MAX_BLOCKS] = {0};
	size_t size = class_size(span->class);
	char *base = page_addr(first);
	int stop = 0;

	for (char *block = (char *)(uintptr_t)span->chain; block;
		block = (char *)(uintptr_t)*block_link(block)) {
		is_free[class_index_of(span->class, (size_t)(block - base))] =
			1;
	}
	for (unsigned i = 0; i < span->carved && !stop; i++) {
		if (!is_free[i]) {
			stop = visit(base + i * size, size, arg);
		}
	}
	return stop;
}

const char *central_check(unsigned class)
{
	struct central *central = &g.classes[class];
	const char *broken = NULL;

	if (!central->spans) {
		return NULL;
	}
	central = class_lock(class);
	for (unsigned list = 1; list <= LISTS && !broken; list++) {
		for (uint32_t at = *list_head(central, list); at && !broken;
			at = page_desc(at)->next) {
			struct page *span = page_desc(at);
			unsigned count = 0;

			for (uint64_t block = span->chain; block;
				block = *block_link((void *)block)) {
				count++;
			}
			if (span->class != class || span->list != list ||
				list_for(span) != list) {
				broken = "a span is in the wrong list";
			} else if (span->live + count != span->carved) {
				broken = "a span's blocks are miscounted";
			}
		}
	}
	lock_release(&central->lock);
	return broken;
}

void central_prefork(void)
{
	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		lock_prefork(&g.classes[class].lock);
	}
}

void central_postfork(void)
{
	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		lock_postfork(&g.classes[class].lock);
	}
}
