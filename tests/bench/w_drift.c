/* SPDX-License-Identifier: MIT */
/*
 * w_drift.c - fragmentation when a program's sizes drift: nine tenths of the
 * live blocks are freed at random and replaced by as many bytes of larger
 * blocks, ten times over. At the end one tenth of each generation is live.
 * Reports resident over live bytes.
 */
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench.h"

#define GENERATIONS 10
#define BYTES       (32u << 20) /* made in each generation */
#define SIZE_FIRST  48
#define BLOCKS_MAX  1000000

struct block {
	void *ptr;
	size_t size;
};

static struct {
	struct block *block; /* BLOCKS_MAX of them */
	unsigned count;
	uint64_t live;
	uint64_t random;
} g;

/* Add `bytes` in blocks of about `size`. */
static void generation_make(size_t size, uint64_t bytes)
{
	for (uint64_t made = 0; made < bytes;) {
		size_t want = size - size / 8 +
			      random_below(&g.random, (uint32_t)size / 4 + 1);
		struct block *block = &g.block[g.count++];

		if (g.count == BLOCKS_MAX) {
			bench_fail("too many blocks");
		}
		block->ptr = bench_malloc(want);
		block->size = want;
		stamp_pages(block->ptr, want);
		stamp_set(block->ptr, want);
		made += want;
		g.live += want;
	}
}

/* Of the blocks from `first` on keep one in ten, at random. */
static void generation_thin(unsigned first)
{
	unsigned kept = first;

	for (unsigned i = first; i < g.count; i++) {
		struct block *block = &g.block[i];

		stamp_check(block->ptr, block->size);
		if (random_below(&g.random, 10) == 0) {
			g.block[kept++] = *block;
			continue;
		}
		g.live -= block->size;
		free(block->ptr);
	}
	g.count = kept;
}

int main(int argc, char *argv[])
{
	struct bench b;
	size_t size = SIZE_FIRST;
	uint64_t start, bytes, before, rss, ops = 0;

	bench_parse(&b, argc, argv, "");
	bytes = bench_scale(&b, BYTES, 65536);
	g.random = random_seed(9);
	/* The table is not the allocator's, and all of it is resident. */
	g.block = mmap(NULL, BLOCKS_MAX * sizeof(*g.block),
		PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (g.block == MAP_FAILED) {
		bench_fail("mmap failed");
	}
	before = bench_rss_kib();
	start = bench_now();
	for (unsigned n = 0; n < GENERATIONS; n++) {
		unsigned first = g.count;

		generation_make(size, bytes);
		ops += g.count - first;
		generation_thin(first);
		size += size / 2;
	}
	bench_done(ops, start);
	rss = bench_rss_kib() - before;
	bench_report("rss_over_live", (double)rss * 1024 / (double)g.live);
	malloc_trim(0);
	rss = bench_rss_kib() - before;
	bench_report("trim_over_live", (double)rss * 1024 / (double)g.live);
	for (unsigned i = 0; i < g.count; i++) {
		stamp_check(g.block[i].ptr, g.block[i].size);
		free(g.block[i].ptr);
	}
	bench_report(
		"rss_after_free", (double)bench_rss_kib() - (double)before);
	return 0;
}
