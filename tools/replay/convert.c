/* SPDX-License-Identifier: MIT */
/*
 * convert.c - see convert.h.
 *
 * Each live block has a slot, a small number that is used again after it, so
 * that the player keeps pointers in an array. A realloc is two events, its
 * beginning and its allocation, which are one call of the same slot; if the
 * second does not come, it was a free.
 */
#include "convert.h"

#include <allocmux/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "eventread.h"
#include "livetable.h"
#include "tool.h"

enum { THREADS_MAX = 65535 };

struct thread_state {
	uint64_t last;    /* 1 + index of its last record; 0: none */
	uint64_t address; /* of the block that a realloc has begun with */
	uint32_t pending; /* 1 + its slot; 0: no realloc has begun */
};

struct slot_list {
	uint32_t *list;
	size_t count;
	size_t room;
};

struct converter {
	FILE *out;
	struct ops_header header;
	struct livetable live; /* site is the slot; size the block's */
	struct slot_list unused;
	uint64_t *sizes; /* of the slots */
	struct thread_state *threads;
	uint64_t live_bytes;
	bool too_many_threads;
};

static struct thread_state *thread_get(struct converter *c, uint32_t thread)
{
	while (thread >= c->header.threads) {
		c->threads = tool_realloc(c->threads,
			(c->header.threads + 1) * sizeof(*c->threads));
		c->threads[c->header.threads++] = (struct thread_state){0};
	}
	return &c->threads[thread];
}

static uint32_t slot_take(struct converter *c)
{
	if (c->unused.count > 0) {
		return c->unused.list[--c->unused.count];
	}
	c->sizes = tool_realloc(
		c->sizes, (c->header.slots + 1) * sizeof(*c->sizes));
	return c->header.slots++;
}

static void slot_give(struct converter *c, uint32_t slot)
{
	if (c->unused.count == c->unused.room) {
		c->unused.room = c->unused.room * 2 + 64;
		c->unused.list = tool_realloc(c->unused.list,
			c->unused.room * sizeof(*c->unused.list));
	}
	c->unused.list[c->unused.count++] = slot;
}

static void op_write(struct converter *c, uint32_t thread, struct op op)
{
	op.thread = (uint16_t)thread;
	fwrite(&op, sizeof(op), 1, c->out);
	thread_get(c, thread)->last = ++c->header.count;
}

static void live_add(struct converter *c, uint32_t slot, uint64_t size)
{
	c->sizes[slot] = size;
	c->live_bytes += size;
	if (c->live_bytes > c->header.peak_live) {
		c->header.peak_live = c->live_bytes;
	}
}

static void free_write(struct converter *c, uint32_t thread, uint32_t slot)
{
	op_write(c, thread, (struct op){.slot = slot, .kind = OP_FREE});
	c->live_bytes -= c->sizes[slot];
	slot_give(c, slot);
}

/* The thread does something else: its realloc did not come to an end. */
static void pending_end(struct converter *c, uint32_t thread)
{
	struct thread_state *state = thread_get(c, thread);

	if (state->pending != 0) {
		uint32_t slot = state->pending - 1;

		state->pending = 0;
		free_write(c, thread, slot);
	}
}

static uint8_t kind_of(unsigned how)
{
	switch (how & 3) {
	case AMUX_TRACE_CALLOC:
		return OP_CALLOC;
	case AMUX_TRACE_ALIGNED:
		return OP_ALIGNED;
	default:
		return OP_MALLOC;
	}
}

static void take_alloc(struct converter *c, const struct event *event)
{
	struct thread_state *state = thread_get(c, event->thread);
	const struct event_slot *slot = event->slot;
	struct live_block *block = livetable_find(&c->live, event->addr);
	struct op op = {.size = slot->size};

	if (block != NULL) {
		/* Its end is not in the trace. */
		uint32_t old = block->site;

		livetable_remove(&c->live, block);
		free_write(c, event->thread, old);
	}
	if ((slot->how & 3) == AMUX_TRACE_REALLOCED && state->pending != 0) {
		op.kind = OP_REALLOC;
		op.slot = state->pending - 1;
		state->pending = 0;
		c->live_bytes -= c->sizes[op.slot];
	} else {
		pending_end(c, event->thread);
		op.kind = kind_of(slot->how);
		op.align =
			op.kind == OP_ALIGNED ? (uint8_t)(slot->how >> 2) : 0;
		op.slot = slot_take(c);
	}
	op_write(c, event->thread, op);
	live_add(c, op.slot, op.size);
	block = livetable_add(&c->live, event->addr);
	block->site = op.slot;
}

/* FREE, or the beginning of a realloc. */
static void take_end(struct converter *c, const struct event *event)
{
	struct live_block *block = livetable_find(&c->live, event->addr);
	uint32_t slot;

	pending_end(c, event->thread);
	if (block == NULL) {
		return;
	}
	slot = block->site;
	livetable_remove(&c->live, block);
	if (event->kind == EVENT_REALLOC) {
		struct thread_state *state = thread_get(c, event->thread);

		state->pending = slot + 1;
		state->address = event->addr;
	} else {
		free_write(c, event->thread, slot);
	}
}

/* The realloc failed: its block is where it was. */
static void take_realloc_fail(struct converter *c, const struct event *event)
{
	struct thread_state *state = thread_get(c, event->thread);

	if (state->pending != 0 &&
		livetable_find(&c->live, state->address) == NULL) {
		livetable_add(&c->live, state->address)->site =
			state->pending - 1;
		state->pending = 0;
	}
	pending_end(c, event->thread);
}

static void take_event(void *data, const struct event *event)
{
	struct converter *c = data;

	if (event->thread > THREADS_MAX) {
		c->too_many_threads = true;
		return;
	}
	switch (event->kind) {
	case EVENT_ALLOC:
		if (event->addr != 0) {
			take_alloc(c, event);
		}
		break;
	case EVENT_FREE:
	case EVENT_REALLOC:
		if (event->addr != 0) {
			take_end(c, event);
		}
		break;
	case EVENT_REALLOC_FAIL:
		take_realloc_fail(c, event);
		break;
	case EVENT_FAILED:
	case EVENT_GAP:
	case EVENT_END:
		break;
	}
}

/* Mark each thread's last record, and write the header. */
static int finish(struct converter *c, int fd)
{
	if (fflush(c->out) != 0) {
		return -1;
	}
	for (uint32_t t = 0; t < c->header.threads; t++) {
		off_t at;
		struct op op;

		if (c->threads[t].last == 0) {
			continue;
		}
		at = (off_t)(sizeof(c->header) +
			     (c->threads[t].last - 1) * sizeof(op));
		if (pread(fd, &op, sizeof(op), at) != sizeof(op)) {
			return -1;
		}
		op.kind |= OP_LAST;
		if (pwrite(fd, &op, sizeof(op), at) != sizeof(op)) {
			return -1;
		}
	}
	if (pwrite(fd, &c->header, sizeof(c->header), 0) != sizeof(c->header)) {
		return -1;
	}
	return 0;
}

int ops_write(const struct trace *trace, int fd, struct ops_header *header)
{
	struct converter c = {.header = {.magic = OPS_MAGIC}};
	const struct observer observer = {
		.event = take_event,
		.data = &c,
	};
	int copy = dup(fd);
	int status = -1;

	c.out = copy >= 0 ? fdopen(copy, "w") : NULL;
	if (c.out == NULL) {
		tool_perror("cannot write the calls");
		return -1;
	}
	livetable_init(&c.live);
	fwrite(&c.header, sizeof(c.header), 1, c.out);
	if (!trace_replay(trace, &observer)) {
		/* It has said why. */
	} else if (c.too_many_threads) {
		tool_error(
			"%s: more than %d threads", trace->path, THREADS_MAX);
	} else if (finish(&c, fd) != 0) {
		tool_perror("cannot write the calls");
	} else {
		*header = c.header;
		status = 0;
	}
	fclose(c.out);
	livetable_fini(&c.live);
	free(c.unused.list);
	free(c.sizes);
	free(c.threads);
	return status;
}
