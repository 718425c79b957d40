/* SPDX-License-Identifier: MIT */
/*
 * rules.c - a table from code address to unwinding rule.
 *
 * Open addressing, grown by doubling, shared by all threads. An entry is three
 * words; its key holds the address and the low bits of the epoch, so that
 * entries of an older epoch never match and are swept when the table is full.
 *
 * Lock-free readers. An entry is published by a release store of its key and
 * withdrawn by storing another key first; a reader reads key, words, key and
 * trusts the words only if the key did not change (a sequence lock whose
 * sequence is the key). ABA would need 65,536 epochs within one read. A
 * thread that dies, forks or is interrupted between claim and publication
 * leaves a claimed entry, which everybody steps over. The rules are a function
 * of the code, so two threads that derive the same one write the same.
 *
 * Retired tables are not unmapped, since a reader may be in one; all pages but
 * the first are given back, and read as empty.
 */
#include "rules.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/os.h"
#include "cfi.h"

#pragma weak _dl_find_object

#define FIRST_ENTRIES 4096u
#define MOST_ENTRIES  (1u << 20)
#define PROBES        16u

#define ADDRESS_BITS 48
#define KEY_CLAIMED  UINT64_MAX

struct entry {
	_Atomic uint64_t key; /* 0 empty; KEY_CLAIMED; address | epoch << 48 */
	_Atomic uint64_t words[2];
};

struct table {
	uint32_t mask;
	_Atomic uint32_t used;
	struct entry entries[];
};

static struct {
	struct table *_Atomic table; /* sync: atomic, release */
	_Atomic uint32_t growing;    /* sync: atomic; 1: somebody grows */
} g;

_Atomic uint32_t rules_epoch_now = 1; /* sync: atomic */

void rules_advance_epoch(void)
{
	/* release: whoever sees the epoch sees the object gone. */
	add_acq_rel(&rules_epoch_now, 1);
}

static uint64_t key_of(uint64_t pc, uint32_t epoch)
{
	return pc | (uint64_t)(epoch & 0xffff) << ADDRESS_BITS;
}

static uint32_t slot_of(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32);
}

static bool read_entry(
	struct entry *entry, uint64_t key, struct unwind_rule *rule)
{
	uint64_t words[2];

	/* acquire: pairs with the release in publish(). */
	if (load_acquire(&entry->key) != key) {
		return false;
	}
	words[0] = load_relaxed(&entry->words[0]);
	words[1] = load_relaxed(&entry->words[1]);
	atomic_thread_fence(memory_order_acquire);
	if (unlikely(load_relaxed(&entry->key) != key)) {
		return false;
	}
	memcpy(rule, words, sizeof(*rule));
	return true;
}

static bool publish(
	struct table *table, uint64_t key, const struct unwind_rule *rule)
{
	uint64_t words[2];
	uint32_t slot = slot_of(key);

	memcpy(words, rule, sizeof(words));
	for (uint32_t i = 0; i < PROBES; i++) {
		struct entry *entry = &table->entries[(slot + i) & table->mask];
		uint64_t seen = load_relaxed(&entry->key);

		if (seen == key) {
			return true;
		}
		if (seen != 0 ||
			!cas_acquire(&entry->key, &seen, KEY_CLAIMED)) {
			continue;
		}
		store_relaxed(&entry->words[0], words[0]);
		store_relaxed(&entry->words[1], words[1]);
		/* release: pairs with the acquire in read_entry(). */
		store_release(&entry->key, key);
		add_relaxed(&table->used, 1);
		return true;
	}
	return false;
}

static size_t table_bytes(uint32_t entries)
{
	return sizeof(struct table) + entries * sizeof(struct entry);
}

/* A new table with the living entries of the old one; the old one retires. */
static void grow(struct table *old)
{
	uint32_t free_to_grow = 0;
	uint32_t epoch = rules_epoch();
	uint32_t entries = FIRST_ENTRIES;
	uint32_t living = 0;
	struct table *table;
	void *memory;

	if (!cas_acquire(&g.growing, &free_to_grow, 1)) {
		return;
	}
	if (load_acquire(&g.table) != old) {
		store_release(&g.growing, 0);
		return;
	}
	for (uint32_t i = 0; old && i <= old->mask; i++) {
		uint64_t key = load_relaxed(&old->entries[i].key);

		living += key >> ADDRESS_BITS == (epoch & 0xffff);
	}
	while (entries < living * 4 && entries < MOST_ENTRIES) {
		entries *= 2;
	}
	if (living * 2 > entries) {
		/* Full of living code: the rest is derived each time. */
		store_release(&g.growing, 0);
		return;
	}
	if (os_map(table_bytes(entries), &memory) != 0) {
		store_release(&g.growing, 0);
		return;
	}
	table = memory;
	table->mask = entries - 1;
	for (uint32_t i = 0; old && i <= old->mask; i++) {
		uint64_t key = load_relaxed(&old->entries[i].key);
		struct unwind_rule rule;

		if (key != KEY_CLAIMED &&
			key >> ADDRESS_BITS == (epoch & 0xffff) &&
			read_entry(&old->entries[i], key, &rule)) {
			publish(table, key, &rule);
		}
	}
	/* release: pairs with the acquire in rules_find(). */
	store_release(&g.table, table);
	if (old) {
		size_t page = os_page_size();
		char *start = (char *)old + page;

		/* The first page holds the mask, which readers still use. */
		os_purge(start, table_bytes(old->mask + 1) - page);
	}
	store_release(&g.growing, 0);
}

/* ---- derivation ---- */

#if defined(__aarch64__)
/*
 * The kernel's signal return code has no usable CFI. The frame is known: a
 * siginfo of 128 bytes, then struct ucontext, whose registers begin at 184
 * (arch/arm64/include/uapi/asm/ucontext.h, sigcontext.h).
 */
static bool is_signal_return(uint64_t pc)
{
	static const uint32_t code[2] = {0xd2801168, 0xd4000001};

	return (pc & 3) == 0 &&
	       memcmp((const void *)(uintptr_t)pc, code, sizeof(code)) == 0;
}

static struct unwind_rule signal_rule(void)
{
	const int32_t registers = 128 + 176 + 8;

	return (struct unwind_rule){
		.kind = RULE_FRAME,
		.flags = RULE_DEREF | RULE_SIGNAL,
		.cfa_base = RULE_SP,
		.cfa_offset = registers + 31 * 8,
		.ra_base = RULE_SP,
		.ra_offset = registers + 32 * 8,
		.fp_base = RULE_SP,
		.fp_offset = registers + 29 * 8,
	};
}
#endif

static struct unwind_rule derive(uint64_t pc)
{
	struct unwind_rule none = {.kind = RULE_NONE};
	struct dl_find_object found;

	if (!_dl_find_object ||
		_dl_find_object((void *)(uintptr_t)pc, &found) != 0 ||
		!found.dlfo_eh_frame) {
		return none;
	}
#if defined(__aarch64__)
	/* pc may be a return address minus 1: the handler "returned" there. */
	if (is_signal_return((pc + 3) & ~(uint64_t)3)) {
		return signal_rule();
	}
#endif
	return cfi_rule(pc, found.dlfo_eh_frame,
		(uint64_t)(uintptr_t)found.dlfo_map_start,
		(uint64_t)(uintptr_t)found.dlfo_map_end);
}

static AMUX_NOINLINE struct unwind_rule find_slow(
	struct table *table, uint64_t pc, uint64_t key)
{
	struct unwind_rule rule = derive(pc);

	/* Addresses without an object may get one; they are not remembered. */
	if (rule.kind == RULE_NONE || pc >> ADDRESS_BITS) {
		return rule;
	}
	if (!table || load_relaxed(&table->used) > table->mask / 2 ||
		!publish(table, key, &rule)) {
		grow(table);
		table = load_acquire(&g.table);
		if (table) {
			publish(table, key, &rule);
		}
	}
	return rule;
}

struct unwind_rule rules_find(uint64_t pc)
{
	uint64_t key = key_of(pc, rules_epoch());
	/* acquire: pairs with the release in grow(). */
	struct table *table = load_acquire(&g.table);
	struct unwind_rule rule;

	if (likely(table != NULL)) {
		uint32_t slot = slot_of(key);

		for (uint32_t i = 0; i < PROBES; i++) {
			struct entry *entry =
				&table->entries[(slot + i) & table->mask];

			if (read_entry(entry, key, &rule)) {
				return rule;
			}
			if (load_relaxed(&entry->key) == 0) {
				break;
			}
		}
	}
	return find_slow(table, pc, key);
}
