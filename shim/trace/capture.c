/* SPDX-License-Identifier: MIT */
/*
 * capture.c - the verified cache in front of the walk.
 *
 * A walk is a function of its starting registers, of the code, and of the
 * stack words that it used (walk.h). An entry remembers all of them and the
 * resulting id. If registers and epoch are the same and every word still has
 * its value, a new walk would read the same words and give the same frames, so
 * the id is exact. The words are compared in the order in which a walk would
 * read them, and the first difference ends the comparison; so nothing is read
 * that a walk would not read, and nothing can fault.
 *
 * Of a stack too deep for a walk (walk.h) the words of the frames left out are
 * not compared: those frames are not in the result either.
 *
 * Words live in a ring that all entries of the thread share: `position` counts
 * words for ever, an entry is alive while its words are less than a ring old.
 * Price of a hit: one load, compare and branch a word.
 * Locks: none; a struct capture belongs to one thread.
 */
#include "capture.h"

#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"
#include "fallback.h"
#include "rules.h"
#include "stacks.h"

static struct {
	uint64_t start; /* sync: set before the first capture */
	uint64_t size;
} own;

void capture_cut(uint64_t start, uint64_t end)
{
	own.start = start;
	own.size = end - start;
}

static inline uint64_t word_at(const char *sp, uint32_t offset)
{
	return *(const volatile uint64_t *)(sp + offset);
}

/* In order, up to the first difference: see above. */
static inline bool entry_matches(const struct capture *c,
	const struct capture_entry *e, const struct walk_registers *r)
{
	const uint32_t *offsets = &c->offsets[e->position % CAPTURE_WORDS];
	const uint64_t *values = &c->values[e->position % CAPTURE_WORDS];
	const char *sp = (const char *)(uintptr_t)r->sp;
	uint32_t count = e->count;

	if (e->pc != r->pc || e->sp != r->sp || e->epoch != rules_epoch() ||
		((e->fp ^ r->fp) & e->fp_mask) != 0 ||
		c->position - e->position > CAPTURE_WORDS) {
		return false;
	}
	for (; count >= 4; count -= 4, offsets += 4, values += 4) {
		if (word_at(sp, offsets[0]) != values[0] ||
			word_at(sp, offsets[1]) != values[1] ||
			word_at(sp, offsets[2]) != values[2] ||
			word_at(sp, offsets[3]) != values[3]) {
			return false;
		}
	}
	for (; count; count--, offsets++, values++) {
		if (word_at(sp, *offsets) != *values) {
			return false;
		}
	}
	return true;
}

/* ---- misses ---- */

static void remember(struct capture *c, struct capture_entry *e,
	const struct walk_registers *r, uint32_t epoch, uint32_t id)
{
	const struct walk *w = &c->walk;
	const struct walk_word *words = walk_words(w);
	uint64_t position = c->position;
	uint64_t left = CAPTURE_WORDS - position % CAPTURE_WORDS;
	uint32_t count = 0;
	uint32_t *offsets;
	uint64_t *values;

	e->pc = 0;
	if (left < w->words) {
		position += left;
	}
	offsets = &c->offsets[position % CAPTURE_WORDS];
	values = &c->values[position % CAPTURE_WORDS];
	for (size_t i = 0; i < w->words; i++) {
		uint64_t offset = words[i].addr - r->sp;

		if (words[i].addr == 0) {
			continue;
		}
		if (offset > UINT32_MAX) {
			return; /* another stack: a signal's */
		}
		offsets[count] = (uint32_t)offset;
		values[count++] = words[i].value;
	}
	c->position = position + count;
	*e = (struct capture_entry){
		.pc = r->pc,
		.sp = r->sp,
		.fp = r->fp,
		.fp_mask = w->uses_fp ? UINT64_MAX : 0,
		.position = position,
		.count = count,
		.epoch = epoch,
		.id = id,
	};
}

/*
 * A stack is remembered when it comes again: copying its words costs about as
 * much as the walk, and many stacks never come back.
 */
static void consider(struct capture *c, const struct walk_registers *r,
	uint32_t set, uint32_t epoch, uint32_t id)
{
	uint8_t way;

	if (c->seen[id % CAPTURE_SEEN] != id) {
		c->seen[id % CAPTURE_SEEN] = id;
		return;
	}
	way = (uint8_t)((c->recent[set] + 1) % CAPTURE_WAYS);
	remember(c, &c->entries[set][way], r, epoch, id);
	c->recent[set] = way;
}

/* The frames from index `cut` on, as a list; returns its length. */
static size_t list_frames(struct capture *c, size_t cut)
{
	const struct walk *w = &c->walk;
	size_t count = 0;

	for (size_t i = cut; i < w->count; i++) {
		if (w->gap && i == w->gap) {
			c->frames[count++] = 0;
		}
		c->frames[count++] = walk_frame_at(w, i)->pc;
	}
	return count;
}

static struct walk_hash hash_list(
	const uint64_t *frames, size_t count, uint32_t epoch)
{
	struct walk_hash hash = walk_hash_start(epoch);

	while (count-- > 0) {
		hash = walk_hash_add(hash, frames[count]);
	}
	return hash;
}

/* A stack whose hash is not just the sum of its frames. */
static AMUX_NOINLINE uint32_t identify_irregular(
	struct capture *c, size_t cut, enum walk_end end)
{
	uint32_t epoch = c->walk.epoch;
	size_t count = list_frames(c, cut);
	struct walk_hash hash;
	uint32_t id;

	if (end == WALK_OTHER) {
		count = fallback_unwind(c->frames, count, CAPTURE_FRAMES);
	}
	hash = hash_list(c->frames, count, epoch);
	id = stacks_find(hash);
	return id ? id : stacks_define(hash, c->frames, count);
}

static uint32_t identify(struct capture *c, size_t cut)
{
	struct walk_hash hash = walk_frame_at(&c->walk, cut)->hash;
	uint32_t id = stacks_find(hash);

	if (unlikely(!id)) {
		size_t count = list_frames(c, cut);

		id = stacks_define(hash, c->frames, count);
	}
	return id;
}

static AMUX_NOINLINE uint32_t capture_slow(
	struct capture *c, const struct walk_registers *r, uint32_t set)
{
	struct walk *w = &c->walk;
	enum walk_end end = walk_stack(w, r);
	size_t cut = 0;
	uint32_t id;

	c->misses++;
	while (cut + 1 < w->count &&
		walk_frame_at(w, cut)->pc - own.start < own.size) {
		cut++;
	}
	if (unlikely(end == WALK_OTHER || w->gap)) {
		id = identify_irregular(c, cut, end);
	} else {
		id = identify(c, cut);
	}
	if (end != WALK_OTHER) {
		consider(c, r, set, w->epoch, id);
	}
	return id;
}

uint32_t capture_stack(struct capture *c, const struct walk_registers *r)
{
	uint64_t hash = (r->pc ^ r->sp << 20) * 0x9e3779b97f4a7c15u;
	uint32_t set = (uint32_t)(hash >> 32) % CAPTURE_SETS;
	uint32_t recent = c->recent[set];

	for (uint32_t i = 0; i < CAPTURE_WAYS; i++) {
		uint32_t way = (recent - i) % CAPTURE_WAYS;
		struct capture_entry *e = &c->entries[set][way];

		if (entry_matches(c, e, r)) {
			c->recent[set] = (uint8_t)way;
			c->hits++;
			return e->id;
		}
	}
	return capture_slow(c, r, set);
}
