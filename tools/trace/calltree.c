/* SPDX-License-Identifier: MIT */
/*
 * calltree.c - aggregate the shown stacks.
 */
#include "calltree.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

struct child_map {
	uint32_t *slots; /* indices of nodes, open addressing */
	uint32_t room;
};

static uint32_t *child_slot(const struct child_map *map,
	const struct calltree *tree, uint32_t parent, uint32_t place)
{
	uint64_t h = ((uint64_t)parent << 32 | place) * 0x9e3779b97f4a7c15u;
	uint32_t i = (uint32_t)(h >> 32) & (map->room - 1);

	while (map->slots[i] != 0 &&
		(tree->nodes[map->slots[i]].parent != parent ||
			tree->nodes[map->slots[i]].place != place)) {
		i = (i + 1) & (map->room - 1);
	}
	return &map->slots[i];
}

static uint32_t child_get(struct child_map *map, struct calltree *tree,
	uint32_t parent, uint32_t place)
{
	uint32_t *slot = child_slot(map, tree, parent, place);
	struct call_node *node;

	if (*slot != 0) {
		return *slot;
	}
	if (2 * tree->count >= map->room) {
		map->room *= 2;
		free(map->slots);
		map->slots = tool_alloc(map->room * sizeof(*map->slots));
		tree->nodes = tool_realloc(
			tree->nodes, map->room / 2 * sizeof(*tree->nodes));
		for (uint32_t i = 1; i < tree->count; i++) {
			*child_slot(map, tree, tree->nodes[i].parent,
				tree->nodes[i].place) = i;
		}
		slot = child_slot(map, tree, parent, place);
	}
	node = &tree->nodes[tree->count];
	memset(node, 0, sizeof(*node));
	node->place = place;
	node->parent = parent;
	node->next = tree->nodes[parent].child;
	tree->nodes[parent].child = tree->count;
	*slot = tree->count;
	return tree->count++;
}

void calltree_init(struct calltree *tree, const struct view *view, int flags)
{
	struct child_map map = {.room = 1024};

	map.slots = tool_alloc(map.room * sizeof(*map.slots));
	tree->nodes = tool_alloc(map.room / 2 * sizeof(*tree->nodes));
	tree->count = 1;
	for (uint32_t i = 0; i < view->stack_count; i++) {
		const struct view_stack *stack = &view->stacks[i];
		uint32_t node = 0;

		cost_add(&tree->nodes[0].cost, &stack->cost);
		for (uint32_t j = 0; j < stack->count; j++) {
			uint32_t at = flags & CALLTREE_CALLERS
					      ? j
					      : stack->count - 1 - j;
			uint32_t place = view->paths[stack->first + at];

			if (flags & CALLTREE_FUNCTIONS) {
				place = view->function_of[place];
			}
			node = child_get(&map, tree, node, place);
			cost_add(&tree->nodes[node].cost, &stack->cost);
		}
	}
	free(map.slots);
}

void calltree_fini(struct calltree *tree)
{
	free(tree->nodes);
	tree->nodes = NULL;
}

struct sort_key {
	uint64_t value;
	uint32_t index;
};

static int key_compare(const void *a, const void *b)
{
	const struct sort_key *x = a;
	const struct sort_key *y = b;

	if (x->value != y->value) {
		return x->value > y->value ? -1 : 1;
	}
	return x->index < y->index ? -1 : x->index > y->index;
}

void calltree_sort(struct calltree *tree, enum metric metric)
{
	struct sort_key *keys = tool_alloc(tree->count * sizeof(*keys));

	for (uint32_t i = 0; i < tree->count; i++) {
		size_t count = 0;

		for (uint32_t c = tree->nodes[i].child; c != 0;
			c = tree->nodes[c].next) {
			keys[count++] = (struct sort_key){
				tree->nodes[c].cost.metric[metric], c};
		}
		if (count < 2) {
			continue;
		}
		qsort(keys, count, sizeof(*keys), key_compare);
		tree->nodes[i].child = keys[0].index;
		for (size_t j = 0; j < count; j++) {
			tree->nodes[keys[j].index].next =
				j + 1 < count ? keys[j + 1].index : 0;
		}
	}
	free(keys);
}

static void flat_init(struct flat *flat, uint32_t keys)
{
	/* One entry for each key; empty ones are dropped at the end. */
	flat->entries = tool_alloc((keys + 1) * sizeof(*flat->entries));
	flat->count = keys;
}

static void flat_close(struct flat *flat)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < flat->count; i++) {
		if (flat->entries[i].stacks > 0) {
			flat->entries[kept++] = flat->entries[i];
		}
	}
	flat->count = kept;
}

static uint32_t leaf_of(const struct view *view, const struct view_stack *s)
{
	return s->count > 0 ? view->paths[s->first] : 0;
}

void flat_sites(struct flat *flat, const struct view *view)
{
	flat_init(flat, view->symbols.place_count);
	for (uint32_t i = 0; i < view->stack_count; i++) {
		uint32_t place = leaf_of(view, &view->stacks[i]);
		struct flat_entry *entry = &flat->entries[place];

		entry->place = place;
		entry->stacks++;
		cost_add(&entry->self, &view->stacks[i].cost);
	}
	flat_close(flat);
}

void flat_functions(struct flat *flat, const struct view *view)
{
	uint32_t *seen;

	flat_init(flat, view->symbols.place_count);
	seen = tool_alloc(view->symbols.place_count * sizeof(*seen));
	for (uint32_t i = 0; i < view->stack_count; i++) {
		const struct view_stack *stack = &view->stacks[i];

		for (uint32_t j = 0; j < stack->count; j++) {
			uint32_t f =
				view->function_of[view->paths[stack->first +
							      j]];
			struct flat_entry *entry = &flat->entries[f];

			if (j == 0) {
				cost_add(&entry->self, &stack->cost);
			}
			if (seen[f] != i + 1) {
				seen[f] = i + 1;
				entry->place = f;
				entry->stacks++;
				cost_add(&entry->all, &stack->cost);
			}
		}
	}
	free(seen);
	flat_close(flat);
}

void flat_objects(struct flat *flat, const struct view *view)
{
	flat_init(flat, view->trace->info.object_count + 1);
	for (uint32_t i = 0; i < view->stack_count; i++) {
		uint32_t place = leaf_of(view, &view->stacks[i]);
		struct flat_entry *entry =
			&flat->entries[view->symbols.places[place].object];

		entry->place = place;
		entry->stacks++;
		cost_add(&entry->self, &view->stacks[i].cost);
	}
	flat_close(flat);
}

void flat_fini(struct flat *flat)
{
	free(flat->entries);
	flat->entries = NULL;
}

static __thread struct {
	enum metric metric;
	bool all;
} order;

static int entry_compare(const void *a, const void *b)
{
	const struct flat_entry *x = a;
	const struct flat_entry *y = b;
	const struct cost *p = order.all ? &x->all : &x->self;
	const struct cost *q = order.all ? &y->all : &y->self;
	uint64_t v = p->metric[order.metric];
	uint64_t w = q->metric[order.metric];

	if (v != w) {
		return v > w ? -1 : 1;
	}
	return x->place < y->place ? -1 : x->place > y->place;
}

void flat_sort(struct flat *flat, enum metric metric, bool all)
{
	order.metric = metric;
	order.all = all;
	if (flat->count > 0) {
		qsort(flat->entries, flat->count, sizeof(*flat->entries),
			entry_compare);
	}
}
