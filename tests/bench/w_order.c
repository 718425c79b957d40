/* SPDX-License-Identifier: MIT */
/*
 * w_order.c - the bare pair of malloc and free, in four orders.
 *
 *   lifo     one block at a time, of 16, 64, 256, 1024 and 4096 bytes in turn
 *   fifo     1000 blocks of 64 bytes, freed as they came
 *   reverse  ... freed last first
 *   random   ... freed in a fixed random order
 *
 * Reports ns a pair; for lifo also by size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define COUNT 1000

static void *block[COUNT];
static unsigned order[COUNT];

static void order_set(const char *mode)
{
	uint64_t random = random_seed(7);

	for (unsigned i = 0; i < COUNT; i++) {
		order[i] = strcmp(mode, "reverse") ? i : COUNT - 1 - i;
	}
	for (unsigned i = COUNT - 1; i && strcmp(mode, "random") == 0; i--) {
		unsigned j = random_below(&random, i + 1);
		unsigned swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
}

static uint64_t run_lifo(const struct bench *b)
{
	static const size_t sizes[] = {16, 64, 256, 1024, 4096};
	uint64_t pairs = bench_scale(b, 8000000, 1000);

	for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		uint64_t start = bench_now();
		char key[32];

		for (uint64_t n = 0; n < pairs; n++) {
			uint64_t *ptr = bench_malloc(sizes[s]);

			*(volatile uint64_t *)ptr = n;
			free(ptr);
		}
		snprintf(key, sizeof(key), "ns_%zu", sizes[s]);
		bench_report(
			key, (double)(bench_now() - start) / (double)pairs);
	}
	return pairs * (sizeof(sizes) / sizeof(sizes[0]));
}

static uint64_t run_order(const struct bench *b)
{
	uint64_t rounds = bench_scale(b, 40000, 10);

	order_set(b->mode);
	for (uint64_t n = 0; n < rounds; n++) {
		for (unsigned i = 0; i < COUNT; i++) {
			block[i] = bench_malloc(64);
			*(uint64_t *)block[i] = n + i;
		}
		for (unsigned i = 0; i < COUNT; i++) {
			if (*(uint64_t *)block[order[i]] != n + order[i]) {
				bench_fail("a live block was overwritten");
			}
			free(block[order[i]]);
		}
	}
	return rounds * COUNT;
}

int main(int argc, char *argv[])
{
	struct bench b;
	uint64_t start, pairs;

	bench_parse(&b, argc, argv, "lifo fifo reverse random");
	start = bench_now();
	pairs = strcmp(b.mode, "lifo") ? run_order(&b) : run_lifo(&b);
	bench_report("ns_pair", (double)(bench_now() - start) / (double)pairs);
	bench_done(pairs, start);
	return 0;
}
