/* SPDX-License-Identifier: MIT */
/*
 * w_thread_churn.c - ten thousand short-lived threads, some at a time. Each
 * allocates a little, leaves one block to the next, and allocates again from
 * the destructor of a thread-specific value. Reports what resident memory all
 * of them left behind.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define AT_ONCE 4
#define THREADS 10000
#define BLOCKS  50

static pthread_key_t key;

struct worker {
	uint64_t random;
	void *left;
	size_t left_size;
};

static void late(void *value)
{
	void *block = bench_malloc(100);

	stamp_set(block, 100);
	stamp_check(value, 32);
	free(value);
	stamp_check(block, 100);
	free(block);
}

static void *worker(void *arg)
{
	struct worker *self = arg;
	void *block[BLOCKS], *value = bench_malloc(32);
	size_t size[BLOCKS];

	stamp_set(value, 32);
	pthread_setspecific(key, value);
	for (unsigned i = 0; i < BLOCKS; i++) {
		size[i] = 16 + random_below(&self->random, 1000);
		block[i] = bench_malloc(size[i]);
		stamp_set(block[i], size[i]);
	}
	if (self->left) {
		stamp_check(self->left, self->left_size);
		free(self->left);
	}
	self->left = block[0];
	self->left_size = size[0];
	for (unsigned i = 1; i < BLOCKS; i++) {
		stamp_check(block[i], size[i]);
		free(block[i]);
	}
	return NULL;
}

int main(int argc, char *argv[])
{
	static struct worker workers[AT_ONCE];
	struct bench b;
	uint64_t start, rounds, before = 0;

	bench_parse(&b, argc, argv, "");
	rounds = bench_scale(&b, THREADS / AT_ONCE, 10);
	pthread_key_create(&key, late);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		workers[i].random = random_seed(i);
	}
	start = bench_now();
	for (uint64_t n = 0; n < rounds; n++) {
		bench_threads(AT_ONCE, worker, workers, sizeof(workers[0]));
		if (n == rounds / 10) {
			before = bench_rss_kib();
		}
	}
	bench_done(rounds * AT_ONCE * BLOCKS, start);
	bench_report("rss_growth", (double)bench_rss_kib() - (double)before);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		stamp_check(workers[i].left, workers[i].left_size);
		free(workers[i].left);
	}
	return 0;
}
