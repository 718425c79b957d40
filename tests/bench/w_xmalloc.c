/* SPDX-License-Identifier: MIT */
/*
 * w_xmalloc.c - producers allocate blocks of 64 bytes, consumers free them:
 * no block is freed by the thread that made it.
 *
 * Batches travel through one bounded stack under a mutex; a batch's own memory
 * is static, so only the blocks are allocated.
 */
#include <pthread.h>
#include <stdlib.h>

#include "bench.h"

#define PAIRS       2
#define BLOCK_SIZE  64
#define BATCH_SIZE  256
#define BATCHES_MAX 256

struct batch {
	struct batch *next;
	void *block[BATCH_SIZE];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_full;
	pthread_cond_t not_empty;
	struct batch *full;  /* sync: lock */
	struct batch *empty; /* sync: lock */
	uint64_t to_come;    /* batches still to be consumed; sync: lock */
	uint64_t each;       /* batches of one producer; constant */
	struct batch batch[BATCHES_MAX];
} g = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.not_full = PTHREAD_COND_INITIALIZER,
	.not_empty = PTHREAD_COND_INITIALIZER,
};

static void produce(void)
{
	for (uint64_t n = 0; n < g.each; n++) {
		struct batch *batch;

		pthread_mutex_lock(&g.lock);
		while (!g.empty) {
			pthread_cond_wait(&g.not_full, &g.lock);
		}
		batch = g.empty;
		g.empty = batch->next;
		pthread_mutex_unlock(&g.lock);

		for (unsigned i = 0; i < BATCH_SIZE; i++) {
			batch->block[i] = bench_malloc(BLOCK_SIZE);
			stamp_set(batch->block[i], BLOCK_SIZE);
		}

		pthread_mutex_lock(&g.lock);
		batch->next = g.full;
		g.full = batch;
		pthread_cond_signal(&g.not_empty);
		pthread_mutex_unlock(&g.lock);
	}
}

static void consume(void)
{
	for (;;) {
		struct batch *batch;

		pthread_mutex_lock(&g.lock);
		while (!g.full && g.to_come) {
			pthread_cond_wait(&g.not_empty, &g.lock);
		}
		if (!g.to_come) {
			pthread_cond_broadcast(&g.not_empty);
			pthread_mutex_unlock(&g.lock);
			return;
		}
		batch = g.full;
		g.full = batch->next;
		g.to_come--;
		pthread_mutex_unlock(&g.lock);

		for (unsigned i = 0; i < BATCH_SIZE; i++) {
			stamp_check(batch->block[i], BLOCK_SIZE);
			free(batch->block[i]);
		}

		pthread_mutex_lock(&g.lock);
		batch->next = g.empty;
		g.empty = batch;
		pthread_cond_signal(&g.not_full);
		pthread_mutex_unlock(&g.lock);
	}
}

static void *worker(void *arg)
{
	if (*(const unsigned *)arg % 2) {
		consume();
	} else {
		produce();
	}
	return NULL;
}

int main(int argc, char *argv[])
{
	static unsigned number[128];
	struct bench b;
	unsigned pairs;
	uint64_t start, total;

	bench_parse(&b, argc, argv, "");
	pairs = b.threads ? (b.threads + 1) / 2 : PAIRS;
	if (pairs > 64) {
		bench_fail("at most 128 threads");
	}
	for (unsigned i = 0; i < BATCHES_MAX; i++) {
		g.batch[i].next = g.empty;
		g.empty = &g.batch[i];
	}
	for (unsigned i = 0; i < 2 * pairs; i++) {
		number[i] = i;
	}
	g.each = bench_scale(&b, 14000, 4);
	total = g.to_come = g.each * pairs;
	start = bench_now();
	bench_threads(2 * pairs, worker, number, sizeof(number[0]));
	bench_done(total * BATCH_SIZE, start);
	return 0;
}
