/* SPDX-License-Identifier: MIT */
/*
 * lanes.c - see lanes.h.
 *
 * Locks: the list of lanes is under the trace lock. Threads that have run
 * their destructors share one lane, under a lock of its own that is only ever
 * tried, since a signal handler may interrupt its holder.
 */
#include "lanes.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <pthread.h>

#include "base/bits.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/syscall.h"
#include "trace.h"

#define MOST_LANES 65536u

/* glibc runs key destructors up to four times over (PTHREAD_..._ITERATIONS);
 * a lane ends in the last but one, after those of the program. */
#define EXIT_ROUNDS 3u

/* Tries for the shared lane before an event is given up. */
#define SHARED_TRIES 10000

AMUX_THREAD struct lane *lane_self;

/* What lane_self points to in threads without a lane: `alive` is 0 there. */
static const uint64_t not_lanes[2];
#define STARTING ((struct lane *)(uintptr_t)&not_lanes[0])
#define ENDED    ((struct lane *)(uintptr_t)&not_lanes[1])

static struct {
	uint32_t *canary;    /* 0 in a forked child that has not noticed */
	struct lane **lanes; /* sync: trace lock */
	uint32_t count;      /* sync: trace lock */
	uint32_t threads;    /* sync: trace lock */
	struct lane *free;   /* sync: trace lock */
	struct lane *shared; /* sync: set once, under the trace lock */
	struct lock shared_lock;
	pthread_key_t key;
	_Atomic bool watching; /* sync: release after key */
} g = {.shared_lock = LOCK_INIT(LOCK_RANK_LANE)};

static void destroy(void *arg);

/* ---- memory ---- */

static int map_wiped(size_t size, void **addr)
{
	int err = os_map(round_up(size, os_page_size()), addr);

	if (!err) {
		err = os_advise(
			*addr, round_up(size, os_page_size()), MADV_WIPEONFORK);
	}
	return err;
}

int lanes_start(void)
{
	void *addr;
	int err = map_wiped(sizeof(*g.canary), &addr);

	if (err) {
		return err;
	}
	g.canary = addr;
	*g.canary = 1;
	err = os_map(
		round_up(MOST_LANES * sizeof(*g.lanes), os_page_size()), &addr);
	if (!err) {
		g.lanes = addr;
	}
	return err;
}

static struct lane *find_free(void)
{
	struct lane *lane = g.free;
	void *addr;

	if (lane) {
		g.free = lane->next;
		return lane;
	}
	if (g.count == MOST_LANES || map_wiped(sizeof(*lane), &addr) != 0) {
		return NULL;
	}
	lane = addr;
	g.lanes[g.count++] = lane;
	lane->number = g.count;
	return lane;
}

struct lane *lanes_pause(void)
{
	struct lane *lane = lane_self;

	lane_self = STARTING;
	return lane;
}

void lanes_unpause(struct lane *paused)
{
	lane_self = paused;
}

/* ---- records ---- */

static void record_thread_locked(const struct lane *lane, unsigned type)
{
	struct amux_trace_info_thread record = {
		.info = {.type = (uint16_t)type},
		.thread = lane->thread,
		.tid = lane->tid,
	};
	struct sink_piece piece = {&record, sizeof(record)};

	sink_info_locked(&piece, 1);
}

/* The thread's name, if it is not the one recorded last. */
static void record_name_locked(struct lane *lane)
{
	char name[16] = "";
	struct amux_trace_info_name record = {
		.info = {.type = AMUX_TRACE_INFO_NAME},
		.thread = lane->thread,
	};

	if (sys_failed(sys2(SYS_prctl, PR_GET_NAME, name)) ||
		memcmp(name, lane->name, sizeof(name)) == 0) {
		return;
	}
	memcpy(lane->name, name, sizeof(name));
	record.length = (uint32_t)strnlen(name, sizeof(name));

	struct sink_piece pieces[] = {
		{&record, sizeof(record)}, {name, record.length}};

	sink_info_locked(pieces, 2);
}

/* ---- beginning and end of a thread ---- */

static void begin_locked(struct lane *lane)
{
	lane->thread = ++g.threads;
	lane->tid = (uint32_t)os_gettid();
	lane->exits = 0;
	lane->drawn = false;
	lane->last_block = 0;
	lane->random = os_random_seed() ^ (uint64_t)lane->thread << 32;
	memset(lane->name, 0, sizeof(lane->name));
	walk_forget(&lane->capture.walk);
	record_thread_locked(lane, AMUX_TRACE_INFO_THREAD);
	record_name_locked(lane);
	if (encode_has_room(&lane->encoder)) {
		encode_thread(&lane->encoder, lane->thread);
	}
}

static struct lane *create(void)
{
	struct lane *lane;

	lane_self = STARTING;
	sink_lock();
	lane = find_free();
	if (lane) {
		begin_locked(lane);
	}
	sink_unlock();
	if (!lane) {
		lane_self = NULL;
		return NULL;
	}
	if (load_acquire(&g.watching)) {
		pthread_setspecific(g.key, lane); /* may allocate: untraced */
	}
	lane->busy = LANE_IDLE;
	lane->alive = 1;
	lane_self = lane;
	return lane;
}

static void end_thread(struct lane *lane)
{
	lane_self = ENDED;
	lane->busy = LANE_BUSY;
	sink_lock();
	record_name_locked(lane);
	record_thread_locked(lane, AMUX_TRACE_INFO_THREAD_END);
	lane->alive = 0;
	lane->next = g.free;
	g.free = lane;
	sink_unlock();
}

static void destroy(void *arg)
{
	struct lane *lane = arg;

	if (lane != lane_self || !lane->alive) {
		return; /* forked meanwhile */
	}
	if (++lane->exits < EXIT_ROUNDS) {
		lane->busy = LANE_BUSY;
		pthread_setspecific(g.key, lane);
		lane->busy = LANE_IDLE;
		return;
	}
	end_thread(lane);
}

void lanes_watch_exits(void)
{
	if (pthread_key_create(&g.key, destroy) == 0) {
		/* release: pairs with the acquire in create(). */
		store_release(&g.watching, true);
	}
}

/* ---- the shared lane ---- */

static struct lane *enter_shared(uint64_t size)
{
	struct lane *lane;
	int tries = SHARED_TRIES;

	while (!lock_try_acquire(&g.shared_lock)) {
		if (--tries == 0) {
			sink_count_lost(size);
			return NULL;
		}
		cpu_relax();
	}
	if (!g.shared) {
		sink_lock();
		g.shared = find_free();
		if (g.shared) {
			begin_locked(g.shared);
		}
		sink_unlock();
		if (!g.shared) {
			lock_release(&g.shared_lock);
			return NULL;
		}
		g.shared->alive = 1;
	}
	lane = g.shared;
	/* Threads change: so does what is known of their stacks. */
	walk_forget(&lane->capture.walk);
	lane->busy = LANE_SHARED;
	return lane;
}

void lane_leave_slow(struct lane *lane)
{
	lane->busy = LANE_IDLE;
	lock_release(&g.shared_lock);
}

/* ---- a forked child ---- */

static bool renew_in_child(void)
{
	bool open;

	lane_self = STARTING;
	lock_init(&g.shared_lock, LOCK_RANK_LANE);
	g.shared = NULL;
	g.threads = 0;
	g.free = NULL;
	/* All of them read as zero now. */
	for (uint32_t i = 0; i < g.count; i++) {
		g.lanes[i]->number = i + 1;
		g.lanes[i]->next = g.free;
		g.free = g.lanes[i];
	}
	*g.canary = 1;
	open = trace_begin_child();
	lane_self = NULL;
	return open;
}

AMUX_COLD struct lane *lane_enter_slow(uint64_t size)
{
	struct lane *lane = lane_self;

	if (lane == STARTING) {
		return NULL; /* our own allocation */
	}
	if (*g.canary == 0 && !renew_in_child()) {
		return NULL;
	}
	lane = lane_self;
	if (lane == ENDED) {
		return enter_shared(size);
	}
	if (!lane || !lane->alive) {
		lane = create();
		if (!lane) {
			sink_count_lost(size);
			return NULL;
		}
	}
	if (lane->busy) {
		sink_count_lost(size);
		return NULL;
	}
	lane->busy = LANE_BUSY;
	return lane;
}

/* ---- blocks and time ---- */

static bool renew_block(struct lane *lane)
{
	struct encoder *e = &lane->encoder;
	struct amux_trace_block *block;

	block = sink_take_block(lane->number, lane->sequence, lane->thread);
	if (!block) {
		return false;
	}
	if (e->block) {
		sink_give_block(e->block, e->events);
	}
	encode_begin(e, block, sink_block_size());
	lane->sequence++;
	if (lane->lost) {
		encode_lost(e, lane->lost);
		lane->lost = 0;
	}
	if (lane->growths != sink_growths()) {
		lane->growths = sink_growths();
		sink_lock();
		record_name_locked(lane);
		sink_unlock();
	}
	return true;
}

AMUX_NOINLINE bool lane_renew(struct lane *lane, uint64_t tick)
{
	if (!encode_has_room(&lane->encoder) && !renew_block(lane)) {
		return false;
	}
	if (tick != lane->tick) {
		uint64_t now = sink_now();

		lane->tick = tick;
		encode_time(&lane->encoder,
			now > lane->encoder.time ? now : lane->encoder.time);
		trace_tick(now);
	}
	return true;
}

struct lane_sums lanes_sum(void)
{
	struct lane_sums sums = {0};

	sink_lock();
	for (uint32_t i = 0; i < g.count; i++) {
		sums.allocs += g.lanes[i]->allocs;
		sums.frees += g.lanes[i]->frees;
		sums.bytes += g.lanes[i]->bytes;
	}
	sums.threads = g.threads;
	sink_unlock();
	return sums;
}

void lanes_prefork(void)
{
	lock_prefork(&g.shared_lock);
	sink_prefork();
}

void lanes_postfork(void)
{
	sink_postfork();
	lock_postfork(&g.shared_lock);
}
