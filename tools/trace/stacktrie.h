/* SPDX-License-Identifier: MIT */
/*
 * stacktrie.h - all stacks of a trace as one tree of frames.
 *
 * Node 0 is the root and stands for no frame; a node's parent has a lower
 * number, so that a loop from the last node to the first meets children before
 * parents.
 *
 * A frame is the object it lies in and the address to look up there (the return
 * address less one), so that loads of one object at several places are one.
 */
#ifndef AMUX_TOOLS_STACKTRIE_H
#define AMUX_TOOLS_STACKTRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceinfo.h"

#define FRAME_OBJECT_SHIFT 48
#define FRAME_ADDR_MASK    (((uint64_t)1 << FRAME_OBJECT_SHIFT) - 1)

/* Frames are left out here (the stack was deeper than the writer keeps). */
#define FRAME_LEFT_OUT ((uint64_t)0)

/* Index of the object plus 1; 0: code without a file. */
static inline uint32_t frame_object(uint64_t frame)
{
	return (uint32_t)(frame >> FRAME_OBJECT_SHIFT);
}

/* Within an object its ELF address, otherwise a run-time address. */
static inline uint64_t frame_addr(uint64_t frame)
{
	return frame & FRAME_ADDR_MASK;
}

struct stack_node {
	uint64_t frame;
	uint32_t parent;
	uint32_t next; /* in its hash bucket */
};

struct stacktrie {
	struct stack_node *nodes;
	uint32_t count; /* with the root */
	uint32_t *buckets;
	uint32_t bucket_count; /* a power of two */
	struct {
		uint32_t id; /* 0: free */
		uint32_t node;
	} * ids; /* open addressing */
	uint32_t id_count;
	uint32_t id_room; /* a power of two */
};

void stacktrie_init(struct stacktrie *trie);
void stacktrie_fini(struct stacktrie *trie);

/* The child of `parent` with this frame, made if there was none. */
uint32_t stacktrie_child(
	struct stacktrie *trie, uint32_t parent, uint64_t frame);

/*
 * Take the records in [bytes, bytes + size) of a STACKS block. false: the
 * rest cannot be decoded.
 */
bool stacktrie_decode(struct stacktrie *trie, const struct trace_info *info,
	const uint8_t *bytes, size_t size);

/* The node of a stack id; 0 (the root) if it was never defined. */
uint32_t stacktrie_node(const struct stacktrie *trie, uint32_t id);

#endif
