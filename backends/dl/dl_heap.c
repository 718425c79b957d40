/* SPDX-License-Identifier: MIT */
/*
 * dl_heap.c - allocate, free and resize chunks of one heap.
 *
 * Invariants (verified by dl_verify.c):
 *   - every byte of a segment belongs to exactly one chunk, the top or the
 *     sentinel behind an older segment's last chunk;
 *   - a free chunk is the top, the designated victim, or in its bin;
 *   - neighbours of free chunks are in use: merging is immediate.
 */
#include "dl_heap.h"

#include "os.h"
#include "syscall.h"

/* One free of this much gives the pages back at once. */
#define PURGE_AT_ONCE ((size_t)32 << 20)

void heap_init(struct heap *heap, enum heap_kind kind, struct space *space,
	size_t overhead, uint64_t secret)
{
	heap->lock.rank = LOCK_RANK_HEAP;
	bins_init(&heap->bins);
	heap->kind = (uint8_t)kind;
	heap->overhead = (uint8_t)overhead;
	heap->space = space;
	heap->secret = secret ^ (uintptr_t)heap;
	heap->trim_threshold = SIZE_MAX;
	heap->top_pad = TOP_PAD;
	heap->page = os_page_size();
}

void heap_set_first_segment(
	struct heap *heap, char *base, size_t committed, size_t reserved)
{
	heap->first = (struct segment){base, committed, reserved, NULL};
	heap->segments = &heap->first;
	if (committed) {
		heap->top = heap->top_high = (struct chunk *)base;
		heap->top_size = committed;
		chunk_set_head(heap->top, committed | PREV_IN_USE);
		heap->fresh = base + committed;
	}
}

void heap_enter_shared(struct heap *heap)
{
	while (!lock_try_acquire(&heap->lock)) {
		sys0(SYS_sched_yield);
	}
}

/* chunk of size, of which the one before is in use, is free from now on. */
static void mark_free(struct chunk *chunk, size_t size)
{
	struct chunk *after = chunk_at(chunk, size);

	chunk_set_head(chunk, size | PREV_IN_USE);
	after->prev_size = size;
	chunk_clear_flag(after, PREV_IN_USE);
}

/*
 * The free chunk of size, out of its bin and with the one before in use,
 * becomes a chunk in use of need bytes. What is over becomes a free chunk of
 * its own: the new victim if keep_victim is false, else it goes to its bin.
 */
static struct chunk *carve(struct heap *heap, struct chunk *chunk, size_t size,
	size_t need, size_t dirty, bool keep_victim)
{
	size_t rest = size - need;

	if (rest < MIN_CHUNK) {
		chunk_set_head(chunk, size | PREV_IN_USE | IN_USE);
		chunk_set_flag(chunk_at(chunk, size), PREV_IN_USE);
		heap->used += size;
		return chunk;
	}

	struct chunk *remainder = chunk_at(chunk, need);

	chunk_set_head(chunk, need | PREV_IN_USE | IN_USE);
	chunk_set_head(remainder, rest | PREV_IN_USE);
	chunk_at(remainder, rest)->prev_size = rest;
	heap->used += need;
	dirty = dirty < rest ? dirty : rest;
	if (keep_victim) {
		bins_insert(&heap->bins, remainder, rest, dirty);
	} else {
		heap_retire_victim(heap);
		heap_set_victim(heap, remainder, rest, dirty);
	}
	return chunk;
}

static struct chunk *allocate_from_small(
	struct heap *heap, unsigned i, size_t need)
{
	struct chunk *chunk = heap->bins.small[i].next;

	AMUX_CHECK(chunk_head(chunk) == (i * 16 | PREV_IN_USE));
	small_remove(&heap->bins, chunk, i);
	return carve(heap, chunk, i * 16, need, SIZE_MAX, false);
}

static struct chunk *allocate_from_tree(
	struct heap *heap, struct tree_chunk *t, size_t need, bool keep_victim)
{
	size_t size = chunk_size(&t->chunk);
	char *end = (char *)&t->chunk + size;

	tree_remove(&heap->bins, t);
	if (t->dirty == 0) {
		/* Inner pages read as zero; see heap_purge_chunk(). */
		heap->zero_from =
			(char *)round_up((uintptr_t)(t + 1), heap->page);
		heap->zero_to = (char *)round_down((uintptr_t)end, heap->page);
	}
	return carve(heap, &t->chunk, size, need, t->dirty, keep_victim);
}

static struct chunk *allocate_from_victim(struct heap *heap, size_t need)
{
	struct chunk *victim = heap->victim;
	size_t size = heap->victim_size;
	size_t dirty = heap->victim_dirty;

	heap_set_victim(heap, NULL, 0, 0);
	return carve(heap, victim, size, need, dirty, false);
}

/* The top is shorter from now on: it begins at top. */
static inline void top_begin(struct heap *heap, struct chunk *top)
{
	heap->top_size -= (size_t)((char *)top - (char *)heap->top);
	heap->top = top;
	chunk_set_head(top, heap->top_size | PREV_IN_USE);
	if (top > heap->top_high) {
		heap->top_high = top;
	}
	if ((char *)block_of(top) > heap->fresh) {
		heap->fresh = block_of(top);
	}
}

static struct chunk *allocate_from_top(struct heap *heap, size_t need)
{
	struct chunk *chunk = heap->top;
	char *fresh = heap->fresh;

	top_begin(heap, chunk_at(chunk, need));
	heap->used += need;
	chunk_set_head(chunk, need | PREV_IN_USE | IN_USE);
	if (heap->fresh > fresh) {
		heap->zero_from = fresh;
		heap->zero_to = (char *)heap->top;
	}
	return chunk;
}

static struct chunk *allocate_chunk(struct heap *heap, size_t need)
{
	struct bins *bins = &heap->bins;
	struct tree_chunk *t;

	if (need < SMALL_LIMIT) {
		unsigned i = (unsigned)(need / 16);
		uint64_t map = bins->small_map >> i;

		/* Exact, or one step more, which leaves no remainder. */
		if (map & 3) {
			return allocate_from_small(heap, i + !(map & 1), need);
		}
		if (need <= heap->victim_size) {
			return allocate_from_victim(heap, need);
		}
		if (map) {
			i += (unsigned)__builtin_ctzll(map);
			return allocate_from_small(heap, i, need);
		}
		t = tree_best_fit(bins, need);
		if (t) {
			return allocate_from_tree(heap, t, need, false);
		}
	} else {
		t = tree_best_fit(bins, need);
		if (need <= heap->victim_size &&
			(!t || heap->victim_size <= chunk_size(&t->chunk))) {
			return allocate_from_victim(heap, need);
		}
		if (t) {
			return allocate_from_tree(heap, t, need, true);
		}
	}
	/* The sum cannot overflow: dl.c bounds sizes by MAX_OBJECT. */
	if (need + TOP_MIN > heap->top_size && !heap_grow(heap, need)) {
		return NULL;
	}
	return allocate_from_top(heap, need);
}

struct chunk *heap_allocate(struct heap *heap, size_t need)
{
	struct chunk *chunk;

	heap->zero_from = heap->zero_to = NULL;
	chunk = allocate_chunk(heap, need);
	if (chunk) {
		heap->blocks++;
		footer_set(heap, chunk, chunk_size(chunk));
	}
	return chunk;
}

/*
 * The free memory of size bytes at chunk, in no bin and with the chunk before
 * in use, joins what is free around it.
 */
static void release(struct heap *heap, struct chunk *chunk, size_t size)
{
	size_t head = chunk_head(chunk);
	struct chunk *after = chunk_at(chunk, size);
	size_t total = size;
	size_t dirty = size;
	bool is_victim = false;

	if (!(head & PREV_IN_USE)) {
		size_t before = chunk->prev_size;
		struct chunk *lead = chunk_before(chunk, before);

		if (lead == heap->victim) {
			is_victim = true;
			dirty += heap->victim_dirty;
		} else {
			dirty += bins_remove(&heap->bins, lead, before);
		}
		chunk_set_head(chunk, 0);
		chunk = lead;
		total += before;
	}
	if (after == heap->top) {
		if (is_victim) {
			heap_set_victim(heap, NULL, 0, 0);
		}
		chunk_set_head(after, 0);
		heap->top = chunk;
		heap->top_size += total;
		chunk_set_head(chunk, heap->top_size | PREV_IN_USE);
		if (size >= PURGE_AT_ONCE ||
			heap->top_size > heap->trim_threshold) {
			heap_purge_top(heap, heap->top_pad);
		}
		return;
	}
	head = chunk_head(after);
	if (!(head & IN_USE)) {
		size_t more = head & ~FLAGS;

		if (after == heap->victim) {
			is_victim = true;
			dirty += heap->victim_dirty;
		} else {
			dirty += bins_remove(&heap->bins, after, more);
		}
		chunk_set_head(after, 0);
		total += more;
	}
	mark_free(chunk, total);
	if (is_victim && total < PURGE_MIN) {
		heap_set_victim(heap, chunk, total, dirty);
		return;
	}
	if (is_victim) {
		heap_set_victim(heap, NULL, 0, 0);
	}
	bins_insert(&heap->bins, chunk, total, dirty);
	if (size >= PURGE_AT_ONCE) {
		heap_purge_chunk(heap, tree_of(chunk));
	}
}

void heap_free(struct heap *heap, struct chunk *chunk)
{
	size_t size = chunk_size(chunk);

	heap->used -= size;
	heap->blocks--;
	release(heap, chunk, size);
}

/* Cut the end off a chunk in use, if it is worth a chunk. */
static void shrink(struct heap *heap, struct chunk *chunk, size_t need)
{
	size_t rest = chunk_size(chunk) - need;
	struct chunk *tail = chunk_at(chunk, need);

	if (rest < MIN_CHUNK) {
		return;
	}
	heap->used -= rest;
	chunk_set_head(chunk, need | (chunk_head(chunk) & FLAGS));
	chunk_set_head(tail, rest | PREV_IN_USE | IN_USE);
	release(heap, tail, rest);
}

static bool grow_in_place(struct heap *heap, struct chunk *chunk, size_t need)
{
	size_t size = chunk_size(chunk);
	struct chunk *after = chunk_at(chunk, size);
	size_t flags = chunk_head(chunk) & FLAGS;

	if (after == heap->top) {
		if (need - size + TOP_MIN > heap->top_size) {
			/* A new segment would not be next to chunk. */
			if (!heap_grow(heap, need - size) ||
				after != heap->top) {
				return false;
			}
		}
		heap->used += need - size;
		top_begin(heap, chunk_at(chunk, need));
		chunk_set_head(after, 0);
		chunk_set_head(chunk, need | flags);
		return true;
	}
	if (chunk_head(after) & IN_USE) {
		return false;
	}

	size_t more = chunk_size(after);
	size_t dirty;

	if (size + more < need) {
		return false;
	}
	if (after == heap->victim) {
		dirty = heap->victim_dirty;
		heap_set_victim(heap, NULL, 0, 0);
	} else {
		dirty = bins_remove(&heap->bins, after, more);
	}
	size_t rest = size + more - need;

	if (rest < MIN_CHUNK) {
		chunk_set_head(after, 0);
		chunk_set_head(chunk, (size + more) | flags);
		chunk_set_flag(chunk_at(chunk, size + more), PREV_IN_USE);
		heap->used += more;
		return true;
	}

	struct chunk *remainder = chunk_at(chunk, need);

	chunk_set_head(after, 0);
	chunk_set_head(chunk, need | flags);
	chunk_set_head(remainder, rest | PREV_IN_USE);
	chunk_at(remainder, rest)->prev_size = rest;
	heap->used += need - size;
	bins_insert(&heap->bins, remainder, rest, dirty < rest ? dirty : rest);
	return true;
}

bool heap_resize(struct heap *heap, struct chunk *chunk, size_t need)
{
	if (need <= chunk_size(chunk)) {
		shrink(heap, chunk, need);
	} else if (!grow_in_place(heap, chunk, need)) {
		return false;
	}
	footer_set(heap, chunk, chunk_size(chunk));
	return true;
}

struct chunk *heap_allocate_aligned(
	struct heap *heap, size_t align, size_t need)
{
	/* Room to cut a whole chunk off in front of the aligned place. */
	struct chunk *chunk = heap_allocate(heap, need + align + MIN_CHUNK);

	if (!chunk) {
		return NULL;
	}

	uintptr_t block = (uintptr_t)block_of(chunk);

	if (block & (align - 1)) {
		uintptr_t place = round_up(block, align);

		if (place - block < MIN_CHUNK) {
			place += align;
		}

		size_t lead = place - block;
		size_t size = chunk_size(chunk);
		struct chunk *aligned = chunk_at(chunk, lead);

		chunk_set_head(aligned, (size - lead) | PREV_IN_USE | IN_USE);
		chunk_set_head(chunk, lead | (chunk_head(chunk) & FLAGS));
		heap->used -= lead;
		release(heap, chunk, lead);
		chunk = aligned;
	}
	shrink(heap, chunk, need);
	footer_set(heap, chunk, chunk_size(chunk));
	return chunk;
}

const struct segment *heap_segment(const struct heap *heap, const void *addr)
{
	for (const struct segment *s = heap->segments; s; s = s->next) {
		if ((size_t)((const char *)addr - s->base) < s->committed) {
			return s;
		}
	}
	return NULL;
}

const char *heap_fault_slow(const struct heap *heap, const struct chunk *chunk)
{
	const struct segment *s = heap_segment(heap, chunk);

	if ((uintptr_t)chunk & (MALLOC_ALIGN - 1)) {
		return "misaligned pointer";
	}
	if (!s) {
		return "not a block of this heap";
	}

	const char *end = s->base + s->committed - SENTINEL;
	size_t head = chunk_head(chunk);
	size_t size = head & ~FLAGS;

	if (s == heap->segments) {
		end = (const char *)heap->top;
	}
	if (!(head & IN_USE) || (const char *)chunk >= end) {
		return "double free or not a block";
	}
	if (size < MIN_CHUNK || head & DIRECT ||
		size > (size_t)(end - (const char *)chunk)) {
		return "corrupted block header";
	}

	const struct chunk *after =
		(const struct chunk *)((const char *)chunk + size);

	if (!(chunk_head(after) & PREV_IN_USE)) {
		return "corrupted block header";
	}
	if (!(head & PREV_IN_USE)) {
		size_t before = chunk->prev_size;
		const struct chunk *lead =
			(const struct chunk *)((const char *)chunk - before);

		if (before & FLAGS ||
			before > (size_t)((const char *)chunk - s->base) ||
			chunk_head(lead) != (before | PREV_IN_USE)) {
			return "corrupted block header";
		}
	}
	if (heap->overhead == OVERHEAD_CHECKED &&
		after->prev_size != footer_value(heap, chunk, size)) {
		return "written past the end of the block";
	}
	return NULL;
}
