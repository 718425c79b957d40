/* SPDX-License-Identifier: MIT */
/*
 * seed.c - see seed.h. One byte per 16 bytes of the shared pages says what
 * begins there: 0 nothing, else the class + 1 of a live block.
 *
 * Locks: g.lock, rank LOCK_RANK_HEAP. A byte is cleared by an atomic exchange,
 * so free takes no lock and a double free is seen.
 */
#include "seed.h"

#include "atomic.h"
#include "bits.h"
#include "lock.h"

enum { SEED_BYTES = SEED_PAGES * 4096, CELLS = SEED_BYTES / 16 };

static struct {
	struct lock lock;
	uint32_t used;                      /* bytes; sync: lock */
	_Atomic uint8_t given[CLASS_COUNT]; /* blocks; written under lock */
	_Atomic uint8_t starts[CELLS];      /* sync: atomic */
} g;

static char *seed_base(void)
{
	return percpu_hot.base + SEED_FIRST * PAGE_SIZE;
}

void *seed_malloc(unsigned class)
{
	size_t size = class_size(class);
	size_t share = size <= SEED_MAX ? SEED_MAX / size : 0;
	void *block = NULL;

	if (load_relaxed(&g.given[class]) >= share) {
		return NULL;
	}
	lock_acquire(&g.lock);

	size_t start = round_up(g.used, size & -size);
	uint8_t given = load_relaxed(&g.given[class]);

	if (given < share && start + size <= SEED_BYTES) {
		store_relaxed(&g.given[class], given + 1);
		store_relaxed(&g.starts[start / 16], (uint8_t)(class + 1));
		g.used = (uint32_t)(start + size);
		block = seed_base() + start;
	} else {
		store_relaxed(&g.given[class], UINT8_MAX);
	}
	lock_release(&g.lock);
	return block;
}

static _Atomic uint8_t *cell_of(const void *ptr)
{
	size_t offset = (size_t)((const char *)ptr - seed_base());

	return offset % 16 ? NULL : &g.starts[offset / 16];
}

size_t seed_size(const void *ptr)
{
	_Atomic uint8_t *cell = cell_of(ptr);
	uint8_t start = cell ? load_relaxed(cell) : 0;

	return start ? class_size(start - 1u) : 0;
}

bool seed_free(const void *ptr)
{
	_Atomic uint8_t *cell = cell_of(ptr);

	return cell && xchg_acq_rel(cell, 0) != 0;
}

static int seed_add(void *block, size_t usable, void *arg)
{
	size_t *sum = arg;

	(void)block;
	sum[0] += usable;
	sum[1]++;
	return 0;
}

void seed_count(size_t *bytes, size_t *blocks)
{
	size_t sum[2] = {0, 0};

	seed_each(seed_add, sum);
	*bytes = sum[0];
	*blocks = sum[1];
}

int seed_each(int (*visit)(void *block, size_t usable, void *arg), void *arg)
{
	int stop = 0;

	for (size_t i = 0; i < g.used / 16 && !stop; i++) {
		uint8_t start = load_relaxed(&g.starts[i]);

		if (start) {
			stop = visit(seed_base() + i * 16,
				class_size(start - 1u), arg);
		}
	}
	return stop;
}

void seed_prefork(void)
{
	lock_prefork(&g.lock);
}

void seed_postfork(void)
{
	lock_postfork(&g.lock);
}
