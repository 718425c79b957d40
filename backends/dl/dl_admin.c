/* SPDX-License-Identifier: MIT */
/*
 * dl_admin.c - start-up, options, figures, trimming, checking, fork.
 */
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "dl_instance.h"
#include "log.h"
#include "os.h"
#include "syscall.h"

/* Milliseconds over which memory must be idle to be given back. */
enum { PURGE_EPOCH = 250 };

enum { CPU_SET_WORDS = 64 };

static unsigned cpus_usable(void)
{
	unsigned long mask[CPU_SET_WORDS] = {0};
	unsigned count = 0;

	if (sys3(SYS_sched_getaffinity, 0, sizeof(mask), mask) < 0) {
		return MAX_HEAPS; /* more CPUs than fit into the mask */
	}
	for (unsigned i = 0; i < CPU_SET_WORDS; i++) {
		count += (unsigned)__builtin_popcountl(mask[i]);
	}
	return count ? count : 1;
}

/* Bytes with an optional K, M or G; false if text is not that. */
static bool parse_size(const char *text, size_t *value)
{
	static const char units[] = "KMG";
	size_t n = 0;

	if (*text < '0' || *text > '9') {
		return false;
	}
	for (; *text >= '0' && *text <= '9'; text++) {
		if (mul_overflows(n, 10, &n) ||
			add_overflows(n, (size_t)(*text - '0'), &n)) {
			return false;
		}
	}
	if (*text) {
		char upper = (char)(*text & ~0x20);
		const char *unit = strchr(units, upper);

		if (!unit || text[1] ||
			mul_overflows(
				n, (size_t)1 << 10 * (unit - units + 1), &n)) {
			return false;
		}
	}
	*value = n;
	return true;
}

/* *value keeps its default if the option is not set. 0 or EINVAL. */
static int read_option(const struct amux_host *host, const char *name,
	size_t min, size_t max, size_t *value)
{
	const char *text = host->option(host, name);
	char line[200];

	if (!text) {
		return 0;
	}
	if (parse_size(text, value) && *value >= min && *value <= max) {
		return 0;
	}
	log_format(line, sizeof(line),
		"option %s: \"%s\" is not a number from %zu to %zu "
		"(K, M, G allowed)",
		name, text, min, max);
	host->log(host, line);
	return EINVAL;
}

int dl_init(struct dl *dl, const struct amux_host *host, bool is_checked)
{
	size_t heaps = 0, deterministic = 0;
	size_t trim = SIZE_MAX, direct = 0, pad = TOP_PAD;
	int err = read_option(host, "heaps", 1, MAX_HEAPS, &heaps);

	err = err ? err
		  : read_option(host, "deterministic", 0, 1, &deterministic);
	err = err ? err
		  : read_option(host, "trim-threshold", 0, SIZE_MAX, &trim);
	err = err ? err
		  : read_option(
			    host, "mmap-threshold", 4096, MAX_OBJECT, &direct);
	err = err ? err
		  : read_option(host, "top-pad", 0, (size_t)1 << 30, &pad);
	if (err) {
		return err;
	}
	if (!heaps) {
		heaps = cpus_usable();
		heaps = heaps < MAX_HEAPS ? heaps : MAX_HEAPS;
	}
	if (deterministic) {
		heaps = 1;
	}
	dl->host = host;
	dl->checked = is_checked;
	dl->deterministic = deterministic;
	dl->cached = !is_checked && !deterministic;
	dl->secret = os_random_seed() * 0x9e3779b97f4a7c15u;
	lock_init(&dl->private_lock, LOCK_RANK_HEAP);
	store_relaxed(&dl->trim_threshold, trim);
	store_relaxed(&dl->top_pad, pad);
	store_relaxed(&dl->threshold_is_fixed, direct != 0);
	store_relaxed(
		&dl->direct_threshold, direct ? direct : DIRECT_THRESHOLD);
	dl->heap_count = space_init(&dl->space, host, (unsigned)heaps);
	return 0;
}

/* Call visit for each heap in use, with its lock held. */
static int for_each_heap(
	struct dl *dl, int (*visit)(struct heap *heap, void *arg), void *arg)
{
	int stop = 0;

	for (unsigned i = 0; i < dl->heap_count && !stop; i++) {
		struct heap *heap = dl_heap(dl, i);

		if (heap) {
			bool locked = heap_enter(heap);

			stop = visit(heap, arg);
			heap_leave(heap, locked);
		}
	}
	return stop ? stop : dl_for_each_private(dl, visit, arg);
}

void dl_purge_if_due(struct dl *dl)
{
	uint64_t now, due;

	if (dl->deterministic) {
		return;
	}
	now = os_now_ms();
	due = load_relaxed(&dl->purge_due);
	/* One thread does it; the others need no order with it. */
	if (now < due ||
		!cas_acquire(&dl->purge_due, &due, now + PURGE_EPOCH)) {
		return;
	}
	for (unsigned i = 0; i < dl->heap_count; i++) {
		struct heap *heap = dl_heap(dl, i);

		if (heap && lock_try_acquire(&heap->lock)) {
			heap_purge_idle(heap);
			lock_release(&heap->lock);
		}
	}
}

struct trim {
	size_t pad, bytes;
};

static int trim_heap(struct heap *heap, void *arg)
{
	struct trim *trim = arg;

	trim->bytes += heap_trim(heap, trim->pad);
	return 0;
}

int dl_trim(struct dl *dl, size_t pad)
{
	struct trim trim = {pad, 0};

	if (dl->cached) {
		cache_flush(cache_current);
	}
	for_each_heap(dl, trim_heap, &trim);
	return trim.bytes > 0;
}

static int add_heap(struct heap *heap, void *arg)
{
	struct amux_stats *s = arg;

	for (const struct segment *seg = heap->segments; seg; seg = seg->next) {
		s->mapped_bytes += seg->committed;
	}
	s->live_blocks += heap->blocks;
	s->live_bytes += heap->used - heap->blocks * heap->overhead;
	s->metadata_bytes += heap->blocks * heap->overhead;
	s->returned_bytes += heap->returned;
	/* What the top never reached is mapped, but not resident. */
	s->active_bytes += heap->used + heap->bins.dirty + heap_top_dirty(heap);
	return 0;
}

void dl_stats(struct dl *dl, struct amux_stats *stats)
{
	struct amux_stats s = {.size = sizeof(s)};
	size_t cached = 0, cached_blocks = 0;
	size_t large;

	for_each_heap(dl, add_heap, &s);
	if (dl->cached) {
		caches_count(&cached, &cached_blocks);
	}
	/* The counts are taken one after the other: never below zero. */
	s.live_bytes -= cached < s.live_bytes ? cached : s.live_bytes;
	s.live_blocks -=
		cached_blocks < s.live_blocks ? cached_blocks : s.live_blocks;
	s.cached_bytes = s.mapped_bytes - s.live_bytes - s.metadata_bytes;
	s.metadata_bytes += sizeof(*dl);
	s.reserved_bytes = dl->space.size + space_extent_bytes(&dl->space);
	lock_acquire(&dl->space.lock);
	large = dl->space.direct_bytes;
	s.large_blocks = dl->space.direct_blocks;
	s.returned_bytes += dl->space.direct_returned;
	lock_release(&dl->space.lock);
	s.large_bytes = large - s.large_blocks * sizeof(struct direct);
	s.live_bytes += s.large_bytes;
	s.live_blocks += s.large_blocks;
	s.active_bytes += large;
	s.mapped_bytes += large;
	*stats = s;
}

struct setting {
	size_t trim_threshold, top_pad;
};

static int apply(struct heap *heap, void *arg)
{
	const struct setting *setting = arg;

	heap->trim_threshold = setting->trim_threshold;
	heap->top_pad = setting->top_pad;
	return 0;
}

int dl_option(struct dl *dl, int param, int value)
{
	struct setting setting;
	/* As mallopt(3): -1 is the largest value. */
	size_t size = value < 0 ? SIZE_MAX : (size_t)value;

	switch (param) {
	case M_TRIM_THRESHOLD:
		store_relaxed(&dl->trim_threshold, size);
		break;
	case M_TOP_PAD:
		store_relaxed(&dl->top_pad, value < 0 ? TOP_PAD : size);
		break;
	case M_MMAP_THRESHOLD:
		if (size > DIRECT_THRESHOLD_MAX && value >= 0) {
			return 0;
		}
		store_relaxed(&dl->threshold_is_fixed, true);
		store_relaxed(&dl->direct_threshold, size);
		return 1;
	case M_MMAP_MAX:
		/* A number of mappings is not kept; 0 means none at all. */
		if (value != 0) {
			return 0;
		}
		store_relaxed(&dl->threshold_is_fixed, true);
		store_relaxed(&dl->direct_threshold, SIZE_MAX);
		return 1;
	default:
		return 0;
	}
	setting.trim_threshold = load_relaxed(&dl->trim_threshold);
	setting.top_pad = load_relaxed(&dl->top_pad);
	for_each_heap(dl, apply, &setting);
	return 1;
}

struct walk {
	const struct dl *dl;
	const struct heap *heap;
	amux_walk_fn *visit;
	void *arg;
};

static int walk_chunk(struct chunk *chunk, void *arg)
{
	const struct walk *walk = arg;
	void *block = block_of(chunk);

	if (walk->dl->cached && caches_hold(block)) {
		return 0;
	}
	return walk->visit(block, heap_usable(walk->heap, chunk), walk->arg);
}

static int walk_heap(struct heap *heap, void *arg)
{
	struct walk *walk = arg;

	walk->heap = heap;
	return heap_for_each(heap, walk_chunk, walk);
}

int dl_walk(struct dl *dl, amux_walk_fn *visit, void *arg)
{
	struct walk walk = {dl, NULL, visit, arg};
	int stop = for_each_heap(dl, walk_heap, &walk);

	for (struct direct *d = dl->space.directs; d && !stop; d = d->next) {
		stop = visit(direct_block(d), direct_usable(d), arg);
	}
	return stop;
}

static int check_heap(struct heap *heap, void *arg)
{
	const char **fault = arg;

	*fault = heap_verify(heap);
	return *fault != NULL;
}

int dl_check(struct dl *dl)
{
	const char *fault = NULL;

	if (for_each_heap(dl, check_heap, &fault) == 0 && dl->cached) {
		fault = caches_verify();
	}
	if (fault) {
		dl->host->log(dl->host, fault);
	}
	return fault != NULL;
}

static int prefork_heap(struct heap *heap, void *arg)
{
	lock_prefork(&heap->lock);
	return 0;
}

static int postfork_heap(struct heap *heap, void *arg)
{
	lock_postfork(&heap->lock);
	return 0;
}

void dl_prefork(struct dl *dl)
{
	lock_prefork(&dl->private_lock);
	for (unsigned i = 0; i < dl->heap_count; i++) {
		prefork_heap(&dl->heaps[i], NULL);
	}
	for (struct heap *h = dl->privates; h; h = h->next_private) {
		prefork_heap(h, NULL);
	}
	lock_prefork(&dl->space.lock);
	if (dl->cached) {
		caches_prefork();
	}
}

void dl_postfork(struct dl *dl, bool child)
{
	if (dl->cached) {
		caches_postfork();
	}
	lock_postfork(&dl->space.lock);
	for (struct heap *h = dl->privates; h; h = h->next_private) {
		postfork_heap(h, NULL);
	}
	for (unsigned i = 0; i < dl->heap_count; i++) {
		postfork_heap(&dl->heaps[i], NULL);
	}
	lock_postfork(&dl->private_lock);
	if (child && dl->cached) {
		caches_adopt();
	}
}
