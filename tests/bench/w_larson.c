/* SPDX-License-Identifier: MIT */
/*
 * w_larson.c - a server: each worker owns a table of blocks and replaces them
 * at random; after a while a fresh thread inherits the table and goes on, so
 * that blocks are freed by threads which did not allocate them.
 */
#include <pthread.h>
#include <stdlib.h>

#include "bench.h"

#define WORKERS     4
#define SLOTS       2500
#define GENERATIONS 25
#define SMALLEST    8
#define LARGEST     1000

/* One worker's table; touched by one thread at a time. */
struct table {
	uint64_t random;
	uint64_t replacements; /* of one generation */
	unsigned generations;  /* still to come */
	struct {
		void *block;
		size_t size;
	} slot[SLOTS];
};

static void slot_fill(struct table *table, unsigned i)
{
	size_t size =
		SMALLEST + random_below(&table->random, LARGEST - SMALLEST + 1);

	table->slot[i].block = bench_malloc(size);
	table->slot[i].size = size;
	stamp_set(table->slot[i].block, size);
}

static void slot_empty(struct table *table, unsigned i)
{
	stamp_check(table->slot[i].block, table->slot[i].size);
	free(table->slot[i].block);
}

static void *generation(void *arg)
{
	struct table *table = arg;

	for (uint64_t n = 0; n < table->replacements; n++) {
		unsigned i = random_below(&table->random, SLOTS);

		slot_empty(table, i);
		slot_fill(table, i);
	}
	return NULL;
}

/* A worker: one thread after the other over the same table. */
static void *worker(void *arg)
{
	struct table *table = arg;

	while (table->generations--) {
		bench_thread(generation, table);
	}
	return NULL;
}

int main(int argc, char *argv[])
{
	static struct table tables[64];
	struct bench b;
	uint64_t start, replacements;
	unsigned workers;

	bench_parse(&b, argc, argv, "");
	workers = b.threads ? b.threads : WORKERS;
	if (workers > 64) {
		bench_fail("at most 64 threads");
	}
	replacements = bench_scale(&b, 200000, 100);
	for (unsigned w = 0; w < workers; w++) {
		tables[w].random = random_seed(w);
		tables[w].replacements = replacements;
		tables[w].generations = GENERATIONS;
		for (unsigned i = 0; i < SLOTS; i++) {
			slot_fill(&tables[w], i);
		}
	}
	start = bench_now();
	bench_threads(workers, worker, tables, sizeof(tables[0]));
	bench_done(replacements * workers * GENERATIONS, start);
	for (unsigned w = 0; w < workers; w++) {
		for (unsigned i = 0; i < SLOTS; i++) {
			slot_empty(&tables[w], i);
		}
	}
	return 0;
}
