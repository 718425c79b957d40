/* SPDX-License-Identifier: MIT */
/*
 * walk.h - one stack, frame by frame, and what its shape depends on.
 *
 * Besides the return addresses a walk yields its *words*: the stack words that
 * it read and used. Unwinding is a function of the starting registers, the
 * code and these words: so long as the words hold the same values (read in
 * order), another walk from the same registers gives the same frames.
 *
 * Nothing here allocates, locks or faults: a word is read only where the stack
 * is known to be readable. Async-signal-safe, one struct walk per thread.
 */
#ifndef AMUX_TRACE_WALK_H
#define AMUX_TRACE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind_rule.h"

/* Frames of one walk; deeper stacks end with WALK_FULL. */
#define WALK_FRAMES 1024u
/* Each frame uses a return address, and perhaps a CFA and a frame pointer. */
#define WALK_WORDS (3u * WALK_FRAMES)

enum walk_end {
	WALK_COMPLETE = 0, /* reached the outermost frame */
	WALK_LOST,         /* code without unwind information */
	WALK_OTHER,        /* information that rules do not express */
	WALK_FULL,         /* WALK_FRAMES frames and not at the root */
	WALK_BAD           /* the stack is damaged or unreadable there */
};

/* A stretch of stack known to be readable; both ends page-aligned. */
struct stack_range {
	uint64_t low;
	uint64_t high;
};

struct walk_word {
	uint64_t addr;
	uint64_t value;
};

/* Rules that this thread met, so that it need not share cache lines. */
#define WALK_RULES 1024u

struct walk_rule {
	uint64_t pc;
	uint32_t epoch;
	uint32_t unused;
	struct unwind_rule rule;
};

struct walk {
	struct walk_rule rules[WALK_RULES]; /* kept from walk to walk */
	struct stack_range range;           /* kept from walk to walk */
	struct stack_range previous;        /* likewise */

	bool uses_fp; /* the frame pointer at the start matters */
	size_t count;
	size_t words;
	uint64_t frames[WALK_FRAMES];     /* innermost first */
	uint16_t first_word[WALK_FRAMES]; /* words listed before its step */
	struct walk_word word[WALK_WORDS];
};

/* Registers of a frame: pc is in it, sp and fp have its values. */
struct walk_registers {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
};

/* Fills frames and words, starting with the frame of `start` itself. */
enum walk_end walk_stack(struct walk *walk, const struct walk_registers *start);

/* Remember that this thread's stacks may be anywhere again. */
void walk_forget(struct walk *walk);

/* Can the aligned word at addr be read? Asks the kernel about new pages. */
bool walk_readable(struct walk *walk, uint64_t addr);

#endif
