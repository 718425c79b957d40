/* SPDX-License-Identifier: MIT */
/*
 * classes.h - the size classes of small blocks, one line each.
 *
 * X(class, size of the class before, block size, pages of a span, blocks a
 * bin holds). Sizes rise by 16 up to 128 and then by an eighth of the power of
 * two below, so above 128 bytes at most 12.5 % of a block is unasked for, and
 * every size is a multiple of 16. A block lies at a multiple of its size in a
 * span aligned to the lowest set bit of that size: power-of-two blocks are
 * naturally aligned. A span wastes at most a twentieth at its end. All of this
 * is checked by static_assert in classes.c.
 *
 * Not here: blocks above SMALL_MAX (large.c).
 */
#ifndef AMUX_PERCPU_CLASSES_H
#define AMUX_PERCPU_CLASSES_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define PERCPU_CLASSES(X) \
	X( 0,     0,    16,  2, 128) \
	X( 1,    16,    32,  2, 128) \
	X( 2,    32,    48,  2, 128) \
	X( 3,    48,    64,  2, 128) \
	X( 4,    64,    80,  2, 128) \
	X( 5,    80,    96,  2, 128) \
	X( 6,    96,   112,  2, 128) \
	X( 7,   112,   128,  2, 128) \
	X( 8,   128,   144,  2, 113) \
	X( 9,   144,   160,  2, 102) \
	X(10,   160,   176,  2,  93) \
	X(11,   176,   192,  2,  85) \
	X(12,   192,   208,  2,  78) \
	X(13,   208,   224,  2,  73) \
	X(14,   224,   240,  2,  68) \
	X(15,   240,   256,  2,  64) \
	X(16,   256,   288,  2,  56) \
	X(17,   288,   320,  2,  51) \
	X(18,   320,   352,  2,  46) \
	X(19,   352,   384,  2,  42) \
	X(20,   384,   416,  2,  39) \
	X(21,   416,   448,  2,  36) \
	X(22,   448,   480,  2,  34) \
	X(23,   480,   512,  2,  32) \
	X(24,   512,   576,  2,  28) \
	X(25,   576,   640,  3,  25) \
	X(26,   640,   704,  3,  23) \
	X(27,   704,   768,  3,  21) \
	X(28,   768,   832,  4,  19) \
	X(29,   832,   896,  2,  18) \
	X(30,   896,   960,  4,  17) \
	X(31,   960,  1024,  2,  16) \
	X(32,  1024,  1152,  4,  14) \
	X(33,  1152,  1280,  5,  12) \
	X(34,  1280,  1408,  5,  11) \
	X(35,  1408,  1536,  3,  10) \
	X(36,  1536,  1664,  5,   9) \
	X(37,  1664,  1792,  4,   9) \
	X(38,  1792,  1920,  8,   8) \
	X(39,  1920,  2048,  4,  16) \
	X(40,  2048,  2304,  7,  14) \
	X(41,  2304,  2560,  5,  12) \
	X(42,  2560,  2816,  7,  11) \
	X(43,  2816,  3072,  6,  10) \
	X(44,  3072,  3328,  9,   9) \
	X(45,  3328,  3584,  7,   9) \
	X(46,  3584,  3840, 15,   8) \
	X(47,  3840,  4096,  8,   8) \
	X(48,  4096,  4608,  9,   7) \
	X(49,  4608,  5120, 10,   6) \
	X(50,  5120,  5632, 11,   5) \
	X(51,  5632,  6144, 12,   5) \
	X(52,  6144,  6656, 13,   4) \
	X(53,  6656,  7168, 14,   4) \
	X(54,  7168,  7680, 15,   4) \
	X(55,  7680,  8192,  8,   4) \
	X(56,  8192,  9216,  9,   3) \
	X(57,  9216, 10240, 10,   3) \
	X(58, 10240, 11264, 11,   2) \
	X(59, 11264, 12288, 12,   2) \
	X(60, 12288, 13312, 13,   2) \
	X(61, 13312, 14336, 14,   2) \
	X(62, 14336, 15360, 15,   2) \
	X(63, 15360, 16384, 16,   2) \
	X(64, 16384, 18432, 18,   2) \
	X(65, 18432, 20480, 20,   2) \
	X(66, 20480, 22528, 22,   2) \
	X(67, 22528, 24576, 24,   2) \
	X(68, 24576, 26624, 26,   2) \
	X(69, 26624, 28672, 28,   2) \
	X(70, 28672, 30720, 30,   2) \
	X(71, 30720, 32768, 32,   2)
/* clang-format on */

#define CLASS_COUNT 72
#define SMALL_MAX   32768

/*
 * In the class map and in the bins' rows a class c is the word c + WORD_CLASS.
 * The words before stand for "no block begins in this page", a large block,
 * and a page of blocks of several classes; they are zero in every row, so that
 * a push to them always takes the slow path.
 */
#define WORD_NONE  0
#define WORD_LARGE 1
#define WORD_MIXED 2
#define WORD_CLASS 3

/* The facts the slow paths need of one class. */
struct class_info {
	uint16_t size;       /* bytes of a block, divided by 16 */
	uint8_t pages;       /* of a span */
	uint8_t cap;         /* blocks in a full bin */
	uint16_t blocks;     /* in a span */
	uint16_t align;      /* of a span, in pages */
	uint32_t reciprocal; /* for class_index_of() */
};

extern const struct class_info percpu_class_info[CLASS_COUNT];

/* Row word by (size + 15) / 16, for sizes up to SMALL_MAX. */
extern const uint8_t percpu_word_of_size[SMALL_MAX / 16 + 1];

static inline unsigned class_of_size(size_t size)
{
	return percpu_word_of_size[(size + 15) >> 4] - WORD_CLASS;
}

static inline size_t class_size(unsigned class)
{
	return (size_t)percpu_class_info[class].size << 4;
}

/*
 * offset / class_size(class) for an offset inside a span, by multiplication;
 * exact because offset / 16 and the size / 16 are below 2^16.
 */
static inline unsigned class_index_of(unsigned class, size_t offset)
{
	uint64_t units = offset >> 4;

	return (unsigned)((units * percpu_class_info[class].reciprocal) >> 31);
}

#endif
