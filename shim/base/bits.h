/* SPDX-License-Identifier: MIT */
/*
 * bits.h - rounding, powers of two, and arithmetic that says when it overflows.
 */
#ifndef AMUX_BASE_BITS_H
#define AMUX_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every block of malloc is aligned to this (x86-64 and aarch64 psABI). */
#define MALLOC_ALIGN ((size_t)16)

/* No object may be larger (C11 6.5.6: pointer differences must fit). */
#define MAX_OBJECT ((size_t)PTRDIFF_MAX)

/* User addresses we hand out and know about lie below 47 bits. */
#define ADDR_BITS 47

static inline bool is_pow2(size_t n)
{
	return n && !(n & (n - 1));
}

/* align is a power of two; the caller has checked that n + align fits. */
static inline size_t round_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static inline size_t round_down(size_t n, size_t align)
{
	return n & ~(align - 1);
}

/* Floor of the binary logarithm; n > 0. */
static inline unsigned log2_floor(size_t n)
{
	return 63u - (unsigned)__builtin_clzll(n);
}

/* Ceiling of the binary logarithm; n > 0. */
static inline unsigned log2_ceil(size_t n)
{
	return n == 1 ? 0 : log2_floor(n - 1) + 1;
}

/* The overflow checks of the whole project: true means "does not fit". */
static inline bool mul_overflows(size_t a, size_t b, size_t *product)
{
	return __builtin_mul_overflow(a, b, product);
}

static inline bool add_overflows(size_t a, size_t b, size_t *sum)
{
	return __builtin_add_overflow(a, b, sum);
}

#endif
