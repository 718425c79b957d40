/* SPDX-License-Identifier: MIT */
/*
 * dl_purge.c - give memory back: pages of the top, inner pages of large free
 * chunks, whole segments.
 *
 * A page fault costs more than most allocations, so what is about to be used
 * again should stay. The heap keeps the low-water mark of its free resident
 * bytes over an epoch (a quarter of a second or more, see dl.c): what was free
 * all the time was not needed, and that much is given back. A steady program
 * thus never faults twice for a page, and an idle one shrinks to its blocks.
 *
 * Pages go by MADV_DONTNEED: they stay accessible and read as zero. The call
 * failing means only that the memory is kept.
 * Locks: the heap's, held by the caller.
 */
#include "dl_heap.h"
#include "dl_space.h"
#include "os.h"

/* Give back the whole pages inside [from, to); the bytes that went. */
static size_t purge_pages(struct heap *heap, char *from, char *to)
{
	uintptr_t start = round_up((uintptr_t)from, heap->page);
	uintptr_t end = round_down((uintptr_t)to, heap->page);

	/* A caller's memory may be a file or shared: never ours to drop. */
	if (heap->kind == HEAP_CALLER || start >= end ||
		os_purge((void *)start, end - start)) {
		return 0;
	}
	heap->returned += end - start;
	return end - start;
}

/* The end of the top from the first whole page after from on. */
static size_t purge_top_from(struct heap *heap, char *from)
{
	char *header = block_of(heap->top);
	char *fresh = heap->fresh;
	size_t size;

	from = from > header ? from : header;
	if (from >= fresh) {
		return 0;
	}
	/* The last page was touched in part: it goes whole. */
	size = purge_pages(
		heap, from, (char *)round_up((uintptr_t)fresh, heap->page));
	if (size) {
		heap->fresh = (char *)round_up((uintptr_t)from, heap->page);
		size = size < (size_t)(fresh - from) ? size
						     : (size_t)(fresh - from);
	}
	return size;
}

void heap_purge_top(struct heap *heap, size_t keep)
{
	if (keep < heap->top_size) {
		purge_top_from(heap, (char *)heap->top + keep);
	}
}

void heap_purge_chunk(struct heap *heap, struct tree_chunk *t)
{
	size_t size = chunk_size(&t->chunk);
	struct bins *bins = &heap->bins;

	if (!t->dirty ||
		!purge_pages(heap, (char *)(t + 1), (char *)t + size)) {
		return;
	}
	if (size >= PURGE_MIN) {
		bins->dirty -= t->dirty;
		if (bins->dirty < bins->dirty_low) {
			bins->dirty_low = bins->dirty;
		}
	}
	t->dirty = 0;
}

struct purge {
	struct heap *heap;
	size_t wanted; /* bytes still to give back */
	size_t min;    /* leave smaller chunks alone */
};

static bool purge_one(struct tree_chunk *t, void *arg)
{
	struct purge *p = arg;

	if (chunk_size(&t->chunk) >= p->min && t->dirty) {
		size_t dirty = t->dirty;

		heap_purge_chunk(p->heap, t);
		p->wanted -= dirty < p->wanted ? dirty : p->wanted;
	}
	return p->wanted > 0;
}

/* Is all of an older segment one free chunk? */
static bool segment_is_empty(const struct segment *s)
{
	size_t size = s->committed - SENTINEL;

	return chunk_head((const struct chunk *)s->base) ==
	       (size | PREV_IN_USE);
}

static void release_segments(struct heap *heap)
{
	struct segment **link = &heap->segments;

	if (!*link) {
		return;
	}
	for (link = &(*link)->next; *link;) {
		struct segment *s = *link;
		struct chunk *chunk = (struct chunk *)s->base;

		if (s == &heap->first || !segment_is_empty(s)) {
			link = &s->next;
			continue;
		}
		if (chunk == heap->victim) {
			heap_set_victim(heap, NULL, 0, 0);
		} else {
			bins_remove(&heap->bins, chunk, chunk_size(chunk));
		}
		*link = s->next;
		heap->returned += s->committed;
		space_release(heap->space, s,
			s->reserved + (size_t)(s->base - (char *)s));
	}
}

static bool can_purge(const struct heap *heap)
{
	/* A caller's memory may be a file or shared: never ours to drop. */
	return heap->kind != HEAP_CALLER && heap->top;
}

size_t heap_trim(struct heap *heap, size_t pad)
{
	struct purge p = {heap, SIZE_MAX, heap->page};
	size_t before = heap->returned;

	if (!can_purge(heap)) {
		return 0;
	}
	heap_retire_victim(heap);
	release_segments(heap);
	tree_for_each(&heap->bins, purge_one, &p);
	heap_purge_top(heap, pad);
	return heap->returned - before;
}

size_t heap_purge_idle(struct heap *heap)
{
	struct purge p = {heap, heap->bins.dirty_low, PURGE_MIN};
	size_t before = heap->returned;

	if (!can_purge(heap)) {
		return 0;
	}
	release_segments(heap);
	/* What the top did not reach, beyond a pad that costs no fault. */
	purge_top_from(heap, (char *)heap->top_high + heap->top_pad);
	if (p.wanted) {
		tree_for_each(&heap->bins, purge_one, &p);
	}
	heap->top_high = heap->top;
	heap->bins.dirty_low = heap->bins.dirty;
	return heap->returned - before;
}
