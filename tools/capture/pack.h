/* SPDX-License-Identifier: MIT */
/*
 * pack.h - the compressed form of a trace: docs/trace-format.md, "Compressed
 * files".
 */
#ifndef AMUX_TOOLS_PACK_H
#define AMUX_TOOLS_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack;

/* Create the file; NULL if that cannot be done, which has been said. */
struct pack *pack_create(const char *path, size_t block_size);

/* Add one block. */
void pack_block(struct pack *pack, const void *block);

/* What has been added becomes a frame of its own. */
void pack_flush(struct pack *pack);

/* Write the seek table and close; false if something was not written. */
bool pack_destroy(struct pack *pack);

/* Bytes of the file so far. */
uint64_t pack_size(const struct pack *pack);

#endif
