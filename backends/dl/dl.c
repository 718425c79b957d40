/* SPDX-License-Identifier: MIT */
/*
 * dl.c - the tables "dl" and "dl-checked", and dl's fast paths.
 *
 * Invariants: the two instances share nothing but the type of their parts;
 * only `plain` has thread caches.
 * Locks: none here.
 */
#include "dl.h"

#include "dl_instance.h"

static struct dl plain, checked;

/* The bin for a request; size is at most CACHE_MAX - OVERHEAD. */
AMUX_ALWAYS_INLINE unsigned bin_for_size(size_t size)
{
	size_t i = (size + OVERHEAD + MALLOC_ALIGN - 1) / MALLOC_ALIGN;

	return (unsigned)(i < 2 ? 2 : i);
}

/* Two compares, the cache's word of this thread, one pop. */
static void *plain_malloc(size_t size)
{
	if (likely(size <= CACHE_MAX - OVERHEAD)) {
		void *block = cache_pop(cache_current, bin_for_size(size));

		if (likely(block)) {
			return block;
		}
	}
	return dl_malloc(&plain, size);
}

/*
 * The range, the chunk's head, the block's key, one push. What is wrong with a
 * block is found out in dl_free().
 */
AMUX_ALWAYS_INLINE bool push_block(void *ptr, size_t size)
{
	if (likely(space_in_heaps(&plain.space, ptr)) &&
		likely(!((uintptr_t)ptr & (MALLOC_ALIGN - 1)))) {
		size_t head = chunk_head(chunk_of(ptr));
		struct cached *block = ptr;

		return likely(head < CACHE_MAX + MALLOC_ALIGN) &&
		       likely(head & IN_USE) && size + OVERHEAD <= head &&
		       likely(block->key != cache_secret) &&
		       likely(cache_push(
			       cache_current, (unsigned)(head / 16), block));
	}
	return false;
}

static void plain_free(void *ptr)
{
	if (unlikely(!push_block(ptr, 0))) {
		dl_free(&plain, ptr, 0, "free");
	}
}

static void plain_free_sized(void *ptr, size_t size)
{
	if (unlikely(!push_block(ptr, size))) {
		dl_free(&plain, ptr, size, "free_sized");
	}
}

static void *plain_calloc(size_t count, size_t size)
{
	size *= count;
	if (likely(size <= CACHE_MAX - OVERHEAD)) {
		void *block = cache_pop(cache_current, bin_for_size(size));

		if (likely(block)) {
			return __builtin_memset(block, 0, size);
		}
	}
	return dl_calloc(&plain, size);
}

/* Small blocks that must move do so through the cache. */
static void *plain_realloc(void *ptr, size_t size)
{
	if (space_in_heaps(&plain.space, ptr) &&
		!((uintptr_t)ptr & (MALLOC_ALIGN - 1))) {
		size_t head = chunk_head(chunk_of(ptr));
		size_t have = head & ~FLAGS;

		if (head & IN_USE && have >= MIN_CHUNK && have <= CACHE_MAX &&
			size <= CACHE_MAX &&
			((struct cached *)ptr)->key != cache_secret &&
			chunk_size_for(size, OVERHEAD) == have) {
			return ptr;
		}
	}
	return dl_realloc(&plain, ptr, size);
}

static void free_plain_chunks(struct chunk **chunks, unsigned count)
{
	dl_free_chunks(&plain, chunks, count);
}

static int plain_init(const struct amux_host *host)
{
	int err = dl_init(&plain, host, false);

	if (!err && plain.cached) {
		err = caches_init(free_plain_chunks, plain.secret);
	}
	return err;
}

static int checked_init(const struct amux_host *host)
{
	return dl_init(&checked, host, true);
}

static void *checked_malloc(size_t size)
{
	return dl_malloc(&checked, size);
}

static void checked_free(void *ptr)
{
	dl_free(&checked, ptr, 0, "free");
}

static void checked_free_sized(void *ptr, size_t size)
{
	dl_free(&checked, ptr, size, "free_sized");
}

static void *checked_calloc(size_t count, size_t size)
{
	return dl_calloc(&checked, count * size);
}

static void *checked_realloc(void *ptr, size_t size)
{
	return dl_realloc(&checked, ptr, size);
}

/* The slots that differ in nothing but the instance. */
#define SLOTS(instance)                                                        \
	static void *instance##_memalign(size_t align, size_t size)            \
	{                                                                      \
		return dl_memalign(&(instance), align, size);                  \
	}                                                                      \
	static size_t instance##_usable_size(void *ptr)                        \
	{                                                                      \
		return dl_usable_size(&(instance), ptr);                       \
	}                                                                      \
	static int instance##_trim(size_t pad)                                 \
	{                                                                      \
		return dl_trim(&(instance), pad);                              \
	}                                                                      \
	static void instance##_stats(struct amux_stats *stats)                 \
	{                                                                      \
		dl_stats(&(instance), stats);                                  \
	}                                                                      \
	static int instance##_option(int param, int value)                     \
	{                                                                      \
		return dl_option(&(instance), param, value);                   \
	}                                                                      \
	static int instance##_walk(amux_walk_fn *visit, void *arg)             \
	{                                                                      \
		return dl_walk(&(instance), visit, arg);                       \
	}                                                                      \
	static void instance##_prefork(void)                                   \
	{                                                                      \
		dl_prefork(&(instance));                                       \
	}                                                                      \
	static void instance##_postfork_parent(void)                           \
	{                                                                      \
		dl_postfork(&(instance), false);                               \
	}                                                                      \
	static void instance##_postfork_child(void)                            \
	{                                                                      \
		dl_postfork(&(instance), true);                                \
	}                                                                      \
	static void *instance##_heap_create(void *memory, size_t size)         \
	{                                                                      \
		return dl_heap_create(&(instance), memory, size);              \
	}                                                                      \
	static void instance##_heap_destroy(void *heap)                        \
	{                                                                      \
		dl_heap_destroy(&(instance), heap);                            \
	}                                                                      \
	static void *instance##_heap_malloc(void *heap, size_t size)           \
	{                                                                      \
		return dl_heap_malloc(&(instance), heap, size);                \
	}                                                                      \
	static void *instance##_heap_memalign(                                 \
		void *heap, size_t align, size_t size)                         \
	{                                                                      \
		return dl_heap_memalign(&(instance), heap, align, size);       \
	}                                                                      \
	static void *instance##_heap_realloc(                                  \
		void *heap, void *ptr, size_t size)                            \
	{                                                                      \
		return dl_heap_realloc(&(instance), heap, ptr, size);          \
	}                                                                      \
	static void instance##_heap_free(void *heap, void *ptr)                \
	{                                                                      \
		dl_heap_free(&(instance), heap, ptr);                          \
	}                                                                      \
	static int instance##_check(void)                                      \
	{                                                                      \
		return dl_check(&(instance));                                  \
	}

#define TABLE(instance)                                                        \
	.abi = AMUX_BACKEND_ABI, .size = sizeof(struct amux_backend),          \
	.version = "1", .caps = AMUX_CAP_ANY_POINTER, .init = instance##_init, \
	.malloc = instance##_malloc, .free = instance##_free,                  \
	.calloc = instance##_calloc, .realloc = instance##_realloc,            \
	.memalign = instance##_memalign,                                       \
	.usable_size = instance##_usable_size,                                 \
	.free_sized = instance##_free_sized, .trim = instance##_trim,          \
	.stats = instance##_stats, .option = instance##_option,                \
	.walk = instance##_walk, .prefork = instance##_prefork,                \
	.postfork_parent = instance##_postfork_parent,                         \
	.postfork_child = instance##_postfork_child,                           \
	.heap_create = instance##_heap_create,                                 \
	.heap_destroy = instance##_heap_destroy,                               \
	.heap_malloc = instance##_heap_malloc,                                 \
	.heap_memalign = instance##_heap_memalign,                             \
	.heap_realloc = instance##_heap_realloc,                               \
	.heap_free = instance##_heap_free, .check = instance##_check

SLOTS(plain)
SLOTS(checked)

const struct amux_backend amux_dl_backend = {
	.name = "dl",
	.summary = "boundary tags, best fit: the smallest memory",
	TABLE(plain),
};

const struct amux_backend amux_dl_checked_backend = {
	.name = "dl-checked",
	.summary = "dl with a secret footer behind every block, verified",
	TABLE(checked),
};
