/* SPDX-License-Identifier: MIT */
/*
 * eventread.c - decode EVENTS blocks; see docs/trace-format.md, "EVENTS".
 *
 * Every read is checked against the block's two streams: any bytes are legal
 * input. What does not decode ends the block and is counted.
 */
#include "eventread.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "varint.h"

void event_reader_init(struct event_reader *reader, struct tracefile *file,
	size_t begin, size_t end)
{
	memset(reader, 0, offsetof(struct event_reader, recent));
	reader->file = file;
	reader->next = begin;
	reader->end = end;
	reader->ns = begin < end ? file->blocks[begin].start_ns : 0;
	reader->sequence = begin < end ? file->blocks[begin].sequence : 0;
}

void event_reader_fini(struct event_reader *reader)
{
	free(reader->buffer);
	reader->buffer = NULL;
}

/* false: no more blocks. *gap: some are missing before this one. */
static bool block_enter(struct event_reader *r, bool *gap)
{
	size_t size = r->file->header.block_size;
	const struct trace_block *block = NULL;

	*gap = false;
	if (r->buffer == NULL && r->next < r->end) {
		/* Operands are read eight bytes at a time. */
		r->buffer = tool_alloc(size + 8);
	}
	for (; r->next < r->end; r->next++) {
		block = &r->file->blocks[r->next];
		if (tracefile_read(r->file, r->next, r->buffer)) {
			break;
		}
		r->file->damage.blocks++;
	}
	if (block == NULL || r->next >= r->end) {
		event_reader_fini(r);
		return false;
	}
	*gap = block->sequence != r->sequence;
	r->sequence = block->sequence + 1;
	r->next++;
	r->control = r->buffer + sizeof(struct amux_trace_block);
	r->control_end = r->control + (block->committed & 0xffffffff);
	r->operand = r->buffer + size;
	r->operand_end = r->operand - (block->committed >> 32);
	r->ns = block->start_ns;
	r->thread = block->thread;
	r->last_alloc = 0;
	r->last_free = 0;
	memset(r->recent, 0, sizeof(r->recent));
	memset(r->last, 0, sizeof(r->last));
	memset(r->slots, 0, sizeof(r->slots));
	return true;
}

static const uint8_t operand_sizes[8] = {1, 1, 2, 3, 4, 6, 0, 8};

static bool address_read(struct event_reader *r, unsigned code, uint64_t base,
	uint64_t same, uint64_t *addr)
{
	unsigned size = operand_sizes[code];
	uint64_t value;

	if ((size_t)(r->operand - r->operand_end) < size) {
		return false;
	}
	r->operand -= size;
	memcpy(&value, r->operand, sizeof(value));
	switch (code) {
	case AMUX_TRACE_ADDR_RECENT:
		*addr = r->recent[value & 0xff];
		break;
	case AMUX_TRACE_ADDR_SAME:
		*addr = same;
		break;
	case AMUX_TRACE_ADDR_ABSOLUTE:
		*addr = value;
		break;
	default:
		value = (uint64_t)((int64_t)(value << (64 - 8 * size)) >>
				   (64 - 8 * size));
		*addr = base + 8 * value;
		break;
	}
	r->recent[amux_trace_recent_index(*addr)] = *addr;
	return true;
}

static bool alloc_read(
	struct event_reader *r, unsigned op, unsigned code, struct event *event)
{
	struct event_slot *slot;
	uint64_t stack;
	uint64_t *last;

	if (r->control >= r->control_end) {
		return false;
	}
	slot = &r->slots[*r->control++];
	if (op == AMUX_TRACE_OP_ALLOC_NEW) {
		if (r->control >= r->control_end) {
			return false;
		}
		slot->how = *r->control++;
		if (!varint_read(&r->control, r->control_end, &stack)) {
			return false;
		}
		slot->stack = (uint32_t)stack;
		slot->site = 0;
	}
	if (op != AMUX_TRACE_OP_ALLOC &&
		(!varint_read(&r->control, r->control_end, &slot->size) ||
			!varint_read(
				&r->control, r->control_end, &slot->excess))) {
		return false;
	}
	last = &r->last[amux_trace_class_index(slot->size + slot->excess)];
	if (!address_read(r, code, *last, *last, &event->addr)) {
		return false;
	}
	*last = event->addr;
	r->last_alloc = event->addr;
	event->kind = EVENT_ALLOC;
	event->slot = slot;
	return true;
}

/* EVENT_END: the mark is no event, go on. */
static bool mark_read(struct event_reader *r, unsigned mark, enum event_kind *k)
{
	uint64_t value;
	uint64_t stack;

	*k = EVENT_END;
	switch (mark) {
	case AMUX_TRACE_MARK_TIME:
		if (!varint_read(&r->control, r->control_end, &value)) {
			return false;
		}
		r->ns += value;
		return true;
	case AMUX_TRACE_MARK_LOST:
		if (!varint_read(&r->control, r->control_end, &value)) {
			return false;
		}
		r->lost += value;
		return true;
	case AMUX_TRACE_MARK_THREAD:
		if (!varint_read(&r->control, r->control_end, &value)) {
			return false;
		}
		r->thread = (uint32_t)value;
		return true;
	case AMUX_TRACE_MARK_REALLOC_FAIL:
		*k = EVENT_REALLOC_FAIL;
		return true;
	case AMUX_TRACE_MARK_FAILED:
		if (r->control >= r->control_end) {
			return false;
		}
		r->failed = (struct event_slot){.how = *r->control++};
		*k = EVENT_FAILED;
		if (!varint_read(&r->control, r->control_end, &stack) ||
			!varint_read(
				&r->control, r->control_end, &r->failed.size)) {
			return false;
		}
		r->failed.stack = (uint32_t)stack;
		return true;
	default:
		return false;
	}
}

static bool tag_read(struct event_reader *r, struct event *event)
{
	unsigned tag = *r->control++;
	unsigned op = tag & 7;
	unsigned code = tag >> 3;

	if (op == AMUX_TRACE_OP_MARK) {
		event->slot = &r->failed;
		return mark_read(r, code, &event->kind);
	}
	if (code > AMUX_TRACE_ADDR_ABSOLUTE) {
		return false;
	}
	switch (op) {
	case AMUX_TRACE_OP_ALLOC:
	case AMUX_TRACE_OP_ALLOC_NEW:
	case AMUX_TRACE_OP_ALLOC_SIZE:
		return alloc_read(r, op, code, event);
	case AMUX_TRACE_OP_FREE:
	case AMUX_TRACE_OP_REALLOC:
		if (!address_read(r, code, r->last_free, r->last_alloc,
			    &event->addr)) {
			return false;
		}
		r->last_free = event->addr;
		event->kind =
			op == AMUX_TRACE_OP_FREE ? EVENT_FREE : EVENT_REALLOC;
		return true;
	default:
		return false;
	}
}

void event_next(struct event_reader *r, struct event *event)
{
	event->kind = EVENT_END;
	do {
		if (r->control >= r->control_end) {
			bool gap;

			if (!block_enter(r, &gap)) {
				return;
			}
			if (gap) {
				event->kind = EVENT_GAP;
				break;
			}
			continue;
		}
		if (!tag_read(r, event)) {
			r->file->damage.events++;
			r->control = r->control_end;
			event->kind = EVENT_END;
		}
	} while (event->kind == EVENT_END);
	event->thread = r->thread;
	event->ns = r->ns;
}
