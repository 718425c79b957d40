/* SPDX-License-Identifier: MIT */
/*
 * dl_verify.c - walk a heap and prove that it is whole.
 *
 * The memory is walked chunk by chunk, and the bins node by node; both must
 * agree on the number and the bytes of free chunks. Nothing is written.
 * Locks: the heap's, held by the caller.
 */
#include "dl_heap.h"

/* What the walk over the memory found. */
struct tally {
	size_t free_chunks, free_bytes;
	size_t used_chunks, used_bytes;
	size_t dirty; /* of tree chunks that count */
};

/* The end of a segment's chunks: the top, or the sentinel. */
static const struct chunk *segment_end(
	const struct heap *heap, const struct segment *s)
{
	if (s == heap->segments) {
		return heap->top;
	}
	return (const struct chunk *)(s->base + s->committed - SENTINEL);
}

static const struct chunk *chunk_next(const struct chunk *chunk)
{
	return (const struct chunk *)((const char *)chunk + chunk_size(chunk));
}

static const char *verify_segment(
	const struct heap *heap, const struct segment *s, struct tally *tally)
{
	const struct chunk *end = segment_end(heap, s);
	const struct chunk *chunk = (const struct chunk *)s->base;
	bool before_in_use = true;

	while (chunk != end) {
		size_t head = chunk_head(chunk);
		size_t size = head & ~FLAGS;
		size_t room = (size_t)((const char *)end - (const char *)chunk);

		if (chunk > end || size < MIN_CHUNK || size > room) {
			return "a chunk's size does not fit its segment";
		}
		if (!!(head & PREV_IN_USE) != before_in_use) {
			return "neighbours disagree on being in use";
		}
		before_in_use = head & IN_USE;
		if (head & DIRECT) {
			return "a chunk of a heap claims to be direct";
		}
		if (head & IN_USE) {
			tally->used_chunks++;
			tally->used_bytes += size;
			if (heap->overhead == OVERHEAD_CHECKED &&
				chunk_next(chunk)->prev_size !=
					footer_value(heap, chunk, size)) {
				return "a footer was overwritten";
			}
		} else {
			if (!(head & PREV_IN_USE)) {
				return "two free chunks are neighbours";
			}
			if (chunk_next(chunk)->prev_size != size) {
				return "a free chunk's two sizes differ";
			}
			tally->free_chunks++;
			tally->free_bytes += size;
		}
		chunk = chunk_next(chunk);
	}
	if (s == heap->segments) {
		if (!before_in_use ||
			chunk_head(end) != (heap->top_size | PREV_IN_USE)) {
			return "the top is not what the heap says";
		}
		if ((const char *)end + heap->top_size !=
			s->base + s->committed) {
			return "the top does not end its segment";
		}
	} else if ((chunk_head(end) & ~PREV_IN_USE) != IN_USE ||
		   !!(chunk_head(end) & PREV_IN_USE) != before_in_use) {
		return "a segment's sentinel is damaged";
	}
	return NULL;
}

static bool is_free_of_size(const struct chunk *chunk, size_t size)
{
	return chunk_head(chunk) == (size | PREV_IN_USE);
}

static const char *verify_small(const struct heap *heap, struct tally *tally)
{
	const struct bins *bins = &heap->bins;

	for (unsigned i = 0; i < SMALL_BINS; i++) {
		const struct chunk *anchor =
			chunk_of((const void *)&bins->small[i]);
		const struct chunk *c = bins->small[i].next;

		if ((c != anchor) != (bins->small_map >> i & 1)) {
			return "the map of small bins is wrong";
		}
		for (; c != anchor; c = c->next) {
			if (!is_free_of_size(c, i * 16) || c->next->prev != c) {
				return "a small bin is damaged";
			}
			tally->free_chunks++;
			tally->free_bytes += i * 16;
		}
	}
	return NULL;
}

/* low is the smallest size whose path leads to t; bit is what t's children
 * differ in. */
static const char *verify_subtree(const struct tree_chunk *t,
	const struct tree_chunk *parent, unsigned bin, size_t low, size_t bit,
	struct tally *tally)
{
	size_t size = chunk_size(&t->chunk);
	const struct chunk *c = &t->chunk;
	const char *fault = NULL;

	if (t->parent != parent || t->bin != bin || !t->is_node) {
		return "a tree's links are damaged";
	}
	if (size < low || size - low >= 2 * bit) {
		return "a tree node is on the wrong path";
	}
	do {
		if (!is_free_of_size(c, size) || c->next->prev != c ||
			(c != &t->chunk && tree_of((void *)c)->is_node)) {
			return "a ring of equal chunks is damaged";
		}
		tally->free_chunks++;
		tally->free_bytes += size;
		if (size >= PURGE_MIN) {
			tally->dirty += ((const struct tree_chunk *)c)->dirty;
		}
		c = c->next;
	} while (c != &t->chunk);
	if (t->child[0]) {
		fault = verify_subtree(
			t->child[0], t, bin, low, bit / 2, tally);
	}
	if (!fault && t->child[1]) {
		fault = verify_subtree(
			t->child[1], t, bin, low + bit, bit / 2, tally);
	}
	return fault;
}

static const char *verify_trees(const struct heap *heap, struct tally *tally)
{
	const struct bins *bins = &heap->bins;

	for (unsigned bin = 0; bin < TREE_BINS; bin++) {
		const struct tree_chunk *t = bins->tree[bin];
		unsigned log = TREE_LOG + bin / 2;
		size_t half = (size_t)1 << (log - 1);
		const char *fault;

		if (!t != !(bins->tree_map >> bin & 1)) {
			return "the map of trees is wrong";
		}
		if (!t) {
			continue;
		}
		fault = verify_subtree(t, NULL, bin,
			2 * half + (bin & 1) * half, half / 2, tally);
		if (fault) {
			return fault;
		}
	}
	if (tally->dirty != bins->dirty) {
		return "the count of resident free bytes is wrong";
	}
	return NULL;
}

const char *heap_verify(const struct heap *heap)
{
	struct tally memory = {0}, bins = {0};
	const char *fault;

	if (!heap->top) {
		return NULL;
	}
	for (const struct segment *s = heap->segments; s; s = s->next) {
		/* A span that could not be committed at all is empty. */
		if (!s->committed) {
			continue;
		}
		fault = verify_segment(heap, s, &memory);
		if (fault) {
			return fault;
		}
	}
	if (heap->top_size < TOP_MIN) {
		return "the top is too short";
	}
	if (memory.used_chunks != heap->blocks ||
		memory.used_bytes != heap->used) {
		return "the heap miscounts its blocks";
	}
	fault = verify_small(heap, &bins);
	if (!fault) {
		fault = verify_trees(heap, &bins);
	}
	if (fault) {
		return fault;
	}
	if (heap->victim) {
		if (!is_free_of_size(heap->victim, heap->victim_size)) {
			return "the designated victim is damaged";
		}
		bins.free_chunks++;
		bins.free_bytes += heap->victim_size;
	}
	if (memory.free_chunks != bins.free_chunks ||
		memory.free_bytes != bins.free_bytes) {
		return "bins and memory disagree on what is free";
	}
	return NULL;
}

int heap_for_each(const struct heap *heap,
	int (*visit)(struct chunk *chunk, void *arg), void *arg)
{
	if (!heap->top) {
		return 0;
	}
	for (const struct segment *s = heap->segments; s; s = s->next) {
		const struct chunk *c = (const struct chunk *)s->base;

		for (; s->committed && c != segment_end(heap, s);
			c = chunk_next(c)) {
			int stop = chunk_head(c) & IN_USE
					   ? visit((struct chunk *)c, arg)
					   : 0;

			if (stop) {
				return stop;
			}
		}
	}
	return 0;
}
