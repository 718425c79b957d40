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
 * A stack too deep for a walk keeps its inner frames, a gap (address 0), and
 * the root as it was last seen whole, provided that its words are unchanged.
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

/* ---- deep stacks ---- */

static void remember_root(struct capture *c)
{
	struct walk *w = &c->walk;
	size_t first = w->count - CAPTURE_ROOT;
	/* The return address of frame `first` is the word before its own. */
	size_t word = w->first_word[first] - 1;
	size_t words = w->words - word;

	if (words > sizeof(c->root.word) / sizeof(c->root.word[0])) {
		return;
	}
	c->root.count = CAPTURE_ROOT;
	c->root.words = (uint32_t)words;
	memcpy(c->root.frames, &w->frames[first], sizeof(c->root.frames));
	memcpy(c->root.word, &w->word[word], words * sizeof(c->root.word[0]));
}

/* Append gap and root to the frames; adds the root's words to the walk's. */
static size_t append_root(struct capture *c, size_t count)
{
	struct walk *w = &c->walk;
	uint64_t inner = w->word[w->words - 1].addr;

	c->frames[count++] = 0;
	if (c->root.count == 0 || c->root.word[0].addr <= inner) {
		return count;
	}
	for (uint32_t i = 0; i < c->root.words; i++) {
		const struct walk_word *word = &c->root.word[i];

		if (!walk_readable(w, word->addr) ||
			*(const volatile uint64_t *)(uintptr_t)word->addr !=
				word->value) {
			return count;
		}
	}
	if (w->words + c->root.words <= WALK_WORDS) {
		memcpy(&w->word[w->words], c->root.word,
			c->root.words * sizeof(c->root.word[0]));
		w->words += c->root.words;
	}
	memcpy(&c->frames[count], c->root.frames, sizeof(c->root.frames));
	return count + c->root.count;
}

/* ---- misses ---- */

static void remember(struct capture *c, struct capture_entry *e,
	const struct walk_registers *r, uint32_t epoch, uint32_t id)
{
	const struct walk *w = &c->walk;
	uint64_t position = c->position;
	uint64_t left = CAPTURE_WORDS - position % CAPTURE_WORDS;

	e->pc = 0;
	if (left < w->words) {
		position += left;
	}
	for (size_t i = 0; i < w->words; i++) {
		uint64_t offset = w->word[i].addr - r->sp;

		if (offset > UINT32_MAX) {
			return; /* another stack: a signal's */
		}
		c->offsets[position % CAPTURE_WORDS + i] = (uint32_t)offset;
		c->values[position % CAPTURE_WORDS + i] = w->word[i].value;
	}
	c->position = position + w->words;
	*e = (struct capture_entry){
		.pc = r->pc,
		.sp = r->sp,
		.fp = r->fp,
		.fp_mask = w->uses_fp ? UINT64_MAX : 0,
		.position = position,
		.count = (uint32_t)w->words,
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

static AMUX_NOINLINE uint32_t capture_slow(
	struct capture *c, const struct walk_registers *r, uint32_t set)
{
	uint32_t epoch = rules_epoch();
	struct walk *w = &c->walk;
	enum walk_end end = walk_stack(w, r);
	size_t cut = 0;
	size_t count;
	uint32_t id;

	c->misses++;
	while (cut + 1 < w->count && w->frames[cut] - own.start < own.size) {
		cut++;
	}
	count = w->count - cut;
	memcpy(c->frames, &w->frames[cut], count * sizeof(c->frames[0]));
	if (end == WALK_COMPLETE && w->count > 2 * CAPTURE_ROOT) {
		remember_root(c);
	} else if (end == WALK_FULL) {
		count = append_root(c, count);
	} else if (end == WALK_OTHER) {
		count = fallback_unwind(c->frames, count, CAPTURE_FRAMES);
	}
	id = stacks_id(c->frames, count, epoch);
	if (end != WALK_OTHER) {
		consider(c, r, set, epoch, id);
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
