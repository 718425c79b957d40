/* SPDX-License-Identifier: MIT */
/*
 * tracewrite.h - traces made to order, with the encoder that the shim uses.
 *
 * One writer, any number of lanes; each lane's events go where its last block
 * has room. Mistakes abort.
 */
#ifndef AMUX_TESTS_TRACEWRITE_H
#define AMUX_TESTS_TRACEWRITE_H

#include <stdint.h>
#include <stdio.h>

#include "trace/encode.h"

#define TRACEWRITE_LANES 64

struct tracewrite {
	FILE *file;
	struct amux_trace_file header;
	uint64_t ns; /* time of the next event */
	struct {
		struct encoder encoder;
		struct amux_trace_block *block; /* NULL: none yet */
		uint32_t sequence;
	} lanes[TRACEWRITE_LANES]; /* lane i + 1, thread i + 1 */
	struct amux_trace_block *stacks;
	uint64_t previous[512];
	size_t previous_count;
	uint32_t stack_sequence;
	struct amux_trace_block *info;
	uint32_t info_sequence;
};

void tracewrite_begin(
	struct tracewrite *w, const char *path, uint32_t mode, uint32_t size);

/* frames from the innermost, as return addresses. */
void tracewrite_stack(struct tracewrite *w, uint32_t id, uint32_t epoch,
	const uint64_t *frames, size_t count);

/* An INFO record, complete with its struct amux_trace_info but for the time. */
void tracewrite_info(struct tracewrite *w, const void *record, size_t size);
void tracewrite_text(struct tracewrite *w, uint32_t key, const char *text);

/* LOAD of a module whose range is [start, end). */
void tracewrite_load(struct tracewrite *w, uint32_t module, uint32_t epoch,
	uint64_t bias, uint64_t start, uint64_t end, const char *path,
	const void *build_id, size_t build_id_length);
void tracewrite_thread(struct tracewrite *w, uint32_t thread, const char *name);

/* Events of lane `lane` (from 0) at the time w->ns. */
void tracewrite_alloc(struct tracewrite *w, int lane, unsigned how,
	uint32_t stack, uint64_t size, uint32_t excess, uint64_t addr);
void tracewrite_free(struct tracewrite *w, int lane, uint64_t addr);
void tracewrite_realloc(struct tracewrite *w, int lane, uint64_t addr);
void tracewrite_realloc_fail(struct tracewrite *w, int lane);
void tracewrite_failed(
	struct tracewrite *w, int lane, uint32_t stack, uint64_t size);

/* End the lane's block: the next event begins another. */
void tracewrite_flush(struct tracewrite *w, int lane);

/* A block of SITES. */
void tracewrite_sites(struct tracewrite *w, uint32_t lane,
	const struct amux_trace_site *sites, size_t count);

/* Write what is left and the header with `state`. */
void tracewrite_end(struct tracewrite *w, uint32_t state);

#endif
