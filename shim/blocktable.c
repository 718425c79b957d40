/* SPDX-License-Identifier: MIT */
/*
 * blocktable.c - see blocktable.h.
 *
 * Open addressing with linear probing; a removal moves later entries of the
 * run back, so that there are no tombstones. An entry is one word: the block's
 * address, whose low four bits are zero and whose high 17 bits are zero, and
 * the owner in the high bits. 0 is an empty slot.
 */
#include "blocktable.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/check.h"
#include "base/lock.h"
#include "base/os.h"
#include "owner.h"

enum { SHARD_BITS = 6, SHARDS = 1 << SHARD_BITS };

#define ADDR_MASK (((uint64_t)1 << ADDR_BITS) - 1)

static_assert(OWNER_LIMIT <= 1 << (64 - ADDR_BITS), "the owner fits above");

struct shard {
	struct lock lock;
	uint64_t *slots; /* sync: lock */
	size_t capacity; /* sync: lock; a power of two, or 0 */
	size_t count;    /* sync: lock */
} __attribute__((aligned(64)));

static struct {
	struct shard shards[SHARDS];
} g; /* all locks start as zero words, which is free */

static uint64_t hash(uint64_t addr)
{
	return (addr >> 4) * UINT64_C(0x9e3779b97f4a7c15);
}

static struct shard *shard_of(uint64_t addr)
{
	return &g.shards[hash(addr) >> (64 - SHARD_BITS)];
}

/* Where addr would lie without collisions. */
static size_t home(const struct shard *shard, uint64_t addr)
{
	return (hash(addr) >> 8) & (shard->capacity - 1);
}

/* The slot of addr, or the empty one where it would go. */
static size_t probe(const struct shard *shard, uint64_t addr)
{
	size_t i = home(shard, addr);

	while (shard->slots[i] && (shard->slots[i] & ADDR_MASK) != addr) {
		i = (i + 1) & (shard->capacity - 1);
	}
	return i;
}

/* Keep at least a quarter of the slots empty. */
static bool make_room(struct shard *shard)
{
	struct shard larger = *shard;
	void *slots;

	if (shard->count < shard->capacity / 4 * 3) {
		return true;
	}
	larger.capacity = shard->capacity ? 2 * shard->capacity
					  : os_page_size() / sizeof(uint64_t);
	if (os_map(larger.capacity * sizeof(uint64_t), &slots)) {
		return false;
	}
	larger.slots = slots;
	for (size_t i = 0; i < shard->capacity; i++) {
		uint64_t entry = shard->slots[i];

		if (entry) {
			larger.slots[probe(&larger, entry & ADDR_MASK)] = entry;
		}
	}
	if (shard->capacity) {
		os_unmap(shard->slots, shard->capacity * sizeof(uint64_t));
	}
	shard->slots = larger.slots;
	shard->capacity = larger.capacity;
	return true;
}

bool blocktable_insert(const void *ptr, unsigned id)
{
	uint64_t addr = (uintptr_t)ptr;
	struct shard *shard = shard_of(addr);
	bool inserted = false;

	AMUX_CHECK(addr % MALLOC_ALIGN == 0 && addr <= ADDR_MASK);
	lock_acquire(&shard->lock);
	if (make_room(shard)) {
		size_t i = probe(shard, addr);

		shard->count += shard->slots[i] == 0;
		shard->slots[i] = addr | (uint64_t)id << ADDR_BITS;
		inserted = true;
	}
	lock_release(&shard->lock);
	return inserted;
}

/* Close the gap at i: move back what may lie there and is found later. */
static void close_gap(struct shard *shard, size_t i)
{
	size_t mask = shard->capacity - 1;
	size_t j = i;

	for (;;) {
		shard->slots[i] = 0;
		do {
			j = (j + 1) & mask;
			if (!shard->slots[j]) {
				return;
			}
			/* Stays, if its home lies behind the gap. */
		} while (((j - home(shard, shard->slots[j] & ADDR_MASK)) &
				 mask) < ((j - i) & mask));
		shard->slots[i] = shard->slots[j];
		i = j;
	}
}

static unsigned look_up(const void *ptr, bool remove)
{
	uint64_t addr = (uintptr_t)ptr;
	struct shard *shard = shard_of(addr);
	unsigned id = OWNER_LIBC;

	if (!addr || addr % MALLOC_ALIGN || addr > ADDR_MASK) {
		return OWNER_LIBC;
	}
	lock_acquire(&shard->lock);
	if (shard->capacity) {
		size_t i = probe(shard, addr);

		id = (unsigned)(shard->slots[i] >> ADDR_BITS);
		if (remove && shard->slots[i]) {
			shard->count--;
			close_gap(shard, i);
		}
	}
	lock_release(&shard->lock);
	return id;
}

unsigned blocktable_remove(const void *ptr)
{
	return look_up(ptr, true);
}

unsigned blocktable_find(const void *ptr)
{
	return look_up(ptr, false);
}

void blocktable_prefork(void)
{
	for (int i = 0; i < SHARDS; i++) {
		lock_prefork(&g.shards[i].lock);
	}
}

void blocktable_postfork(void)
{
	for (int i = 0; i < SHARDS; i++) {
		lock_postfork(&g.shards[i].lock);
	}
}
