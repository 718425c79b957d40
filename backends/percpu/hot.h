/* SPDX-License-Identifier: MIT */
/*
 * hot.h - the words that every malloc and free reads, and the bins' layout.
 *
 * Bin word. Each CPU has one 64-bit word per size class:
 *
 *     address of the top block << 16 | room
 *
 * room is how many more blocks the bin takes. The first word of a block in a
 * bin holds the bin word from before that block was pushed, so pop restores
 * address and room by one store, and push commits both by one store. A word
 * of zero - every word of a CPU never used - has no block and no room: both
 * operations then take the slow path, so no CPU is ever initialised.
 *
 * Chain. A bin word taken out of its bin whole: the list down to the block
 * whose link has no address. Its length is the class's cap minus its room, and
 * it can be put into any empty bin of the class.
 *
 * Row. The bins of one CPU lie in BIN_ROW bytes: percpu_hot.bins + cpu *
 * BIN_ROW, one word per number of classes.h. A second set, the spares, lies
 * percpu_spare words away: one more whole chain per bin, exchanged atomically
 * by the slow paths, so that a program swinging around a full or empty bin
 * does not go to the central lists each time.
 *
 * Page-offset aliasing: each rseq section begins with a store to the thread's
 * rseq_cs; a bin word at the same offset modulo 4096 makes the following load
 * wait for it (twice the time of the pair). percpu_bins_init() places the bins
 * off that offset.
 */
#ifndef AMUX_PERCPU_HOT_H
#define AMUX_PERCPU_HOT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "classes.h"

#define BIN_ROW 2048

#define PAGE_SHIFT 12
#define PAGE_SIZE  ((size_t)1 << PAGE_SHIFT)

struct percpu_hot {
	intptr_t rseq; /* of the thread's rseq area, from the thread pointer */
	intptr_t cid;  /* of the CPU number in it: mm_cid or cpu_id */
	char *bins;    /* row of CPU 0 */
	char *base;    /* of the first range of blocks */
	size_t pages;  /* in the first range */
	uint8_t *map;  /* row word by page of the first range */
	_Atomic uint32_t draining; /* bins are being emptied: bins.c */
} __attribute__((aligned(64)));
/* sync: set in init, then constant, except draining: drain lock to write */

extern struct percpu_hot percpu_hot;

/* The assembly names the fields by these offsets. */
#define HOT_RSEQ     0
#define HOT_CID      8
#define HOT_BINS     16
#define HOT_BASE     24
#define HOT_PAGES    32
#define HOT_MAP      40
#define HOT_DRAINING 48

static_assert(offsetof(struct percpu_hot, rseq) == HOT_RSEQ, "asm");
static_assert(offsetof(struct percpu_hot, cid) == HOT_CID, "asm");
static_assert(offsetof(struct percpu_hot, bins) == HOT_BINS, "asm");
static_assert(offsetof(struct percpu_hot, base) == HOT_BASE, "asm");
static_assert(offsetof(struct percpu_hot, pages) == HOT_PAGES, "asm");
static_assert(offsetof(struct percpu_hot, map) == HOT_MAP, "asm");
static_assert(offsetof(struct percpu_hot, draining) == HOT_DRAINING, "asm");
static_assert(BIN_ROW == 2048 && SMALL_MAX == 32768 && PAGE_SHIFT == 12, "asm");

/*
 * The fast paths, one file per architecture (rseq_*.c): contracts of malloc(3)
 * and free(3). Whatever they cannot do in one section goes to the three slow
 * functions below by a jump.
 */
void *percpu_malloc(size_t size);
void percpu_free(void *ptr);

void *percpu_malloc_slow(size_t size);
/* ptr lies in the first range. */
void percpu_free_slow(void *ptr);
/* ptr does not; it may be NULL. */
void percpu_free_far(void *ptr);

/*
 * If this thread runs on CPU `cid`, no drain is going on and *word == expect:
 * *word = value, return 1. Otherwise, or if interrupted: return 0, nothing
 * done. The caller has seen cpu_number() >= 0.
 */
int percpu_bin_store(
	uint64_t *word, uint64_t expect, uint64_t value, uint32_t cid);

/* This thread's CPU number, or -1 if it has no working rseq. */
static inline int cpu_number(void)
{
	const char *self = __builtin_thread_pointer();
	const volatile int32_t *cpu_id =
		(const volatile int32_t *)(self + percpu_hot.rseq + 4);

	if (*cpu_id < 0) {
		return -1;
	}
	return *(const volatile int32_t *)(self + percpu_hot.cid);
}

#define BLOCK_SHIFT 16
#define ROOM_MASK   ((uint64_t)0xffff)

static inline void *chain_top(uint64_t word)
{
	return (void *)(word >> BLOCK_SHIFT);
}

static inline unsigned chain_room(uint64_t word)
{
	return (unsigned)(word & ROOM_MASK);
}

static inline uint64_t chain_word(void *top, unsigned room)
{
	return (uint64_t)(uintptr_t)top << BLOCK_SHIFT | room;
}

static inline uint64_t chain_empty(unsigned class)
{
	return percpu_class_info[class].cap;
}

static inline unsigned chain_count(unsigned class, uint64_t chain)
{
	return percpu_class_info[class].cap - chain_room(chain);
}

/* The chain below its top block. */
static inline uint64_t *block_link(void *block)
{
	return (uint64_t *)block;
}

/* A chain with `block` on top; the chain must have room. */
static inline uint64_t chain_push(uint64_t chain, void *block)
{
	*block_link(block) = chain;
	return chain_word(block, chain_room(chain) - 1);
}

#endif
