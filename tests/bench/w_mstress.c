/* SPDX-License-Identifier: MIT */
/*
 * w_mstress.c - bursts of objects that wander between threads.
 *
 * In each round every thread builds up a burst of objects (mostly small, now
 * and then some ten KiB, rarely some hundred), exchanges some of them with a
 * table shared by all, and frees the rest in random order. Threads end with
 * their round; what lies in the table lives on and is freed by others.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "bench.h"

#define THREADS 8
#define ROUNDS  60
#define BURST   4000
#define SHARED  1000

/* Starts every object; the rest of it is filled with the size's low byte. */
struct object {
	size_t size;
	uint64_t stamp;
};

static struct {
	_Atomic(struct object *) shared[SHARED];
	unsigned burst; /* objects at once; constant */
} g;

struct worker {
	uint64_t random;
	uint64_t ops;
	struct object *burst[BURST];
};

static struct object *object_create(uint64_t *random)
{
	uint32_t kind = random_below(random, 1000);
	size_t size = sizeof(struct object);
	struct object *object;

	if (kind < 900) {
		size += random_below(random, 240);
	} else if (kind < 990) {
		size += random_below(random, 2000);
	} else if (kind < 999) {
		size += random_below(random, 30000);
	} else {
		size += random_below(random, 300000);
	}
	object = bench_malloc(size);
	stamp_pages(object, size);
	((uint8_t *)object)[size - 1] = (uint8_t)size;
	object->size = size;
	object->stamp = stamp_of(object, size);
	return object;
}

static void object_destroy(struct object *object)
{
	size_t size = object->size;

	if (object->stamp != stamp_of(object, size) ||
		(size > sizeof(*object) &&
			((uint8_t *)object)[size - 1] != (uint8_t)size)) {
		bench_fail("a live block was overwritten");
	}
	free(object);
}

static void *worker(void *arg)
{
	struct worker *self = arg;

	for (unsigned i = 0; i < g.burst; i++) {
		struct object *object = object_create(&self->random);

		if (random_below(&self->random, 4) == 0) {
			/*
			 * acq_rel: whoever takes the object sees its contents,
			 * and we see those of the one we get.
			 */
			object = atomic_exchange_explicit(
				&g.shared[random_below(&self->random, SHARED)],
				object, memory_order_acq_rel);
		}
		if (object && random_below(&self->random, 3) == 0) {
			object_destroy(object);
			object = NULL;
		}
		self->burst[i] = object;
	}
	for (unsigned left = g.burst; left; left--) {
		unsigned i = random_below(&self->random, left);

		if (self->burst[i]) {
			object_destroy(self->burst[i]);
		}
		self->burst[i] = self->burst[left - 1];
	}
	self->ops += g.burst;
	return NULL;
}

int main(int argc, char *argv[])
{
	static struct worker workers[64];
	struct bench b;
	unsigned threads;
	uint64_t start, ops = 0;

	bench_parse(&b, argc, argv, "");
	threads = b.threads ? b.threads : THREADS;
	if (threads > 64) {
		bench_fail("at most 64 threads");
	}
	g.burst = b.scale >= 100 ? BURST : (unsigned)bench_scale(&b, BURST, 50);
	for (unsigned i = 0; i < threads; i++) {
		workers[i].random = random_seed(i);
	}
	start = bench_now();
	for (unsigned round = 0; round < ROUNDS; round++) {
		bench_threads(threads, worker, workers, sizeof(workers[0]));
	}
	for (unsigned i = 0; i < SHARED; i++) {
		if (g.shared[i]) {
			object_destroy(g.shared[i]);
		}
	}
	for (unsigned i = 0; i < threads; i++) {
		ops += workers[i].ops;
	}
	bench_done(ops, start);
	return 0;
}
