/* SPDX-License-Identifier: MIT */
/*
 * lanes.h - what a traced thread owns.
 *
 * A lane is memory of one thread at a time: its encoder and block, its capture
 * cache, its counts. It is reached through one initial-exec pointer and is
 * handed on when the thread ends. The memory is wiped by fork
 * (MADV_WIPEONFORK): a child finds every lane dead, without a test on the way,
 * and so never writes into its parent's blocks.
 *
 * A lane is busy while its thread is inside the tracer. A signal handler that
 * allocates in that moment finds it busy, and its event is counted as lost.
 */
#ifndef AMUX_TRACE_LANES_H
#define AMUX_TRACE_LANES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "capture.h"
#include "encode.h"
#include "sink.h"

enum lane_busy {
	LANE_IDLE = 0,
	LANE_BUSY = 1,
	LANE_SHARED = 2 /* busy, and the lock of the shared lane is held */
};

struct lane {
	uint32_t alive; /* 0: fresh, or wiped by fork */
	uint32_t busy;  /* enum lane_busy; also read by signal handlers */
	uint32_t number;
	uint32_t sequence; /* of the next block */
	uint32_t thread;
	uint32_t tid;
	uint32_t exits;    /* destructor rounds seen */
	uint32_t growths;  /* of the file, when the name was looked at */
	struct lane *next; /* in the list of free lanes */
	uint64_t tick;     /* coarse time of the last event */
	uint64_t allocs, frees, bytes;
	uint64_t lost;       /* since the last event that was written */
	uint64_t last_block; /* profile: the last allocation's address */
	uint64_t random;     /* sample: state of the generator */
	bool drawn;          /* sample: the thread has its first skip */
	char name[16];
	struct encoder encoder;
	struct capture capture;
};

/* NULL: not seen yet. Other special values are lanes that are not alive. */
extern AMUX_THREAD struct lane *lane_self;

struct lane *lane_enter_slow(uint64_t size);
void lane_leave_slow(struct lane *lane);
bool lane_renew(struct lane *lane, uint64_t tick);

/*
 * The calling thread's lane, now busy; NULL: do not trace this event (size
 * bytes, 0 for a free; it has been counted as lost if it should not be).
 */
static inline struct lane *lane_enter(uint64_t size)
{
	struct lane *lane = lane_self;

	if (unlikely(!lane || !lane->alive || lane->busy)) {
		return lane_enter_slow(size);
	}
	lane->busy = LANE_BUSY;
	atomic_signal_fence(memory_order_seq_cst);
	return lane;
}

static inline void lane_leave(struct lane *lane)
{
	if (unlikely(lane->busy == LANE_SHARED)) {
		lane_leave_slow(lane);
		return;
	}
	atomic_signal_fence(memory_order_seq_cst);
	lane->busy = LANE_IDLE;
}

/*
 * The encoder is ready for one event, and says the time of it. False if there
 * is no room in the file.
 */
static inline bool lane_ready(struct lane *lane)
{
	uint64_t tick = sink_tick();

	if (unlikely(tick != lane->tick || !encode_has_room(&lane->encoder))) {
		return lane_renew(lane, tick);
	}
	return true;
}

/* An event found no room; size is 0 for a free. */
static inline void lane_lose(struct lane *lane, uint64_t size)
{
	lane->lost++;
	sink_count_lost(size);
}

/* Before the first event. 0 or -errno. */
int lanes_start(void);

/* Between these the calling thread is not traced: our own allocations. */
struct lane *lanes_pause(void);
void lanes_unpause(struct lane *paused);

/* From now on lanes learn of the end of their threads. Allocates. */
void lanes_watch_exits(void);

/* Sums over all lanes, and the number of threads so far. */
struct lane_sums {
	uint64_t allocs, frees, bytes, threads;
};
struct lane_sums lanes_sum(void);

void lanes_prefork(void);
void lanes_postfork(void);

#endif
