/* SPDX-License-Identifier: MIT */
/*
 * zstdframes.c - compressed traces: RFC 8878 frames, walked by their headers.
 *
 * A frame that does not decompress gives what came before the damage; the walk
 * goes on at the next bytes that look like a frame.
 */
#include "zstdframes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "tool.h"

#define FRAME_MAX      ((size_t)4 << 20) /* content, bytes */
#define CACHE_COUNT    8
#define SKIPPABLE_LOW  0x184d2a50u
#define SKIPPABLE_MASK 0xfffffff0u

struct trace_frame {
	uint64_t offset;
	uint64_t size;
	uint64_t content; /* that can be unpacked */
};

struct cache {
	ZSTD_DStream *stream;
	uint8_t *input;
	size_t input_size;
	uint64_t clock;
	struct {
		uint8_t *bytes; /* FRAME_MAX */
		uint64_t used;  /* clock; 0: empty */
		uint32_t frame;
	} slots[CACHE_COUNT];
};

static uint32_t load32(const uint8_t *bytes)
{
	uint32_t v;

	memcpy(&v, bytes, sizeof(v));
	return v;
}

static bool is_skippable(const uint8_t *bytes)
{
	return (load32(bytes) & SKIPPABLE_MASK) == SKIPPABLE_LOW;
}

bool frames_detect(struct tracefile *file)
{
	uint8_t magic[4];

	return pread(file->fd, magic, sizeof(magic), 0) ==
		       (ssize_t)sizeof(magic) &&
	       (load32(magic) == ZSTD_MAGICNUMBER || is_skippable(magic));
}

static struct cache *cache_create(void)
{
	struct cache *cache = tool_alloc(sizeof(*cache));

	cache->input_size = ZSTD_compressBound(FRAME_MAX) + 64;
	cache->input = tool_alloc(cache->input_size);
	cache->stream = ZSTD_createDStream();
	if (cache->stream == NULL) {
		tool_error("out of memory");
		exit(TOOL_BROKEN);
	}
	return cache;
}

static size_t input_fill(struct tracefile *file, uint64_t at, size_t size)
{
	struct cache *cache = file->cache;
	size_t done = 0;

	if (size > cache->input_size) {
		size = cache->input_size;
	}
	while (done < size) {
		ssize_t n = pread(file->fd, cache->input + done, size - done,
			(off_t)(at + done));

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			break;
		}
		done += (size_t)n;
	}
	return done;
}

static void frame_add(struct tracefile *file, uint64_t offset, uint64_t size)
{
	size_t count = file->frame_count;

	if ((count & (count - 1)) == 0) {
		file->frames = tool_realloc(file->frames,
			(count ? 2 * count : 1) * sizeof(*file->frames));
	}
	file->frames[file->frame_count++] =
		(struct trace_frame){.offset = offset, .size = size};
}

/* Where the next frame may begin, from `at` on; the end if nowhere. */
static uint64_t frame_search(struct tracefile *file, uint64_t at)
{
	struct cache *cache = file->cache;

	while (at < file->size) {
		size_t n = input_fill(file, at, cache->input_size);

		if (n < 4) {
			break;
		}
		for (size_t i = 0; i + 4 <= n; i++) {
			if (load32(cache->input + i) == ZSTD_MAGICNUMBER) {
				return at + i;
			}
		}
		at += n - 3;
	}
	return file->size;
}

/* Fill the table of frames. false: they are not small ones. */
static bool frames_walk(struct tracefile *file)
{
	struct cache *cache = file->cache;
	uint64_t at = 0;

	while (at < file->size) {
		size_t n = input_fill(file, at, cache->input_size);
		unsigned long long content;
		size_t size;

		if (n < 8) {
			file->damage.cut += n;
			break;
		}
		if (is_skippable(cache->input)) {
			at += 8 + (uint64_t)load32(cache->input + 4);
			continue;
		}
		content = ZSTD_getFrameContentSize(cache->input, n);
		if (content == ZSTD_CONTENTSIZE_UNKNOWN ||
			(content != ZSTD_CONTENTSIZE_ERROR &&
				content > FRAME_MAX)) {
			return false;
		}
		size = ZSTD_findFrameCompressedSize(cache->input, n);
		if (content == ZSTD_CONTENTSIZE_ERROR || ZSTD_isError(size)) {
			uint64_t next = frame_search(file, at + 4);

			frame_add(file, at, next - at);
			at = next;
		} else {
			frame_add(file, at, size);
			at += size;
		}
	}
	return true;
}

/* Unpack a frame as far as it goes; returns the bytes, `whole` if all. */
static size_t frame_unpack(
	struct tracefile *file, uint32_t index, uint8_t *bytes, bool *whole)
{
	struct trace_frame *frame = &file->frames[index];
	struct cache *cache = file->cache;
	ZSTD_inBuffer in = {cache->input, 0, 0};
	ZSTD_outBuffer out = {bytes, FRAME_MAX, 0};
	size_t left = 1;

	in.size = input_fill(file, frame->offset,
		frame->size < cache->input_size ? frame->size
						: cache->input_size);
	ZSTD_initDStream(cache->stream);
	while (left > 0 && out.pos < out.size) {
		size_t in_before = in.pos;
		size_t out_before = out.pos;

		left = ZSTD_decompressStream(cache->stream, &out, &in);
		if (ZSTD_isError(left) ||
			(in.pos == in_before && out.pos == out_before)) {
			break;
		}
	}
	*whole = left == 0;
	return out.pos;
}

/* A header anywhere at the start of a frame; the first frames come first. */
static bool header_seek(struct tracefile *file, uint8_t *bytes)
{
	for (uint32_t i = 0; i < file->frame_count; i++) {
		bool whole;
		size_t n = frame_unpack(file, i, bytes, &whole);

		if (n >= sizeof(struct amux_trace_file) &&
			memcmp(bytes, AMUX_TRACE_MAGIC,
				sizeof(AMUX_TRACE_MAGIC)) == 0) {
			file->damage.header = i > 0;
			return header_find(file, bytes, n);
		}
	}
	return header_find(file, bytes, 0);
}

static void frame_index(struct tracefile *file, uint32_t index, uint8_t *bytes)
{
	bool whole;
	size_t size = file->header.block_size;
	size_t n = frame_unpack(file, index, bytes, &whole);

	file->frames[index].content = n - n % size;
	file->damage.frames += !whole;
	for (size_t at = 0; at + size <= n; at += size) {
		if (!blocks_add(file, bytes + at, at, index)) {
			file->damage.blocks++;
		}
	}
	/* The closing header may be shorter than a block. */
	if (n % size >= sizeof(struct amux_trace_file)) {
		blocks_add(file, bytes + n - n % size, 0, index);
	}
}

/* Everything into an unlinked temporary file, which takes this one's place. */
static bool frames_unpack_all(struct tracefile *file)
{
	struct cache *cache = file->cache;
	size_t size = ZSTD_DStreamOutSize();
	uint8_t *bytes = tool_alloc(size);
	FILE *temporary = tmpfile();
	uint64_t at = 0;
	uint64_t written = 0;
	size_t left = 1;
	size_t n;
	int fd;

	while (temporary != NULL &&
		(n = input_fill(file, at, cache->input_size)) > 0) {
		ZSTD_inBuffer in = {cache->input, n, 0};

		while (in.pos < in.size && !ZSTD_isError(left)) {
			ZSTD_outBuffer out = {bytes, size, 0};

			left = ZSTD_decompressStream(cache->stream, &out, &in);
			if (fwrite(bytes, 1, out.pos, temporary) != out.pos) {
				break;
			}
			written += out.pos;
		}
		at += n;
		if (ZSTD_isError(left) || ferror(temporary)) {
			break;
		}
	}
	free(bytes);
	if (temporary == NULL || fflush(temporary) != 0 || ferror(temporary)) {
		tool_perror("cannot unpack %s into a temporary file; set "
			    "TMPDIR to a directory with room",
			file->path);
		if (temporary != NULL) {
			fclose(temporary);
		}
		return false;
	}
	file->damage.frames += left != 0;
	fd = dup(fileno(temporary));
	fclose(temporary);
	close(file->fd);
	file->fd = fd;
	file->size = written;
	file->compressed = false;
	return raw_index(file);
}

bool frames_index(struct tracefile *file)
{
	uint8_t *bytes;
	bool good;

	file->cache = cache_create();
	if (!frames_walk(file)) {
		free(file->frames);
		file->frames = NULL;
		file->frame_count = 0;
		file->damage = (struct trace_damage){0};
		return frames_unpack_all(file);
	}
	bytes = tool_alloc(FRAME_MAX);
	good = header_seek(file, bytes);
	for (uint32_t i = 0; good && i < file->frame_count; i++) {
		frame_index(file, i, bytes);
	}
	free(bytes);
	return good;
}

/* The frame's bytes, unpacked now or lately. */
static const uint8_t *cache_get(struct tracefile *file, uint32_t frame)
{
	struct cache *cache = file->cache;
	int oldest = 0;
	bool whole;

	for (int i = 0; i < CACHE_COUNT; i++) {
		if (cache->slots[i].used > 0 &&
			cache->slots[i].frame == frame) {
			cache->slots[i].used = ++cache->clock;
			return cache->slots[i].bytes;
		}
		if (cache->slots[i].used < cache->slots[oldest].used) {
			oldest = i;
		}
	}
	if (cache->slots[oldest].bytes == NULL) {
		cache->slots[oldest].bytes = tool_alloc(FRAME_MAX);
	}
	cache->slots[oldest].used = ++cache->clock;
	cache->slots[oldest].frame = frame;
	if (frame_unpack(file, frame, cache->slots[oldest].bytes, &whole) <
		file->frames[frame].content) {
		cache->slots[oldest].used = 0;
		return NULL;
	}
	return cache->slots[oldest].bytes;
}

bool frames_read(struct tracefile *file, uint32_t frame, uint64_t at,
	void *buffer, size_t size)
{
	const uint8_t *bytes = cache_get(file, frame);

	if (bytes == NULL || at + size > file->frames[frame].content) {
		return false;
	}
	memcpy(buffer, bytes + at, size);
	return true;
}

void frames_close(struct tracefile *file)
{
	struct cache *cache = file->cache;

	if (cache != NULL) {
		for (int i = 0; i < CACHE_COUNT; i++) {
			free(cache->slots[i].bytes);
		}
		ZSTD_freeDStream(cache->stream);
		free(cache->input);
		free(cache);
	}
	free(file->frames);
	file->frames = NULL;
	file->frame_count = 0;
	file->cache = NULL;
}
