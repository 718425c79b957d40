/* SPDX-License-Identifier: MIT */
/*
 * stacks.c - a table from 96 bits of hash to stack id.
 *
 * The frames themselves go to the trace file and are not kept: 16 bytes a
 * stack. Two of n stacks share their 96 bits with a probability under
 * n * n / 2^97: for ten million stacks, one in 10^15.
 *
 * Look-ups are lock-free. An entry's hash is written before its id (release),
 * an id of 0 means "not there yet"; entries never change after that. Inserting
 * and growing take the trace lock. A look-up in a retired table may miss and
 * then finds the stack under the lock; retired tables stay mapped, empty.
 */
#include "stacks.h"

#include <stdbool.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/os.h"
#include "modules.h"
#include "sink.h"

#define FIRST_ENTRIES 16384u
#define MOST_ENTRIES  (1u << 28)

struct entry {
	_Atomic uint64_t low;
	_Atomic uint32_t high;
	_Atomic uint32_t id; /* 0: empty */
};

struct table {
	uint32_t mask;
	struct entry entries[];
};

static struct {
	struct table *_Atomic table; /* sync: written under the trace lock */
	uint32_t count;              /* sync: trace lock */
} g;

struct hash {
	uint64_t low;
	uint32_t high;
};

/* The running hash's two halves, mixed into each other. */
static struct hash mix(struct walk_hash hash)
{
	uint64_t a = hash.a * 0xff51afd7ed558ccdu;
	uint64_t b = hash.b * 0xc4ceb9fe1a85ec53u;

	a ^= a >> 29;
	b ^= b >> 31;
	return (struct hash){
		.low = a + (b << 32 | b >> 32),
		.high = (uint32_t)((b ^ a >> 32) * 0x9e3779b97f4a7c15u >> 32),
	};
}

static uint32_t lookup(struct table *table, struct hash hash)
{
	for (uint64_t i = hash.low;; i++) {
		struct entry *entry = &table->entries[i & table->mask];
		/* acquire: pairs with the release in insert(). */
		uint32_t id = load_acquire(&entry->id);

		if (id == 0) {
			return 0;
		}
		if (load_relaxed(&entry->low) == hash.low &&
			load_relaxed(&entry->high) == hash.high) {
			return id;
		}
	}
}

static void insert(struct table *table, struct hash hash, uint32_t id)
{
	uint64_t i = hash.low;

	while (load_relaxed(&table->entries[i & table->mask].id)) {
		i++;
	}

	struct entry *entry = &table->entries[i & table->mask];

	store_relaxed(&entry->low, hash.low);
	store_relaxed(&entry->high, hash.high);
	/* release: pairs with the acquire in lookup(). */
	store_release(&entry->id, id);
}

static size_t table_bytes(uint32_t entries)
{
	return sizeof(struct table) + entries * sizeof(struct entry);
}

/* Under the trace lock. False: no memory, or as large as it gets. */
static bool grow(void)
{
	struct table *old = load_relaxed(&g.table);
	uint32_t entries = old ? (old->mask + 1) * 2 : FIRST_ENTRIES;
	struct table *table;
	void *memory;

	if (entries > MOST_ENTRIES ||
		os_map(table_bytes(entries), &memory) != 0) {
		return false;
	}
	table = memory;
	table->mask = entries - 1;
	for (uint32_t i = 0; old && i <= old->mask; i++) {
		struct entry *entry = &old->entries[i];
		uint32_t id = load_relaxed(&entry->id);

		if (id) {
			struct hash hash = {load_relaxed(&entry->low),
				load_relaxed(&entry->high)};

			insert(table, hash, id);
		}
	}
	/* release: pairs with the acquire in stacks_id(). */
	store_release(&g.table, table);
	if (old) {
		size_t page = os_page_size();

		/* The first page holds the mask, which readers still use. */
		os_purge((char *)old + page, table_bytes(old->mask + 1) - page);
	}
	return true;
}

uint32_t stacks_find(struct walk_hash hash)
{
	/* acquire: pairs with the release in grow(). */
	struct table *table = load_acquire(&g.table);

	return likely(table) ? lookup(table, mix(hash)) : 0;
}

/* Is there room for one more? Under the trace lock. */
static bool has_room(void)
{
	const struct table *table = load_relaxed(&g.table);

	return (table && g.count < table->mask / 2) || grow();
}

AMUX_NOINLINE uint32_t stacks_define(
	struct walk_hash hash, const uint64_t *frames, size_t count)
{
	uint32_t id = 0;

	sink_lock();
	if (load_relaxed(&g.table)) {
		id = lookup(load_relaxed(&g.table), mix(hash));
	}
	if (id == 0 && has_room()) {
		id = ++g.count;
		sink_define_stack(
			id, modules_note(frames, count), frames, count);
		insert(load_relaxed(&g.table), mix(hash), id);
	}
	sink_unlock();
	return id;
}

uint32_t stacks_count(void)
{
	return g.count;
}

void stacks_reset(void)
{
	struct table *table = load_relaxed(&g.table);

	if (table) {
		os_unmap(table, table_bytes(table->mask + 1));
		store_relaxed(&g.table, NULL);
	}
	g.count = 0;
}
