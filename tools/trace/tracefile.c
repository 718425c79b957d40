/* SPDX-License-Identifier: MIT */
/*
 * tracefile.c - find the blocks of a trace, whatever became of it.
 *
 * A raw file is read with pread(2), never mapped, because it may shrink under
 * us. `committed` is kept from the index, so that of a trace still being
 * written only bytes are used that were complete before they were read.
 *
 * Not here: compressed files (zstdframes.c), the content of blocks.
 */
#include "tracefile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"
#include "zstdframes.h"

static_assert(sizeof(struct amux_trace_block) == 64, "see trace-format.md");

/* All bytes up to `size`, fewer at the end of the file; -1: errno. */
static ssize_t read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)buffer + done, size - done,
			(off_t)(offset + done));

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return -1;
		}
		if (n == 0) {
			break;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static bool size_is_legal(uint32_t size)
{
	return size >= AMUX_TRACE_BLOCK_MIN && size <= AMUX_TRACE_BLOCK_MAX &&
	       (size & (size - 1)) == 0;
}

/* A header as a reader of this version understands it. */
static void header_take(struct amux_trace_file *header, const void *bytes)
{
	struct amux_trace_file found;

	memcpy(&found, bytes, sizeof(found));
	if (found.header_size < sizeof(found)) {
		memset((char *)&found + found.header_size, 0,
			sizeof(found) - found.header_size);
	}
	*header = found;
}

enum header_kind { HEADER_NONE, HEADER_GOOD, HEADER_FOREIGN, HEADER_BROKEN };

static enum header_kind header_check(const void *bytes)
{
	struct amux_trace_file h;

	memcpy(&h, bytes, sizeof(h));
	if (memcmp(h.magic, AMUX_TRACE_MAGIC, sizeof(h.magic)) != 0) {
		return HEADER_NONE;
	}
	if (h.major != AMUX_TRACE_VERSION_MAJOR) {
		return HEADER_FOREIGN;
	}
	if (!size_is_legal(h.block_size) || h.mode < AMUX_TRACE_RECORD ||
		h.mode > AMUX_TRACE_SAMPLE ||
		h.header_size < offsetof(struct amux_trace_file, state)) {
		return HEADER_BROKEN;
	}
	return HEADER_GOOD;
}

static bool is_block(const struct amux_trace_block *b)
{
	return b->magic == AMUX_TRACE_BLOCK_MAGIC &&
	       b->header_size == sizeof(*b) && b->kind >= AMUX_TRACE_EVENTS &&
	       b->kind <= AMUX_TRACE_SITES;
}

bool blocks_add(
	struct tracefile *file, const void *bytes, uint64_t at, uint32_t frame)
{
	struct amux_trace_block b;
	uint64_t used;
	size_t count = file->block_count;

	memcpy(&b, bytes, sizeof(b));
	if (header_check(bytes) == HEADER_GOOD) {
		header_take(&file->header, bytes);
		return true;
	}
	if (b.magic == 0) {
		return true;
	}
	if (b.magic != AMUX_TRACE_BLOCK_MAGIC || b.header_size != sizeof(b)) {
		return false;
	}
	if (!is_block(&b)) {
		return true; /* a kind of a later version */
	}
	used = sizeof(b) + (b.committed & 0xffffffff) + (b.committed >> 32);
	if (used > file->header.block_size) {
		return false;
	}
	if ((count & (count - 1)) == 0) {
		file->blocks = tool_realloc(file->blocks,
			(count ? 2 * count : 1) * sizeof(*file->blocks));
	}
	file->blocks[file->block_count++] = (struct trace_block){
		.at = at,
		.frame = frame,
		.order = b.order,
		.start_ns = b.start_ns,
		.end_ns = b.end_ns,
		.committed = b.committed,
		.lane = b.lane,
		.sequence = b.sequence,
		.thread = b.thread,
		.kind = b.kind,
	};
	return true;
}

/*
 * The file header is gone: take the block size from the distance of the blocks
 * and the mode from their kind. Blocks lie at multiples of their size, so the
 * lowest set bit of all their offsets bounds it.
 */
static bool header_guess(struct tracefile *file)
{
	struct amux_trace_file *h = &file->header;
	uint64_t offsets = 0;
	bool sites = false;

	*h = (struct amux_trace_file){.mode = AMUX_TRACE_RECORD,
		.header_size = sizeof(*h),
		.tick_ns = 4000000,
		.site_size = sizeof(struct amux_trace_site)};
	for (uint64_t at = 0; at < file->size; at += AMUX_TRACE_BLOCK_MIN) {
		struct amux_trace_file bytes;
		struct amux_trace_block b;

		if (read_at(file->fd, &bytes, sizeof(bytes), at) !=
			(ssize_t)sizeof(bytes)) {
			break;
		}
		memcpy(&b, &bytes, sizeof(b));
		if (header_check(&bytes) == HEADER_GOOD) {
			header_take(h, &bytes);
			return true;
		}
		if (is_block(&b)) {
			offsets |= at;
			sites |= b.kind == AMUX_TRACE_SITES;
		}
	}
	file->damage.header = 1;
	if (offsets == 0) {
		return false;
	}
	h->block_size = (uint32_t)(offsets & -offsets & 0xffffffff);
	h->mode = sites ? AMUX_TRACE_PROFILE : AMUX_TRACE_RECORD;
	return size_is_legal(h->block_size);
}

bool header_find(struct tracefile *file, const void *first, size_t size)
{
	struct amux_trace_file padded = {0};

	memcpy(&padded, first, size < sizeof(padded) ? size : sizeof(padded));
	switch (header_check(&padded)) {
	case HEADER_GOOD:
		header_take(&file->header, &padded);
		return true;
	case HEADER_FOREIGN:
		tool_error("%s: trace format %u.%u, this program reads %u.x; "
			   "use the version of Allocmux that wrote it",
			file->path, padded.major, padded.minor,
			AMUX_TRACE_VERSION_MAJOR);
		return false;
	case HEADER_NONE:
	case HEADER_BROKEN:
		break;
	}
	if (!file->compressed && header_guess(file)) {
		return true;
	}
	tool_error("%s: not an Allocmux trace%s", file->path,
		size < sizeof(padded) ? " (too short)" : "");
	return false;
}

bool raw_index(struct tracefile *file)
{
	uint8_t first[sizeof(struct amux_trace_file)];
	ssize_t n = read_at(file->fd, first, sizeof(first), 0);
	uint32_t block_size;
	uint64_t at;

	if (n < 0) {
		tool_perror("%s: cannot read", file->path);
		return false;
	}
	if (!header_find(file, first, (size_t)n)) {
		return false;
	}
	block_size = file->header.block_size;
	for (at = block_size; at + block_size <= file->size; at += block_size) {
		if (read_at(file->fd, first, sizeof(first), at) !=
			(ssize_t)sizeof(first)) {
			break;
		}
		if (!blocks_add(file, first, at, 0)) {
			file->damage.blocks++;
		}
	}
	if (at < file->size) {
		file->damage.cut = file->size - at;
	}
	return true;
}

static int block_compare(const void *a, const void *b)
{
	const struct trace_block *x = a;
	const struct trace_block *y = b;

	if (x->kind != y->kind) {
		return x->kind < y->kind ? -1 : 1;
	}
	if (x->lane != y->lane) {
		return x->lane < y->lane ? -1 : 1;
	}
	if (x->sequence != y->sequence) {
		return x->sequence < y->sequence ? -1 : 1;
	}
	if (x->order != y->order) {
		return x->order < y->order ? -1 : 1;
	}
	/* Of two copies the fuller one first. */
	return x->committed > y->committed   ? -1
	       : x->committed < y->committed ? 1
					     : 0;
}

static void blocks_sort(struct tracefile *file)
{
	size_t kept = 0;

	if (file->block_count == 0) {
		return;
	}
	qsort(file->blocks, file->block_count, sizeof(*file->blocks),
		block_compare);
	for (size_t i = 0; i < file->block_count; i++) {
		const struct trace_block *b = &file->blocks[i];
		const struct trace_block *last =
			kept > 0 ? &file->blocks[kept - 1] : NULL;
		bool same_lane = last != NULL && last->kind == b->kind &&
				 last->lane == b->lane;

		if (same_lane && last->sequence == b->sequence &&
			last->order == b->order) {
			continue;
		}
		if (same_lane && b->kind == AMUX_TRACE_EVENTS &&
			b->sequence > last->sequence + 1) {
			file->damage.gaps += b->sequence - last->sequence - 1;
		}
		file->blocks[kept++] = *b;
	}
	file->block_count = kept;
}

static bool file_open(struct tracefile *file, const char *path)
{
	struct stat info;

	memset(file, 0, sizeof(*file));
	file->path = path;
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0 || fstat(file->fd, &info) != 0) {
		tool_perror("%s", path);
		return false;
	}
	if (S_ISDIR(info.st_mode)) {
		errno = EISDIR;
		tool_perror("%s", path);
		return false;
	}
	if (!S_ISREG(info.st_mode)) {
		tool_error("%s: not a regular file; a trace is read more than "
			   "once, so copy it into one",
			path);
		return false;
	}
	file->size = (uint64_t)info.st_size;
	if (file->size == 0) {
		tool_error("%s: the file is empty", path);
		return false;
	}
	return true;
}

bool tracefile_open(struct tracefile *file, const char *path)
{
	bool good = file_open(file, path);

	if (good) {
		file->compressed = frames_detect(file);
		good = file->compressed ? frames_index(file) : raw_index(file);
	}
	if (good) {
		blocks_sort(file);
		if (file->header.features & AMUX_TRACE_F_RING) {
			file->damage.gaps = 0; /* intended */
		}
		return true;
	}
	tracefile_close(file);
	return false;
}

bool tracefile_read(struct tracefile *file, size_t index, void *buffer)
{
	const struct trace_block *b = &file->blocks[index];
	size_t size = file->header.block_size;

	if (file->compressed) {
		return frames_read(file, b->frame, b->at, buffer, size);
	}
	return read_at(file->fd, buffer, size, b->at) == (ssize_t)size;
}

void tracefile_close(struct tracefile *file)
{
	frames_close(file);
	free(file->blocks);
	file->blocks = NULL;
	file->block_count = 0;
	if (file->fd >= 0) {
		close(file->fd);
		file->fd = -1;
	}
}

bool damage_any(const struct trace_damage *d)
{
	return (d->header | d->blocks | d->frames | d->cut | d->gaps |
		       d->events | d->stacks | d->records) != 0;
}

char *damage_text(const struct trace_damage *d)
{
	const struct {
		uint64_t count;
		const char *one;
		const char *many;
	} parts[] = {
		{d->header, "file header", "file headers"},
		{d->blocks, "block", "blocks"},
		{d->frames, "compressed frame", "compressed frames"},
		{d->gaps, "event block missing", "event blocks missing"},
		{d->events, "event block broken off",
			"event blocks broken off"},
		{d->stacks, "stack block broken off",
			"stack blocks broken off"},
		{d->records, "info block broken off", "info blocks broken off"},
		{d->cut, "byte at the end", "bytes at the end"},
	};
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (!damage_any(d)) {
		return NULL;
	}
	out = open_memstream(&text, &size);
	if (out == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].count > 0) {
			fprintf(out, "%s%llu %s", ftell(out) > 0 ? ", " : "",
				(unsigned long long)parts[i].count,
				parts[i].count == 1 ? parts[i].one
						    : parts[i].many);
		}
	}
	fclose(out);
	return text;
}
