/* SPDX-License-Identifier: MIT */
/*
 * live.c - open addressing by address, in shards.
 *
 * Linear probing, deletion by shifting back, so that there are no tombstones
 * and a table that empties is as fast as a new one. Each shard has a lock and
 * grows by itself, to at most 3/4 full; memory is mapped when it is needed and
 * never taken from malloc. Price: one lock and about one cache miss.
 */
#include "live.h"

#include <stddef.h>

#include "base/bits.h"
#include "base/lock.h"
#include "base/os.h"

#define SHARD_BITS    6u
#define SHARDS        (1u << SHARD_BITS)
#define FIRST_ENTRIES 512u

struct shard {
	_Alignas(64) struct lock lock;
	uint32_t mask;
	uint32_t count;
	struct live_block *blocks;
};

static struct shard shards[SHARDS] = {
	[0 ... SHARDS - 1] = {.lock = LOCK_INIT(LOCK_RANK_LIVE)}};

static uint64_t hash_of(uint64_t addr)
{
	return (addr >> 3) * 0x9e3779b97f4a7c15u;
}

static struct shard *shard_of(uint64_t hash)
{
	return &shards[hash >> (64 - SHARD_BITS)];
}

static uint32_t home_of(const struct shard *s, uint64_t hash)
{
	return (uint32_t)(hash >> 24) & s->mask;
}

/* The entry of addr, or the empty one where it belongs. */
static uint32_t find(const struct shard *s, uint64_t addr, uint64_t hash)
{
	uint32_t i = home_of(s, hash);

	while (s->blocks[i].addr && s->blocks[i].addr != addr) {
		i = (i + 1) & s->mask;
	}
	return i;
}

static size_t bytes_of(uint32_t entries)
{
	return round_up(entries * sizeof(struct live_block), os_page_size());
}

static bool grow(struct shard *s)
{
	struct shard old = *s;
	uint32_t entries = old.blocks ? (old.mask + 1) * 2 : FIRST_ENTRIES;
	void *addr;

	if (entries == 0 || os_map(bytes_of(entries), &addr) != 0) {
		return false;
	}
	s->blocks = addr;
	s->mask = entries - 1;
	for (uint32_t i = 0; old.blocks && i <= old.mask; i++) {
		uint64_t key = old.blocks[i].addr;

		if (key) {
			s->blocks[find(s, key, hash_of(key))] = old.blocks[i];
		}
	}
	if (old.blocks) {
		os_unmap(old.blocks, bytes_of(old.mask + 1));
	}
	return true;
}

bool live_insert(const struct live_block *block, struct live_block *old)
{
	uint64_t hash = hash_of(block->addr);
	struct shard *s = shard_of(hash);
	bool inserted = false;

	lock_acquire(&s->lock);
	if (s->count < s->mask / 4 * 3 || grow(s)) {
		uint32_t i = find(s, block->addr, hash);

		*old = s->blocks[i];
		s->count += old->addr == 0;
		s->blocks[i] = *block;
		inserted = true;
	}
	lock_release(&s->lock);
	return inserted;
}

/* Close the gap at i: later entries of the run move to where they are found. */
static void close_gap(struct shard *s, uint32_t i)
{
	uint32_t k = i;

	for (;;) {
		k = (k + 1) & s->mask;
		if (s->blocks[k].addr == 0) {
			break;
		}

		uint32_t home = home_of(s, hash_of(s->blocks[k].addr));

		if (((k - home) & s->mask) >= ((k - i) & s->mask)) {
			s->blocks[i] = s->blocks[k];
			i = k;
		}
	}
	s->blocks[i].addr = 0;
}

bool live_remove(uint64_t addr, struct live_block *block)
{
	uint64_t hash = hash_of(addr);
	struct shard *s = shard_of(hash);
	bool found = false;

	lock_acquire(&s->lock);
	if (s->blocks) {
		uint32_t i = find(s, addr, hash);

		*block = s->blocks[i];
		found = block->addr != 0;
		if (found) {
			close_gap(s, i);
			s->count--;
		}
	}
	lock_release(&s->lock);
	return found;
}

void live_reset(void)
{
	for (uint32_t i = 0; i < SHARDS; i++) {
		struct shard *s = &shards[i];

		lock_init(&s->lock, LOCK_RANK_LIVE);
		if (s->blocks) {
			os_unmap(s->blocks, bytes_of(s->mask + 1));
		}
		s->blocks = NULL;
		s->mask = 0;
		s->count = 0;
	}
}

void live_prefork(void)
{
	for (uint32_t i = 0; i < SHARDS; i++) {
		lock_prefork(&shards[i].lock);
	}
}

void live_postfork(void)
{
	for (uint32_t i = 0; i < SHARDS; i++) {
		lock_postfork(&shards[i].lock);
	}
}
