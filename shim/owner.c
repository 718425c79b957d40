/* SPDX-License-Identifier: MIT */
/*
 * owner.c - the table of ranges behind the owner map.
 *
 * Memory order. A table is immutable once published: a writer fills the spare
 * one and publishes it. A reader takes the published table, searches, and asks
 * whether the table's generation is still the one it began with; if not, the
 * spare may have been refilled under it and it starts again.
 *   - linearization point of a look-up: the load of g.published;
 *   - ABA: generations only grow, and tables are never unmapped;
 *   - progress: a reader repeats only if two updates were completed meanwhile
 *     (lock-free); a signal handler that interrupts a writer sees the table
 *     published before, which this writer cannot touch.
 * Locks: g.lock serialises writers.
 */
#include "owner.h"

#include <errno.h>

#include "base/lock.h"
#include "base/os.h"

struct entry {
	_Atomic uintptr_t start; /* sync: see "Memory order" */
	_Atomic uintptr_t end;
	_Atomic unsigned id;
};

struct table {
	_Atomic uint64_t generation; /* sync: odd while being filled */
	_Atomic size_t count;
	size_t capacity;
	struct entry entries[];
};

_Atomic uint8_t owner_map[OWNER_GRANULES];

static struct {
	struct lock lock;                  /* sync: itself */
	_Atomic(struct table *) published; /* sync: atomic */
	struct table *spare;               /* sync: lock */
	uint64_t generation;               /* sync: lock */
} g = {.lock = LOCK_INIT(LOCK_RANK_OWNER)};

/* The index of the first entry that ends above addr. */
static size_t first_above(
	const struct table *table, size_t count, uintptr_t addr)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (load_relaxed(&table->entries[middle].end) <= addr) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

unsigned owner_of_mixed(uintptr_t addr)
{
	for (;;) {
		/* acquire: pairs with publish(); its entries are visible. */
		struct table *table = load_acquire(&g.published);

		if (!table) {
			return OWNER_LIBC;
		}

		/* acquire: the entries are read after the generation. */
		uint64_t generation = load_acquire(&table->generation);
		size_t count = load_relaxed(&table->count);
		unsigned id = OWNER_LIBC;

		if (count > table->capacity) {
			continue;
		}

		size_t i = first_above(table, count, addr);

		if (i < count &&
			load_relaxed(&table->entries[i].start) <= addr) {
			id = load_relaxed(&table->entries[i].id);
		}
		/* The entries are read before the generation is asked again. */
		atomic_thread_fence(memory_order_acquire);
		if (!(generation & 1) &&
			generation == load_relaxed(&table->generation)) {
			return id;
		}
	}
}

/* An empty table with room for count entries: the spare, or a larger one. */
static struct table *table_begin(size_t count)
{
	struct table *table = g.spare;

	if (!table || table->capacity < count) {
		size_t page = os_page_size();
		size_t bytes = round_up(
			sizeof(*table) + 2 * count * sizeof(struct entry),
			page);
		void *addr;

		if (os_map(bytes, &addr)) {
			return NULL;
		}
		/* The old spare stays mapped: a reader may still be in it. */
		table = addr;
		table->capacity =
			(bytes - sizeof(*table)) / sizeof(struct entry);
		g.spare = table;
	}
	store_relaxed(&table->generation, ++g.generation | 1);
	/* release fence: no entry is written before the odd generation. */
	atomic_thread_fence(memory_order_release);
	store_relaxed(&table->count, (size_t)0);
	return table;
}

static void table_append(
	struct table *table, uintptr_t start, uintptr_t end, unsigned id)
{
	size_t count = load_relaxed(&table->count);
	struct entry *last = count ? &table->entries[count - 1] : NULL;

	AMUX_ASSERT(count < table->capacity);
	if (last && load_relaxed(&last->end) == start &&
		load_relaxed(&last->id) == id) {
		store_relaxed(&last->end, end);
		return;
	}
	store_relaxed(&table->entries[count].start, start);
	store_relaxed(&table->entries[count].end, end);
	store_relaxed(&table->entries[count].id, id);
	store_relaxed(&table->count, count + 1);
}

static void table_publish(struct table *table)
{
	struct table *old = load_relaxed(&g.published);

	g.generation = (g.generation | 1) + 1;
	/* release: entries before the even generation, for owner_of_mixed(). */
	store_release(&table->generation, g.generation);
	store_release(&g.published, table);
	g.spare = old;
}

/* Recompute the bytes of the granules that [start, end) touches. */
static void refresh_map(
	const struct table *table, uintptr_t start, uintptr_t end)
{
	size_t count = load_relaxed(&table->count);
	size_t i = first_above(table, count, round_down(start, OWNER_GRANULE));

	for (uintptr_t low = round_down(start, OWNER_GRANULE); low < end;
		low += OWNER_GRANULE) {
		uintptr_t high = low + OWNER_GRANULE;
		uint8_t value = OWNER_LIBC;

		while (i < count &&
			load_relaxed(&table->entries[i].end) <= low) {
			i++;
		}
		if (i < count) {
			const struct entry *e = &table->entries[i];
			uintptr_t from = load_relaxed(&e->start);
			uintptr_t to = load_relaxed(&e->end);

			if (from <= low && to >= high) {
				value = (uint8_t)load_relaxed(&e->id);
			} else if (from < high) {
				value = OWNER_MIXED;
			}
		}
		/* release: who sees MIXED finds the table that has it. */
		store_release(&owner_map[low >> OWNER_SHIFT], value);
	}
}

static bool range_is_valid(const void *addr, size_t size)
{
	uintptr_t limit = (uintptr_t)1 << ADDR_BITS;

	return size && size <= limit && (uintptr_t)addr <= limit - size;
}

static int register_locked(uintptr_t start, uintptr_t end, unsigned id)
{
	struct table *old = load_relaxed(&g.published);
	size_t count = old ? load_relaxed(&old->count) : 0;
	size_t at = old ? first_above(old, count, start) : 0;
	struct table *table;

	if (at < count && load_relaxed(&old->entries[at].start) < end) {
		return -EINVAL;
	}
	table = table_begin(count + 1);
	if (!table) {
		return -ENOMEM;
	}
	for (size_t i = 0; i <= count; i++) {
		if (i == at) {
			table_append(table, start, end, id);
		}
		if (i < count) {
			const struct entry *e = &old->entries[i];

			table_append(table, load_relaxed(&e->start),
				load_relaxed(&e->end), load_relaxed(&e->id));
		}
	}
	table_publish(table);
	refresh_map(table, start, end);
	return 0;
}

int owner_register(const void *addr, size_t size, unsigned id)
{
	int err;

	if (!range_is_valid(addr, size) || id == OWNER_LIBC ||
		id >= OWNER_LIMIT) {
		return -EINVAL;
	}
	lock_acquire(&g.lock);
	err = register_locked((uintptr_t)addr, (uintptr_t)addr + size, id);
	lock_release(&g.lock);
	return err;
}

static int unregister_locked(uintptr_t start, uintptr_t end)
{
	struct table *old = load_relaxed(&g.published);
	size_t count = old ? load_relaxed(&old->count) : 0;
	size_t at = old ? first_above(old, count, start) : 0;
	struct table *table;

	if (at == count || load_relaxed(&old->entries[at].start) >= end) {
		return 0;
	}
	table = table_begin(count + 1);
	if (!table) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		const struct entry *e = &old->entries[i];
		uintptr_t from = load_relaxed(&e->start);
		uintptr_t to = load_relaxed(&e->end);
		unsigned id = load_relaxed(&e->id);

		if (to <= start || from >= end) {
			table_append(table, from, to, id);
			continue;
		}
		if (from < start) {
			table_append(table, from, start, id);
		}
		if (to > end) {
			table_append(table, end, to, id);
		}
	}
	table_publish(table);
	refresh_map(table, start, end);
	return 0;
}

int owner_unregister(const void *addr, size_t size)
{
	int err;

	if (!range_is_valid(addr, size)) {
		return -EINVAL;
	}
	lock_acquire(&g.lock);
	err = unregister_locked((uintptr_t)addr, (uintptr_t)addr + size);
	lock_release(&g.lock);
	return err;
}

size_t owner_ranges(struct owner_range *out, size_t limit)
{
	lock_acquire(&g.lock);

	struct table *table = load_relaxed(&g.published);
	size_t count = table ? load_relaxed(&table->count) : 0;

	for (size_t i = 0; i < count && i < limit; i++) {
		out[i].start = load_relaxed(&table->entries[i].start);
		out[i].end = load_relaxed(&table->entries[i].end);
		out[i].id = load_relaxed(&table->entries[i].id);
	}
	lock_release(&g.lock);
	return count;
}

void owner_prefork(void)
{
	lock_prefork(&g.lock);
}

void owner_postfork(void)
{
	lock_postfork(&g.lock);
}
