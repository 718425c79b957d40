/* SPDX-License-Identifier: MIT */
/*
 * w_big.c - blocks of 32 KiB to 1 MiB, one byte of each page written.
 *
 *   lifo     one block at a time
 *   random   40 live blocks of random size, replaced at random
 *   few      the same with four live blocks, as buffers of a pipeline
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define KIB      ((size_t)1024)
#define LIVE_MAX 40

static uint64_t run_lifo(const struct bench *b)
{
	uint64_t all = 0;

	for (size_t size = 32 * KIB; size <= 1024 * KIB; size *= 2) {
		uint64_t pairs = bench_scale(b, 1600000, 100);
		uint64_t start = bench_now();
		char key[32];

		for (uint64_t n = 0; n < pairs; n++) {
			uint64_t *ptr = bench_malloc(size);

			*(volatile uint64_t *)ptr = n;
			((volatile uint64_t *)ptr)[size / 8 - 1] = n;
			free(ptr);
		}
		snprintf(key, sizeof(key), "ns_%zuk", size / KIB);
		bench_report(
			key, (double)(bench_now() - start) / (double)pairs);
		all += pairs;
	}
	return all;
}

static uint64_t run_random(const struct bench *b, unsigned count)
{
	struct {
		void *ptr;
		size_t size;
	} live[LIVE_MAX] = {{0}};
	uint64_t random = random_seed(5);
	uint64_t steps = bench_scale(b, 30000, 100);

	for (uint64_t n = 0; n < steps; n++) {
		unsigned i = random_below(&random, count);
		/* Sizes spread evenly over the powers of two. */
		size_t size = 32 * KIB << random_below(&random, 5);

		if (live[i].ptr) {
			stamp_check(live[i].ptr, live[i].size);
			free(live[i].ptr);
		}
		size += random_below(&random, (uint32_t)size);
		live[i].ptr = bench_malloc(size);
		live[i].size = size;
		stamp_pages(live[i].ptr, size);
		stamp_set(live[i].ptr, size);
	}
	for (unsigned i = 0; i < count; i++) {
		free(live[i].ptr);
	}
	return steps;
}

int main(int argc, char *argv[])
{
	struct bench b;
	uint64_t start, ops;

	bench_parse(&b, argc, argv, "lifo random few");
	start = bench_now();
	if (strcmp(b.mode, "lifo") == 0) {
		ops = run_lifo(&b);
	} else {
		ops = run_random(&b, strcmp(b.mode, "random") ? 4 : LIVE_MAX);
	}
	bench_done(ops, start);
	bench_report("rss_after_free", (double)bench_rss_kib());
	return 0;
}
