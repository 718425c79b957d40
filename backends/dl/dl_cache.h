/* SPDX-License-Identifier: MIT */
/*
 * dl_cache.h - a small stock of freed blocks per thread, in front of the heaps.
 *
 * Merging at once is what keeps a heap dense, but most blocks are wanted again
 * in the same size a moment later. So each thread keeps some of each chunk size
 * up to CACHE_MAX, last in first out, without a lock. For the heap these chunks
 * are in use. A bin that is full gives half of its chunks back, the oldest
 * ones; an empty one is refilled with several at once if that happens often.
 * A bin that runs full and empty in turn may grow, as long as the thread's
 * allowance lasts and threads are few. Everything goes back when the thread
 * ends, and now and then while it lives (see CACHE_PERIOD).
 *
 * A cached block holds a link and, in its second word, the process's secret:
 * a block that carries it when it is freed has been freed before.
 *
 * Invariants:
 *   - cache_current is never NULL: a thread without a cache points to an object
 *     whose bins are empty for malloc and full for free, so the fast paths
 *     need no test for it;
 *   - a bin is a well-formed list at every instruction, because the child of
 *     a fork in another thread takes it over (see caches_adopt()).
 * Locks: a cache belongs to its thread. The list of caches and the unused ones
 * are guarded by a lock of rank LOCK_RANK_PAGES, under which nothing is taken.
 */
#ifndef AMUX_BACKENDS_DL_DL_CACHE_H
#define AMUX_BACKENDS_DL_DL_CACHE_H

#include "dl_chunk.h"
#include "dl_heap.h"

#define CACHE_MAX ((size_t)1024) /* chunk size */
enum { CACHE_BINS = CACHE_MAX / 16 + 1 };

/* A bin begins with room for so many bytes, but at most so many chunks. */
#define CACHE_BIN_BYTES ((size_t)2048)
enum { CACHE_BIN_COUNT = 16, CACHE_BIN_COUNT_MAX = 1024 };
/* By so many bytes in all the bins of all threads may grow, if these are few.
 */
#define CACHE_ALLOWANCE ((int32_t)128 << 10)
enum { CACHE_FEW_THREADS = 16 };
/* Refill with at most so many bytes at once. */
#define CACHE_REFILL_BYTES ((size_t)1024)

/*
 * After so many frees the thread looks at the clock; after so many
 * milliseconds it empties its cache, so that what it pinned can merge.
 */
enum { CACHE_PERIOD = 1024, CACHE_EPOCH = 250 };

struct cached {
	struct cached *next;
	uint64_t key;
};

struct cache {
	struct cached
		*_Atomic bins[CACHE_BINS];  /* written by its thread only */
	_Atomic uint16_t count[CACHE_BINS]; /* likewise */
	uint16_t limit[CACHE_BINS];         /* count is at most this */
	uint8_t refill[CACHE_BINS];         /* chunks to fetch when empty */
	uint64_t missed;    /* bit i - 1: bin i was empty since it was full */
	int32_t budget;     /* frees before the clock is looked at */
	int32_t allowance;  /* bytes by which bins may still grow */
	uint64_t flush_due; /* ms of os_now_ms() */
	struct heap *heap;  /* where this thread allocates */
	struct cache *next; /* sync: lock; all caches, or the unused ones */
	struct cache *prev;
};

extern AMUX_THREAD struct cache *cache_current;

/*
 * Where cache_current points in threads without a cache: to zeroes, as many as
 * a cache has. How far behind the start says how often a thread that is new
 * has needed a heap; it gets a cache after CACHE_NEWCOMER times, so that one
 * which hardly allocates, or only while it exits, has nothing to give back.
 * The last place is for threads that never get one (again).
 */
enum { CACHE_NEWCOMER = 32 };
struct cache_void {
	struct cache zero;
	uint64_t place[CACHE_NEWCOMER + 1];
};
extern const struct cache_void cache_void;

extern uint64_t cache_secret; /* sync: set before use, then constant */

/* Frees a chunk to the heap it belongs to; called by flushes. */
typedef void cache_free_fn(struct chunk **chunks, unsigned count);

int caches_init(cache_free_fn *free_chunks, uint64_t secret);

/* This thread needs a heap and has no cache: perhaps it is time for one. */
void cache_want(struct heap *heap);

static inline bool has_cache(void)
{
	return (uintptr_t)cache_current - (uintptr_t)&cache_void >=
	       sizeof(cache_void);
}

/* Bin i is full: give it more room, or half of its chunks back. */
void cache_make_room(struct cache *cache, unsigned i);
/* Bin i is empty: how many chunks to fetch. */
unsigned cache_refill_count(struct cache *cache, unsigned i);
/* Give everything back, at once or if it is time. */
void cache_flush(struct cache *cache);
void cache_flush_if_due(struct cache *cache, uint64_t now);

/* Bytes and blocks in all caches: exact at rest, else a good guess. */
void caches_count(size_t *bytes, size_t *blocks);
/* Is the block in any cache? At rest only. */
bool caches_hold(const void *block);
/* Every list well-formed? At rest only. NULL or what does not hold. */
const char *caches_verify(void);

/* Around fork; the child takes over what vanished threads had. */
void caches_prefork(void);
void caches_postfork(void);
void caches_adopt(void);

/* Take a block of bin i, or NULL. Price: three loads, three stores. */
AMUX_ALWAYS_INLINE void *cache_pop(struct cache *cache, unsigned i)
{
	struct cached *block = load_relaxed(&cache->bins[i]);

	if (unlikely(!block)) {
		return NULL;
	}
	store_relaxed(&cache->bins[i], block->next);
	store_relaxed(&cache->count[i], load_relaxed(&cache->count[i]) - 1);
	block->key = 0;
	return block;
}

/* Put a block into bin i; false if it is full or the clock is due. */
AMUX_ALWAYS_INLINE bool cache_push(
	struct cache *cache, unsigned i, struct cached *block)
{
	uint16_t count = load_relaxed(&cache->count[i]);

	if (unlikely(count >= cache->limit[i]) ||
		unlikely(--cache->budget < 0)) {
		return false;
	}
	block->next = load_relaxed(&cache->bins[i]);
	block->key = cache_secret;
	store_relaxed(&cache->count[i], count + 1);
	/* release: a forked child follows the list, see above. */
	store_release(&cache->bins[i], block);
	return true;
}

#endif
