/* SPDX-License-Identifier: MIT */
/*
 * walk.c - unwinds by rules (rules.h).
 *
 * Exactness: a word is listed when a step uses it, never before; frame pointers
 * that no rule uses are not listed, so that they may change. A word that is
 * listed after others lies where those others put it.
 *
 * Joining the old stack: at a frame with the pc and sp of an old frame, and its
 * fp if an outer step uses that, all outer steps read the same words as then.
 * They are compared in order. If all are the same, so are the outer frames;
 * otherwise the frames up to the step that used the first difference are, and
 * unwinding goes on there. Old words may have been overwritten with a value
 * that a rule would not reach, so they are compared by address, and an address
 * is valid because the words before it are unchanged. The word that held the
 * old fp is replaced by the one that holds the new one, or by none (addr 0) if
 * that is a register or has been listed before.
 *
 * A stack with a signal frame in it is not joined: its addresses need not rise.
 */
#include "walk.h"

#include <string.h>

#include "base/compiler.h"
#include "base/syscall.h"
#include "rules.h"

/* The smallest page there is; ranges are kept in this grain. */
#define GRAIN ((uint64_t)4096)

/* A gap of at most this many bytes is probed and joined. */
#define MAX_GAP ((uint64_t)1 << 23)

#if defined(__x86_64__)
	#define ADDRESS_MASK UINT64_MAX
#elif defined(__aarch64__)
	/* Without the pointer authentication code. */
	#define ADDRESS_MASK (((uint64_t)1 << 48) - 1)
#endif

/*
 * rt_sigprocmask(2) reads the new mask before it looks at `how`: EFAULT if it
 * cannot, EINVAL otherwise, and no effect.
 */
static bool probe(uint64_t addr)
{
	return sys4(SYS_rt_sigprocmask, -1, addr, 0, 8) != -14;
}

static bool extend(struct walk *w, uint64_t page)
{
	struct stack_range *r = &w->range;

	if (page >= r->high && page - r->high <= MAX_GAP && r->high) {
		while (r->high <= page) {
			if (!probe(r->high)) {
				return false;
			}
			r->high += GRAIN;
			if (r->high == w->previous.low) {
				r->high = w->previous.high;
			}
		}
		return true;
	}
	return false;
}

static AMUX_NOINLINE bool readable_slow(struct walk *w, uint64_t addr)
{
	uint64_t page = addr & ~(GRAIN - 1);

	if (addr & 7) {
		return false;
	}
	if (extend(w, page)) {
		return true;
	}
	if (page == 0 || !probe(page)) {
		return false;
	}
	if (w->range.high) {
		w->previous = w->range;
	}
	w->range.low = page;
	w->range.high = page + GRAIN;
	if (w->range.high == w->previous.low) {
		w->range.high = w->previous.high;
	}
	return true;
}

static inline bool readable(struct walk *w, uint64_t addr)
{
	/* Aligned words do not straddle the ends, which are page-aligned. */
	if (likely(addr - w->range.low < w->range.high - w->range.low &&
		    (addr & 7) == 0)) {
		return true;
	}
	return readable_slow(w, addr);
}

void walk_forget(struct walk *walk)
{
	walk->range = (struct stack_range){0, 0};
	walk->previous = walk->range;
	walk->regular = false;
}

static AMUX_NOINLINE void learn_rule(
	struct walk_rule *entry, uint64_t pc, uint32_t epoch)
{
	entry->rule = rules_find(pc);
	entry->pc = pc;
	entry->epoch = epoch;
}

/* The rule for pc; valid until the next call. */
static inline const struct unwind_rule *rule_of(
	struct walk *w, uint64_t pc, uint32_t epoch)
{
	uint32_t slot = (uint32_t)(pc * 0x9e3779b97f4a7c15u >> 54);
	struct walk_rule *entry = &w->rules[slot];

	if (unlikely(entry->pc != pc || entry->epoch != epoch)) {
		learn_rule(entry, pc, epoch);
	}
	return &entry->rule;
}

/* Where a walk has come to. */
struct state {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t fp_slot; /* where fp was read; 0: the starting register */
	bool fp_listed;
	bool exact;  /* pc is an interrupted instruction, not a return */
	bool signal; /* there was a signal frame */
	uint64_t lr; /* valid if lr_slot is not 0 */
	uint64_t lr_slot;
	size_t fp_since; /* inner frames from this one on have this fp */
	size_t count;    /* inner frames, with the current one */
	size_t words;    /* inner words */
	size_t left_out; /* frames */
};

static inline void list_word(
	struct walk *w, struct state *s, uint64_t addr, uint64_t value)
{
	w->inner_word[s->words].addr = addr;
	w->inner_word[s->words].value = value;
	s->words++;
}

static inline bool read_word(struct walk *w, uint64_t addr, uint64_t *value)
{
	if (unlikely(!readable(w, addr))) {
		return false;
	}
	*value = *(const volatile uint64_t *)(uintptr_t)addr;
	return true;
}

/* All inner frames that have the current fp: an outer step uses it. */
static void mark_fp(struct walk *w, struct state *s, uint16_t fp_word)
{
	for (size_t k = s->count; k-- > s->fp_since;) {
		if (w->inner[k].flags & WALK_FP_USED) {
			return;
		}
		w->inner[k].flags |= WALK_FP_USED;
		w->inner[k].fp_word = fp_word;
	}
}

static uint64_t use_fp(struct walk *w, struct state *s)
{
	uint16_t fp_word = 0;

	if (!s->fp_listed) {
		s->fp_listed = true;
		if (s->fp_slot) {
			list_word(w, s, s->fp_slot, s->fp);
			fp_word = (uint16_t)s->words;
		} else {
			w->uses_fp = true;
		}
	}
	mark_fp(w, s, fp_word);
	return s->fp;
}

static inline uint64_t locate(struct walk *w, struct state *s, unsigned base,
	int64_t offset, uint64_t cfa)
{
	switch (base) {
	case RULE_CFA:
		return cfa + (uint64_t)offset;
	case RULE_SP:
		return s->sp + (uint64_t)offset;
	default:
		return use_fp(w, s) + (uint64_t)offset;
	}
}

/* The return address; false if it cannot be read. */
static inline bool step_pc(struct walk *w, struct state *s,
	const struct unwind_rule *rule, uint64_t cfa, uint64_t *pc)
{
	if (likely(rule->ra_base != RULE_SAME)) {
		uint64_t addr =
			locate(w, s, rule->ra_base, rule->ra_offset, cfa);

		if (!read_word(w, addr, pc)) {
			return false;
		}
		list_word(w, s, addr, *pc);
		s->lr_slot = 0;
		return true;
	}
	if (!s->lr_slot) {
		return false;
	}
	list_word(w, s, s->lr_slot, s->lr);
	*pc = s->lr;
	s->lr_slot = 0;
	return true;
}

/* From the current frame to its caller. False: the stack is damaged. */
static inline bool step(
	struct walk *w, struct state *s, const struct unwind_rule *rule)
{
	uint64_t cfa = rule->cfa_base == RULE_SP ? s->sp : use_fp(w, s);
	uint64_t fp_slot = 0;
	uint64_t value;

	cfa += (uint64_t)(int64_t)rule->cfa_offset;
	if (unlikely(rule->flags & RULE_DEREF)) {
		if (!read_word(w, cfa, &value)) {
			return false;
		}
		list_word(w, s, cfa, value);
		cfa = value;
	}
	/* Stacks grow down, but a signal may have changed stacks. */
	if (unlikely(!(rule->flags & RULE_SIGNAL) &&
		     cfa <= s->sp - (s->exact ? 1 : 0))) {
		return false;
	}
	if (unlikely(!step_pc(w, s, rule, cfa, &s->pc))) {
		return false;
	}
#if defined(__aarch64__)
	if (rule->flags & RULE_SIGNAL) {
		/* x30 follows x29 in the signal frame. */
		s->lr_slot = s->sp + (uint64_t)(int64_t)rule->fp_offset + 8;
		if (!read_word(w, s->lr_slot, &s->lr)) {
			return false;
		}
	}
#endif
	if (rule->fp_base != RULE_SAME) {
		fp_slot = locate(w, s, rule->fp_base, rule->fp_offset, cfa);
		if (!read_word(w, fp_slot, &s->fp)) {
			return false;
		}
		s->fp_slot = fp_slot;
		s->fp_listed = false;
		s->fp_since = s->count;
	}
	w->inner[s->count - 1].fp_slot = fp_slot;
	s->pc &= ADDRESS_MASK;
	s->sp = cfa;
	s->exact = rule->flags & RULE_SIGNAL;
	s->signal |= s->exact;
	return true;
}

/* ---- too many frames ---- */

/* Drop the oldest of the frames that are not kept, to go on to the root. */
static void leave_out(struct walk *w, struct state *s)
{
	const size_t drop = (WALK_FRAMES - WALK_KEPT) / 2;
	size_t from = w->inner[WALK_KEPT].words;
	size_t to = w->inner[WALK_KEPT + drop].words;

	memmove(&w->inner[WALK_KEPT], &w->inner[WALK_KEPT + drop],
		(s->count - WALK_KEPT - drop) * sizeof(w->inner[0]));
	memmove(&w->inner_word[from], &w->inner_word[to],
		(s->words - to) * sizeof(w->inner_word[0]));
	s->count -= drop;
	s->words -= to - from;
	s->left_out += drop;
	s->fp_since = s->fp_since > drop ? s->fp_since - drop : 0;
	for (size_t k = WALK_KEPT; k < s->count; k++) {
		w->inner[k].words -= (uint16_t)(to - from);
	}
}

/* ---- joining the last walk's frames ---- */

/*
 * The frame of the old stack, at index *from or further out, that the current
 * frame may be; WALK_FRAMES if none. *from advances with sp.
 */
static inline size_t find_old(
	const struct walk *w, const struct state *s, size_t *from)
{
	size_t j = *from;

	while (j < WALK_FRAMES && w->frame[j].sp < s->sp) {
		j++;
	}
	*from = j;
	if (j == WALK_FRAMES || w->frame[j].sp != s->sp ||
		w->frame[j].pc != s->pc || s->exact) {
		return WALK_FRAMES;
	}
	if ((w->frame[j].flags & WALK_FP_USED) && w->frame[j].fp != s->fp) {
		return WALK_FRAMES;
	}
	return j;
}

/* The old words from frame j outwards now hold the new stack's fp. */
static void adopt_fp(struct walk *w, struct state *s, size_t j)
{
	const struct walk_frame *f = &w->frame[j];
	struct walk_word *word;

	if (!(f->flags & WALK_FP_USED)) {
		return;
	}
	if (!f->fp_word) {
		use_fp(w, s); /* was listed further in: so must it be now */
		return;
	}
	word = &w->word[WALK_WORDS - f->fp_word];
	word->value = s->fp;
	word->addr = s->fp_listed ? 0 : s->fp_slot;
	if (s->fp_listed || !s->fp_slot) {
		use_fp(w, s);
	}
}

/* Index of the first word from frame j outwards that has changed. */
static size_t find_change(const struct walk *w, size_t j)
{
	size_t i = WALK_WORDS - w->frame[j].words;

	while (i < WALK_WORDS) {
		const struct walk_word *word = &w->word[i];

		if (word->addr &&
			*(const volatile uint64_t *)(uintptr_t)word->addr !=
				word->value) {
			break;
		}
		i++;
	}
	return i;
}

/*
 * Old frames j to m are the new stack's, too, and the step of m is not: move
 * j to m - 1 to the inner part and make m the current frame. The current one,
 * which is j, has not been added yet.
 */
static void take_old(struct walk *w, struct state *s, size_t j, size_t m)
{
	size_t first = WALK_WORDS - w->frame[j].words;
	size_t last = WALK_WORDS - w->frame[m].words;
	size_t count = s->count;

	for (size_t k = j; k < m; k++) {
		struct walk_frame *f = &w->inner[s->count++];
		size_t word = WALK_WORDS - w->frame[k].fp_word;

		*f = w->frame[k];
		f->words = (uint16_t)(s->words +
				      (WALK_WORDS - w->frame[k].words - first));
		if (f->fp_word && word < last) {
			f->fp_word = (uint16_t)(s->words + (word - first) + 1);
		} else if (f->fp_word) {
			/* Used further out than we take over. */
			f->fp_word = 0;
			f->flags &= ~WALK_FP_USED;
		}
	}
	if (m > j && (w->frame[j].flags & WALK_FP_USED) &&
		w->frame[j].fp_word &&
		WALK_WORDS - w->frame[j].fp_word < last && !s->fp_listed) {
		size_t since = s->count;

		/* The frames further in have the same fp. */
		s->count = count;
		mark_fp(w, s, w->inner[count].fp_word);
		s->count = since;
		s->fp_listed = true;
	}
	memcpy(&w->inner_word[s->words], &w->word[first],
		(last - first) * sizeof(w->word[0]));
	s->words += last - first;
	for (size_t k = s->count; k-- > count;) {
		const struct walk_frame *f = &w->inner[k];

		if (f->fp_slot) {
			s->fp_slot = f->fp_slot;
			s->fp = *(
				const volatile uint64_t *)(uintptr_t)f->fp_slot;
			s->fp_since = k + 1;
			s->fp_listed = k + 1 < s->count &&
				       w->inner[k + 1].fp_word != 0;
			break;
		}
	}
	s->pc = w->frame[m].pc;
	s->sp = w->frame[m].sp;
}

/*
 * The current frame is old frame j, at least up to there. True if everything
 * outside is as it was; otherwise the walk goes on, further out, and *from is
 * the old frame after the current one.
 */
static bool join(struct walk *w, struct state *s, size_t j, size_t *from)
{
	size_t change, m;

	adopt_fp(w, s, j);
	change = find_change(w, j);
	if (likely(change == WALK_WORDS)) {
		const struct walk_frame *f = &w->frame[j];

		if ((f->flags & WALK_FP_USED) && f->fp_word && !s->fp_listed) {
			mark_fp(w, s,
				(uint16_t)(s->words + f->words - f->fp_word +
					   1));
		}
		return true;
	}
	for (m = j; m + 1 < WALK_FRAMES &&
		    WALK_WORDS - w->frame[m + 1].words <= change;
		m++) {
	}
	if (s->count + (m - j) < WALK_FRAMES) {
		take_old(w, s, j, m);
		*from = m + 1;
	} else {
		*from = WALK_FRAMES;
	}
	return false;
}

/* ---- the whole ---- */

/* Put the inner part in front of the old frames from `old` on. */
static bool finish(struct walk *w, struct state *s, size_t old)
{
	size_t outer = WALK_FRAMES - old;
	size_t outer_words = outer ? w->frame[old].words : 0;
	size_t words = s->words + outer_words;
	struct walk_hash hash =
		outer ? w->frame[old].hash : walk_hash_start(w->epoch);

	if (s->count + outer > WALK_FRAMES || words > WALK_WORDS) {
		return false;
	}
	for (size_t k = s->count; k-- > 0;) {
		struct walk_frame *f = &w->frame[old - s->count + k];

		*f = w->inner[k];
		f->words = (uint16_t)(words - f->words);
		if (f->fp_word) {
			f->fp_word = (uint16_t)(words - (f->fp_word - 1u));
		}
		hash = walk_hash_add(hash, f->pc);
		f->hash = hash;
	}
	memcpy(&w->word[WALK_WORDS - words], w->inner_word,
		s->words * sizeof(w->word[0]));
	w->count = s->count + outer;
	w->words = words;
	w->gap = s->left_out ? WALK_KEPT : 0;
	w->regular = !s->signal && !s->left_out;
	return true;
}

static inline void push(struct walk *w, struct state *s)
{
	w->inner[s->count++] = (struct walk_frame){
		.pc = s->pc,
		.sp = s->sp,
		.fp = s->fp,
		.words = (uint16_t)s->words,
	};
}

/* From `start`, joining old frames from index `from` on. */
static bool walk_from(
	struct walk *w, const struct walk_registers *start, size_t from)
{
	struct state s = {.pc = start->pc, .sp = start->sp, .fp = start->fp};

	w->uses_fp = false;
	for (;;) {
		const struct unwind_rule *rule;
		size_t old = find_old(w, &s, &from);

		if (old < WALK_FRAMES && join(w, &s, old, &from)) {
			return finish(w, &s, old);
		}
		if (unlikely(s.count == WALK_FRAMES)) {
			from = WALK_FRAMES;
			leave_out(w, &s);
		}
		push(w, &s);
		rule = rule_of(w, s.exact ? s.pc : s.pc - 1, w->epoch);
		if (unlikely(rule->kind != RULE_FRAME)) {
			w->end = rule->kind == RULE_END    ? WALK_COMPLETE
				 : rule->kind == RULE_NONE ? WALK_LOST
							   : WALK_OTHER;
			break;
		}
		if (unlikely(!step(w, &s, rule))) {
			w->end = WALK_BAD;
			break;
		}
		if (unlikely(s.pc == 0)) {
			w->end = WALK_COMPLETE;
			break;
		}
	}
	return finish(w, &s, WALK_FRAMES);
}

enum walk_end walk_stack(struct walk *w, const struct walk_registers *start)
{
	uint32_t epoch = rules_epoch();
	size_t from = WALK_FRAMES;

	if (w->regular && w->epoch == epoch &&
		(w->end == WALK_COMPLETE || w->end == WALK_LOST)) {
		from = WALK_FRAMES - w->count;
	}
	w->epoch = epoch;
	/* Inner and old frames together may be more than there is room for. */
	if (!walk_from(w, start, from)) {
		walk_from(w, start, WALK_FRAMES);
	}
	return w->end;
}
