/* SPDX-License-Identifier: MIT */
/*
 * merge.c - "Which thread first?" of docs/trace-format.md.
 *
 * A lane is ready, waiting or over. The ready lane whose event is earliest
 * goes on until another is earlier. It begins to wait when its event is an
 * allocation of a live address or the end of one that is not: the entry of the
 * live table is then marked (for a missing block, a placeholder is made), and
 * whoever changes the entry wakes it. A wait ends by force when all ready
 * lanes are two ticks further.
 */
#include "merge.h"

#include <stdlib.h>
#include <string.h>

#include "eventread.h"
#include "livetable.h"
#include "meter.h"
#include "tool.h"

struct lane {
	struct event_reader reader;
	struct event event;        /* the next one */
	struct live_block pending; /* taken by REALLOC; addr 0: none */
	bool forced;               /* do not wait for this event */
};

struct merge {
	struct tracefile *file;
	struct account *account;
	struct livetable live;
	struct lane **ready; /* heap, the earliest event at [0] */
	size_t ready_count;
	struct lane **waiting;
	size_t waiting_count;
	uint64_t patience; /* ns */
	uint64_t lost;
	bool woken; /* a lane became ready */
};

static void heap_push(struct merge *m, struct lane *lane)
{
	size_t i = m->ready_count++;

	while (i > 0 && m->ready[(i - 1) / 2]->event.ns > lane->event.ns) {
		m->ready[i] = m->ready[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	m->ready[i] = lane;
}

static struct lane *heap_pop(struct merge *m)
{
	struct lane *top = m->ready[0];
	struct lane *last = m->ready[--m->ready_count];
	size_t i = 0;

	while (2 * i + 1 < m->ready_count) {
		size_t child = 2 * i + 1;

		if (child + 1 < m->ready_count &&
			m->ready[child + 1]->event.ns <
				m->ready[child]->event.ns) {
			child++;
		}
		if (m->ready[child]->event.ns >= last->event.ns) {
			break;
		}
		m->ready[i] = m->ready[child];
		i = child;
	}
	m->ready[i] = last;
	return top;
}

/* All lanes that wait for `addr` look again. */
static void wake(struct merge *m, uint64_t addr)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->waiting_count; i++) {
		if (m->waiting[i]->event.addr == addr) {
			heap_push(m, m->waiting[i]);
			m->woken = true;
		} else {
			m->waiting[kept++] = m->waiting[i];
		}
	}
	m->waiting_count = kept;
}

/* The block of a REALLOC whose allocation did not come ends now. */
static void pending_end(struct merge *m, struct lane *lane)
{
	if (lane->pending.addr != 0) {
		account_end(m->account, &lane->pending, lane->event.thread,
			lane->event.ns);
		lane->pending.addr = 0;
	}
}

static void pending_restore(struct merge *m, struct lane *lane)
{
	struct live_block *pending = &lane->pending;

	if (pending->addr != 0 &&
		livetable_find(&m->live, pending->addr) == NULL) {
		*livetable_add(&m->live, pending->addr) = *pending;
		pending->addr = 0;
	}
	pending_end(m, lane);
}

/* false: the event must wait. */
static bool take_alloc(struct merge *m, struct lane *lane)
{
	struct event *event = &lane->event;
	struct live_block *block = livetable_find(&m->live, event->addr);
	uint64_t excess = event->slot->excess;
	bool awaited = false;

	if (block != NULL && !(block->size & LIVE_PLACEHOLDER)) {
		if (!lane->forced) {
			block->size |= LIVE_AWAITED;
			return false;
		}
		account_end(m->account, block, 0, event->ns);
		m->account->total.replaced++;
	}
	pending_end(m, lane);
	if (event->slot->site == 0) {
		event->slot->site =
			account_site(m->account, event->slot->stack);
	}
	if (block == NULL) {
		block = livetable_add(&m->live, event->addr);
	} else {
		awaited = (block->size & LIVE_AWAITED) != 0;
	}
	block->site = event->slot->site;
	block->size = event->slot->size & LIVE_SIZE_MASK;
	block->excess = excess < UINT32_MAX ? (uint32_t)excess : UINT32_MAX;
	account_alloc(m->account, block, event->thread, event->ns,
		(event->slot->how & 3) == AMUX_TRACE_REALLOCED);
	if (awaited) {
		wake(m, event->addr);
	}
	return true;
}

/* FREE or REALLOC. false: the event must wait. */
static bool take_end(struct merge *m, struct lane *lane)
{
	struct event *event = &lane->event;
	struct live_block *block = livetable_find(&m->live, event->addr);
	struct live_block old;
	bool awaited;

	if (block == NULL || (block->size & LIVE_PLACEHOLDER)) {
		if (!lane->forced) {
			if (block == NULL) {
				block = livetable_add(&m->live, event->addr);
				block->size = LIVE_PLACEHOLDER | LIVE_AWAITED;
			}
			return false;
		}
		if (block != NULL) {
			livetable_remove(&m->live, block);
			wake(m, event->addr);
		}
		m->account->total.unknown_frees++;
		return true;
	}
	old = *block;
	awaited = (block->size & LIVE_AWAITED) != 0;
	old.size &= LIVE_SIZE_MASK;
	pending_end(m, lane);
	livetable_remove(&m->live, block);
	if (event->kind == EVENT_REALLOC) {
		lane->pending = old;
	} else {
		account_end(m->account, &old, event->thread, event->ns);
	}
	if (awaited) {
		wake(m, event->addr);
	}
	return true;
}

/* false: the event must wait. */
static bool take(struct merge *m, struct lane *lane)
{
	struct event *event = &lane->event;

	switch (event->kind) {
	case EVENT_ALLOC:
		return event->addr == 0 || take_alloc(m, lane);
	case EVENT_FREE:
	case EVENT_REALLOC:
		return event->addr == 0 || take_end(m, lane);
	case EVENT_REALLOC_FAIL:
		pending_restore(m, lane);
		return true;
	case EVENT_FAILED:
		account_failed(m->account,
			account_site(m->account, event->slot->stack));
		return true;
	case EVENT_GAP:
	case EVENT_END:
		break;
	}
	pending_end(m, lane);
	return true;
}

/* The lane's next event; at its end the lane is gone. */
static bool advance(struct merge *m, struct lane *lane)
{
	lane->forced = false;
	event_next(&lane->reader, &lane->event);
	if (lane->event.kind != EVENT_END) {
		return true;
	}
	pending_end(m, lane);
	m->lost += lane->reader.lost;
	event_reader_fini(&lane->reader);
	free(lane);
	return false;
}

/* Index of the waiting lane that waits longest. */
static size_t waiting_oldest(const struct merge *m)
{
	size_t oldest = 0;

	for (size_t i = 1; i < m->waiting_count; i++) {
		if (m->waiting[i]->event.ns < m->waiting[oldest]->event.ns) {
			oldest = i;
		}
	}
	return oldest;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* Run the earliest lane as long as it is the earliest. */
static void run(struct merge *m, uint64_t deadline)
{
	const struct observer *observer = m->account->observer;
	struct lane *lane = heap_pop(m);
	uint64_t limit = deadline;

	if (m->ready_count > 0 && m->ready[0]->event.ns < limit) {
		limit = m->ready[0]->event.ns;
	}
	m->woken = false;
	while (true) {
		if (!take(m, lane)) {
			m->waiting[m->waiting_count++] = lane;
			return;
		}
		if (observer != NULL && observer->event != NULL) {
			observer->event(observer->data, &lane->event);
		}
		if (!advance(m, lane)) {
			return;
		}
		if (m->woken || lane->event.ns > limit) {
			heap_push(m, lane);
			return;
		}
	}
}

static void run_all(struct merge *m)
{
	uint64_t turns = 0;

	while (m->ready_count + m->waiting_count > 0) {
		uint64_t deadline = UINT64_MAX;

		if (m->waiting_count > 0) {
			size_t i = waiting_oldest(m);
			struct lane *lane = m->waiting[i];

			deadline = add_capped(lane->event.ns, m->patience);
			if (m->ready_count == 0 ||
				m->ready[0]->event.ns > deadline) {
				m->waiting[i] = m->waiting[--m->waiting_count];
				lane->forced = true;
				heap_push(m, lane);
				continue;
			}
		}
		if ((++turns & 0xff) == 0) {
			meter_show("reading", m->account->total.end_ns,
				m->file->header.end_ns);
		}
		run(m, deadline);
	}
}

/* One lane for each group of EVENTS blocks with the same number. */
static size_t lanes_count(const struct tracefile *file)
{
	size_t lanes = 0;

	for (size_t i = 0; i < file->block_count; i++) {
		const struct trace_block *b = &file->blocks[i];

		lanes += b->kind == AMUX_TRACE_EVENTS &&
			 (i == 0 || b[-1].kind != b->kind ||
				 b[-1].lane != b->lane);
	}
	return lanes;
}

static void lanes_start(struct merge *m)
{
	struct tracefile *file = m->file;
	size_t i = 0;

	while (i < file->block_count) {
		const struct trace_block *first = &file->blocks[i];
		size_t begin = i++;
		struct lane *lane;

		if (first->kind != AMUX_TRACE_EVENTS) {
			continue;
		}
		while (i < file->block_count &&
			file->blocks[i].kind == first->kind &&
			file->blocks[i].lane == first->lane) {
			i++;
		}
		lane = tool_alloc(sizeof(*lane));
		event_reader_init(&lane->reader, file, begin, i);
		/* Its first block is read when its time has come. */
		lane->event.kind = EVENT_GAP;
		lane->event.ns = first->start_ns;
		heap_push(m, lane);
	}
}

uint64_t merge_events(struct tracefile *file, struct account *account)
{
	struct merge m = {.file = file,
		.account = account,
		.patience = 2 * account->tick_ns};
	size_t lanes = lanes_count(file);

	m.ready = tool_alloc(lanes * sizeof(*m.ready));
	m.waiting = tool_alloc(lanes * sizeof(*m.waiting));
	livetable_init(&m.live);
	lanes_start(&m);
	run_all(&m);
	livetable_fini(&m.live);
	free(m.ready);
	free(m.waiting);
	return m.lost;
}
