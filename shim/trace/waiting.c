/* SPDX-License-Identifier: MIT */
/*
 * waiting.c - looks at clock and live bytes until a trace is due.
 *
 * Live bytes are usable bytes, counted since the start of the library in one
 * word for all threads: this table is in front for a while only.
 */
#include "waiting.h"

#include <stdbool.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/os.h"
#include "trace.h"

static struct {
	uint64_t begin_ms;     /* sync: set before use */
	uint64_t live_bytes;   /* sync: set before use */
	_Atomic uint64_t live; /* sync: atomic */
} g;

void waiting_set(uint64_t delay_ns, uint64_t live_bytes)
{
	g.begin_ms = delay_ns ? os_now_ms() + delay_ns / 1000000u : 0;
	g.live_bytes = live_bytes;
}

/* The next call after this one may be traced. */
static void count(void *ptr)
{
	uint64_t live;

	if (!ptr) {
		return;
	}
	live = add_relaxed(&g.live, dispatch_plain.usable_size(ptr));
	if (unlikely(live >= g.live_bytes) &&
		(g.begin_ms == 0 || os_now_ms() >= g.begin_ms)) {
		trace_begin_waiting();
	}
}

static void discount(void *ptr)
{
	if (ptr) {
		sub_relaxed(&g.live, dispatch_plain.usable_size(ptr));
	}
}

static void *waiting_malloc(size_t size)
{
	void *ptr = dispatch_plain.malloc(size);

	count(ptr);
	return ptr;
}

static void *waiting_calloc(size_t items, size_t size)
{
	void *ptr = dispatch_plain.calloc(items, size);

	count(ptr);
	return ptr;
}

static void *waiting_memalign(size_t align, size_t size)
{
	void *ptr = dispatch_plain.memalign(align, size);

	count(ptr);
	return ptr;
}

static void waiting_free(void *ptr)
{
	discount(ptr);
	dispatch_plain.free(ptr);
}

static void waiting_free_sized(void *ptr, size_t size)
{
	discount(ptr);
	dispatch_plain.free_sized(ptr, size);
}

static void *waiting_realloc(void *ptr, size_t size)
{
	size_t before = dispatch_plain.usable_size(ptr);
	void *moved = dispatch_plain.realloc(ptr, size);

	if (moved) {
		sub_relaxed(&g.live, before);
		count(moved);
	}
	return moved;
}

static size_t waiting_usable_size(void *ptr)
{
	return dispatch_plain.usable_size(ptr);
}

const struct dispatch_ops waiting_ops = {
	.malloc = waiting_malloc,
	.free = waiting_free,
	.calloc = waiting_calloc,
	.realloc = waiting_realloc,
	.memalign = waiting_memalign,
	.usable_size = waiting_usable_size,
	.free_sized = waiting_free_sized,
};
