/* SPDX-License-Identifier: MIT */
/*
 * tracefile.h - a trace file as a set of blocks, raw or compressed.
 *
 * tracefile_open() reads every block header once and keeps a table of them;
 * tracefile_read() brings one block. What is broken is counted in `damage` and
 * left out: a trace of which anything can be read opens.
 *
 * Memory: 56 bytes a block, and for compressed files a few decompressed frames.
 * Not thread-safe.
 */
#ifndef AMUX_TOOLS_TRACEFILE_H
#define AMUX_TOOLS_TRACEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocmux/trace.h>

/* What could not be read. Everything 0: nothing is missing. */
struct trace_damage {
	uint64_t header;  /* the file header was lost; values were guessed */
	uint64_t blocks;  /* blocks that are no blocks, or overrun theirs */
	uint64_t frames;  /* compressed frames that do not decompress */
	uint64_t cut;     /* bytes of an incomplete block at the end */
	uint64_t gaps;    /* event blocks missing between others of a lane */
	uint64_t events;  /* event blocks of which the rest is not decodable */
	uint64_t stacks;  /* stack blocks of which the rest is not decodable */
	uint64_t records; /* info blocks of which the rest is not decodable */
};

struct trace_block {
	uint64_t at; /* raw: offset in the file; compressed: in the frame */
	uint64_t order;
	uint64_t start_ns;
	uint64_t end_ns; /* 0: still open */
	uint64_t committed;
	uint32_t frame; /* compressed: index of the frame */
	uint32_t lane;
	uint32_t sequence;
	uint32_t thread;
	uint8_t kind;
};

struct trace_frame;

struct tracefile {
	const char *path;
	int fd;
	bool compressed;
	uint64_t size; /* of the file, bytes */
	struct amux_trace_file header;
	struct trace_damage damage;
	struct trace_block *blocks; /* by kind, lane, sequence */
	size_t block_count;
	struct trace_frame *frames; /* compressed: by position */
	size_t frame_count;
	void *cache; /* decompressed frames; see tracefile.c */
};

/*
 * Open the trace at `path`. false: nothing can be shown, and the line that
 * says why was printed. `path` must stay.
 */
bool tracefile_open(struct tracefile *file, const char *path);

/* Read block `index` (block_size bytes) into `buffer`. */
bool tracefile_read(struct tracefile *file, size_t index, void *buffer);

void tracefile_close(struct tracefile *file);

/* Is anything missing that the writer had written? */
bool damage_any(const struct trace_damage *damage);

/* One line: what is missing; NULL if nothing. Free with free(3). */
char *damage_text(const struct trace_damage *damage);

#endif
