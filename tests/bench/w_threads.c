/* SPDX-License-Identifier: MIT */
/*
 * w_threads.c - many threads at once.
 *
 *   cross   64 threads, random sizes; one block in eight is freed by another
 *           thread than the one that made it
 *   mix     8 threads, the same without exchange
 *   many    2000 threads that each hold 6 KB in 40 blocks: KiB resident a
 *           thread, measured while all of them live
 *   none    the same with the payload in static memory: what `many` would cost
 *           if malloc cost nothing
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define CROSS_THREADS 64
#define MIX_THREADS   8
#define MANY_THREADS  2000
#define LIVE          400 /* blocks of one thread, cross and mix */
#define SHARED        1024
#define SHARED_SIZE   96   /* of a block that is exchanged */
#define BLOCKS        40   /* of one thread, many */
#define PAYLOAD       6000 /* bytes of all of them */

static struct {
	_Atomic(void *) shared[SHARED];
	uint64_t steps;       /* of one thread; constant */
	int cross;            /* constant */
	pthread_barrier_t up; /* all threads hold their blocks */
	pthread_barrier_t go; /* the size has been read */
	int plain;            /* payload from `room`; constant */
	char room[MANY_THREADS][PAYLOAD];
} g;

static void *churn(void *arg)
{
	struct {
		void *ptr;
		size_t size;
	} live[LIVE] = {{0}};
	uint64_t random = *(const uint64_t *)arg;

	for (uint64_t n = 0; n < g.steps; n++) {
		unsigned i = random_below(&random, LIVE);

		if (live[i].ptr) {
			stamp_check(live[i].ptr, live[i].size);
			free(live[i].ptr);
		}
		live[i].size = 16 + random_below(&random, 497);
		if (g.cross && n % 8 == 0) {
			/* Swap a block of one fixed size with the table. */
			void *mine = bench_malloc(SHARED_SIZE);

			stamp_set(mine, SHARED_SIZE);
			/*
			 * acq_rel: whoever takes the block sees its stamp, and
			 * we see that of the one we get.
			 */
			live[i].ptr = atomic_exchange_explicit(
				&g.shared[random_below(&random, SHARED)], mine,
				memory_order_acq_rel);
			live[i].size = SHARED_SIZE;
			continue;
		}
		live[i].ptr = bench_malloc(live[i].size);
		stamp_set(live[i].ptr, live[i].size);
	}
	for (unsigned i = 0; i < LIVE; i++) {
		if (live[i].ptr) {
			stamp_check(live[i].ptr, live[i].size);
			free(live[i].ptr);
		}
	}
	return NULL;
}

static uint64_t run_churn(unsigned threads)
{
	static uint64_t seed[4096];

	for (unsigned i = 0; i < threads; i++) {
		seed[i] = random_seed(i);
	}
	bench_threads(threads, churn, seed, sizeof(seed[0]));
	for (unsigned i = 0; i < SHARED; i++) {
		if (g.shared[i]) {
			stamp_check(g.shared[i], SHARED_SIZE);
			free(g.shared[i]);
		}
	}
	return g.steps * threads;
}

/* Blocks of 33 to 267 bytes. */
static_assert(33 * BLOCKS + 6 * (BLOCKS * (BLOCKS - 1) / 2) == PAYLOAD,
	"the blocks of a thread are its payload");

static size_t hold_size(unsigned i)
{
	return 33 + 6 * i;
}

static void *hold(void *arg)
{
	char *room = arg, *block[BLOCKS];

	for (unsigned i = 0; i < BLOCKS; i++) {
		block[i] = g.plain ? room : bench_malloc(hold_size(i));
		room += hold_size(i);
		memset(block[i], (int)i, hold_size(i));
	}
	pthread_barrier_wait(&g.up);
	pthread_barrier_wait(&g.go);
	for (unsigned i = 0; i < BLOCKS; i++) {
		if (block[i][0] != (char)i ||
			block[i][hold_size(i) - 1] != (char)i) {
			bench_fail("a live block was overwritten");
		}
		if (!g.plain) {
			free(block[i]);
		}
	}
	return NULL;
}

/* Reads the size while all the others hold their blocks. */
static void *measure(void *arg)
{
	pthread_barrier_wait(&g.up);
	bench_report("rss_threads_live", (double)bench_rss_kib());
	pthread_barrier_wait(&g.go);
	return NULL;
}

static uint64_t run_many(unsigned threads)
{
	pthread_t reader;

	pthread_barrier_init(&g.up, NULL, threads + 1);
	pthread_barrier_init(&g.go, NULL, threads + 1);
	if (pthread_create(&reader, NULL, measure, NULL)) {
		bench_fail("pthread_create failed");
	}
	bench_threads(threads, hold, g.room, sizeof(g.room[0]));
	pthread_join(reader, NULL);
	bench_report("threads", threads);
	return (uint64_t)threads * BLOCKS;
}

int main(int argc, char *argv[])
{
	struct bench b;
	uint64_t start, ops;
	unsigned threads;

	bench_parse(&b, argc, argv, "cross mix many none");
	g.cross = strcmp(b.mode, "cross") == 0;
	g.plain = strcmp(b.mode, "none") == 0;
	start = bench_now();
	if (g.cross || strcmp(b.mode, "mix") == 0) {
		threads = g.cross ? CROSS_THREADS : MIX_THREADS;
		threads = b.threads ? b.threads : threads;
		g.steps = bench_scale(&b, 12000000, 64 * 500) /
			  (threads ? threads : 1);
		if (threads > 4096) {
			bench_fail("at most 4096 threads");
		}
		ops = run_churn(threads);
	} else {
		threads = (unsigned)bench_scale(&b, MANY_THREADS, 20);
		threads = threads > MANY_THREADS ? MANY_THREADS : threads;
		ops = run_many(threads);
	}
	bench_done(ops, start);
	bench_report("rss_after_free", (double)bench_rss_kib());
	return 0;
}
