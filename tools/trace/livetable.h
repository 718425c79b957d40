/* SPDX-License-Identifier: MIT */
/*
 * livetable.h - the blocks that are live, by address.
 *
 * Open addressing with linear probing and deletion by shifting back; 32 bytes
 * an entry, at most 3/4 full. An entry may be a placeholder: somebody waits
 * for an allocation at this address (see merge.c).
 */
#ifndef AMUX_TOOLS_LIVETABLE_H
#define AMUX_TOOLS_LIVETABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_AWAITED     ((uint64_t)1 << 63) /* a lane waits for its end */
#define LIVE_PLACEHOLDER ((uint64_t)1 << 62) /* no block, but awaited */
#define LIVE_SIZE_MASK   (((uint64_t)1 << 62) - 1)

#define LIVE_THREAD_BITS 20
#define LIVE_THREAD_MASK ((1u << LIVE_THREAD_BITS) - 1)

struct live_block {
	uint64_t addr; /* 0: free entry */
	uint64_t size; /* requested, and flags */
	uint64_t born; /* microseconds (1024 ns) and thread */
	uint32_t site;
	uint32_t excess; /* usable - requested; the greatest if more */
};

struct livetable {
	struct live_block *entries;
	size_t room; /* a power of two */
	size_t count;
};

void livetable_init(struct livetable *table);
void livetable_fini(struct livetable *table);

/* Double the room. */
void livetable_grow(struct livetable *table);

static inline size_t livetable_index(
	const struct livetable *table, uint64_t addr)
{
	/* The high bits of a product depend on all bits below them. */
	return ((addr >> 4) * 0x9e3779b97f4a7c15u >> 20) & (table->room - 1);
}

/* The entry of `addr` (not 0), or NULL. */
static inline struct live_block *livetable_find(
	const struct livetable *table, uint64_t addr)
{
	size_t i = livetable_index(table, addr);

	while (table->entries[i].addr != 0) {
		if (table->entries[i].addr == addr) {
			return &table->entries[i];
		}
		i = (i + 1) & (table->room - 1);
	}
	return NULL;
}

/* A new entry for `addr`, which has none and is not 0. */
static inline struct live_block *livetable_add(
	struct livetable *table, uint64_t addr)
{
	size_t i;

	if (table->count >= table->room / 4 * 3) {
		livetable_grow(table);
	}
	i = livetable_index(table, addr);
	while (table->entries[i].addr != 0) {
		i = (i + 1) & (table->room - 1);
	}
	table->entries[i].addr = addr;
	table->count++;
	return &table->entries[i];
}

/* Entries may move. */
static inline void livetable_remove(
	struct livetable *table, struct live_block *block)
{
	size_t mask = table->room - 1;
	size_t hole = (size_t)(block - table->entries);
	size_t i = hole;

	while (true) {
		i = (i + 1) & mask;
		if (table->entries[i].addr == 0) {
			break;
		}
		/* May the entry at i lie in the hole? */
		if (((i - livetable_index(table, table->entries[i].addr)) &
			    mask) >= ((i - hole) & mask)) {
			table->entries[hole] = table->entries[i];
			hole = i;
		}
	}
	table->entries[hole].addr = 0;
	table->count--;
}

#endif
