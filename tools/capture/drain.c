/* SPDX-License-Identifier: MIT */
/*
 * drain.c - the consumer of docs/trace-format.md, "Consumers".
 *
 * `open` lists the blocks that may have to be copied: all that have been
 * handed out, also those that were given back and may be used again. A block
 * is copied once for each time it is closed: TAKEN is set before its number is
 * given back, and the writer clears it when it begins the block anew.
 */
#include "drain.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <allocmux/trace.h>

#include "pack.h"
#include "tool.h"

struct drain {
	int fd;
	char *raw;
	struct amux_trace_file *header; /* mapped, shared with the program */
	size_t block_size;
	uint64_t blocks; /* seen so far */
	uint8_t *buffer;
	struct pack *pack;
};

static bool is_usable(const struct amux_trace_file *header)
{
	return memcmp(header->magic, AMUX_TRACE_MAGIC, sizeof(header->magic)) ==
		       0 &&
	       header->major == AMUX_TRACE_VERSION_MAJOR &&
	       header->block_size >= AMUX_TRACE_BLOCK_MIN &&
	       header->block_size <= AMUX_TRACE_BLOCK_MAX;
}

static void *map_header(int fd)
{
	/* The writer allocates the first block before it fills the header. */
	if (lseek(fd, 0, SEEK_END) < (off_t)AMUX_TRACE_BLOCK_MIN) {
		return NULL;
	}
	void *addr = mmap(NULL, sizeof(struct amux_trace_file),
		PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (addr == MAP_FAILED) {
		return NULL;
	}
	if (!is_usable(addr)) {
		munmap(addr, sizeof(struct amux_trace_file));
		return NULL;
	}
	return addr;
}

struct drain *drain_create(const char *raw, const char *packed, bool *failed)
{
	int fd = open(raw, O_RDWR | O_CLOEXEC);
	struct amux_trace_file *header;
	struct drain *drain;
	struct pack *pack;

	*failed = false;
	if (fd < 0) {
		return NULL;
	}
	header = map_header(fd);
	if (header == NULL) {
		close(fd);
		return NULL;
	}
	pack = pack_create(packed, header->block_size);
	if (pack == NULL) {
		*failed = true;
		munmap(header, sizeof(*header));
		close(fd);
		return NULL;
	}
	drain = tool_alloc(sizeof(*drain));
	*drain = (struct drain){
		.fd = fd,
		.raw = tool_strdup(raw),
		.header = header,
		.block_size = header->block_size,
		.blocks = 1,
		.buffer = tool_alloc(header->block_size),
		.pack = pack,
	};
	__atomic_store_n(
		&header->consumer, (uint32_t)getpid(), __ATOMIC_RELAXED);
	return drain;
}

static bool read_at(struct drain *d, uint64_t at, size_t size)
{
	return pread(d->fd, d->buffer, size, (off_t)at) == (ssize_t)size;
}

/* The file header as it is now, a frame of its own. */
static void copy_header(struct drain *d)
{
	if (read_at(d, 0, d->block_size)) {
		pack_flush(d->pack);
		pack_block(d->pack, d->buffer);
		pack_flush(d->pack);
	}
}

/* Bytes that are not committed may be of an older use of the block. */
static void clear_uncommitted(struct drain *d)
{
	struct amux_trace_block *block = (void *)d->buffer;
	uint64_t lo = block->committed & 0xffffffffu;
	uint64_t hi = block->committed >> 32;

	if (sizeof(*block) + lo + hi <= d->block_size) {
		memset(d->buffer + sizeof(*block) + lo, 0,
			d->block_size - sizeof(*block) - lo - hi);
	}
}

static bool has_room_to_return(const struct drain *d)
{
	uint32_t tail =
		__atomic_load_n(&d->header->returned_tail, __ATOMIC_ACQUIRE);

	return d->header->returned_head - tail < AMUX_TRACE_RETURNED;
}

static void give_back(struct drain *d, uint64_t index)
{
	struct amux_trace_file *h = d->header;
	uint8_t flags = AMUX_TRACE_CLOSED | AMUX_TRACE_TAKEN;
	off_t at = (off_t)(index * d->block_size +
			   offsetof(struct amux_trace_block, flags));

	if (pwrite(d->fd, &flags, 1, at) != 1) {
		return;
	}
	h->returned[h->returned_head % AMUX_TRACE_RETURNED] = (uint32_t)index;
	/* release: the writer may overwrite what has been copied. */
	__atomic_store_n(
		&h->returned_head, h->returned_head + 1, __ATOMIC_RELEASE);
}

static bool is_wanted(const struct amux_trace_block *block, bool last)
{
	if (block->magic != AMUX_TRACE_BLOCK_MAGIC ||
		(block->flags & AMUX_TRACE_TAKEN)) {
		return false;
	}
	return last || (block->flags == AMUX_TRACE_CLOSED &&
			       block->kind != AMUX_TRACE_SITES);
}

static void copy_blocks(struct drain *d, bool last)
{
	const struct amux_trace_block *block = (void *)d->buffer;

	d->blocks = __atomic_load_n(&d->header->blocks, __ATOMIC_ACQUIRE);
	for (uint64_t i = 1; i < d->blocks; i++) {
		if (!last && !has_room_to_return(d)) {
			return;
		}
		if (!read_at(d, i * d->block_size, sizeof(*block)) ||
			!is_wanted(block, last) ||
			!read_at(d, i * d->block_size, d->block_size)) {
			continue;
		}
		clear_uncommitted(d);
		pack_block(d->pack, d->buffer);
		if (!last) {
			give_back(d, i);
		}
	}
}

void drain_poll(struct drain *drain)
{
	if (pack_size(drain->pack) == 0) {
		copy_header(drain);
	}
	copy_blocks(drain, false);
}

bool drain_is_over(const struct drain *drain)
{
	return __atomic_load_n(&drain->header->state, __ATOMIC_ACQUIRE) ==
		       AMUX_TRACE_FINISHED ||
	       (kill((pid_t)drain->header->pid, 0) != 0 && errno == ESRCH);
}

bool drain_destroy(struct drain *drain)
{
	bool done;

	if (pack_size(drain->pack) == 0) {
		copy_header(drain);
	}
	copy_blocks(drain, true);
	__atomic_store_n(&drain->header->consumer, 0, __ATOMIC_RELAXED);
	copy_header(drain);
	done = pack_destroy(drain->pack);
	if (done) {
		unlink(drain->raw);
	}
	munmap(drain->header, sizeof(*drain->header));
	close(drain->fd);
	free(drain->raw);
	free(drain->buffer);
	free(drain);
	return done;
}
