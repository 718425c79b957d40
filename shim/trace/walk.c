/* SPDX-License-Identifier: MIT */
/*
 * walk.c - unwinds by rules (rules.h).
 *
 * Exactness: a word is listed when a later step uses it, never before; frame
 * pointers that no rule uses are not listed, so that they may change. A word
 * that is listed after others lies where those others put it.
 */
#include "walk.h"

#include <signal.h>

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

bool walk_readable(struct walk *walk, uint64_t addr)
{
	return readable(walk, addr);
}

void walk_forget(struct walk *walk)
{
	walk->range = (struct stack_range){0, 0};
	walk->previous = walk->range;
}

/* The current value of the frame pointer, and where it came from. */
struct frame_pointer {
	uint64_t value;
	uint64_t addr; /* 0: the starting register */
	bool listed;
};

static inline void list_word(struct walk *w, uint64_t addr, uint64_t value)
{
	w->word[w->words].addr = addr;
	w->word[w->words].value = value;
	w->words++;
}

static inline uint64_t use_fp(struct walk *w, struct frame_pointer *fp)
{
	if (!fp->listed) {
		fp->listed = true;
		if (fp->addr) {
			list_word(w, fp->addr, fp->value);
		} else {
			w->uses_fp = true;
		}
	}
	return fp->value;
}

static inline bool read_word(struct walk *w, uint64_t addr, uint64_t *value)
{
	if (unlikely(!readable(w, addr))) {
		return false;
	}
	*value = *(const volatile uint64_t *)(uintptr_t)addr;
	return true;
}

static inline uint64_t locate(struct walk *w, unsigned base, int64_t offset,
	uint64_t cfa, uint64_t sp, struct frame_pointer *fp)
{
	switch (base) {
	case RULE_CFA:
		return cfa + (uint64_t)offset;
	case RULE_SP:
		return sp + (uint64_t)offset;
	default:
		return use_fp(w, fp) + (uint64_t)offset;
	}
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

enum walk_end walk_stack(struct walk *w, const struct walk_registers *start)
{
	struct frame_pointer fp = {.value = start->fp};
	uint32_t epoch = rules_epoch();
	uint64_t pc = start->pc;
	uint64_t sp = start->sp;
	uint64_t lr = 0; /* valid while lr_addr is not 0 */
	uint64_t lr_addr = 0;
	bool exact = false; /* pc is an interrupted instruction */

	w->count = 0;
	w->words = 0;
	w->uses_fp = false;
	for (;;) {
		const struct unwind_rule *rule;
		uint64_t cfa, value;

		if (w->count == WALK_FRAMES) {
			return WALK_FULL;
		}
		w->first_word[w->count] = (uint16_t)w->words;
		w->frames[w->count++] = pc;
		rule = rule_of(w, exact ? pc : pc - 1, epoch);
		if (unlikely(rule->kind != RULE_FRAME)) {
			return rule->kind == RULE_END    ? WALK_COMPLETE
			       : rule->kind == RULE_NONE ? WALK_LOST
							 : WALK_OTHER;
		}

		cfa = rule->cfa_base == RULE_SP ? sp : use_fp(w, &fp);
		cfa += (uint64_t)(int64_t)rule->cfa_offset;
		if (unlikely(rule->flags & RULE_DEREF)) {
			if (!read_word(w, cfa, &value)) {
				return WALK_BAD;
			}
			list_word(w, cfa, value);
			cfa = value;
		}
		/* Stacks grow down, but a signal may have changed stacks. */
		if (unlikely(!(rule->flags & RULE_SIGNAL) &&
			     cfa <= sp - (exact ? 1 : 0))) {
			return WALK_BAD;
		}

		if (likely(rule->ra_base != RULE_SAME)) {
			uint64_t addr = locate(w, rule->ra_base,
				rule->ra_offset, cfa, sp, &fp);

			if (!read_word(w, addr, &pc)) {
				return WALK_BAD;
			}
			list_word(w, addr, pc);
		} else if (lr_addr) {
			list_word(w, lr_addr, lr);
			pc = lr;
		} else {
			return WALK_BAD;
		}
		lr_addr = 0;
#if defined(__aarch64__)
		if (rule->flags & RULE_SIGNAL) {
			/* x30 follows x29 in the signal frame. */
			lr_addr = sp + (uint64_t)(int64_t)rule->fp_offset + 8;
			if (!read_word(w, lr_addr, &lr)) {
				return WALK_BAD;
			}
		}
#endif
		if (rule->fp_base != RULE_SAME) {
			uint64_t addr = locate(w, rule->fp_base,
				rule->fp_offset, cfa, sp, &fp);

			if (!read_word(w, addr, &value)) {
				return WALK_BAD;
			}
			fp = (struct frame_pointer){value, addr, false};
		}
		pc &= ADDRESS_MASK;
		sp = cfa;
		exact = rule->flags & RULE_SIGNAL;
		if (pc == 0) {
			return WALK_COMPLETE;
		}
	}
}
