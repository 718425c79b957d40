/* SPDX-License-Identifier: MIT */
/*
 * w_lifetimes.c - mixed sizes with mixed lifetimes, in the manner of the sh
 * benchmarks: most blocks die young and in order, some in reverse, some much
 * later and at random.
 *
 *   alone    one thread
 *   shared   several threads, a sixteenth of the blocks freed by a neighbour
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define THREADS   4
#define FRAME     100  /* blocks made at a time */
#define LONG_LIVE 8000 /* blocks that stay */
#define LARGEST   1000
#define PARCELS   512

struct block {
	void *ptr;
	size_t size;
};

/* Blocks handed to a thread by its neighbour. */
struct inbox {
	pthread_mutex_t lock;
	unsigned count;              /* sync: lock */
	struct block block[PARCELS]; /* sync: lock */
};

struct worker {
	uint64_t random;
	uint64_t frames;
	struct inbox *neighbour; /* NULL: alone */
	struct inbox inbox;
	struct block stay[LONG_LIVE];
};

static struct block block_create(uint64_t *random)
{
	/* The smaller of two: small sizes are more frequent. */
	size_t one = 1 + random_below(random, LARGEST);
	size_t two = 1 + random_below(random, LARGEST);
	struct block block = {.size = one < two ? one : two};

	block.ptr = bench_malloc(block.size);
	stamp_set(block.ptr, block.size);
	return block;
}

static void block_destroy(struct block *block)
{
	if (block->ptr) {
		stamp_check(block->ptr, block->size);
		free(block->ptr);
		block->ptr = NULL;
	}
}

/* Give `block` to the neighbour; keep it if his inbox is full. */
static void block_give(struct worker *self, struct block *block)
{
	struct inbox *inbox = self->neighbour;

	pthread_mutex_lock(&inbox->lock);
	if (inbox->count < PARCELS) {
		inbox->block[inbox->count++] = *block;
		block->ptr = NULL;
	}
	pthread_mutex_unlock(&inbox->lock);
}

static void inbox_empty(struct inbox *inbox)
{
	struct block block[PARCELS];
	unsigned count;

	pthread_mutex_lock(&inbox->lock);
	count = inbox->count;
	memcpy(block, inbox->block, count * sizeof(block[0]));
	inbox->count = 0;
	pthread_mutex_unlock(&inbox->lock);
	for (unsigned i = 0; i < count; i++) {
		block_destroy(&block[i]);
	}
}

static void *worker(void *arg)
{
	struct worker *self = arg;
	struct block frame[FRAME];

	for (uint64_t n = 0; n < self->frames; n++) {
		for (unsigned i = 0; i < FRAME; i++) {
			frame[i] = block_create(&self->random);
		}
		/* One in ten changes places with one that has stayed. */
		for (unsigned i = 0; i < FRAME; i += 10) {
			unsigned at = random_below(&self->random, LONG_LIVE);
			struct block old = self->stay[at];

			self->stay[at] = frame[i];
			frame[i] = old;
		}
		if (self->neighbour) {
			for (unsigned i = 1; i < FRAME; i += 16) {
				block_give(self, &frame[i]);
			}
			inbox_empty(&self->inbox);
		}
		/* Even frames die first in first out, odd ones in reverse. */
		for (unsigned i = 0; i < FRAME; i++) {
			block_destroy(&frame[n % 2 ? FRAME - 1 - i : i]);
		}
	}
	for (unsigned i = 0; i < LONG_LIVE; i++) {
		block_destroy(&self->stay[i]);
	}
	return NULL;
}

int main(int argc, char *argv[])
{
	static struct worker workers[64];
	struct bench b;
	unsigned threads = 1;
	uint64_t start, frames;

	bench_parse(&b, argc, argv, "alone shared");
	frames = bench_scale(&b, 200000, 100);
	if (strcmp(b.mode, "shared") == 0) {
		threads = b.threads ? b.threads : THREADS;
		frames = bench_scale(&b, 40000, 100);
	}
	if (threads > 64) {
		bench_fail("at most 64 threads");
	}
	for (unsigned i = 0; i < threads; i++) {
		workers[i].random = random_seed(i);
		workers[i].frames = frames;
		pthread_mutex_init(&workers[i].inbox.lock, NULL);
		if (threads > 1) {
			workers[i].neighbour =
				&workers[(i + 1) % threads].inbox;
		}
	}
	start = bench_now();
	bench_threads(threads, worker, workers, sizeof(workers[0]));
	for (unsigned i = 0; i < threads; i++) {
		inbox_empty(&workers[i].inbox);
	}
	bench_done(frames * FRAME * threads, start);
	return 0;
}
