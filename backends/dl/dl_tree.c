/* SPDX-License-Identifier: MIT */
/*
 * dl_tree.c - digital trees of the large free chunks; see dl_bins.h.
 *
 * Invariants of a tree:
 *   - all sizes in the subtree at depth d agree in the first d path bits;
 *   - a node is the only node of its size; others of that size are in its
 *     ring, whose node is the one with the lowest address among those seen
 *     when they came (so ties go to low addresses, and the top can shrink).
 * Depth is at most the number of path bits: 45.
 */
#include "dl_bins.h"

static unsigned bin_of_size(size_t size)
{
	unsigned log = log2_floor(size);
	unsigned bin = 2 * (log - TREE_LOG) + (unsigned)(size >> (log - 1) & 1);

	return bin < TREE_BINS ? bin : TREE_BINS - 1;
}

/* The path of a size in its tree: the next bit to follow is the highest. */
static size_t path_of_size(size_t size, unsigned bin)
{
	unsigned log = TREE_LOG + bin / 2;

	return size << (64 - (log - 1));
}

void bins_init(struct bins *bins)
{
	for (unsigned i = 0; i < SMALL_BINS; i++) {
		bins->small[i].next = bins->small[i].prev = bin_anchor(bins, i);
	}
	for (unsigned i = 0; i < TREE_BINS; i++) {
		bins->tree[i] = NULL;
	}
	bins->small_map = bins->tree_map = 0;
	bins->dirty = bins->dirty_low = 0;
}

/* Put new where old was: under the same parent, above the same children. */
static void node_replace(
	struct bins *bins, struct tree_chunk *old, struct tree_chunk *new)
{
	struct tree_chunk *parent = old->parent;

	if (!parent) {
		AMUX_CHECK(bins->tree[old->bin] == old);
		bins->tree[old->bin] = new;
		if (!new) {
			bins->tree_map &= ~((uint64_t)1 << old->bin);
		}
	} else {
		parent->child[parent->child[1] == old] = new;
	}
	if (!new) {
		return;
	}
	new->parent = parent;
	new->is_node = 1;
	for (int i = 0; i < 2; i++) {
		new->child[i] = old->child[i];
		if (new->child[i]) {
			new->child[i]->parent = new;
		}
	}
}

static void ring_insert(
	struct bins *bins, struct tree_chunk *node, struct tree_chunk *t)
{
	links_insert_after(node->chunk.prev, &t->chunk);
	t->is_node = 0;
	if (t < node) {
		node_replace(bins, node, t);
		node->is_node = 0;
	}
}

void tree_insert(
	struct bins *bins, struct tree_chunk *t, size_t size, size_t dirty)
{
	unsigned bin = bin_of_size(size);
	size_t path = path_of_size(size, bin);
	struct tree_chunk **link = &bins->tree[bin];
	struct tree_chunk *parent = NULL;

	t->bin = bin;
	t->dirty = dirty;
	if (size >= PURGE_MIN) {
		bins->dirty += dirty;
	}
	while (*link) {
		parent = *link;
		if (chunk_size(&parent->chunk) == size) {
			ring_insert(bins, parent, t);
			return;
		}
		link = &parent->child[path >> 63];
		path <<= 1;
	}
	*link = t;
	bins->tree_map |= (uint64_t)1 << bin;
	t->chunk.next = t->chunk.prev = &t->chunk;
	t->child[0] = t->child[1] = NULL;
	t->parent = parent;
	t->is_node = 1;
}

/* Any leaf below t, taken out of its place; NULL if t is a leaf itself. */
static struct tree_chunk *leaf_take(struct tree_chunk *t)
{
	struct tree_chunk *leaf = t;
	int side = 0;

	for (;;) {
		if (leaf->child[1]) {
			side = 1;
		} else if (leaf->child[0]) {
			side = 0;
		} else {
			break;
		}
		leaf = leaf->child[side];
	}
	if (leaf == t) {
		return NULL;
	}
	leaf->parent->child[side] = NULL;
	return leaf;
}

void tree_remove(struct bins *bins, struct tree_chunk *t)
{
	if (chunk_size(&t->chunk) >= PURGE_MIN) {
		bins->dirty -= t->dirty;
		if (bins->dirty < bins->dirty_low) {
			bins->dirty_low = bins->dirty;
		}
	}
	if (t->chunk.next != &t->chunk) {
		struct tree_chunk *heir = tree_of(t->chunk.next);

		links_remove(&t->chunk);
		if (t->is_node) {
			node_replace(bins, t, heir);
		}
		return;
	}
	AMUX_CHECK(t->is_node);
	node_replace(bins, t, leaf_take(t));
}

/* The smallest in a subtree lies on the path that prefers the 0 side. */
static struct tree_chunk *subtree_smallest(struct tree_chunk *t)
{
	struct tree_chunk *best = t;

	while (t) {
		if (chunk_size(&t->chunk) < chunk_size(&best->chunk)) {
			best = t;
		}
		t = t->child[0] ? t->child[0] : t->child[1];
	}
	return best;
}

/*
 * Follow the path of size. What fits best lies on the path itself, or is the
 * smallest of the last subtree to its right that the path passed.
 */
static struct tree_chunk *fit_in_bin(
	struct tree_chunk *t, size_t size, unsigned bin)
{
	size_t path = path_of_size(size, bin);
	struct tree_chunk *best = NULL;
	struct tree_chunk *right = NULL;
	size_t best_size = SIZE_MAX;

	while (t) {
		size_t have = chunk_size(&t->chunk);

		if (have >= size && have < best_size) {
			best = t;
			best_size = have;
			if (have == size) {
				return best;
			}
		}
		if (!(path >> 63) && t->child[1]) {
			right = t->child[1];
		}
		t = t->child[path >> 63];
		path <<= 1;
	}
	if (right) {
		right = subtree_smallest(right);
		if (chunk_size(&right->chunk) < best_size) {
			best = right;
		}
	}
	return best;
}

struct tree_chunk *tree_best_fit(struct bins *bins, size_t size)
{
	unsigned bin = size < SMALL_LIMIT ? 0 : bin_of_size(size);
	uint64_t map = bins->tree_map >> bin;
	struct tree_chunk *t;

	if (!map) {
		return NULL;
	}
	if (size >= SMALL_LIMIT && map & 1) {
		t = fit_in_bin(bins->tree[bin], size, bin);
		if (t) {
			return t;
		}
		map &= ~(uint64_t)1;
		if (!map) {
			return NULL;
		}
	}
	bin += (unsigned)__builtin_ctzll(map);
	return subtree_smallest(bins->tree[bin]);
}

static bool subtree_for_each(struct tree_chunk *t,
	bool (*visit)(struct tree_chunk *t, void *arg), void *arg)
{
	for (; t; t = t->child[0]) {
		struct chunk *c = &t->chunk;

		if (!subtree_for_each(t->child[1], visit, arg)) {
			return false;
		}
		do {
			struct chunk *next = c->next;

			if (!visit(tree_of(c), arg)) {
				return false;
			}
			c = next;
		} while (c != &t->chunk);
	}
	return true;
}

void tree_for_each(struct bins *bins,
	bool (*visit)(struct tree_chunk *t, void *arg), void *arg)
{
	for (unsigned bin = TREE_BINS; bin-- > 0;) {
		if (!subtree_for_each(bins->tree[bin], visit, arg)) {
			return;
		}
	}
}
