/* SPDX-License-Identifier: MIT */
/*
 * w_scratch.c - does the allocator put blocks of different threads on one
 * cache line? Each thread takes a small block and writes it many times.
 *
 *   thrash   each thread allocates for itself (active false sharing)
 *   scratch  each thread is first handed a neighbour's block, which it frees
 *            (passive false sharing)
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define THREADS    4
#define BLOCK_SIZE 8
#define WRITES     400

struct worker {
	volatile uint8_t *gift;
	uint64_t rounds;
};

static void *worker(void *arg)
{
	struct worker *self = arg;

	free((void *)(uintptr_t)self->gift);
	for (uint64_t n = 0; n < self->rounds; n++) {
		volatile uint8_t *block = bench_malloc(BLOCK_SIZE);

		memset((void *)(uintptr_t)block, 0, BLOCK_SIZE);
		for (unsigned i = 0; i < WRITES; i++) {
			block[i % BLOCK_SIZE]++;
		}
		for (unsigned i = 0; i < BLOCK_SIZE; i++) {
			if (block[i] != WRITES / BLOCK_SIZE) {
				bench_fail("a live block was overwritten");
			}
		}
		free((void *)(uintptr_t)block);
	}
	return NULL;
}

int main(int argc, char *argv[])
{
	static struct worker workers[64];
	struct bench b;
	unsigned threads;
	uint64_t start, rounds;

	bench_parse(&b, argc, argv, "thrash scratch");
	threads = b.threads ? b.threads : THREADS;
	if (threads > 64) {
		bench_fail("at most 64 threads");
	}
	rounds = bench_scale(&b, 400000, 100);
	for (unsigned i = 0; i < threads; i++) {
		workers[i].rounds = rounds;
		if (strcmp(b.mode, "scratch") == 0) {
			workers[i].gift = bench_malloc(BLOCK_SIZE);
		}
	}
	start = bench_now();
	bench_threads(threads, worker, workers, sizeof(workers[0]));
	bench_done(rounds * threads, start);
	return 0;
}
