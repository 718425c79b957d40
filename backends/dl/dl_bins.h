/* SPDX-License-Identifier: MIT */
/*
 * dl_bins.h - where a heap keeps its free chunks: small bins and trees.
 *
 * Chunks below SMALL_LIMIT lie in one list per exact size. Larger ones lie in
 * TREE_BINS digital trees, two for each power of two. A tree's nodes are the
 * free chunks themselves: the bits of the size below those that chose the tree
 * are the path, most significant first, and a node may hold any size that
 * agrees with its path so far. Chunks of one size hang as a ring on the one
 * that is a node. One bit per bin says whether it is empty.
 *
 * Each tree chunk knows how many of its bytes may be resident ("dirty"); 0
 * means that its inner pages have been given back and read as zero.
 *
 * Locks: the heap's, held by the caller of every function.
 */
#ifndef AMUX_BACKENDS_DL_DL_BINS_H
#define AMUX_BACKENDS_DL_DL_BINS_H

#include "check.h"
#include "dl_chunk.h"

enum { SMALL_BINS = 64, TREE_BINS = 64, TREE_LOG = 10 };
#define SMALL_LIMIT ((size_t)1 << TREE_LOG)
_Static_assert(SMALL_BINS * 16 == 1 << TREE_LOG, "bins meet trees");

/* Free chunks of at least this size count as purgeable; see dl_purge.c. */
#define PURGE_MIN ((size_t)64 << 10)

struct tree_chunk {
	struct chunk chunk;
	struct tree_chunk *child[2];
	struct tree_chunk *parent; /* NULL for the root */
	uint32_t bin;
	uint32_t is_node; /* 1 if in the tree, 0 if only in a ring */
	size_t dirty;     /* bytes that may be resident, an upper bound */
};

/* Head of a list of free chunks; overlays next and prev of a chunk. */
struct bin_links {
	struct chunk *next;
	struct chunk *prev;
};

struct bins {
	uint64_t small_map; /* bit i: small[i] is not empty */
	uint64_t tree_map;
	size_t dirty;     /* sum over the tree chunks of PURGE_MIN and more */
	size_t dirty_low; /* its minimum since the last epoch */
	struct bin_links small[SMALL_BINS];
	struct tree_chunk *tree[TREE_BINS];
};

void bins_init(struct bins *bins);

/* Trees: sizes of SMALL_LIMIT and more. */
void tree_insert(
	struct bins *bins, struct tree_chunk *t, size_t size, size_t dirty);
void tree_remove(struct bins *bins, struct tree_chunk *t);

/* The smallest chunk of at least size, lowest address first; NULL if none. */
struct tree_chunk *tree_best_fit(struct bins *bins, size_t size);

/* Every tree chunk, largest bins first, until visit returns false. */
void tree_for_each(struct bins *bins,
	bool (*visit)(struct tree_chunk *t, void *arg), void *arg);

static inline struct tree_chunk *tree_of(struct chunk *chunk)
{
	return (struct tree_chunk *)chunk;
}

/* The list head seen as a chunk, so that unlinking needs no special case. */
static inline struct chunk *bin_anchor(struct bins *bins, unsigned i)
{
	return chunk_of(&bins->small[i]);
}

/* Corruption of a neighbour shows in the links: always verified. */
static inline void links_remove(struct chunk *chunk)
{
	struct chunk *next = chunk->next;
	struct chunk *prev = chunk->prev;

	AMUX_CHECK(next->prev == chunk && prev->next == chunk);
	next->prev = prev;
	prev->next = next;
}

static inline void links_insert_after(struct chunk *at, struct chunk *chunk)
{
	struct chunk *next = at->next;

	chunk->next = next;
	chunk->prev = at;
	next->prev = chunk;
	at->next = chunk;
}

static inline void bins_insert(
	struct bins *bins, struct chunk *chunk, size_t size, size_t dirty)
{
	if (size >= SMALL_LIMIT) {
		tree_insert(bins, tree_of(chunk), size, dirty);
		return;
	}

	unsigned i = (unsigned)(size / 16);

	links_insert_after(bin_anchor(bins, i), chunk);
	bins->small_map |= (uint64_t)1 << i;
}

static inline void small_remove(
	struct bins *bins, struct chunk *chunk, unsigned i)
{
	links_remove(chunk);
	if (bins->small[i].next == bin_anchor(bins, i)) {
		bins->small_map &= ~((uint64_t)1 << i);
	}
}

/* Take the chunk out; the bytes of it that may be resident. */
static inline size_t bins_remove(
	struct bins *bins, struct chunk *chunk, size_t size)
{
	if (size >= SMALL_LIMIT) {
		tree_remove(bins, tree_of(chunk));
		return tree_of(chunk)->dirty;
	}
	small_remove(bins, chunk, (unsigned)(size / 16));
	return size;
}

#endif
