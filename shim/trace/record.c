/* SPDX-License-Identifier: MIT */
/*
 * record.c - mode record: every event goes to the thread's lane.
 *
 * A block is recorded after the allocator gave it out, and its end before the
 * allocator gets it back. So, whichever thread gets the address next, its event
 * is younger (docs/trace-format.md, "Which thread first?").
 *
 * errno is what the backend left: nothing here changes it.
 */
#include "record.h"

#include "capture.h"
#include "lanes.h"

static inline uint32_t excess_of(void *ptr, size_t size)
{
	size_t usable = dispatch_plain.usable_size(ptr);
	size_t excess = usable > size ? usable - size : 0;

	return excess > UINT32_MAX ? UINT32_MAX : (uint32_t)excess;
}

/* The lane is ready. */
static inline void write_alloc(struct lane *lane, unsigned how, size_t size,
	void *ptr, const struct walk_registers *caller)
{
	uint32_t stack = capture_stack(&lane->capture, caller);

	encode_alloc(&lane->encoder, how, stack, size, excess_of(ptr, size),
		(uint64_t)(uintptr_t)ptr);
	lane->allocs++;
	lane->bytes += size;
}

static AMUX_COLD void write_failed(struct lane *lane, unsigned how, size_t size,
	const struct walk_registers *caller)
{
	if (lane_ready(lane)) {
		encode_failed(&lane->encoder, how,
			capture_stack(&lane->capture, caller), size);
	}
}

static inline void record_alloc(unsigned how, size_t size, void *ptr,
	const struct walk_registers *caller)
{
	struct lane *lane = lane_enter(size);

	if (unlikely(!lane)) {
		return;
	}
	if (unlikely(!ptr)) {
		write_failed(lane, how, size, caller);
	} else if (likely(lane_ready(lane))) {
		write_alloc(lane, how, size, ptr, caller);
	} else {
		lane_lose(lane, size);
	}
	lane_leave(lane);
}

static void *record_malloc(size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	void *ptr = dispatch_plain.malloc(size);

	record_alloc(AMUX_TRACE_MALLOC, size, ptr, &caller);
	return ptr;
}

static void *record_calloc(size_t count, size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	void *ptr = dispatch_plain.calloc(count, size);

	record_alloc(AMUX_TRACE_CALLOC, count * size, ptr, &caller);
	return ptr;
}

static void *record_memalign(size_t align, size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	void *ptr = dispatch_plain.memalign(align, size);
	unsigned how = AMUX_TRACE_ALIGNED | (unsigned)__builtin_ctzll(align)
						    << 2;

	record_alloc(how, size, ptr, &caller);
	return ptr;
}

static inline void record_free(void *ptr)
{
	struct lane *lane = lane_enter(0);

	if (unlikely(!lane)) {
		return;
	}
	if (likely(lane_ready(lane))) {
		encode_free(&lane->encoder, AMUX_TRACE_OP_FREE,
			(uint64_t)(uintptr_t)ptr);
		lane->frees++;
	} else {
		lane_lose(lane, 0);
	}
	lane_leave(lane);
}

static void record_free_plain(void *ptr)
{
	if (likely(ptr)) {
		record_free(ptr);
	}
	dispatch_plain.free(ptr);
}

static void record_free_sized(void *ptr, size_t size)
{
	record_free(ptr);
	dispatch_plain.free_sized(ptr, size);
}

/*
 * The lane stays busy over the backend's realloc, so that no event of a signal
 * handler comes between the two records.
 */
static void *record_realloc(void *ptr, size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	struct lane *lane = lane_enter(size);
	bool begun = false;
	void *moved;

	if (unlikely(!lane)) {
		return dispatch_plain.realloc(ptr, size);
	}
	if (likely(lane_ready(lane))) {
		encode_free(&lane->encoder, AMUX_TRACE_OP_REALLOC,
			(uint64_t)(uintptr_t)ptr);
		begun = true;
	}
	moved = dispatch_plain.realloc(ptr, size);
	if (!begun || unlikely(!lane_ready(lane))) {
		lane_lose(lane, size);
	} else if (likely(moved)) {
		write_alloc(lane, AMUX_TRACE_REALLOCED, size, moved, &caller);
		lane->frees++;
	} else {
		encode_realloc_fail(&lane->encoder);
		write_failed(lane, AMUX_TRACE_REALLOCED, size, &caller);
	}
	lane_leave(lane);
	return moved;
}

static size_t record_usable_size(void *ptr)
{
	return dispatch_plain.usable_size(ptr);
}

const struct dispatch_ops record_ops = {
	.malloc = record_malloc,
	.free = record_free_plain,
	.calloc = record_calloc,
	.realloc = record_realloc,
	.memalign = record_memalign,
	.usable_size = record_usable_size,
	.free_sized = record_free_sized,
};
