/* SPDX-License-Identifier: MIT */
/*
 * calltree.h - the shown stacks as a tree, and as flat lists.
 */
#ifndef AMUX_TOOLS_CALLTREE_H
#define AMUX_TOOLS_CALLTREE_H

#include "heapview.h"

struct call_node {
	uint32_t place;
	uint32_t parent;
	uint32_t child;   /* first; 0: none */
	uint32_t next;    /* sibling; 0: none */
	struct cost cost; /* with its descendants' */
};

struct calltree {
	struct call_node *nodes; /* [0]: the root, no place */
	uint32_t count;
};

enum calltree_flags {
	CALLTREE_CALLERS = 1,  /* from the allocation outwards */
	CALLTREE_FUNCTIONS = 2 /* calls from any line of a function are one */
};

void calltree_init(struct calltree *tree, const struct view *view, int flags);
void calltree_fini(struct calltree *tree);

/* Order all children by falling `metric`. */
void calltree_sort(struct calltree *tree, enum metric metric);

/* A call site (a place), or a function. */
struct flat_entry {
	uint32_t place;   /* 0: unknown stacks */
	uint32_t stacks;  /* how many end (or pass) here */
	struct cost self; /* of stacks that end here */
	struct cost all;  /* of stacks that pass here; only for functions */
};

struct flat {
	struct flat_entry *entries;
	uint32_t count;
};

/* By place of the allocation. */
void flat_sites(struct flat *flat, const struct view *view);

/* By function, with what it calls. */
void flat_functions(struct flat *flat, const struct view *view);

/* By object of the allocation; `place` stands for it. */
void flat_objects(struct flat *flat, const struct view *view);

void flat_fini(struct flat *flat);

/* By falling `metric` of self, or of all. */
void flat_sort(struct flat *flat, enum metric metric, bool all);

#endif
