/* SPDX-License-Identifier: MIT */
/*
 * dl_grow.c - more memory for a heap: a longer top, or a new segment.
 *
 * Pages are made accessible in steps that grow with the heap, so that the
 * number of system calls is logarithmic; they cost no memory before they are
 * touched. Without room for a step, exactly what is needed is tried.
 */
#include "dl_heap.h"
#include "dl_space.h"
#include "os.h"

/* Largest step beyond what is needed. */
#define STEP_MAX ((size_t)4 << 20)

/* The top of a segment that gets a successor becomes an ordinary chunk. */
static void retire_top(struct heap *heap)
{
	struct chunk *top = heap->top;
	size_t size = heap->top_size;
	size_t dirty = heap_top_dirty(heap);

	if (!size) {
		return;
	}
	size -= SENTINEL;
	chunk_set_head(chunk_at(top, size), IN_USE);
	chunk_set_head(top, size | PREV_IN_USE);
	chunk_at(top, size)->prev_size = size;
	bins_insert(&heap->bins, top, size, dirty < size ? dirty : size);
	heap->top = NULL;
	heap->top_size = 0;
}

static void start_top(struct heap *heap, struct segment *segment)
{
	heap->top = heap->top_high = (struct chunk *)segment->base;
	heap->top_size = segment->committed;
	heap->fresh = segment->base + CHUNK_HEADER;
	chunk_set_head(heap->top, heap->top_size | PREV_IN_USE);
}

/* Commit more bytes (whole pages) behind the top of the newest segment. */
static bool commit(struct heap *heap, size_t more)
{
	struct segment *s = heap->segments;

	if (more > s->reserved - s->committed ||
		os_commit(s->base + s->committed, more)) {
		return false;
	}
	s->committed += more;
	if (!heap->top) {
		start_top(heap, s);
		return true;
	}
	heap->top_size += more;
	chunk_set_head(heap->top, heap->top_size | PREV_IN_USE);
	return true;
}

static bool extend_top(struct heap *heap, size_t missing)
{
	size_t step = heap->segments->committed / 8;
	size_t padded;

	step = step < STEP_MAX ? step : STEP_MAX;
	step = step > heap->top_pad ? step : heap->top_pad;
	missing = round_up(missing, heap->page);
	if (!add_overflows(missing, round_up(step, heap->page), &padded) &&
		commit(heap, padded)) {
		return true;
	}
	return commit(heap, missing);
}

static bool add_segment(struct heap *heap, size_t need)
{
	size_t header = round_up(sizeof(struct segment), MALLOC_ALIGN);
	size_t reserved = need + TOP_MIN + header;
	struct segment *s;

	s = space_reserve(heap->space, &reserved, heap);
	if (!s) {
		return false;
	}

	size_t first = round_up(need + TOP_MIN + header, heap->page);

	if (os_commit(s, first)) {
		space_release(heap->space, s, reserved);
		return false;
	}
	retire_top(heap);
	s->base = (char *)s + header;
	s->committed = first - header;
	s->reserved = reserved - header;
	s->next = heap->segments;
	heap->segments = s;
	start_top(heap, s);
	return true;
}

bool heap_grow(struct heap *heap, size_t need)
{
	if (heap->kind == HEAP_CALLER) {
		return false;
	}
	if (heap->segments &&
		extend_top(heap, need + TOP_MIN - heap->top_size)) {
		return true;
	}
	return add_segment(heap, need);
}
