/* SPDX-License-Identifier: MIT */
/*
 * walk.h - one stack, frame by frame, and what its shape depends on.
 *
 * Besides the return addresses a walk yields its *words*: the stack words that
 * it read and used. Unwinding is a function of the starting registers, the
 * code and these words: so long as the words hold the same values (read in
 * order), another walk from the same registers gives the same frames.
 *
 * A walk begins with what the thread's last walk found: where the new stack
 * comes to a frame of the old one, the old words are compared instead of
 * unwinding on.
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

/*
 * Frames of one walk. A deeper stack keeps its inner WALK_KEPT frames and as
 * much of its root as there is room for.
 */
#define WALK_FRAMES 2048u
#define WALK_KEPT   1024u
/* Each frame uses a return address, and perhaps a CFA and a frame pointer. */
#define WALK_WORDS (3u * WALK_FRAMES)

enum walk_end {
	WALK_COMPLETE = 0, /* reached the outermost frame */
	WALK_LOST,         /* code without unwind information */
	WALK_OTHER,        /* information that rules do not express */
	WALK_BAD           /* the stack is damaged or unreadable there */
};

/* A stretch of stack known to be readable; both ends page-aligned. */
struct stack_range {
	uint64_t low;
	uint64_t high;
};

struct walk_word {
	uint64_t addr; /* 0: no word, see walk.c */
	uint64_t value;
};

/* A running hash over frames, from the root inwards. */
struct walk_hash {
	uint64_t a;
	uint64_t b;
};

struct walk_frame {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;      /* right if WALK_FP_USED */
	uint64_t fp_slot; /* where its step found the caller's fp; 0: same */
	struct walk_hash hash;
	/*
	 * Counted from the end of the word list: words of its step and all
	 * outer ones; the word that holds its fp, if that is among them, or 0.
	 * (While walking: from the start; index, and index + 1.)
	 */
	uint16_t words;
	uint16_t fp_word;
	uint32_t flags; /* WALK_FP_USED */
};

/* Its step or an outer one, before fp changes, uses fp. */
#define WALK_FP_USED 1u

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
	struct stack_range range;           /* likewise, and all below */
	struct stack_range previous;

	/* The result: at the ends of their arrays, the root last. */
	size_t count;
	size_t words;
	size_t gap;   /* frames before those left out; 0: none are */
	bool uses_fp; /* the frame pointer at the start matters */
	bool regular; /* the next walk may build on it */
	uint32_t epoch;
	enum walk_end end;
	struct walk_frame frame[WALK_FRAMES];
	struct walk_word word[WALK_WORDS];

	/* The inner part of a walk that is under way. */
	struct walk_frame inner[WALK_FRAMES];
	struct walk_word inner_word[WALK_WORDS];
};

/* Registers of a frame: pc is in it, sp and fp have its values. */
struct walk_registers {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
};

/* Fills the result, starting with the frame of `start` itself. */
enum walk_end walk_stack(struct walk *walk, const struct walk_registers *start);

/* Frame i of the result, the innermost is 0. */
static inline const struct walk_frame *walk_frame_at(
	const struct walk *walk, size_t i)
{
	return &walk->frame[WALK_FRAMES - walk->count + i];
}

/* The words of the result, in the order in which a walk reads them. */
static inline const struct walk_word *walk_words(const struct walk *walk)
{
	return &walk->word[WALK_WORDS - walk->words];
}

/* Begin a hash; add the next inner frame. */
static inline struct walk_hash walk_hash_start(uint32_t epoch)
{
	return (struct walk_hash){
		.a = epoch ^ 0x6a09e667f3bcc908u, .b = 0xbb67ae8584caa73bu};
}

static inline struct walk_hash walk_hash_add(struct walk_hash hash, uint64_t pc)
{
	hash.a = (hash.a ^ pc) * 0x9fb21c651e98df25u;
	hash.b = (hash.b + pc) * 0xd6e8feb86659fd93u;
	hash.a ^= hash.a >> 32;
	hash.b ^= hash.b >> 29;
	return hash;
}

/* Forget stacks: another thread goes on with this struct. */
void walk_forget(struct walk *walk);

#endif
