/* SPDX-License-Identifier: MIT */
/*
 * dl_heap.h - one heap: segments of memory cut into chunks.
 *
 * A heap allocates, in this order, from: the exact small bin; the designated
 * victim (the last remainder, so that blocks born together lie together); the
 * smallest free chunk that fits; the top, which is the never-used end of the
 * newest segment; a longer top; a new segment.
 *
 * Locks: every function wants the heap's lock held, by heap_enter() or because
 * the process has one thread. Rank LOCK_RANK_HEAP; growing takes the space's
 * lock below it.
 * Not here: which heap (dl.c), direct blocks (dl_direct.h), thread caches
 * (dl_cache.h).
 */
#ifndef AMUX_BACKENDS_DL_DL_HEAP_H
#define AMUX_BACKENDS_DL_DL_HEAP_H

#include "dl_bins.h"
#include "lock.h"

struct space;

/*
 * False while the process has certainly one thread. glibc 2.32 and later keep
 * it; weak, since a child with another C library inherits the preload.
 */
extern char __libc_single_threaded __attribute__((weak));

static inline bool has_threads(void)
{
	return !&__libc_single_threaded || !__libc_single_threaded;
}

/* Contiguous memory of a heap: [base, base + committed) may be touched. */
struct segment {
	char *base;
	size_t committed;
	size_t reserved;
	struct segment *next; /* the older one */
};

enum heap_kind {
	HEAP_SHARED,  /* one of the backend's own */
	HEAP_PRIVATE, /* heap_create(NULL): grows; the heap lies inside it */
	HEAP_CALLER   /* heap_create(memory): never grows */
};

struct heap {
	struct lock lock;
	_Atomic bool ready;   /* sync: atomic; heap_init() is done */
	uint8_t kind;         /* sync: constant */
	uint8_t overhead;     /* sync: constant; OVERHEAD or _CHECKED */
	size_t top_size;      /* sync: lock, like all below */
	struct chunk *top;    /* NULL before the first growth */
	struct chunk *victim; /* designated victim or NULL */
	size_t victim_size;
	size_t victim_dirty;
	char *fresh;            /* from here to the end the top reads as zero */
	struct chunk *top_high; /* highest top since the last epoch */
	char *zero_from;        /* of the last block: known to read as zero */
	char *zero_to;
	size_t used;     /* bytes of chunks in use */
	size_t blocks;   /* their number */
	size_t returned; /* bytes given back so far */
	struct bins bins;
	struct segment first;
	struct segment *segments;  /* newest first; the newest has the top */
	size_t page;               /* sync: constant */
	size_t top_pad;            /* commit this much more than needed */
	size_t trim_threshold;     /* trim a longer top at once */
	uint64_t secret;           /* footers; differs from heap to heap */
	struct space *space;       /* NULL for HEAP_CALLER */
	struct heap *next_private; /* sync: space lock */
};

/* Default of the option top-pad. */
#define TOP_PAD ((size_t)128 << 10)

/* What is missing at the end of a segment for a last chunk's neighbour. */
#define SENTINEL ((size_t)16)
/* A top is never shorter: it may have to become a chunk and a sentinel. */
#define TOP_MIN (MIN_CHUNK + SENTINEL)

/* heap is zeroed, but for its lock, which may be held. */
void heap_init(struct heap *heap, enum heap_kind kind, struct space *space,
	size_t overhead, uint64_t secret);
/* The first segment; of committed bytes, usable at once, no page is zero. */
void heap_set_first_segment(
	struct heap *heap, char *base, size_t committed, size_t reserved);

/* need is a chunk size. NULL if memory is exhausted. */
struct chunk *heap_allocate(struct heap *heap, size_t need);
struct chunk *heap_allocate_aligned(
	struct heap *heap, size_t align, size_t need);
void heap_free(struct heap *heap, struct chunk *chunk);
/* Grow or shrink in place; false if that is not possible. */
bool heap_resize(struct heap *heap, struct chunk *chunk, size_t need);

/*
 * Is chunk a valid chunk in use of this heap? NULL if so, else the fault in
 * words. Reads the chunk and its neighbours, never outside the heap.
 */
const char *heap_fault_slow(const struct heap *heap, const struct chunk *chunk);
static inline const char *heap_fault(
	const struct heap *heap, const struct chunk *chunk);

/*
 * The quick form of heap_fault() for blocks of the newest segment without
 * footers: false means "ask heap_fault()".
 */
static inline bool heap_is_plainly_sound(
	const struct heap *heap, const struct chunk *chunk)
{
	const char *base = heap->segments->base;
	size_t offset = (size_t)((const char *)chunk - base);
	size_t end = (size_t)((const char *)heap->top - base);
	size_t head, size;

	if ((const char *)chunk < base || chunk >= heap->top ||
		(uintptr_t)chunk & (MALLOC_ALIGN - 1) ||
		heap->overhead != OVERHEAD) {
		return false;
	}
	head = chunk_head(chunk);
	size = head & ~FLAGS;
	if ((head & (IN_USE | DIRECT)) != IN_USE || size < MIN_CHUNK ||
		size > end - offset) {
		return false;
	}
	if (!(head & PREV_IN_USE)) {
		size_t before = chunk->prev_size;

		if (before & FLAGS || before > offset ||
			chunk_head((const struct chunk *)((const char *)chunk -
							  before)) !=
				(before | PREV_IN_USE)) {
			return false;
		}
	}
	return chunk_head((const struct chunk *)((const char *)chunk + size)) &
	       PREV_IN_USE;
}

static inline const char *heap_fault(
	const struct heap *heap, const struct chunk *chunk)
{
	return likely(heap_is_plainly_sound(heap, chunk))
		       ? NULL
		       : heap_fault_slow(heap, chunk);
}

/* The segment that addr lies in, or NULL. */
const struct segment *heap_segment(const struct heap *heap, const void *addr);

/* dl_grow.c: make the top at least need + TOP_MIN bytes. */
bool heap_grow(struct heap *heap, size_t need);

/*
 * dl_purge.c: give pages back. heap_trim() everything it can, keeping pad
 * bytes of top; heap_purge_idle() what was not needed since it was last
 * called. Both return the number of bytes.
 */
size_t heap_trim(struct heap *heap, size_t pad);
size_t heap_purge_idle(struct heap *heap);
void heap_purge_top(struct heap *heap, size_t keep);
void heap_purge_chunk(struct heap *heap, struct tree_chunk *t);

/* dl_verify.c: all invariants; returns NULL or what does not hold. */
const char *heap_verify(const struct heap *heap);
/* Every chunk in use, in address order; stops when visit is non-zero. */
int heap_for_each(const struct heap *heap,
	int (*visit)(struct chunk *chunk, void *arg), void *arg);

/*
 * Take the lock, unless no other thread exists. Returns what heap_leave()
 * wants back. A thread cannot start while this one is between the two.
 *
 * The memory of a caller may be shared between processes: there waiting is by
 * yielding, since the futex of lock.h is private to a process.
 */
void heap_enter_shared(struct heap *heap);

static inline bool heap_enter(struct heap *heap)
{
	if (heap->kind == HEAP_CALLER) {
		heap_enter_shared(heap);
		return true;
	}
	if (!has_threads()) {
		return false;
	}
	lock_acquire(&heap->lock);
	return true;
}

static inline void heap_leave(struct heap *heap, bool locked)
{
	if (locked) {
		lock_release(&heap->lock);
	}
}

/* Bytes of the block that the program may use. */
static inline size_t heap_usable(
	const struct heap *heap, const struct chunk *chunk)
{
	return chunk_size(chunk) - heap->overhead;
}

static inline void heap_set_victim(
	struct heap *heap, struct chunk *chunk, size_t size, size_t dirty)
{
	heap->victim = chunk;
	heap->victim_size = size;
	heap->victim_dirty = dirty;
}

/* The victim becomes an ordinary free chunk. */
static inline void heap_retire_victim(struct heap *heap)
{
	if (heap->victim) {
		bins_insert(&heap->bins, heap->victim, heap->victim_size,
			heap->victim_dirty);
		heap_set_victim(heap, NULL, 0, 0);
	}
}

static inline size_t heap_top_dirty(const struct heap *heap)
{
	char *top = (char *)heap->top;

	return heap->fresh > top ? (size_t)(heap->fresh - top) : 0;
}

/*
 * The footer of dl-checked: the last 8 bytes of a chunk in use, which are the
 * next chunk's prev_size. It depends on the place and the size, so that a
 * copied footer is as wrong as an overwritten one.
 */
static inline size_t footer_value(
	const struct heap *heap, const struct chunk *chunk, size_t size)
{
	return (heap->secret ^ (uintptr_t)chunk) * 0x9e3779b97f4a7c15u + size;
}

static inline void footer_set(
	struct heap *heap, struct chunk *chunk, size_t size)
{
	if (heap->overhead == OVERHEAD_CHECKED) {
		chunk_at(chunk, size)->prev_size =
			footer_value(heap, chunk, size);
	}
}

#endif
