/* SPDX-License-Identifier: MIT */
/*
 * profile.c - mode profile: exact counters per call site, no events.
 *
 * A block is put into the table of live blocks after the allocator gave it out
 * and taken out before it goes back, so that an address is in the table once.
 */
#include "profile.h"

#include "capture.h"
#include "lanes.h"
#include "live.h"
#include "sites.h"
#include "trace.h"

#define NS_PER_MS 1000000u

static inline uint32_t excess_of(void *ptr, size_t size)
{
	size_t usable = dispatch_plain.usable_size(ptr);
	size_t excess = usable > size ? usable - size : 0;

	return excess > UINT32_MAX ? UINT32_MAX : (uint32_t)excess;
}

/* The time in milliseconds; once a tick, what is due. */
static inline uint32_t now_ms(struct lane *lane)
{
	uint64_t tick = sink_tick();

	if (unlikely(tick != lane->tick)) {
		lane->tick = tick;
		trace_tick(tick);
	}
	return (uint32_t)(tick / NS_PER_MS);
}

static void end_block(
	struct lane *lane, const struct live_block *block, bool temporary)
{
	struct site_free how = {.ms = now_ms(lane), .temporary = temporary};

	sites_count_free(block, &how);
	lane->frees++;
}

static inline void begin_block(struct lane *lane, bool is_realloc, size_t size,
	void *ptr, const struct walk_registers *caller)
{
	struct live_block block = {
		.addr = (uint64_t)(uintptr_t)ptr,
		.size = size,
		.excess = excess_of(ptr, size),
		.stack = capture_stack(&lane->capture, caller),
		.ms = now_ms(lane),
	};
	struct live_block old;

	if (unlikely(!sites_count_alloc(&block, is_realloc))) {
		lane_lose(lane, size);
		return;
	}
	if (unlikely(!live_insert(&block, &old))) {
		lane_lose(lane, size);
		return;
	}
	if (unlikely(old.addr)) {
		end_block(lane, &old, false); /* its end was not seen */
	}
	lane->last_block = block.addr;
	lane->allocs++;
	lane->bytes += size;
}

static inline void profile_alloc(
	size_t size, void *ptr, const struct walk_registers *caller)
{
	struct lane *lane;

	if (unlikely(!ptr)) {
		return;
	}
	lane = lane_enter(size);
	if (likely(lane)) {
		begin_block(lane, false, size, ptr, caller);
		lane_leave(lane);
	}
}

static inline void profile_end(void *ptr)
{
	struct lane *lane = lane_enter(0);
	uint64_t addr = (uint64_t)(uintptr_t)ptr;
	struct live_block block;

	if (unlikely(!lane)) {
		return;
	}
	if (live_remove(addr, &block)) {
		end_block(lane, &block, lane->last_block == addr);
	}
	lane_leave(lane);
}

static void *profile_malloc(size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	void *ptr = dispatch_plain.malloc(size);

	profile_alloc(size, ptr, &caller);
	return ptr;
}

static void *profile_calloc(size_t count, size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	void *ptr = dispatch_plain.calloc(count, size);

	profile_alloc(count * size, ptr, &caller);
	return ptr;
}

static void *profile_memalign(size_t align, size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	void *ptr = dispatch_plain.memalign(align, size);

	profile_alloc(size, ptr, &caller);
	return ptr;
}

static void profile_free(void *ptr)
{
	if (likely(ptr)) {
		profile_end(ptr);
	}
	dispatch_plain.free(ptr);
}

static void profile_free_sized(void *ptr, size_t size)
{
	profile_end(ptr);
	dispatch_plain.free_sized(ptr, size);
}

static void *profile_realloc(void *ptr, size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	struct lane *lane = lane_enter(size);
	struct live_block block, replaced;
	bool known;
	void *moved;

	if (unlikely(!lane)) {
		return dispatch_plain.realloc(ptr, size);
	}
	known = live_remove((uint64_t)(uintptr_t)ptr, &block);
	moved = dispatch_plain.realloc(ptr, size);
	if (likely(moved)) {
		if (known) {
			end_block(lane, &block, false);
		}
		begin_block(lane, true, size, moved, &caller);
	} else if (known && !live_insert(&block, &replaced)) {
		lane_lose(lane, 0);
	}
	lane_leave(lane);
	return moved;
}

static size_t profile_usable_size(void *ptr)
{
	return dispatch_plain.usable_size(ptr);
}

const struct dispatch_ops profile_ops = {
	.malloc = profile_malloc,
	.free = profile_free,
	.calloc = profile_calloc,
	.realloc = profile_realloc,
	.memalign = profile_memalign,
	.usable_size = profile_usable_size,
	.free_sized = profile_free_sized,
};
