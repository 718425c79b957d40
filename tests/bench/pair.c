/* SPDX-License-Identifier: MIT */
/*
 * pair.c - one malloc and one free, called through the PLT: what do they cost?
 *
 *     pair [-s PERCENT] time          ns a pair, "ns_SIZE VALUE"
 *     bench_stepper pair count        instructions a pair, "insn_SIZE VALUE"
 *     ... floor-time, floor-count     the same of floor.c
 *
 * Times are the least of twenty slices, so that an interruption does not
 * count. Instructions include argument set-up, calls and PLT.
 * Not here: the counting (stepper.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "bench.h"
#include "floor.h"
#include "marker.h"

#define WARM_UP 5000
#define SLICES  20

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static const size_t sizes[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096};

/* Non-zero: a section has ended. Read by the stepper from outside. */
static volatile char phase;

/* Where this thread's struct rseq is, or 0 if libc registered none. */
static unsigned long rseq_address(void)
{
	if (!&__rseq_size || !&__rseq_offset || __rseq_size == 0) {
		return 0;
	}
	return (unsigned long)__builtin_thread_pointer() +
	       (unsigned long)__rseq_offset;
}

static inline void section_begin(const char *name)
{
	phase = 0;
	prctl(MARKER_BEGIN, name, &phase, rseq_address(), 0);
}

static inline void section_end(void)
{
	phase = 1;
}

/*
 * Both allocators in the same words: the calls must be direct, so that they go
 * through the PLT, and must not be proved useless.
 */
#define DEFINE_PAIR(prefix, get, put)                                          \
	static __attribute__((noinline)) void prefix##_run(                    \
		size_t size, uint64_t count)                                   \
	{                                                                      \
		for (uint64_t n = 0; n < count; n++) {                         \
			uint64_t *block = get(size);                           \
                                                                               \
			*(volatile uint64_t *)block = n;                       \
			put(block);                                            \
		}                                                              \
	}                                                                      \
                                                                               \
	static __attribute__((noinline)) void prefix##_section(                \
		const char *name, size_t size)                                 \
	{                                                                      \
		section_begin(name);                                           \
		put(get(size));                                                \
		section_end();                                                 \
	}

DEFINE_PAIR(plain, malloc, free)
DEFINE_PAIR(floor, floor_malloc, floor_free)

static __attribute__((noinline)) void empty_section(const char *name)
{
	section_begin(name);
	section_end();
}

static void time_all(const struct bench *b, void (*run)(size_t, uint64_t))
{
	uint64_t pairs = bench_scale(b, 500000, 100);

	for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		uint64_t least = UINT64_MAX;
		char key[32];

		run(sizes[s], WARM_UP);
		for (unsigned slice = 0; slice < SLICES; slice++) {
			uint64_t start = bench_now(), took;

			run(sizes[s], pairs);
			took = bench_now() - start;
			least = took < least ? took : least;
		}
		snprintf(key, sizeof(key), "ns_%zu", sizes[s]);
		bench_report(key, (double)least / (double)pairs);
	}
}

static void count_all(
	void (*run)(size_t, uint64_t), void (*section)(const char *, size_t))
{
	for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		char key[32];

		run(sizes[s], WARM_UP);
		snprintf(key, sizeof(key), "insn_%zu", sizes[s]);
		empty_section("empty");
		section(key, sizes[s]);
	}
}

int main(int argc, char *argv[])
{
	struct bench b;

	bench_parse(&b, argc, argv, "time count floor-time floor-count");
	if (strcmp(b.mode, "time") == 0) {
		time_all(&b, plain_run);
	} else if (strcmp(b.mode, "floor-time") == 0) {
		time_all(&b, floor_run);
	} else if (strcmp(b.mode, "count") == 0) {
		count_all(plain_run, plain_section);
	} else {
		count_all(floor_run, floor_section);
	}
	bench_report("checked", 1);
	return 0;
}
