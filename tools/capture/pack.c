/* SPDX-License-Identifier: MIT */
/*
 * pack.c - zstd frames of whole blocks, and the seek table.
 *
 * Level 1: what it costs is part of what tracing costs.
 */
#include "pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "tool.h"

/* Bytes of blocks in a frame: enough for the window, little to read at once. */
#define FRAME_SIZE ((size_t)1 << 20)
#define LEVEL      1

/* zstd_seekable_compression_format.md */
#define SKIPPABLE_MAGIC 0x184d2a5eu
#define SEEKABLE_MAGIC  0x8f92eab1u

struct entry {
	uint32_t packed;
	uint32_t size;
};

struct pack {
	FILE *file;
	char *path;
	ZSTD_CCtx *context;
	size_t block_size;
	uint8_t *input;
	size_t input_size;
	uint8_t *output;
	size_t output_size;
	struct entry *entries;
	size_t count;
	size_t room;
	uint64_t size;
	bool failed;
};

struct pack *pack_create(const char *path, size_t block_size)
{
	FILE *file = fopen(path, "wbe");
	struct pack *pack;

	if (file == NULL) {
		tool_perror("cannot create %s", path);
		return NULL;
	}
	pack = tool_alloc(sizeof(*pack));
	*pack = (struct pack){
		.file = file,
		.path = tool_strdup(path),
		.context = ZSTD_createCCtx(),
		.block_size = block_size,
		.input = tool_alloc(FRAME_SIZE + block_size),
		.output_size = ZSTD_compressBound(FRAME_SIZE + block_size),
	};
	pack->output = tool_alloc(pack->output_size);
	if (pack->context == NULL) {
		tool_error("no memory for zstd");
		exit(TOOL_BROKEN);
	}
	ZSTD_CCtx_setParameter(pack->context, ZSTD_c_compressionLevel, LEVEL);
	return pack;
}

static void put(struct pack *pack, const void *data, size_t size)
{
	pack->size += size;
	if (fwrite(data, 1, size, pack->file) != size && !pack->failed) {
		tool_perror("cannot write %s", pack->path);
		pack->failed = true;
	}
}

void pack_flush(struct pack *pack)
{
	size_t packed;

	if (pack->input_size == 0) {
		return;
	}
	packed = ZSTD_compress2(pack->context, pack->output, pack->output_size,
		pack->input, pack->input_size);
	if (ZSTD_isError(packed)) {
		tool_error("zstd: %s", ZSTD_getErrorName(packed));
		exit(TOOL_BROKEN);
	}
	put(pack, pack->output, packed);
	if (pack->count == pack->room) {
		pack->room = pack->room ? 2 * pack->room : 64;
		pack->entries = tool_realloc(
			pack->entries, pack->room * sizeof(pack->entries[0]));
	}
	pack->entries[pack->count++] = (struct entry){
		.packed = (uint32_t)packed,
		.size = (uint32_t)pack->input_size,
	};
	pack->input_size = 0;
}

void pack_block(struct pack *pack, const void *block)
{
	memcpy(pack->input + pack->input_size, block, pack->block_size);
	pack->input_size += pack->block_size;
	if (pack->input_size >= FRAME_SIZE) {
		pack_flush(pack);
	}
}

static void put_u32(struct pack *pack, uint32_t value)
{
	uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8),
		(uint8_t)(value >> 16), (uint8_t)(value >> 24)};

	put(pack, bytes, sizeof(bytes));
}

static void put_seek_table(struct pack *pack)
{
	uint8_t descriptor = 0; /* no checksums */

	put_u32(pack, SKIPPABLE_MAGIC);
	put_u32(pack, (uint32_t)(pack->count * 8 + 9));
	for (size_t i = 0; i < pack->count; i++) {
		put_u32(pack, pack->entries[i].packed);
		put_u32(pack, pack->entries[i].size);
	}
	put_u32(pack, (uint32_t)pack->count);
	put(pack, &descriptor, 1);
	put_u32(pack, SEEKABLE_MAGIC);
}

bool pack_destroy(struct pack *pack)
{
	bool done;

	pack_flush(pack);
	put_seek_table(pack);
	if (fclose(pack->file) != 0 && !pack->failed) {
		tool_perror("cannot write %s", pack->path);
		pack->failed = true;
	}
	done = !pack->failed;
	ZSTD_freeCCtx(pack->context);
	free(pack->path);
	free(pack->input);
	free(pack->output);
	free(pack->entries);
	free(pack);
	return done;
}

uint64_t pack_size(const struct pack *pack)
{
	return pack->size;
}
