/* SPDX-License-Identifier: MIT */
/*
 * classes.c - the tables made from classes.h, and the proofs about them.
 *
 * Constant; no locks. Not here: any decision at run time.
 */
#include "classes.h"

#include <assert.h>

enum { PAGE = 4096 };

#define BLOCKS(size, pages) ((pages)*PAGE / (size))
#define LOW_BIT(size)       ((size) & -(size))

#define CHECK_CLASS(c, prev, size, pages, cap)                                 \
	static_assert((size) % 16 == 0, "blocks are aligned to 16");           \
	static_assert((prev) < 128 || ((size) - (prev)) * 8 <= (size),         \
		"at most 12.5 % lost inside a block");                         \
	static_assert(((pages)*PAGE % (size)) * 20 <= (pages)*PAGE,            \
		"at most 5 % lost at the end of a span");                      \
	static_assert((size) <= 8192 || BLOCKS(size, pages) >= 4,              \
		"a span serves several blocks");                               \
	static_assert((cap) >= 2 && (cap) <= 128, "bins are short");

PERCPU_CLASSES(CHECK_CLASS)

/* Rounded up, so that exact multiples do not fall one short. */
#define RECIPROCAL(size) ((uint32_t)((UINT64_C(1) << 31) / ((size) / 16) + 1))
#define PAGE_ALIGN(size) (LOW_BIT(size) > PAGE ? LOW_BIT(size) / PAGE : 1)

#define INFO(c, prev, bytes, span_pages, bin)                                  \
	[c] = {                                                                \
		.size = (bytes) / 16,                                          \
		.pages = (span_pages),                                         \
		.cap = (bin),                                                  \
		.blocks = BLOCKS(bytes, span_pages),                           \
		.align = PAGE_ALIGN(bytes),                                    \
		.reciprocal = RECIPROCAL(bytes),                               \
	},

const struct class_info percpu_class_info[CLASS_COUNT] = {PERCPU_CLASSES(INFO)};

#define WORD(c, prev, size, pages, cap)                                        \
	[(prev) / 16 + 1 ...(size) / 16] = (c) + WORD_CLASS,

const uint8_t percpu_word_of_size[SMALL_MAX / 16 + 1] = {
	[0] = WORD_CLASS, /* malloc(0) gives a unique block */
	PERCPU_CLASSES(WORD)};

/* The last line of the list is the end of the table. */
#define ORDER(c, prev, size, pages, cap) CLASS_ORDER_##c = (size),
enum class_order { PERCPU_CLASSES(ORDER) };
static_assert(CLASS_ORDER_71 == SMALL_MAX, "the list ends at SMALL_MAX");
