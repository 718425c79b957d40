/* SPDX-License-Identifier: MIT */
/*
 * sample.c - mode sample: a Poisson process over the bytes allocated.
 *
 * Each thread counts down the bytes to its next sample, a draw from the
 * exponential distribution; the allocation that crosses zero is recorded. So a
 * block of n bytes is sampled with probability 1 - exp(-n / interval),
 * independently of all others (docs/trace-format.md, "Samples"). Size 0 counts
 * as 1, so that every block has a chance.
 *
 * Price when nothing is sampled: in malloc one subtraction in thread-local
 * storage and a branch; in free one byte of the filter. The filter counts the
 * sampled live blocks by hash of their address; 255 stays for good.
 */
#include "sample.h"

#include "base/atomic.h"
#include "base/bits.h"
#include "capture.h"
#include "lanes.h"
#include "live.h"

#define FILTER_BITS 14u
#define STUCK       255u

/* Bytes to the next sample. 0 in a new thread: its first draw is due. */
static AMUX_THREAD int64_t skip;

static struct {
	double interval; /* sync: set before the first event */
	_Atomic uint8_t filter[1u << FILTER_BITS]; /* sync: atomic */
} g;

void sample_set_interval(uint64_t bytes)
{
	g.interval = bytes ? (double)bytes : 1.0;
}

void sample_reset(void)
{
	for (uint32_t i = 0; i < sizeof(g.filter); i++) {
		store_relaxed(&g.filter[i], 0);
	}
	skip = 0;
}

static inline _Atomic uint8_t *filter_of(const void *ptr)
{
	uint64_t addr = (uint64_t)(uintptr_t)ptr >> 4;

	return &g.filter[addr * 0x9e3779b97f4a7c15u >> (64 - FILTER_BITS)];
}

static void filter_add(const void *ptr)
{
	_Atomic uint8_t *count = filter_of(ptr);
	uint8_t seen = load_relaxed(count);

	while (seen != STUCK &&
		!cas_release(count, &seen, (uint8_t)(seen + 1))) {
	}
}

static void filter_remove(const void *ptr)
{
	_Atomic uint8_t *count = filter_of(ptr);
	uint8_t seen = load_relaxed(count);

	while (seen != STUCK && seen != 0 &&
		!cas_release(count, &seen, (uint8_t)(seen - 1))) {
	}
}

/* ---- chance ---- */

/*
 * Natural logarithm of x in (0, 1], to nine digits: x = m * 2^e with m near 1,
 * and 2 artanh((m - 1) / (m + 1)). We do not link libm.
 */
static double logarithm(double x)
{
	const double ln2 = 0.69314718055994530942;
	int exponent = 0;
	double z, z2, sum;

	while (x < 0.70710678118654752440) {
		x *= 2;
		exponent--;
	}
	z = (x - 1) / (x + 1);
	z2 = z * z;
	sum = 1.0 / 9;
	sum = sum * z2 + 1.0 / 7;
	sum = sum * z2 + 1.0 / 5;
	sum = sum * z2 + 1.0 / 3;
	sum = sum * z2 + 1.0;
	return exponent * ln2 + 2 * z * sum;
}

/* xorshift64* (Vigna 2016): 53 good bits, never 0. */
static double uniform(struct lane *lane)
{
	uint64_t x = lane->random ? lane->random : 1;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	lane->random = x;
	x = x * 0x2545f4914f6cdd1du >> 11;
	return (double)(x + 1) * (1.0 / 9007199254740992.0);
}

static int64_t draw(struct lane *lane)
{
	return (int64_t)(-logarithm(uniform(lane)) * g.interval) + 1;
}

/* ---- the few that are sampled ---- */

static void write_sample(struct lane *lane, unsigned how, size_t size,
	void *ptr, const struct walk_registers *caller)
{
	size_t usable = dispatch_plain.usable_size(ptr);
	size_t excess = usable > size ? usable - size : 0;
	struct live_block block = {
		.addr = (uint64_t)(uintptr_t)ptr,
		.size = size,
		.excess = excess > UINT32_MAX ? UINT32_MAX : (uint32_t)excess,
		.stack = capture_stack(&lane->capture, caller),
	};
	struct live_block old;

	if (!lane_ready(lane) || !live_insert(&block, &old)) {
		lane_lose(lane, size);
		return;
	}
	if (!old.addr) {
		filter_add(ptr);
	}
	encode_alloc(&lane->encoder, how, block.stack, size, block.excess,
		block.addr);
	lane->allocs++;
	lane->bytes += size;
}

/* skip has come to 0 or below: with this allocation, unless it is the first
 * draw of the thread. */
static AMUX_NOINLINE void sample_slow(unsigned how, size_t size, void *ptr,
	const struct walk_registers *caller)
{
	struct lane *lane = lane_enter(size);

	if (!lane) {
		return;
	}
	if (unlikely(!lane->drawn)) {
		lane->drawn = true;
		skip = draw(lane) - (int64_t)(size + !size);
	}
	if (skip <= 0) {
		skip = draw(lane);
		if (ptr) {
			write_sample(lane, how, size, ptr, caller);
		}
	}
	lane_leave(lane);
}

/* True if it was sampled: *block is what is known of it. */
static AMUX_NOINLINE bool end_sample(
	void *ptr, unsigned op, struct live_block *block)
{
	struct lane *lane = lane_enter(0);
	bool known = false;

	if (!lane) {
		return false;
	}
	if (live_remove((uint64_t)(uintptr_t)ptr, block)) {
		known = true;
		filter_remove(ptr);
		if (lane_ready(lane)) {
			encode_free(&lane->encoder, op, block->addr);
			lane->frees++;
		} else {
			lane_lose(lane, 0);
		}
	}
	lane_leave(lane);
	return known;
}

/* realloc failed: the block is still there. */
static AMUX_COLD void restore_sample(void *ptr, const struct live_block *block)
{
	struct lane *lane = lane_enter(0);
	struct live_block old;

	if (!lane) {
		return;
	}
	if (lane_ready(lane) && live_insert(block, &old)) {
		filter_add(ptr);
		encode_realloc_fail(&lane->encoder);
	} else {
		lane_lose(lane, 0);
	}
	lane_leave(lane);
}

/* ---- the many that are not ---- */

static inline bool is_sampled(size_t size)
{
	return unlikely((skip -= (int64_t)(size + !size)) <= 0);
}

static AMUX_NOINLINE void *sample_malloc_slow(size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	void *ptr = dispatch_plain.malloc(size);

	sample_slow(AMUX_TRACE_MALLOC, size, ptr, &caller);
	return ptr;
}

static void *sample_malloc(size_t size)
{
	if (is_sampled(size)) {
		/* A jump: the caller's frame is still the program's. */
		return sample_malloc_slow(size);
	}
	return dispatch_plain.malloc(size);
}

static void *sample_calloc(size_t count, size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	bool sampled = is_sampled(count * size);
	void *ptr = dispatch_plain.calloc(count, size);

	if (sampled) {
		sample_slow(AMUX_TRACE_CALLOC, count * size, ptr, &caller);
	}
	return ptr;
}

static void *sample_memalign(size_t align, size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	bool sampled = is_sampled(size);
	void *ptr = dispatch_plain.memalign(align, size);

	if (sampled) {
		sample_slow(AMUX_TRACE_ALIGNED |
				    (unsigned)__builtin_ctzll(align) << 2,
			size, ptr, &caller);
	}
	return ptr;
}

static inline bool may_be_sampled(void *ptr)
{
	return unlikely(load_relaxed(filter_of(ptr)) != 0);
}

static AMUX_NOINLINE void sample_free_slow(void *ptr)
{
	struct live_block block;

	end_sample(ptr, AMUX_TRACE_OP_FREE, &block);
	dispatch_plain.free(ptr);
}

static void sample_free(void *ptr)
{
	/* NULL has a counter too, which is never raised. */
	if (may_be_sampled(ptr)) {
		sample_free_slow(ptr);
		return;
	}
	dispatch_plain.free(ptr);
}

static void sample_free_sized(void *ptr, size_t size)
{
	struct live_block block;

	if (may_be_sampled(ptr)) {
		end_sample(ptr, AMUX_TRACE_OP_FREE, &block);
	}
	dispatch_plain.free_sized(ptr, size);
}

static void *sample_realloc(void *ptr, size_t size)
{
	struct walk_registers caller = CAPTURE_CALLER();
	bool sampled = is_sampled(size);
	struct live_block block;
	bool known = may_be_sampled(ptr) &&
		     end_sample(ptr, AMUX_TRACE_OP_REALLOC, &block);
	void *moved = dispatch_plain.realloc(ptr, size);

	if (unlikely(!moved && known)) {
		restore_sample(ptr, &block);
	}
	if (sampled) {
		sample_slow(AMUX_TRACE_REALLOCED, size, moved, &caller);
	}
	return moved;
}

static size_t sample_usable_size(void *ptr)
{
	return dispatch_plain.usable_size(ptr);
}

const struct dispatch_ops sample_ops = {
	.malloc = sample_malloc,
	.free = sample_free,
	.calloc = sample_calloc,
	.realloc = sample_realloc,
	.memalign = sample_memalign,
	.usable_size = sample_usable_size,
	.free_sized = sample_free_sized,
};
