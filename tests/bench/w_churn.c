/* SPDX-License-Identifier: MIT */
/*
 * w_churn.c - a set of live blocks of random size; a random one is replaced at
 * every step.
 *
 *   small   10,000 live, up to 512 bytes
 *   large   50,000 live, up to 2,048 bytes
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define LIVE_MAX 50000

int main(int argc, char *argv[])
{
	static struct {
		void *ptr;
		size_t size;
	} live[LIVE_MAX];
	struct bench b;
	unsigned count = 10000, limit = 512;
	uint64_t start, steps, random = random_seed(1);

	bench_parse(&b, argc, argv, "small large");
	steps = bench_scale(&b, 15000000, 1000);
	if (strcmp(b.mode, "large") == 0) {
		count = LIVE_MAX;
		limit = 2048;
		steps = bench_scale(&b, 5000000, 1000);
	}
	start = bench_now();
	for (uint64_t n = 0; n < steps; n++) {
		unsigned i = random_below(&random, count);
		size_t size = 1 + random_below(&random, limit);

		if (live[i].ptr) {
			stamp_check(live[i].ptr, live[i].size);
			free(live[i].ptr);
		}
		live[i].ptr = bench_malloc(size);
		live[i].size = size;
		stamp_set(live[i].ptr, size);
	}
	bench_done(steps, start);
	for (unsigned i = 0; i < count; i++) {
		if (live[i].ptr) {
			stamp_check(live[i].ptr, live[i].size);
			free(live[i].ptr);
		}
	}
	bench_report("rss_after_free", (double)bench_rss_kib());
	return 0;
}
