/* SPDX-License-Identifier: MIT */
/*
 * sites.c - counters per stack, in place in the file.
 *
 * Stack ids are dense, so the site of a stack is found by its id: block
 * (id - 1) / PER_BLOCK, entry (id - 1) % PER_BLOCK. A site is changed under a
 * one-word lock in its `flags`; a thread holds it for a few instructions, is
 * marked busy, and calls nothing. Readers in other processes see each field
 * whole.
 */
#include "sites.h"

#include <stddef.h>
#include <string.h>

#include <allocmux/trace.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/os.h"
#include "live.h"
#include "options.h"
#include "sink.h"

#define PER_BLOCK                                                              \
	((TRACE_BLOCK_SIZE - sizeof(struct amux_trace_block)) /                \
		sizeof(struct amux_trace_site))
#define MOST_BLOCKS 65536u

static struct {
	/* sync: array set once under the trace lock; entries release */
	struct amux_trace_block *_Atomic *_Atomic blocks;
	uint32_t count; /* sync: trace lock; blocks in use */
} g;

/* ---- finding ---- */

static bool add_blocks_locked(uint32_t wanted)
{
	struct amux_trace_block *_Atomic *blocks = load_relaxed(&g.blocks);
	void *addr;

	if (!blocks) {
		if (os_map(MOST_BLOCKS * sizeof(*blocks), &addr) != 0) {
			return false;
		}
		blocks = addr;
		store_release(&g.blocks, blocks);
	}
	while (g.count <= wanted) {
		struct amux_trace_block *block =
			sink_take_sites_locked(0, g.count);
		size_t used = PER_BLOCK * sizeof(struct amux_trace_site);

		if (!block) {
			return false;
		}
		memset(block + 1, 0, used);
		store_release((_Atomic uint64_t *)&block->committed, used);
		/* release: whoever sees the block sees it empty. */
		store_release(&blocks[g.count++], block);
	}
	return true;
}

static AMUX_NOINLINE struct amux_trace_block *find_block_slow(uint32_t index)
{
	struct amux_trace_block *block = NULL;

	sink_lock();
	if (index < MOST_BLOCKS && add_blocks_locked(index)) {
		block = load_relaxed(&load_relaxed(&g.blocks)[index]);
	}
	sink_unlock();
	return block;
}

static struct amux_trace_site *find_site(uint32_t stack)
{
	uint32_t index = (stack - 1) / PER_BLOCK;
	struct amux_trace_block *_Atomic *blocks = load_acquire(&g.blocks);
	struct amux_trace_block *block = NULL;

	if (stack == 0) {
		return NULL;
	}
	if (likely(blocks && index < MOST_BLOCKS)) {
		block = load_acquire(&blocks[index]);
	}
	if (unlikely(!block)) {
		block = find_block_slow(index);
	}
	return block ? (struct amux_trace_site *)(block + 1) +
			       (stack - 1) % PER_BLOCK
		     : NULL;
}

static void lock_site(struct amux_trace_site *site)
{
	_Atomic uint32_t *flags = (_Atomic uint32_t *)&site->flags;

	while (xchg_acquire(flags, 1) != 0) {
		cpu_relax();
	}
}

static void unlock_site(struct amux_trace_site *site)
{
	store_release((_Atomic uint32_t *)&site->flags, 0);
}

/* ---- the total and its peak ---- */

static void raise_peak(struct amux_trace_file *header, uint64_t total)
{
	_Atomic uint64_t *peak = (_Atomic uint64_t *)&header->total_peak;
	uint64_t seen = load_relaxed(peak);

	while (total > seen) {
		if (cas_release(peak, &seen, total)) {
			store_relaxed((_Atomic uint64_t *)&header->peak_ns,
				sink_tick());
			return;
		}
	}
}

/*
 * Before live_bytes changes: if the greatest total has been passed since the
 * last change, the value until now is the one at that moment.
 */
static void note_peak(
	struct amux_trace_site *site, const struct amux_trace_file *header)
{
	uint64_t peak = load_relaxed((_Atomic uint64_t *)&header->total_peak);

	if (site->changed_peak != peak) {
		site->at_peak = site->live_bytes;
		site->changed_peak = peak;
	}
}

/* ---- counting ---- */

bool sites_count_alloc(const struct live_block *block, bool is_realloc)
{
	struct amux_trace_site *site = find_site(block->stack);
	struct amux_trace_file *header = sink_header();
	uint64_t usable = block->size + block->excess;

	if (unlikely(!site)) {
		return false;
	}
	lock_site(site);
	note_peak(site, header);
	site->stack = block->stack;
	site->allocs++;
	site->bytes += block->size;
	site->usable += usable;
	site->live_bytes += block->size;
	site->live_usable += usable;
	site->reallocs += is_realloc;
	if (site->live_bytes > site->peak_bytes) {
		site->peak_bytes = site->live_bytes;
	}
	if (block->size > site->max_size) {
		site->max_size = block->size;
	}
	unlock_site(site);
	raise_peak(header, add_relaxed((_Atomic uint64_t *)&header->total_live,
				   block->size) +
				   block->size);
	return true;
}

/* See "Lifetimes" in docs/trace-format.md: powers of four, milliseconds. */
static unsigned lifetime_class(uint32_t born, uint32_t now)
{
	uint32_t ms = now - born;
	unsigned class = 1;

	if (ms == 0) {
		return 0;
	}
	while (ms >= 4 && class < AMUX_TRACE_LIFETIMES - 1) {
		ms /= 4;
		class ++;
	}
	return class;
}

void sites_count_free(
	const struct live_block *block, const struct site_free *how)
{
	struct amux_trace_site *site = find_site(block->stack);
	struct amux_trace_file *header = sink_header();

	if (unlikely(!site)) {
		return;
	}
	lock_site(site);
	note_peak(site, header);
	site->frees++;
	site->live_bytes -= block->size;
	site->live_usable -= block->size + block->excess;
	site->temporary += how->temporary;
	site->lifetimes[lifetime_class(block->ms, how->ms)]++;
	unlock_site(site);
	sub_relaxed((_Atomic uint64_t *)&header->total_live, block->size);
}

void sites_snapshot(uint32_t number)
{
	sink_lock();
	for (uint32_t i = 0; i < g.count; i++) {
		struct amux_trace_block *from =
			load_relaxed(&load_relaxed(&g.blocks)[i]);
		struct amux_trace_block *to = sink_take_sites_locked(number, i);

		if (!to) {
			break;
		}
		memcpy(to + 1, from + 1, from->committed);
		store_release(
			(_Atomic uint64_t *)&to->committed, from->committed);
	}
	sink_unlock();
}

void sites_reset(void)
{
	struct amux_trace_block *_Atomic *blocks = load_relaxed(&g.blocks);

	for (uint32_t i = 0; i < g.count; i++) {
		store_relaxed(&blocks[i], NULL);
	}
	g.count = 0;
}
