/* SPDX-License-Identifier: MIT */
/*
 * w_return.c - does memory go back? Blocks of 200 bytes are made, 95 % of them
 * freed at random, then the rest. Reports resident KiB above the start: at the
 * peak, after the 95 %, after malloc_trim, after the rest, after two hundred
 * thousand further pairs spread over more than a second, and after a last trim.
 *
 *   256m     256 MiB of blocks
 *   1g       1 GiB
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bench.h"

#define BLOCK_SIZE 200

static uint64_t start_kib;

static void report(const char *key)
{
	bench_report(key, (double)bench_rss_kib() - (double)start_kib);
}

/* A program that goes on with its business for a little over a second. */
static void activity(const struct bench *b)
{
	const struct timespec pause = {0, 10 * 1000 * 1000};
	uint64_t rounds = bench_scale(b, 110, 1);

	for (uint64_t n = 0; n < rounds; n++) {
		for (unsigned i = 0; i < 2000; i++) {
			void *block = bench_malloc(16 + i % 500);

			stamp_set(block, 16);
			free(block);
		}
		nanosleep(&pause, NULL);
	}
}

int main(int argc, char *argv[])
{
	struct bench b;
	uint64_t start, count, random = random_seed(11);
	void **block;

	bench_parse(&b, argc, argv, "256m 1g");
	count = (strcmp(b.mode, "1g") ? 256u << 20 : 1u << 30) / BLOCK_SIZE;
	count = bench_scale(&b, count, 1000);
	/* The table is not the allocator's business, and all of it is resident.
	 */
	block = mmap(NULL, count * sizeof(*block), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (block == MAP_FAILED) {
		bench_fail("mmap failed");
	}
	start_kib = bench_rss_kib();
	start = bench_now();
	for (uint64_t i = 0; i < count; i++) {
		block[i] = bench_malloc(BLOCK_SIZE);
		stamp_set(block[i], BLOCK_SIZE);
	}
	report("kib_peak");
	for (uint64_t i = 0; i < count; i++) {
		if (random_below(&random, 20)) {
			stamp_check(block[i], BLOCK_SIZE);
			free(block[i]);
			block[i] = NULL;
		}
	}
	report("kib_freed95");
	malloc_trim(0);
	report("kib_trimmed95");
	for (uint64_t i = 0; i < count; i++) {
		if (block[i]) {
			stamp_check(block[i], BLOCK_SIZE);
			free(block[i]);
		}
	}
	report("kib_freed");
	bench_done(count, start);
	activity(&b);
	report("kib_second_later");
	malloc_trim(0);
	report("kib_trimmed");
	return 0;
}
