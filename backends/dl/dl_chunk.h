/* SPDX-License-Identifier: MIT */
/*
 * dl_chunk.h - boundary tags: how a heap's memory is cut into chunks.
 *
 * A chunk is a multiple of 16 bytes. Its head, 8 bytes in front of the block,
 * holds its size and whether it and the chunk before it are in use. The last
 * 8 bytes of a chunk in use belong to the program: they are the prev_size
 * field of the chunk behind it, which is written only while this chunk is
 * free. So a block costs 8 bytes.
 *
 *     chunk ->  prev_size   the program's, or the size of the free chunk before
 *               head        size | flags
 *     block ->  payload ... up to and including the next chunk's prev_size
 *
 * Invariants:
 *   - no two neighbouring chunks are free;
 *   - the head of a chunk that was merged into its neighbour is 0, so that a
 *     second free of it is recognised as long as the memory is not reused.
 * Locks: the heap's lock guards all writes to heads. A thread that holds a
 * block may read its chunk's size without the lock: the size does not change
 * while the block is in use, but a neighbour may change the flags, which is
 * why head is atomic (always relaxed; plain loads and stores in machine code).
 *
 * Source: Doug Lea, "A Memory Allocator" (1996, 2000); Knuth, The Art of
 * Computer Programming 1, section 2.5.
 */
#ifndef AMUX_BACKENDS_DL_DL_CHUNK_H
#define AMUX_BACKENDS_DL_DL_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "bits.h"

/* Flags in the low bits of a head. */
#define IN_USE      ((size_t)1)
#define PREV_IN_USE ((size_t)2)
#define DIRECT      ((size_t)4) /* not in a heap: see dl_direct.h */
#define FLAGS       ((size_t)15)

#define MIN_CHUNK ((size_t)32)

struct chunk {
	size_t prev_size;    /* valid if the chunk before is free */
	_Atomic size_t head; /* size | flags */
	struct chunk *next;  /* free chunks only: links of the bin */
	struct chunk *prev;
};

/* In front of the block. */
#define CHUNK_HEADER (offsetof(struct chunk, next))

/* Bytes of a chunk in use that are not the program's. */
#define OVERHEAD         sizeof(size_t)
#define OVERHEAD_CHECKED (2 * sizeof(size_t))

static inline struct chunk *chunk_of(const void *block)
{
	return (struct chunk *)((uintptr_t)block - CHUNK_HEADER);
}

static inline void *block_of(struct chunk *chunk)
{
	return (char *)chunk + CHUNK_HEADER;
}

static inline struct chunk *chunk_at(struct chunk *chunk, size_t offset)
{
	return (struct chunk *)((char *)chunk + offset);
}

static inline struct chunk *chunk_before(struct chunk *chunk, size_t offset)
{
	return (struct chunk *)((char *)chunk - offset);
}

static inline size_t chunk_head(const struct chunk *chunk)
{
	return load_relaxed(&chunk->head);
}

static inline void chunk_set_head(struct chunk *chunk, size_t head)
{
	store_relaxed(&chunk->head, head);
}

static inline size_t chunk_size(const struct chunk *chunk)
{
	return chunk_head(chunk) & ~FLAGS;
}

static inline void chunk_set_flag(struct chunk *chunk, size_t flag)
{
	chunk_set_head(chunk, chunk_head(chunk) | flag);
}

static inline void chunk_clear_flag(struct chunk *chunk, size_t flag)
{
	chunk_set_head(chunk, chunk_head(chunk) & ~flag);
}

/* The chunk that serves size bytes; the caller has checked the size. */
static inline size_t chunk_size_for(size_t size, size_t overhead)
{
	size_t need = round_up(size + overhead, MALLOC_ALIGN);

	return need < MIN_CHUNK ? MIN_CHUNK : need;
}

#endif
