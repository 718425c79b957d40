/* SPDX-License-Identifier: MIT */
/*
 * zstdframes.h - the compressed form of a trace file: zstd frames of whole
 * blocks. Used by tracefile.c only.
 */
#ifndef AMUX_TOOLS_ZSTDFRAMES_H
#define AMUX_TOOLS_ZSTDFRAMES_H

#include "tracefile.h"

/* Does the file begin with a zstd frame? */
bool frames_detect(struct tracefile *file);

/*
 * Walk the frames and add their blocks. A file that is not cut into small
 * frames (such as the output of zstd(1)) is unpacked into a temporary file,
 * and treated as a raw one from then on. false: said why.
 */
bool frames_index(struct tracefile *file);

/* Copy `size` bytes at `at` of frame `frame`. */
bool frames_read(struct tracefile *file, uint32_t frame, uint64_t at,
	void *buffer, size_t size);

void frames_close(struct tracefile *file);

/* tracefile.c: add the block or file header in `bytes`; false: it is none. */
bool blocks_add(
	struct tracefile *file, const void *bytes, uint64_t at, uint32_t frame);

/*
 * tracefile.c: take the file header from the first bytes of the trace; false:
 * there is none, and that was said.
 */
bool header_find(struct tracefile *file, const void *first, size_t size);

/* tracefile.c: index a raw file; false: said why. */
bool raw_index(struct tracefile *file);

#endif
