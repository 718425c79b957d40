/* SPDX-License-Identifier: MIT */
/*
 * encode.h - allocation events as bytes of a trace block.
 *
 * One encoder per thread. It owns an EVENTS block from encode_begin() until
 * the caller closes it; the layout is that of docs/trace-format.md. Written to
 * be nearly free: no division, no loop over more than a varint, one release
 * store an event.
 *
 * Invariant: whatever `committed` covers is complete, at any instruction.
 * Locks: none; one thread writes. Not here: where blocks come from (sink.c).
 */
#ifndef AMUX_TRACE_ENCODE_H
#define AMUX_TRACE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <allocmux/trace.h>

#include "base/atomic.h"
#include "base/compiler.h"

/* No event with the TIME and LOST marks before it takes more bytes. */
#define ENCODE_ROOM 80

struct encode_slot {
	uint64_t size;
	uint32_t excess;
	uint32_t stack;
	uint32_t how; /* plus ENCODE_DEFINED */
	uint32_t unused;
};

#define ENCODE_DEFINED 0x100u

struct encoder {
	uint8_t *control; /* next byte of the control stream */
	uint8_t *operand; /* lowest byte used by the operand stream */
	struct amux_trace_block *block; /* NULL: none */
	uint8_t *limit;                 /* end of the block */
	uint64_t time;                  /* of the last TIME mark, ns */
	uint64_t last_alloc;
	uint64_t last_free;
	uint64_t events; /* in this block */
	uint64_t recent[AMUX_TRACE_RECENT];
	uint64_t last[AMUX_TRACE_CLASSES];
	struct encode_slot slots[AMUX_TRACE_SLOTS];
};

/* Start a block whose header is filled; its start_ns is the time. */
static inline void encode_begin(
	struct encoder *e, struct amux_trace_block *block, size_t size)
{
	memset(e, 0, sizeof(*e));
	e->block = block;
	e->control = (uint8_t *)(block + 1);
	e->limit = (uint8_t *)block + size;
	e->operand = e->limit;
	e->time = block->start_ns;
}

/* Is there room for any one event? Without a block there is not. */
static inline bool encode_has_room(const struct encoder *e)
{
	return e->operand - e->control >= ENCODE_ROOM;
}

static inline void encode_commit(struct encoder *e)
{
	uint64_t lo = (uint64_t)(e->control - (uint8_t *)(e->block + 1));
	uint64_t hi = (uint64_t)(e->limit - e->operand);

	/* release: pairs with the reader's load; it sees whole events only. */
	store_release((_Atomic uint64_t *)&e->block->committed, lo | hi << 32);
}

static inline uint8_t *encode_varint(uint8_t *p, uint64_t v)
{
	while (unlikely(v >= 0x80)) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline uint8_t *encode_zigzag(uint8_t *p, int64_t v)
{
	return encode_varint(p, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

/* Bytes below the operand position are free, so eight may be stored. */
static inline void encode_operand(struct encoder *e, uint64_t v, unsigned n)
{
	uint64_t shifted = v << (64 - 8 * n);

	memcpy(e->operand - 8, &shifted, 8);
	e->operand -= n;
}

/* Write addr as a difference to base; returns the address code. */
static inline unsigned encode_difference(
	struct encoder *e, uint64_t addr, uint64_t base)
{
	int64_t difference = (int64_t)(addr - base);
	/* Bits of the magnitude, and one for the sign; the 8ths go. */
	unsigned bits = 64u - 3u + 1u -
			(unsigned)__builtin_clzll(
				(uint64_t)(difference ^ difference >> 63) | 8);

	if (unlikely((difference & 7) || bits > 48)) {
		encode_operand(e, addr, 8);
		return AMUX_TRACE_ADDR_ABSOLUTE;
	}

	unsigned bytes = (bits + 7) / 8;
	unsigned code = bytes;

	if (bytes > 4) {
		bytes = 6;
		code = AMUX_TRACE_ADDR_D6;
	}
	encode_operand(e, (uint64_t)(difference >> 3), bytes);
	return code;
}

/* same: what code SAME stands for. */
static inline unsigned encode_address(
	struct encoder *e, uint64_t addr, uint64_t base, uint64_t same)
{
	uint32_t index = amux_trace_recent_index(addr);

	if (addr == same) {
		e->recent[index] = addr;
		return AMUX_TRACE_ADDR_SAME;
	}
	if (e->recent[index] == addr) {
		encode_operand(e, index, 1);
		return AMUX_TRACE_ADDR_RECENT;
	}
	e->recent[index] = addr;
	return encode_difference(e, addr, base);
}

/* Following events happen at `now` (ns, not before the last). */
static inline void encode_time(struct encoder *e, uint64_t now)
{
	*e->control++ = AMUX_TRACE_MARK_TIME << 3;
	e->control = encode_varint(e->control, now - e->time);
	e->time = now;
}

/* The lane has a new thread. */
static inline void encode_thread(struct encoder *e, uint32_t thread)
{
	*e->control++ = AMUX_TRACE_MARK_THREAD << 3;
	e->control = encode_varint(e->control, thread);
	encode_commit(e);
}

static inline void encode_lost(struct encoder *e, uint64_t count)
{
	*e->control++ = AMUX_TRACE_MARK_LOST << 3;
	e->control = encode_varint(e->control, count);
}

static inline void encode_realloc_fail(struct encoder *e)
{
	*e->control++ = AMUX_TRACE_MARK_REALLOC_FAIL << 3;
	encode_commit(e);
}

static inline void encode_failed(
	struct encoder *e, unsigned how, uint32_t stack, uint64_t size)
{
	*e->control++ = AMUX_TRACE_MARK_FAILED << 3;
	*e->control++ = (uint8_t)how;
	e->control = encode_varint(e->control, stack);
	e->control = encode_varint(e->control, size);
	encode_commit(e);
}

static inline void encode_alloc(struct encoder *e, unsigned how, uint32_t stack,
	uint64_t size, uint32_t excess, uint64_t addr)
{
	unsigned index = stack % AMUX_TRACE_SLOTS;
	struct encode_slot *slot = &e->slots[index];
	uint8_t *tag = e->control;
	uint8_t *p = tag + 2;
	unsigned op = AMUX_TRACE_OP_ALLOC;
	uint64_t *last = &e->last[amux_trace_class_index(size + excess)];

	tag[1] = (uint8_t)index;
	if (unlikely(slot->stack != stack ||
		     slot->how != (how | ENCODE_DEFINED))) {
		slot->stack = stack;
		slot->how = how | ENCODE_DEFINED;
		slot->size = size;
		slot->excess = excess;
		op = AMUX_TRACE_OP_ALLOC_NEW;
		*p++ = (uint8_t)how;
		p = encode_varint(p, stack);
		p = encode_varint(p, size);
		p = encode_varint(p, excess);
	} else if (slot->size != size || slot->excess != excess) {
		slot->size = size;
		slot->excess = excess;
		op = AMUX_TRACE_OP_ALLOC_SIZE;
		p = encode_varint(p, size);
		p = encode_varint(p, excess);
	}
	*tag = (uint8_t)(op | encode_address(e, addr, *last, *last) << 3);
	*last = addr;
	e->last_alloc = addr;
	e->control = p;
	e->events++;
	encode_commit(e);
}

/* op: AMUX_TRACE_OP_FREE or AMUX_TRACE_OP_REALLOC. */
static inline void encode_free(struct encoder *e, unsigned op, uint64_t addr)
{
	unsigned code = encode_address(e, addr, e->last_free, e->last_alloc);

	*e->control++ = (uint8_t)(op | code << 3);
	e->last_free = addr;
	e->events++;
	encode_commit(e);
}

/*
 * One record of a STACKS block at p; returns its end. frames lists the stack
 * from the innermost frame, as captured; previous, from the same, is the
 * block's record before (count 0 in the first). At most 10 bytes a frame and
 * 25 more are written.
 */
static inline uint8_t *encode_stack(uint8_t *p, uint32_t id, uint32_t epoch,
	const uint64_t *frames, size_t count, const uint64_t *previous,
	size_t previous_count)
{
	size_t most = count < previous_count ? count : previous_count;
	size_t shared = 0;
	uint64_t before = 0;

	while (shared < most && frames[count - 1 - shared] ==
					previous[previous_count - 1 - shared]) {
		before = frames[count - 1 - shared];
		shared++;
	}
	p = encode_varint(p, id);
	p = encode_varint(p, epoch);
	p = encode_varint(p, shared);
	p = encode_varint(p, count);
	for (size_t i = shared; i < count; i++) {
		uint64_t frame = frames[count - 1 - i];

		p = encode_zigzag(p, (int64_t)(frame - before));
		before = frame;
	}
	return p;
}

#endif
