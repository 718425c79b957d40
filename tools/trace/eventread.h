/* SPDX-License-Identifier: MIT */
/*
 * eventread.h - the events of one lane, one after the other.
 */
#ifndef AMUX_TOOLS_EVENTREAD_H
#define AMUX_TOOLS_EVENTREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracefile.h"

enum event_kind {
	EVENT_END = 0, /* of the lane */
	EVENT_ALLOC,
	EVENT_FREE,
	EVENT_REALLOC,
	EVENT_REALLOC_FAIL,
	EVENT_FAILED, /* an allocation returned NULL */
	EVENT_GAP     /* blocks of the lane are missing here */
};

struct event_slot {
	uint64_t size;
	uint64_t excess;
	uint32_t stack;
	uint32_t site; /* for the consumer; 0 after the stack changed */
	uint32_t how;
};

/* ALLOC: addr and *slot; FAILED: *slot; FREE and REALLOC: addr. */
struct event {
	enum event_kind kind;
	uint32_t thread;
	uint64_t ns;
	uint64_t addr;
	struct event_slot *slot;
};

struct event_reader {
	struct tracefile *file;
	size_t next; /* index of the block after this one */
	size_t end;  /* of the lane's blocks */
	uint32_t sequence;
	uint8_t *buffer; /* block_size + 8 bytes; NULL before and after */
	const uint8_t *control;
	const uint8_t *control_end;
	const uint8_t *operand;
	const uint8_t *operand_end; /* the lowest byte */
	uint64_t ns;
	uint64_t lost; /* events that the writer had no room for */
	uint64_t last_alloc;
	uint64_t last_free;
	uint32_t thread;
	struct event_slot failed;
	uint64_t recent[AMUX_TRACE_RECENT];
	uint64_t last[AMUX_TRACE_CLASSES];
	struct event_slot slots[AMUX_TRACE_SLOTS];
};

/* Blocks [begin, end) are of one lane. */
void event_reader_init(struct event_reader *reader, struct tracefile *file,
	size_t begin, size_t end);
void event_reader_fini(struct event_reader *reader);

/* The next event, EVENT_END when there is none. */
void event_next(struct event_reader *reader, struct event *event);

#endif
