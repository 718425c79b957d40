/* SPDX-License-Identifier: MIT */
/*
 * w_realloc.c - growing.
 *
 *   one      one buffer to 64 MiB by steps of 4 KiB, written as it grows
 *   vectors  many vectors that each grow by half to some KiB
 *   strings  one string grown by 16 bytes at a time to 256 KiB, again and again
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static void *grow(void *ptr, size_t size)
{
	ptr = realloc(ptr, size);
	if (!ptr) {
		bench_fail("realloc failed");
	}
	return ptr;
}

static uint64_t run_one(const struct bench *b)
{
	uint64_t steps = bench_scale(b, 16384, 16);
	uint64_t *buffer = NULL;
	const size_t step = 4096;

	for (uint64_t n = 0; n < steps; n++) {
		buffer = grow(buffer, (n + 1) * step);
		memset((char *)buffer + n * step, (int)n, step);
		buffer[n * (step / 8)] = n;
	}
	for (uint64_t n = 0; n < steps; n++) {
		if (buffer[n * (step / 8)] != n) {
			bench_fail("realloc lost the contents");
		}
	}
	free(buffer);
	return steps;
}

static uint64_t run_vectors(const struct bench *b)
{
	enum { VECTORS = 4000, LENGTH_MAX = 1000 };
	static uint64_t *vector[VECTORS];
	static unsigned length[VECTORS], room[VECTORS];
	uint64_t pushes = bench_scale(b, 30000000, VECTORS);
	uint64_t random = random_seed(3);

	for (uint64_t n = 0; n < pushes; n++) {
		unsigned v = random_below(&random, VECTORS);

		if (length[v] == LENGTH_MAX) {
			for (unsigned i = 0; i < LENGTH_MAX; i++) {
				if (vector[v][i] != i + v) {
					bench_fail("realloc lost the contents");
				}
			}
			free(vector[v]);
			vector[v] = NULL;
			length[v] = room[v] = 0;
		}
		if (length[v] == room[v]) {
			room[v] = room[v] < 4 ? 4 : room[v] + room[v] / 2;
			vector[v] = grow(vector[v], room[v] * sizeof(uint64_t));
		}
		vector[v][length[v]] = length[v] + v;
		length[v]++;
	}
	for (unsigned v = 0; v < VECTORS; v++) {
		free(vector[v]);
	}
	return pushes;
}

static uint64_t run_strings(const struct bench *b)
{
	enum { STEP = 16, STEPS = 16384 };
	uint64_t rounds = bench_scale(b, 2000, 1);

	for (uint64_t round = 0; round < rounds; round++) {
		char *string = NULL;
		/* Something small in the way, as in a real program. */
		char *between = bench_malloc(40);

		for (unsigned n = 1; n <= STEPS; n++) {
			string = grow(string, n * STEP);
			memset(string + (n - 1) * STEP, (int)(n % 251), STEP);
		}
		for (unsigned n = 1; n <= STEPS; n++) {
			if (string[n * STEP - 1] != (char)(n % 251)) {
				bench_fail("realloc lost the contents");
			}
		}
		free(between);
		free(string);
	}
	return rounds * STEPS;
}

int main(int argc, char *argv[])
{
	struct bench b;
	uint64_t start, ops;

	bench_parse(&b, argc, argv, "one vectors strings");
	start = bench_now();
	if (strcmp(b.mode, "one") == 0) {
		ops = run_one(&b);
	} else if (strcmp(b.mode, "vectors") == 0) {
		ops = run_vectors(&b);
	} else {
		ops = run_strings(&b);
	}
	bench_done(ops, start);
	bench_report("rss_after_free", (double)bench_rss_kib());
	return 0;
}
