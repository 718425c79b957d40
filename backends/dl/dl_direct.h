/* SPDX-License-Identifier: MIT */
/*
 * dl_direct.h - blocks with a mapping of their own.
 *
 * A large block outside the heaps costs a system call each way, but grows
 * without copying (its pages are moved, or its range is extended in place) and
 * goes back to the kernel whole. Its head, 8 bytes in front of the block, says
 * DIRECT and how far behind its struct direct it lies.
 *
 * Locks: the space's lock, inside. The fields of a direct block belong to the
 * thread that holds the block.
 */
#ifndef AMUX_BACKENDS_DL_DL_DIRECT_H
#define AMUX_BACKENDS_DL_DL_DIRECT_H

#include "dl_chunk.h"
#include "dl_space.h"

struct direct {
	struct direct *next, *prev; /* sync: space lock; the list of all */
	char *run;                  /* start of the address range */
	size_t reserved;            /* its length */
	size_t committed;           /* accessible bytes from this struct on */
	uint64_t check;             /* secret ^ own address */
	size_t prev_size;           /* unused; chunk's shape */
	_Atomic size_t head;        /* offset of the block | DIRECT | IN_USE */
};

/* NULL if there is no room for a block of its own (errno is kept). */
void *direct_allocate(struct space *space, size_t align, size_t size,
	size_t slack, uint64_t secret);
void direct_free(struct space *space, struct direct *d);

/*
 * Grow or shrink to size, moving pages if need be; the block, which may be
 * elsewhere, or NULL if it must be copied.
 */
void *direct_resize(
	struct space *space, struct direct *d, size_t size, uint64_t secret);

/* The struct of a block, or NULL with *fault set. */
struct direct *direct_of(struct space *space, const void *block,
	uint64_t secret, const char **fault);

size_t direct_usable(const struct direct *d);

static inline void *direct_block(struct direct *d)
{
	return (char *)d + (load_relaxed(&d->head) & ~FLAGS);
}

#endif
