/* SPDX-License-Identifier: MIT */
/*
 * bench.h - what every workload shares: options, random numbers, time, the
 * stamps that prove a block was ours alone, resident size, and the report.
 *
 * A workload does a fixed amount of work, made smaller or larger by `-s`, and
 * prints lines "key value" on stdout; bench.py reads them. A block whose stamp
 * is wrong, or an allocation that fails, ends the run with status 1.
 *
 * Nothing here allocates, so the figures are the workload's own.
 * Not here: CPU time, peak size and faults of the whole process (runner.c).
 */
#ifndef AMUX_TESTS_BENCH_H
#define AMUX_TESTS_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* What the command line said. */
struct bench {
	const char *name; /* the program, for messages */
	const char *mode; /* first operand, or "" */
	unsigned scale;   /* per cent of the usual work; 100 */
	unsigned threads; /* 0: the workload's own number */
};

/*
 * Parse `[-s PERCENT] [-t THREADS] [MODE]`. `modes` lists the legal modes
 * separated by spaces, the first being the default; "" if there are none.
 * Ends the program with status 2 and one line if the command line is wrong.
 */
void bench_parse(
	struct bench *b, int argc, char *const argv[], const char *modes);

/* `count` scaled by -s, and at least `least`. */
uint64_t bench_scale(const struct bench *b, uint64_t count, uint64_t least);

/* One line on stderr, status 1. */
_Noreturn void bench_fail(const char *what);

/* Monotonic time in ns. */
uint64_t bench_now(void);

/* Exact resident KiB of this process, by a walk of its page tables. */
uint64_t bench_rss_kib(void);

/* Print "key value". Thread-safe; does not allocate. */
void bench_report(const char *key, double value);

/* Print the operations, the rate, and that all checks held. */
void bench_done(uint64_t ops, uint64_t start_ns);

/* Allocate or end the program. */
void *bench_malloc(size_t size);

/*
 * Run body(args + i * size) on `count` threads at once and wait for them all.
 * Not to be called by two threads at a time.
 */
void bench_threads(
	unsigned count, void *(*body)(void *), void *args, size_t size);

/* Run body(arg) on one fresh thread and wait for it. */
void bench_thread(void *(*body)(void *), void *arg);

/* xorshift64*: a state of zero is not allowed. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* Uniform in 0 .. limit - 1, limit below 2^32. */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)(((random_next(state) >> 32) * limit) >> 32);
}

/* A well mixed, non-zero start for stream number `n`. */
static inline uint64_t random_seed(uint64_t n)
{
	uint64_t state = n * UINT64_C(0x9e3779b97f4a7c15) + 1;

	random_next(&state);
	return state;
}

/*
 * Stamps. The first word (the first byte of a block too short for one) says
 * where the block lies and how long it is, and the last byte of a block of 16
 * or more says it again. A block handed out twice, moved without its contents
 * or written by the allocator while live fails the check.
 */
static inline uint64_t stamp_of(const void *ptr, size_t size)
{
	return (uint64_t)(uintptr_t)ptr * UINT64_C(0x9e3779b97f4a7c15) ^ size;
}

static inline void stamp_set(void *ptr, size_t size)
{
	uint64_t stamp = stamp_of(ptr, size);

	if (size >= sizeof(stamp)) {
		*(uint64_t *)ptr = stamp;
	} else if (size) {
		*(uint8_t *)ptr = (uint8_t)stamp;
	}
	if (size >= 2 * sizeof(stamp)) {
		((uint8_t *)ptr)[size - 1] = (uint8_t)stamp;
	}
}

static inline void stamp_check(const void *ptr, size_t size)
{
	uint64_t stamp = stamp_of(ptr, size);
	int good = 1;

	if (size >= sizeof(stamp)) {
		good = *(const uint64_t *)ptr == stamp;
	} else if (size) {
		good = *(const uint8_t *)ptr == (uint8_t)stamp;
	}
	if (size >= 2 * sizeof(stamp)) {
		good &= ((const uint8_t *)ptr)[size - 1] == (uint8_t)stamp;
	}
	if (!good) {
		bench_fail("a live block was overwritten");
	}
}

/* Write one byte of every page, as a program that uses its block does. */
static inline void stamp_pages(void *ptr, size_t size)
{
	for (size_t at = 0; at < size; at += 4096) {
		((volatile uint8_t *)ptr)[at] = 1;
	}
}

#endif
