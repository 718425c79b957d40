/* SPDX-License-Identifier: MIT */
/*
 * tracegen.c - write a large trace with the shim's encoder: for measuring
 * readers, and as a seed for fuzzing.
 *
 *   tracegen FILE EVENTS [LIVE]
 *
 * Eight threads with a thousand stacks of 40 frames; each slot of LIVE (default
 * 100,000) is freed and allocated anew in a random order, so that addresses and
 * sizes repeat as a program's do.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tracewrite.h"

enum { STACKS = 1000, DEPTH = 40, THREADS = 8 };

static uint64_t seed = 1;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 32) * limit >> 32);
}

static void write_stacks(struct tracewrite *w)
{
	uint64_t frames[DEPTH];

	for (uint32_t i = 1; i <= STACKS; i++) {
		/* Outer frames are shared by many, inner ones by few. */
		for (uint32_t j = 0; j < DEPTH; j++) {
			uint32_t spread = i >> (j / 4);

			frames[j] =
				0x401000 + 64 * ((j * 1000 + spread) % 4096);
		}
		tracewrite_stack(w, i, 1, frames, DEPTH);
	}
}

int main(int argc, char **argv)
{
	static struct tracewrite w;
	uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	uint32_t live =
		argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 100000;
	uint32_t *sizes;

	if (events == 0 || live == 0) {
		fprintf(stderr, "usage: tracegen FILE EVENTS [LIVE]\n");
		return 2;
	}
	sizes = calloc(live, sizeof(*sizes));
	tracewrite_begin(&w, argv[1], AMUX_TRACE_RECORD, 65536);
	tracewrite_load(
		&w, 1, 1, 0, 0x400000, 0x500000, "/nonexistent/prog", NULL, 0);
	write_stacks(&w);
	for (uint64_t i = 0; i < events; i++) {
		uint32_t slot = random_below(live);
		int lane = (int)(slot % THREADS);
		uint64_t addr = 0x7f0000000000 + 1024 * (uint64_t)slot;

		if (sizes[slot] != 0) {
			tracewrite_free(&w, lane, addr);
			sizes[slot] = 0;
		} else {
			uint32_t stack = 1 + random_below(STACKS);

			sizes[slot] = 16 + stack % 60 * 16;
			tracewrite_alloc(&w, lane, AMUX_TRACE_MALLOC, stack,
				sizes[slot], 8, addr);
		}
		w.ns += 100;
	}
	tracewrite_end(&w, AMUX_TRACE_FINISHED);
	free(sizes);
	return 0;
}
