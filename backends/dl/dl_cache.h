/* SPDX-License-Identifier: MIT */
/*
 * dl_cache.h - a small stock of freed blocks per thread, in front of the heaps.
 *
 * Merging at once is what keeps a heap dense, but most blocks are wanted again
 * in the same size a moment later. So each thread keeps up to CACHE_BIN_BYTES
 * of each chunk size up to CACHE_MAX, last in first out, without a lock. For
 * the heap these chunks are in use. A bin that is full gives half of its
 * chunks back, the oldest ones; a thread that ends gives back all.
 *
 * A cached block holds a link and, in its second word, the process's secret:
 * a block that carries it when it is freed has been freed before.
 *
 * Invariants:
 *   - `current` is never NULL: a thread without a cache points to an object
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

#define CACHE_MAX       ((size_t)1024) /* chunk size */
#define CACHE_BIN_BYTES ((size_t)2048)
enum { CACHE_BINS = CACHE_MAX / 16 + 1, CACHE_BIN_COUNT = 16 };

/* After so many frees the clock is looked at; see dl_purge.c. */
enum { CACHE_PERIOD = 1024 };

struct cached {
	struct cached *next;
	uint64_t key;
};

struct cache {
	struct cached
		*_Atomic bins[CACHE_BINS]; /* written by its thread only */
	_Atomic uint8_t count[CACHE_BINS]; /* likewise */
	int32_t budget;     /* frees before the clock is looked at */
	struct heap *heap;  /* where this thread allocates */
	struct cache *next; /* sync: lock; all caches, or the unused ones */
	struct cache *prev;
};

extern AMUX_THREAD struct cache *cache_current;
/* Of a thread that has no cache yet, and of one that never will (again). */
extern struct cache cache_none, cache_dead;
extern uint64_t cache_secret; /* sync: set before use, then constant */
extern uint8_t cache_limit[CACHE_BINS]; /* likewise */

/* Frees a chunk to the heap it belongs to; called by flushes. */
typedef void cache_free_fn(struct chunk **chunks, unsigned count);

int caches_init(cache_free_fn *free_chunks, uint64_t secret);

/* A cache for this thread, or cache_dead if it cannot have one. */
struct cache *cache_create(struct heap *heap);

/* Give back half a bin; all of one cache. */
void cache_shrink_bin(struct cache *cache, unsigned i);
void cache_flush(struct cache *cache);

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
	uint8_t count = load_relaxed(&cache->count[i]);

	if (unlikely(count >= cache_limit[i]) ||
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
