/* SPDX-License-Identifier: MIT */
/*
 * percpu.c - the backend's table, and what the fast paths fall back to.
 *
 * malloc and free begin in rseq_*.c and end there nearly always. This file
 * decides what becomes of the rest, by the page's word in the class map:
 *
 *	a class      bins.c, central.c       blocks up to SMALL_MAX
 *	WORD_MIXED   mixed.c                 the same in sparse spans
 *	WORD_LARGE   large.c                 runs of pages
 *	WORD_NONE    seed.c, or a bad pointer
 *
 * Locks: none here. Everything returns errno as it was, except that a failed
 * allocation sets ENOMEM.
 */
#include "percpu.h"

#include <errno.h>
#include <string.h>

#include "bins.h"
#include "bits.h"
#include "central.h"
#include "compiler.h"
#include "hot.h"
#include "large.h"
#include "lock.h"
#include "mixed.h"
#include "os.h"
#include "pages.h"
#include "seed.h"

/* How often a slow path looks after idle memory. */
enum { TICK_MS = 100, AGE_TICKS = 5 };

static struct {
	const struct amux_host *host; /* sync: set in init, then constant */
	_Atomic uint64_t tick;        /* ms / TICK_MS of the last look */
	bool forked_alone;            /* sync: the forking thread */
} g;

/* glibc 2.32; absent before. */
extern char __libc_single_threaded __attribute__((weak));

static int percpu_init(const struct amux_host *host)
{
	int err = pages_init(host, SEED_FIRST + SEED_PAGES);

	if (err) {
		return err;
	}
	g.host = host;
	central_init(host);
	return percpu_bins_init();
}

/* Let memory age; bounded work, by whichever thread comes by. */
static void look_after(void)
{
	uint64_t now = os_now_ms();
	uint64_t tick = now / TICK_MS;
	uint64_t last = load_relaxed(&g.tick);

	if (likely(tick == last) || !cas_acq_rel(&g.tick, &last, tick)) {
		return;
	}
	if (tick / AGE_TICKS != last / AGE_TICKS) {
		central_age();
		large_flush();
	}
	pages_age(now);
	if (load_relaxed(&percpu_pages.armed)) {
		percpu_bins_drain_own();
	}
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static void *small_malloc(unsigned class)
{
	void *block = seed_malloc(class);

	if (!block) {
		block = percpu_bins_malloc(class);
		look_after();
	}
	return block ? block : no_memory();
}

static void *big_malloc(size_t size, size_t align, bool *zero)
{
	void *block = align == 1 ? large_cached(size) : NULL;

	if (block) {
		*zero = false;
		return block;
	}
	block = large_malloc(size, align, zero);
	look_after();
	return block ? block : no_memory();
}

void *percpu_malloc_slow(size_t size)
{
	bool zero;

	if (size > SMALL_MAX) {
		return big_malloc(size, 1, &zero);
	}
	return small_malloc(class_of_size(size));
}

/* ptr lies in `page`, which is one of ours. */
static void free_in(uint32_t page, void *ptr)
{
	unsigned word = page_word(page);

	if (word >= WORD_CLASS && unlikely(!span_is_block(page, ptr))) {
		word = page_word(page); /* adopted just now? */
		if (word != WORD_MIXED) {
			g.host->bad_pointer(g.host, "free", ptr,
				"not the start of a block");
			return;
		}
	}
	if (word == WORD_MIXED) {
		size_t size = mixed_size(page, ptr);

		if (unlikely(!size)) {
			g.host->bad_pointer(g.host, "free", ptr,
				"not the start of a block, or freed twice");
			return;
		}
		word = class_of_size(size) + WORD_CLASS;
	}
	if (word >= WORD_CLASS) {
		percpu_bins_free(word - WORD_CLASS, ptr);
		look_after();
	} else if (word == WORD_LARGE && (uintptr_t)ptr % PAGE_SIZE == 0) {
		if (large_free(page)) {
			look_after();
		}
	} else if (!seed_page(page) || !seed_free(ptr)) {
		g.host->bad_pointer(g.host, "free", ptr,
			"not a live block, or freed twice");
	}
}

void percpu_free_slow(void *ptr)
{
	uint32_t page = (uint32_t)((size_t)((char *)ptr - percpu_hot.base) >>
				   PAGE_SHIFT);

	free_in(page, ptr);
}

void percpu_free_far(void *ptr)
{
	uint32_t page;

	if (!ptr) {
		return;
	}
	if (page_find(ptr, &page)) {
		free_in(page, ptr);
		return;
	}
	g.host->foreign_free(ptr);
}

/* Bytes of the block at ptr in `page`; 0 after reporting a bad pointer. */
static size_t size_in(uint32_t page, const void *ptr, const char *call)
{
	unsigned word = page_word(page);
	size_t size = 0;

	if (word >= WORD_CLASS) {
		return class_size(word - WORD_CLASS);
	}
	if (word == WORD_LARGE) {
		return large_size(page);
	}
	if (word == WORD_MIXED) {
		size = mixed_size(page, ptr);
	} else if (seed_page(page)) {
		size = seed_size(ptr);
	}
	if (!size) {
		g.host->bad_pointer(g.host, call, ptr, "not a live block");
	}
	return size;
}

static size_t percpu_usable_size(void *ptr)
{
	uint32_t page;

	if (!page_find(ptr, &page)) {
		return g.host->foreign_usable_size(ptr);
	}
	return size_in(page, ptr, "malloc_usable_size");
}

static void *percpu_calloc(size_t count, size_t size)
{
	size_t bytes = count * size;
	bool zero = false;
	void *block;

	if (bytes <= SMALL_MAX) {
		block = percpu_malloc(bytes);
	} else {
		block = big_malloc(bytes, 1, &zero);
	}
	if (block && !zero) {
		memset(block, 0, bytes);
	}
	return block;
}

/*
 * May the block stay where it is? A small one if it fits and no more than half
 * would be left over; a large one if it needs as many pages.
 */
static bool stays(unsigned word, size_t old, size_t size)
{
	if (word == WORD_LARGE) {
		return size <= old && old - size < PAGE_SIZE;
	}
	return size <= old && (size >= old / 2 || old <= 64);
}

static void *percpu_realloc(void *ptr, size_t size)
{
	uint32_t page;
	unsigned word;
	size_t old;
	void *block;

	if (!page_find(ptr, &page)) {
		return g.host->foreign_realloc(ptr, size);
	}
	word = page_word(page);
	old = size_in(page, ptr, "realloc");
	if (!old) {
		return no_memory();
	}
	if (stays(word, old, size)) {
		return ptr;
	}
	if (word == WORD_LARGE && size > SMALL_MAX) {
		block = large_realloc(page, size);
		look_after();
		return block ? block : no_memory();
	}
	block = percpu_malloc(size);
	if (!block) {
		return NULL;
	}
	memcpy(block, ptr, size < old ? size : old);
	percpu_free(ptr);
	return block;
}

static void *percpu_memalign(size_t align, size_t size)
{
	bool zero;

	if (align <= PAGE_SIZE && size <= SMALL_MAX - align) {
		size_t bytes = round_up(size ? size : 1, align);
		unsigned class = class_of_size(bytes);

		/* Blocks lie at multiples of the lowest bit of their size. */
		while (class < CLASS_COUNT && class_size(class) % align) {
			class ++;
		}
		if (class < CLASS_COUNT) {
			return percpu_malloc(class_size(class));
		}
	}
	if (size > MAX_OBJECT || align > MAX_OBJECT - size) {
		return no_memory();
	}
	return big_malloc(size, align, &zero);
}

static void percpu_free_sized(void *ptr, size_t size)
{
	(void)size; /* one byte load saved is not worth trusting it */
	percpu_free(ptr);
}

static int percpu_trim(size_t pad)
{
	size_t gone;

	percpu_bins_drain(true);
	large_flush();
	central_flush();
	central_adopt();
	gone = mixed_purge() + pages_purge(pad >> PAGE_SHIFT, SIZE_MAX);
	return gone > 0;
}

static int add_large(uint32_t first, struct page *page, void *arg)
{
	struct amux_stats *stats = arg;

	(void)first;
	if (page_state(page) == PAGE_LARGE) {
		stats->large_blocks++;
		stats->large_bytes += (uint64_t)page->pages << PAGE_SHIFT;
	}
	return 0;
}

static void percpu_stats(struct amux_stats *stats)
{
	struct page_counts pages;
	size_t seed_bytes, seed_blocks;

	*stats = (struct amux_stats){.size = sizeof(*stats)};
	pages_count(&pages);
	pages_each(add_large, stats);
	seed_count(&seed_bytes, &seed_blocks);
	stats->live_bytes = stats->large_bytes + seed_bytes;
	stats->live_blocks = stats->large_blocks + seed_blocks;
	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		struct central_counts central;
		size_t cached, live;

		central_count(class, &central);
		if (!central.spans) {
			continue;
		}
		/* Read one after the other, while others go on. */
		cached = central.cached + percpu_bins_count(class);
		live = central.out > cached ? central.out - cached : 0;
		stats->live_blocks += live;
		stats->live_bytes += live * class_size(class);
		stats->cached_bytes += cached * class_size(class);
	}
	stats->active_bytes = (uint64_t)pages.used << PAGE_SHIFT;
	stats->mapped_bytes = (uint64_t)(pages.used + pages.dirty)
			      << PAGE_SHIFT;
	stats->reserved_bytes = (uint64_t)pages.reserved << PAGE_SHIFT;
	stats->metadata_bytes = pages.tables;
	stats->returned_bytes = (uint64_t)pages.returned << PAGE_SHIFT;
}

struct walk {
	amux_walk_fn *visit;
	void *arg;
};

static int walk_run(uint32_t first, struct page *page, void *arg)
{
	struct walk *walk = arg;

	if (page_state(page) == PAGE_LARGE) {
		return walk->visit(
			page_addr(first), large_size(first), walk->arg);
	}
	if (page_state(page) == PAGE_MIXED) {
		return mixed_each(first, page, walk->visit, walk->arg);
	}
	return span_each_live(first, page, walk->visit, walk->arg);
}

static int percpu_walk(amux_walk_fn *visit, void *arg)
{
	struct walk walk = {visit, arg};
	int stop;

	percpu_bins_drain(false);
	central_flush();
	stop = seed_each(visit, arg);
	return stop ? stop : pages_each(walk_run, &walk);
}

static int percpu_check(void)
{
	const char *broken = pages_check();

	for (unsigned class = 0; class < CLASS_COUNT && !broken; class ++) {
		broken = central_check(class);
	}
	if (broken) {
		g.host->log(g.host, broken);
		return EIO;
	}
	return 0;
}

/*
 * A process of one thread needs none of this: nobody else can hold a lock. It
 * spares a shell some seventy locks on pages it would copy in every child.
 */
static void percpu_prefork(void)
{
	g.forked_alone = &__libc_single_threaded && __libc_single_threaded;
	if (g.forked_alone) {
		return;
	}
	percpu_bins_prefork();
	seed_prefork();
	central_prefork();
	mixed_prefork();
	pages_prefork();
}

static void percpu_postfork(void)
{
	if (g.forked_alone) {
		return;
	}
	pages_postfork();
	mixed_postfork();
	central_postfork();
	seed_postfork();
	percpu_bins_postfork();
}

const struct amux_backend amux_percpu_backend = {
	.abi = AMUX_BACKEND_ABI,
	.size = sizeof(struct amux_backend),
	.name = "percpu",
	.summary = "per-CPU bins on restartable sequences, lean and fast",
	.caps = AMUX_CAP_ANY_POINTER,
	.init = percpu_init,
	.malloc = percpu_malloc,
	.free = percpu_free,
	.calloc = percpu_calloc,
	.realloc = percpu_realloc,
	.memalign = percpu_memalign,
	.usable_size = percpu_usable_size,
	.free_sized = percpu_free_sized,
	.trim = percpu_trim,
	.stats = percpu_stats,
	.walk = percpu_walk,
	.prefork = percpu_prefork,
	.postfork_parent = percpu_postfork,
	.postfork_child = percpu_postfork,
	.check = percpu_check,
};
