/* SPDX-License-Identifier: MIT */
/*
 * stress.c - see stress.h.
 *
 * Threads share an array of slots. A step takes the block out of a random slot
 * (an atomic exchange, so that it has one holder), verifies its pattern, then
 * frees it, resizes it or puts it back; and makes new ones by every call of the
 * family. So most blocks die in another thread, and under another backend, than
 * they were born.
 */
#include "stress.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <pthread.h>

enum { SLOTS = 2048, LARGE = 400000, SMALL = 2000 };

/* At the start of each block; the rest is filled from the seed. */
struct header {
	uint32_t size; /* bytes asked for, this header included */
	uint32_t seed;
};

static struct {
	const struct stress_calls *calls;
	const char *const *backends;
	long rounds;
	void *_Atomic slots[SLOTS]; /* sync: atomic; one holder a block */
	atomic_int faults;
	atomic_int running;
} g;

static uint32_t next(uint32_t *state)
{
	uint32_t x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *state = x;
}

static void fault(const char *what, const void *block)
{
	g.faults++;
	fprintf(stderr, "stress: %s (block %p)\n", what, block);
}

static unsigned char pattern(uint32_t seed, size_t i)
{
	return (unsigned char)(seed + i * 7);
}

/* Large blocks are sampled: their first and last page, and every 4 KiB. */
static size_t stride(size_t i, size_t size)
{
	return i < 4096 || i + 4096 > size ? 1 : 4096;
}

static void fill(void *block, size_t size, uint32_t seed)
{
	struct header header = {(uint32_t)size, seed};
	unsigned char *bytes = block;

	memcpy(block, &header, sizeof(header));
	for (size_t i = sizeof(header); i < size; i += stride(i, size)) {
		bytes[i] = pattern(seed, i);
	}
}

/* Verify the first `limit` bytes of what was filled with `size`. */
static struct header verify(void *block, size_t limit)
{
	struct header header;
	unsigned char *bytes = block;

	memcpy(&header, block, sizeof(header));
	for (size_t i = sizeof(header); i < header.size && i < limit;
		i += stride(i, header.size)) {
		if (bytes[i] != pattern(header.seed, i)) {
			fault("contents changed", block);
			break;
		}
	}
	return header;
}

static size_t random_size(uint32_t *state)
{
	size_t most = next(state) % 64 ? SMALL : LARGE;

	return sizeof(struct header) + next(state) % most;
}

static void *make(uint32_t *state, size_t size)
{
	const struct stress_calls *c = g.calls;
	unsigned way = next(state) % 8;
	size_t align = (size_t)16 << next(state) % 9;
	void *block;

	switch (way) {
	case 0:
		block = c->calloc(1, size);
		for (size_t i = 0; block && i < size; i += stride(i, size)) {
			if (((unsigned char *)block)[i]) {
				fault("calloc gave dirty memory", block);
				break;
			}
		}
		break;
	case 1:
		block = c->memalign(align, size);
		if ((uintptr_t)block % align) {
			fault("misaligned", block);
		}
		break;
	case 2:
		if (c->strangers) {
			int count = 0;

			while (c->strangers[count]) {
				count++;
			}
			block = c->strangers[next(state) % (unsigned)count](
				size);
			break;
		}
		/* fallthrough */
	default:
		block = c->malloc(size);
	}
	if (!block) {
		fault("out of memory", NULL);
		return NULL;
	}
	if ((uintptr_t)block % 16) {
		fault("not aligned to 16", block);
	}
	if (c->usable_size(block) < size) {
		fault("usable size below the request", block);
	}
	fill(block, size, next(state));
	return block;
}

static void put(uint32_t *state, void *block)
{
	void *old = atomic_exchange(&g.slots[next(state) % SLOTS], block);

	if (old) {
		verify(old, SIZE_MAX);
		g.calls->free(old);
	}
}

static void step(uint32_t *state)
{
	const struct stress_calls *c = g.calls;
	void *block = atomic_exchange(&g.slots[next(state) % SLOTS], NULL);
	struct header header;
	size_t size;
	void *resized;

	if (!block) {
		block = make(state, random_size(state));
		if (block) {
			put(state, block);
		}
		return;
	}
	header = verify(block, SIZE_MAX);
	switch (next(state) % 4) {
	case 0:
		c->free(block);
		break;
	case 1:
		c->free_sized(block, header.size);
		break;
	case 2:
		size = random_size(state);
		resized = c->realloc(block, size);
		if (!resized) {
			fault("realloc failed", block);
			return;
		}
		verify(resized, size);
		fill(resized, size, header.seed);
		put(state, resized);
		break;
	default:
		put(state, block);
	}
}

static void *run(void *arg)
{
	uint32_t state = (uint32_t)(uintptr_t)arg * 2654435761u | 1;

	for (long i = 0; i < g.rounds && g.faults < 10; i++) {
		step(&state);
	}
	g.running--;
	return NULL;
}

int stress_run(const struct stress_calls *calls, const char *const *backends,
	int threads, long rounds)
{
	enum { MOST = 64 };
	pthread_t ids[MOST];
	size_t turn = 0;

	g.calls = calls;
	g.backends = backends;
	g.rounds = rounds;
	g.faults = 0;
	g.running = threads < MOST ? threads : MOST;
	threads = g.running;
	for (int i = 0; i < threads; i++) {
		if (pthread_create(
			    &ids[i], NULL, run, (void *)(uintptr_t)(i + 1))) {
			fault("no thread", NULL);
			g.running--;
			threads = i;
		}
	}
	while (g.running > 0) {
		if (!backends[turn]) {
			turn = 0;
		}
		if (calls->switch_to(backends[turn])) {
			fault(backends[turn], NULL);
			break;
		}
		turn++;
		sched_yield();
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
	}
	for (int i = 0; i < SLOTS; i++) {
		void *block = atomic_exchange(&g.slots[i], NULL);

		if (block) {
			verify(block, SIZE_MAX);
			calls->free(block);
		}
	}
	return g.faults;
}
