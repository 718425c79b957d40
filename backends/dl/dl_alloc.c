/* SPDX-License-Identifier: MIT */
/*
 * dl_alloc.c - allocation and freeing beyond the thread cache: which heap, or
 * a direct block; whose block is it; is it sound.
 *
 * Choosing a heap: a thread stays with the heap it last got without waiting.
 * If that one is busy it tries the others; only if all are busy it waits.
 */
#include <errno.h>
#include <string.h>

#include "dl_instance.h"
#include "os.h"

/* Alignments from here on get a mapping of their own, if they can. */
#define DIRECT_ALIGN ((size_t)64 << 10)
/* Growing blocks from here on move to a mapping that can grow. */
#define GROW_DIRECT ((size_t)128 << 10)

static const char already_free[] = "double free";

/* The heap's lock is held, or the process has one thread. */
static AMUX_COLD void heap_prepare_slow(struct dl *dl, unsigned i)
{
	struct heap *heap = &dl->heaps[i];
	size_t size;
	char *span;

	heap_init(heap, HEAP_SHARED, &dl->space, dl_overhead(dl), dl->secret);
	heap->top_pad = load_relaxed(&dl->top_pad);
	heap->trim_threshold = load_relaxed(&dl->trim_threshold);
	span = space_span(&dl->space, i, &size);
	if (span) {
		heap_set_first_segment(heap, span, 0, size);
	}
	/* release: pairs with the acquire in dl_heap(). */
	store_release(&heap->ready, true);
}

static inline void heap_prepare(struct dl *dl, unsigned i)
{
	if (unlikely(!load_relaxed(&dl->heaps[i].ready))) {
		heap_prepare_slow(dl, i);
	}
}

/* Where a thread without a cache begins: spread by its stack. */
static unsigned first_heap(const struct dl *dl, const struct cache *cache)
{
	uintptr_t thread = (uintptr_t)__builtin_thread_pointer();

	if (cache->heap) {
		return (unsigned)(cache->heap - dl->heaps);
	}
	if (dl->heap_count == 1) {
		return 0;
	}
	return (unsigned)((thread >> 12) % dl->heap_count);
}

static struct heap *enter_any_heap(struct dl *dl, bool *locked)
{
	struct cache *cache = cache_current;
	unsigned first;

	*locked = has_threads();
	if (!*locked) {
		heap_prepare(dl, 0);
		return &dl->heaps[0];
	}
	first = dl->cached ? first_heap(dl, cache) : 0;
	for (unsigned n = 0; n < dl->heap_count; n++) {
		unsigned i = (first + n) % dl->heap_count;

		if (lock_try_acquire(&dl->heaps[i].lock)) {
			heap_prepare(dl, i);
			if (n && dl->cached && cache->heap) {
				cache->heap = &dl->heaps[i];
			}
			return &dl->heaps[i];
		}
	}
	lock_acquire(&dl->heaps[first].lock);
	heap_prepare(dl, first);
	return &dl->heaps[first];
}

/* Bytes of a new block that are known to be zero: [from, to). */
struct zeroed {
	char *from, *to;
};

static void *allocate_in(
	struct heap *heap, size_t align, size_t need, struct zeroed *zeroed)
{
	struct chunk *chunk = align > MALLOC_ALIGN
				      ? heap_allocate_aligned(heap, align, need)
				      : heap_allocate(heap, need);

	if (!chunk) {
		return NULL;
	}
	*zeroed = (struct zeroed){heap->zero_from, heap->zero_to};
	return block_of(chunk);
}

static void *allocate_in_heaps(
	struct dl *dl, size_t align, size_t need, struct zeroed *zeroed)
{
	bool locked;
	struct heap *heap = enter_any_heap(dl, &locked);
	void *block = allocate_in(heap, align, need, zeroed);

	heap_leave(heap, locked);
	/* One heap may be full where another is not. */
	for (unsigned i = 0; !block && i < dl->heap_count; i++) {
		heap = &dl->heaps[i];
		locked = heap_enter(heap);
		heap_prepare(dl, i);
		block = allocate_in(heap, align, need, zeroed);
		heap_leave(heap, locked);
	}
	return block;
}

static bool wants_direct(struct dl *dl, size_t align, size_t size)
{
	return size >= load_relaxed(&dl->direct_threshold) ||
	       align >= DIRECT_ALIGN;
}

static void *allocate(
	struct dl *dl, size_t align, size_t size, struct zeroed *zeroed)
{
	void *block = NULL;

	/* So that no sum of sizes below can overflow. */
	if (size > MAX_OBJECT / 2 || align > MAX_OBJECT / 4) {
		errno = ENOMEM;
		return NULL;
	}
	if (wants_direct(dl, align, size)) {
		block = direct_allocate(&dl->space, align, size, 0, dl->secret);
		if (block) {
			*zeroed = (struct zeroed){block, (char *)block + size};
			return block;
		}
	}
	block = allocate_in_heaps(
		dl, align, chunk_size_for(size, dl_overhead(dl)), zeroed);
	if (!block) {
		block = direct_allocate(&dl->space, align, size, 0, dl->secret);
		*zeroed = (struct zeroed){block, (char *)block + size};
	}
	if (!block) {
		errno = ENOMEM;
	}
	return block;
}

static void ensure_cache(struct dl *dl)
{
	if (unlikely(!has_cache()) && dl->cached) {
		cache_want(&dl->heaps[0]);
	}
}

/*
 * A block for an empty bin, and perhaps more for the bin. NULL if the heap has
 * no memory: others may have.
 */
static void *refill(struct dl *dl, size_t size)
{
	struct cache *cache = cache_current;
	size_t need = chunk_size_for(size, OVERHEAD);
	unsigned count = cache_refill_count(cache, (unsigned)(need / 16));
	bool locked;
	struct heap *heap = enter_any_heap(dl, &locked);
	struct chunk *first = heap_allocate(heap, need);

	while (first && --count) {
		struct chunk *chunk = heap_allocate(heap, need);
		unsigned i;

		if (!chunk) {
			break;
		}
		/* Its size may be one step more, its bin full. */
		i = (unsigned)(chunk_size(chunk) / 16);
		if (i >= CACHE_BINS || !cache_push(cache, i, block_of(chunk))) {
			heap_free(heap, chunk);
			break;
		}
	}
	heap_leave(heap, locked);
	return first ? block_of(first) : NULL;
}

void *dl_malloc(struct dl *dl, size_t size)
{
	struct zeroed zeroed;
	void *block;

	ensure_cache(dl);
	if (size <= CACHE_MAX - OVERHEAD && dl->cached && has_cache()) {
		block = refill(dl, size);
		if (likely(block)) {
			return block;
		}
	}
	return allocate(dl, MALLOC_ALIGN, size, &zeroed);
}

void *dl_memalign(struct dl *dl, size_t align, size_t size)
{
	struct zeroed zeroed;

	return allocate(dl, align, size, &zeroed);
}

void *dl_calloc(struct dl *dl, size_t size)
{
	struct zeroed zeroed;
	char *block, *end;

	if (size <= CACHE_MAX - OVERHEAD) {
		block = dl_malloc(dl, size);
		return block ? memset(block, 0, size) : NULL;
	}
	block = allocate(dl, MALLOC_ALIGN, size, &zeroed);
	if (!block) {
		return NULL;
	}
	end = block + size;

	char *from = zeroed.from > block ? zeroed.from : block;
	char *to = zeroed.to < end ? zeroed.to : end;

	if (from >= to) {
		memset(block, 0, size);
		return block;
	}
	memset(block, 0, (size_t)(from - block));
	memset(to, 0, (size_t)(end - to));
	return block;
}

/* Whose block is it? */
struct place {
	struct heap *heap;     /* in a heap, or */
	struct direct *direct; /* a direct block, or */
	const char *fault; /* in our ranges but no block, or none: foreign */
};

static struct place locate(struct dl *dl, const void *block)
{
	struct space *space = &dl->space;
	struct place place = {NULL, NULL, NULL};
	struct extent extent;

	if (space_in_heaps(space, block)) {
		place.heap = dl_heap(dl, space_heap_index(space, block));
		if (!place.heap) {
			place.fault = "not a block";
		}
		return place;
	}
	if (!space_in_range(space, block)) {
		if (!space_find(space, block, &extent)) {
			return place;
		}
		if (extent.heap) {
			place.heap = extent.heap;
			return place;
		}
	}
	place.direct = direct_of(space, block, dl->secret, &place.fault);
	return place;
}

/* The quick form of locate(), for blocks in spans. */
static inline struct heap *shared_heap(struct dl *dl, const void *block)
{
	return likely(space_in_heaps(&dl->space, block))
		       ? dl_heap(dl, space_heap_index(&dl->space, block))
		       : NULL;
}

static bool is_foreign(const struct place *place)
{
	return !place->heap && !place->direct && !place->fault;
}

static void report(
	struct dl *dl, const char *call, const void *block, const char *fault)
{
	dl->host->bad_pointer(dl->host, call, block, fault);
}

/* Does the block lie in a thread's cache? See dl_cache.h. */
static bool is_cached(const struct dl *dl, const void *block)
{
	return dl->cached &&
	       ((const struct cached *)block)->key == cache_secret;
}

/* The clock of this thread has run down: look at the real one. */
static void period_ends(struct dl *dl, struct cache *cache)
{
	cache->budget = CACHE_PERIOD;
	cache_flush_if_due(cache, os_now_ms());
	dl_purge_if_due(dl);
}

/* A small block of a shared heap goes into the cache; false if it cannot. */
static bool free_to_cache(struct dl *dl, void *block)
{
	struct chunk *chunk = chunk_of(block);
	unsigned i = (unsigned)(chunk_size(chunk) / 16);
	struct cache *cache;

	ensure_cache(dl);
	if (!has_cache()) {
		return false;
	}
	cache = cache_current;
	if (cache->budget < 0) {
		period_ends(dl, cache);
	}
	if (load_relaxed(&cache->count[i]) >= cache->limit[i]) {
		cache_make_room(cache, i);
	}
	return cache_push(cache, i, block);
}

static bool is_cacheable(const struct dl *dl, const void *block)
{
	size_t head = chunk_head(chunk_of(block));
	size_t size = head & ~FLAGS;

	return dl->cached && head & IN_USE && size >= MIN_CHUNK &&
	       size <= CACHE_MAX && !((uintptr_t)block & (MALLOC_ALIGN - 1));
}

static void free_in_heap(
	struct dl *dl, struct heap *heap, void *block, const char *call)
{
	struct chunk *chunk = chunk_of(block);
	size_t size;
	bool locked = heap_enter(heap);
	const char *fault = heap_fault(heap, chunk);

	if (fault) {
		heap_leave(heap, locked);
		report(dl, call, block, fault);
		return;
	}
	size = chunk_size(chunk);
	heap_free(heap, chunk);
	heap_leave(heap, locked);
	if (size >= PURGE_MIN) {
		dl_purge_if_due(dl);
	}
}

static void free_direct(struct dl *dl, struct direct *d)
{
	size_t size = d->committed;

	/* What comes and goes is cheaper in a heap. */
	if (size > load_relaxed(&dl->direct_threshold) &&
		size <= DIRECT_THRESHOLD_MAX &&
		!load_relaxed(&dl->threshold_is_fixed)) {
		store_relaxed(&dl->direct_threshold, size);
	}
	direct_free(&dl->space, d);
}

/* A block in a heap, shared or private. */
static void free_of_heap(struct dl *dl, struct heap *heap, void *block,
	size_t size, const char *call)
{
	if (is_cached(dl, block)) {
		report(dl, call, block, already_free);
		return;
	}
	if (unlikely(size) && size > heap_usable(heap, chunk_of(block))) {
		report(dl, call, block, "size does not match");
		return;
	}
	if (heap->kind == HEAP_SHARED && is_cacheable(dl, block) &&
		free_to_cache(dl, block)) {
		return;
	}
	free_in_heap(dl, heap, block, call);
}

static AMUX_NOINLINE void free_elsewhere(
	struct dl *dl, void *block, size_t size, const char *call)
{
	struct place place = locate(dl, block);

	if (is_foreign(&place)) {
		dl->host->foreign_free(block);
	} else if (place.fault) {
		report(dl, call, block, place.fault);
	} else if (place.heap) {
		free_of_heap(dl, place.heap, block, size, call);
	} else if (size > direct_usable(place.direct)) {
		report(dl, call, block, "size does not match");
	} else {
		free_direct(dl, place.direct);
	}
}

void dl_free(struct dl *dl, void *block, size_t size, const char *call)
{
	struct heap *heap = shared_heap(dl, block);

	if (likely(heap)) {
		free_of_heap(dl, heap, block, size, call);
	} else if (block) {
		free_elsewhere(dl, block, size, call);
	}
}

void dl_free_chunks(struct dl *dl, struct chunk **chunks, unsigned count)
{
	struct heap *heap = NULL;
	bool locked = false;

	for (unsigned n = 0; n < count; n++) {
		struct heap *owner = shared_heap(dl, chunks[n]);
		const char *fault;

		if (unlikely(!owner)) {
			owner = locate(dl, block_of(chunks[n])).heap;
		}

		if (owner != heap) {
			if (heap) {
				heap_leave(heap, locked);
			}
			heap = owner;
			locked = heap_enter(heap);
		}
		fault = heap_fault(heap, chunks[n]);
		if (likely(!fault)) {
			heap_free(heap, chunks[n]);
			continue;
		}
		heap_leave(heap, locked);
		heap = NULL;
		report(dl, "free", block_of(chunks[n]), fault);
	}
	if (heap) {
		heap_leave(heap, locked);
	}
}

size_t dl_usable_size(struct dl *dl, void *block)
{
	struct place place = locate(dl, block);

	if (is_foreign(&place)) {
		return dl->host->foreign_usable_size(block);
	}
	if (place.fault) {
		report(dl, "malloc_usable_size", block, place.fault);
		return 0;
	}
	if (place.direct) {
		return direct_usable(place.direct);
	}
	if (is_cached(dl, block) || !(chunk_head(chunk_of(block)) & IN_USE)) {
		report(dl, "malloc_usable_size", block, already_free);
		return 0;
	}
	return heap_usable(place.heap, chunk_of(block));
}

/* Elsewhere, with the contents. */
static void *move(struct dl *dl, void *block, size_t have, size_t size)
{
	struct zeroed zeroed;
	void *new = NULL;

	if (size >= GROW_DIRECT && size > have) {
		/* Grows again, likely: with room behind it. */
		new = direct_allocate(
			&dl->space, MALLOC_ALIGN, size, size, dl->secret);
	}
	if (!new && dl->cached && size <= CACHE_MAX - OVERHEAD) {
		new = cache_pop(cache_current,
			(unsigned)(chunk_size_for(size, OVERHEAD) / 16));
	}
	if (!new) {
		new = allocate(dl, MALLOC_ALIGN, size, &zeroed);
	}
	if (!new) {
		return NULL;
	}
	memcpy(new, block, have < size ? have : size);
	dl_free(dl, block, 0, "realloc");
	return new;
}

static void *resize_direct(struct dl *dl, struct direct *d, size_t size)
{
	size_t have = direct_usable(d);
	void *block = direct_block(d);
	void *new = NULL;

	/* Small enough for a heap: not worth a mapping. */
	if (size >= GROW_DIRECT / 2) {
		new = direct_resize(&dl->space, d, size, dl->secret);
		if (new) {
			return new;
		}
	}
	new = move(dl, block, have, size);
	return new || size > have ? new : block;
}

static void *resize_in_heap(
	struct dl *dl, struct heap *heap, void *block, size_t size)
{
	struct chunk *chunk = chunk_of(block);
	size_t have = 0;
	bool done = false;
	bool locked = heap_enter(heap);
	const char *fault = heap_fault(heap, chunk);

	if (unlikely(is_cached(dl, block))) {
		fault = fault ? fault : already_free;
	}
	if (!fault) {
		have = heap_usable(heap, chunk);
		done = heap_resize(
			heap, chunk, chunk_size_for(size, heap->overhead));
	}
	heap_leave(heap, locked);
	if (fault) {
		report(dl, "realloc", block, fault);
		errno = ENOMEM;
		return NULL;
	}
	if (done) {
		return block;
	}
	if (heap->kind == HEAP_PRIVATE) {
		return dl_heap_realloc(dl, heap, block, size);
	}
	return move(dl, block, have, size);
}

static AMUX_NOINLINE void *realloc_elsewhere(
	struct dl *dl, void *block, size_t size)
{
	struct place place = locate(dl, block);

	if (is_foreign(&place)) {
		return dl->host->foreign_realloc(block, size);
	}
	if (place.fault) {
		report(dl, "realloc", block, place.fault);
		errno = ENOMEM;
		return NULL;
	}
	if (size > MAX_OBJECT / 2) {
		errno = ENOMEM;
		return NULL;
	}
	if (place.direct) {
		return resize_direct(dl, place.direct, size);
	}
	return resize_in_heap(dl, place.heap, block, size);
}

void *dl_realloc(struct dl *dl, void *block, size_t size)
{
	struct heap *heap = shared_heap(dl, block);

	if (unlikely(!heap || size > MAX_OBJECT / 2)) {
		return realloc_elsewhere(dl, block, size);
	}
	return resize_in_heap(dl, heap, block, size);
}
