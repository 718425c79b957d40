/* SPDX-License-Identifier: MIT */
/*
 * capture.h - who called: the id of the current call stack.
 */
#ifndef AMUX_TRACE_CAPTURE_H
#define AMUX_TRACE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "walk.h"

/* Sets of four entries; a power of two. */
#define CAPTURE_SETS 512u
#define CAPTURE_WAYS 4u

/* Words that entries share, oldest first out; a power of two. */
#define CAPTURE_WORDS 32768u

/* Stacks that were walked lately. */
#define CAPTURE_SEEN 4096u

/* All frames of a stack, and the mark of a gap. */
#define CAPTURE_FRAMES (WALK_FRAMES + 1)

struct capture_entry {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t fp_mask;  /* all ones if fp matters, or 0 */
	uint64_t position; /* of the first word; see capture.c */
	uint32_t count;    /* words */
	uint32_t epoch;
	uint32_t id;
	uint32_t unused;
};

struct capture {
	uint64_t hits; /* counts, for tests and tuning */
	uint64_t misses;
	uint64_t position; /* where the next words go, never wraps */
	uint8_t recent[CAPTURE_SETS];
	struct capture_entry entries[CAPTURE_SETS][CAPTURE_WAYS];
	uint32_t seen[CAPTURE_SEEN];     /* ids that missed once, by id */
	uint32_t offsets[CAPTURE_WORDS]; /* from sp, bytes */
	uint64_t values[CAPTURE_WORDS];
	struct walk walk;
	uint64_t frames[CAPTURE_FRAMES];
};

/*
 * The id of the stack whose innermost frame has these registers; see
 * stacks.h. One struct capture, zeroed before its first use, per thread.
 */
uint32_t capture_stack(
	struct capture *capture, const struct walk_registers *start);

/*
 * Frames at the inner end with pc in [start, end) are cut: our own. Call
 * before the first capture.
 */
void capture_cut(uint64_t start, uint64_t end);

/*
 * The registers of the caller of the function that says this. sp is the
 * caller's after the return.
 */
#define CAPTURE_CALLER()                                                       \
	((struct walk_registers){                                              \
		.pc = (uint64_t)(uintptr_t)__builtin_extract_return_addr(      \
			__builtin_return_address(0)),                          \
		.sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),              \
		.fp = *(const uint64_t *)__builtin_frame_address(0)})

#endif
