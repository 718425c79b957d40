/* SPDX-License-Identifier: MIT */
/* dl_cache.c - see dl_cache.h. */
#include "dl_cache.h"

#include <pthread.h>
#include <string.h>

#include "os.h"

#define CACHE_SLAB ((size_t)64 << 10)

const struct cache_void cache_void;
/* Never written through: its limits are 0, its bins empty. */
AMUX_THREAD struct cache *cache_current = (struct cache *)&cache_void.zero;
uint64_t cache_secret;

static struct {
	struct lock lock;
	cache_free_fn *free_chunks; /* sync: set before use, then constant */
	pthread_key_t key;          /* likewise */
	struct cache *all;          /* sync: lock */
	_Atomic unsigned count;     /* of `all`; written under lock */
	struct cache *unused;       /* sync: lock */
	struct cache *slab;         /* sync: lock; never used ones */
	size_t slab_count;          /* sync: lock */
	struct cache first;         /* the first thread's: no page of its own */
} g = {.lock = LOCK_INIT(LOCK_RANK_PAGES)};

static void thread_exits(void *cache);

int caches_init(cache_free_fn *free_chunks, uint64_t secret)
{
	int err = pthread_key_create(&g.key, thread_exits);

	if (err) {
		return err;
	}
	g.free_chunks = free_chunks;
	g.slab = &g.first;
	g.slab_count = 1;
	cache_secret = secret | 1; /* never 0, which means "not cached" */
	return 0;
}

/* The caller holds the lock. */
static struct cache *cache_take(void)
{
	struct cache *cache = g.unused;
	void *slab;

	if (cache) {
		g.unused = cache->next;
		return cache;
	}
	if (!g.slab_count) {
		if (os_map(CACHE_SLAB, &slab)) {
			return NULL;
		}
		g.slab = slab;
		g.slab_count = CACHE_SLAB / sizeof(struct cache);
	}
	g.slab_count--;
	return g.slab++;
}

/* Where cache_current points after so many times; see cache_void. */
static struct cache *place_without_cache(unsigned times)
{
	return (struct cache *)((uintptr_t)&cache_void +
				times * sizeof(cache_void.place[0]));
}

static void cache_create(struct heap *heap)
{
	struct cache *cache;

	/* pthread_setspecific may allocate: then without a cache. */
	cache_current = place_without_cache(CACHE_NEWCOMER + 1);
	lock_acquire(&g.lock);
	cache = cache_take();
	lock_release(&g.lock);
	if (!cache) {
		return;
	}
	memset(cache, 0, sizeof(*cache));
	for (size_t i = MIN_CHUNK / 16; i < CACHE_BINS; i++) {
		size_t limit = CACHE_BIN_BYTES / (i * 16);

		cache->limit[i] = limit < CACHE_BIN_COUNT
					  ? (uint16_t)limit
					  : (uint16_t)CACHE_BIN_COUNT;
		cache->refill[i] = 1;
	}
	cache->heap = heap;
	cache->budget = CACHE_PERIOD;
	cache->allowance = CACHE_ALLOWANCE;

	bool registered = pthread_setspecific(g.key, cache) == 0;

	lock_acquire(&g.lock);
	if (registered) {
		cache->next = g.all;
		if (g.all) {
			g.all->prev = cache;
		}
		g.all = cache;
		store_relaxed(&g.count, load_relaxed(&g.count) + 1);
	} else {
		cache->next = g.unused;
		g.unused = cache;
	}
	lock_release(&g.lock);
	if (registered) {
		cache_current = cache;
	}
}

void cache_want(struct heap *heap)
{
	unsigned times =
		(unsigned)(((uintptr_t)cache_current - (uintptr_t)&cache_void) /
			   sizeof(cache_void.place[0]));

	if (times < CACHE_NEWCOMER) {
		cache_current = place_without_cache(times + 1);
	} else if (times == CACHE_NEWCOMER) {
		cache_create(heap);
	}
}

/* The caller holds the lock. */
static void cache_retire(struct cache *cache)
{
	if (cache->prev) {
		cache->prev->next = cache->next;
	} else {
		g.all = cache->next;
	}
	if (cache->next) {
		cache->next->prev = cache->prev;
	}
	cache->next = g.unused;
	g.unused = cache;
	store_relaxed(&g.count, load_relaxed(&g.count) - 1);
}

/* Key destructor. What this thread still frees later goes to the heap. */
static void thread_exits(void *arg)
{
	struct cache *cache = arg;

	cache_current = place_without_cache(CACHE_NEWCOMER + 1);
	cache_flush(cache);
	lock_acquire(&g.lock);
	cache_retire(cache);
	lock_release(&g.lock);
}

/* Free the list from block on. */
static void free_list(struct cached *block)
{
	enum { BATCH = 32 };
	struct chunk *batch[BATCH];
	unsigned count = 0;

	while (block) {
		struct cached *next = block->next;

		block->key = 0;
		batch[count++] = chunk_of(block);
		if (count == BATCH) {
			g.free_chunks(batch, count);
			count = 0;
		}
		block = next;
	}
	g.free_chunks(batch, count);
}

static void give_back_half(struct cache *cache, unsigned i)
{
	unsigned keep = load_relaxed(&cache->count[i]) / 2;
	struct cached *block = load_relaxed(&cache->bins[i]);
	struct cached *rest = block;

	if (keep) {
		for (unsigned n = 1; n < keep; n++) {
			block = block->next;
		}
		rest = block->next;
		block->next = NULL;
	} else {
		store_relaxed(&cache->bins[i], NULL);
	}
	store_relaxed(&cache->count[i], (uint16_t)keep);
	free_list(rest);
}

void cache_make_room(struct cache *cache, unsigned i)
{
	uint64_t bit = (uint64_t)1 << (i - 1);
	unsigned limit = cache->limit[i];
	unsigned threads = load_relaxed(&g.count);
	int32_t more = (int32_t)(limit * i * 16);

	if (cache->refill[i] > 1) {
		cache->refill[i] /= 2;
	}
	if (cache->missed & bit && 2 * limit <= CACHE_BIN_COUNT_MAX &&
		threads <= CACHE_FEW_THREADS &&
		more * (int32_t)threads <= cache->allowance) {
		cache->missed &= ~bit;
		cache->allowance -= more * (int32_t)threads;
		cache->limit[i] = (uint16_t)(2 * limit);
		return;
	}
	cache->missed &= ~bit;
	give_back_half(cache, i);
}

unsigned cache_refill_count(struct cache *cache, unsigned i)
{
	unsigned count = cache->refill[i];

	cache->missed |= (uint64_t)1 << (i - 1);
	if (count < cache->limit[i] / 2 &&
		2 * count * i * 16 <= CACHE_REFILL_BYTES) {
		cache->refill[i] = (uint8_t)(2 * count);
	}
	return count;
}

void cache_flush(struct cache *cache)
{
	for (unsigned i = 0; i < CACHE_BINS; i++) {
		struct cached *block = load_relaxed(&cache->bins[i]);

		if (block) {
			store_relaxed(&cache->bins[i], NULL);
			store_relaxed(&cache->count[i], 0);
			free_list(block);
		}
	}
}

void cache_flush_if_due(struct cache *cache, uint64_t now)
{
	if (now >= cache->flush_due) {
		cache->flush_due = now + CACHE_EPOCH;
		cache_flush(cache);
	}
}

void caches_count(size_t *bytes, size_t *blocks)
{
	*bytes = *blocks = 0;
	lock_acquire(&g.lock);
	for (struct cache *c = g.all; c; c = c->next) {
		for (unsigned i = 0; i < CACHE_BINS; i++) {
			unsigned count = load_relaxed(&c->count[i]);

			*bytes += count * (i * 16 - OVERHEAD);
			*blocks += count;
		}
	}
	lock_release(&g.lock);
}

bool caches_hold(const void *block)
{
	unsigned i = (unsigned)(chunk_size(chunk_of(block)) / 16);
	bool found = false;

	if (i >= CACHE_BINS ||
		((const struct cached *)block)->key != cache_secret) {
		return false;
	}
	lock_acquire(&g.lock);
	for (struct cache *c = g.all; c && !found; c = c->next) {
		struct cached *b = load_relaxed(&c->bins[i]);

		while (b && b != block) {
			b = b->next;
		}
		found = b != NULL;
	}
	lock_release(&g.lock);
	return found;
}

const char *caches_verify(void)
{
	const char *fault = NULL;

	lock_acquire(&g.lock);
	for (struct cache *c = g.all; c; c = c->next) {
		for (unsigned i = 0; i < CACHE_BINS; i++) {
			unsigned count = 0;

			for (struct cached *b = load_relaxed(&c->bins[i]); b;
				b = b->next) {
				count++;
				if (b->key != cache_secret ||
					chunk_size(chunk_of(b)) != i * 16) {
					fault = "a cached block was written to";
				}
			}
			if (count != load_relaxed(&c->count[i])) {
				fault = "a cache miscounts its blocks";
			}
		}
	}
	lock_release(&g.lock);
	return fault;
}

void caches_prefork(void)
{
	lock_prefork(&g.lock);
}

void caches_postfork(void)
{
	lock_postfork(&g.lock);
}

void caches_adopt(void)
{
	struct cache *next;

	for (struct cache *c = g.all; c; c = next) {
		next = c->next;
		if (c != cache_current) {
			/* The count may lag by the one under way. */
			cache_flush(c);
			cache_retire(c);
		}
	}
}
