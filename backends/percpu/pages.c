/* SPDX-License-Identifier: MIT */
/*
 * pages.c - runs of pages out of reserved ranges: best fit, coalescing, purge.
 *
 * Free runs are of two kinds: dirty ones may be resident, clean ones are not
 * and read as zero. A request takes dirty runs first, since a page fault costs
 * more than everything else here together; then clean ones; then it raises the
 * top of the newest range. Runs coalesce with free neighbours of their kind.
 *
 * Lists: one per length up to EXACT pages, then four per doubling; a bit per
 * list says whether it has runs.
 *
 * Ranges: the first is reserved in init, four times the machine's memory;
 * further ones when it is full. A page is
 * made usable (mprotect) in growing steps, so nothing relies on overcommit.
 *
 * Invariants:
 *   - a free run's first and last descriptors carry its state and length;
 *   - no two free runs of one kind touch;
 *   - descriptors of every other page have neither free state.
 * Locks: g.lock, rank LOCK_RANK_PAGES.
 * Not here: spans (span.c), blocks (large.c), when to purge all (percpu.c).
 */
#include "pages.h"

#include <errno.h>

#include "bits.h"
#include "lock.h"
#include "os.h"

enum {
	EXACT = 64,
	LISTS = EXACT + 25 * 4,
	LIST_WORDS = (LISTS + 63) / 64,
	KINDS = 2, /* dirty, clean */
	SCAN_MAX = 32
};

/* Address space: the most of all ranges, the least for the first. */
#define RANGE_MAX  ((size_t)1 << 42)
#define RANGE_MIN  ((size_t)1 << 22)
#define RANGE_UNIT ((size_t)1 << 21)

/* Made usable at a time, at least and at most. */
#define STEP_MIN ((size_t)1 << 18)
#define STEP_MAX ((size_t)1 << 26)

/* Free pages unused for this long are given back. */
#define AGE_MS 300
/* Pages given back by one call of pages_age(). */
#define AGE_LIMIT ((size_t)1 << 15)
/* This much above the floor is worth slower frees until it has gone. */
#define ARM_PAGES ((size_t)1 << 11)
/* Kept in any case, beside an eighth of what is in use. */
#define KEEP_MIN ((size_t)1 << 8)
/* A run as long as this is given back when it is freed. */
#define KEEP_MAX ((uint32_t)1 << 13)

struct page_table percpu_pages;

static struct {
	struct lock lock;
	uint32_t top;       /* first page never used in the newest range */
	uint32_t end;       /* of the newest range */
	uint32_t committed; /* pages below are usable */
	size_t map_ready;   /* bytes of the map that are usable */
	size_t desc_ready;  /* bytes of the descriptors that are usable */
	size_t next_range;  /* bytes to ask for */
	uint32_t lists[KINDS][LISTS];
	uint64_t bits[KINDS][LIST_WORDS];
	size_t free_pages[KINDS];
	size_t used;
	size_t returned;
	size_t idle;        /* least dirty pages since .aged */
	uint64_t aged;      /* when the current watch began, ms */
	uint64_t touched;   /* last look at the clock, ms */
	size_t kernel_page; /* bytes */
	const struct amux_host *host;
} g;
/* sync: g.lock, except host and kernel_page: set in init, then constant */

static unsigned list_of(uint32_t n)
{
	if (n <= EXACT) {
		return n - 1;
	}

	unsigned log = log2_floor(n);

	return EXACT + (log - 6) * 4 + ((n >> (log - 2)) & 3);
}

static unsigned kind_of(enum page_state state)
{
	return state == PAGE_CLEAN;
}

static void run_insert(uint32_t first, uint32_t n, enum page_state state)
{
	struct page *page = page_desc(first);
	struct page *last = page_desc(first + n - 1);
	unsigned kind = kind_of(state);
	unsigned list = list_of(n);
	uint32_t *head = &g.lists[kind][list];

	page_set_state(page, state);
	page->pages = n;
	page_set_state(last, state);
	last->pages = n;
	page->prev = 0;
	page->next = *head;
	if (*head) {
		page_desc(*head)->prev = first;
	}
	*head = first;
	g.bits[kind][list / 64] |= UINT64_C(1) << (list % 64);
	g.free_pages[kind] += n;
}

static void run_remove(uint32_t first)
{
	struct page *page = page_desc(first);
	unsigned kind = kind_of(page_state(page));
	unsigned list = list_of(page->pages);

	if (page->prev) {
		page_desc(page->prev)->next = page->next;
	} else {
		g.lists[kind][list] = page->next;
	}
	if (page->next) {
		page_desc(page->next)->prev = page->prev;
	}
	if (!g.lists[kind][list]) {
		g.bits[kind][list / 64] &= ~(UINT64_C(1) << (list % 64));
	}
	g.free_pages[kind] -= page->pages;
	page_set_state(page_desc(first + page->pages - 1), PAGE_NONE);
	page_set_state(page, PAGE_NONE);
}

/* Put a run into the lists, joined with its free neighbours of its kind. */
static void run_release(uint32_t first, uint32_t n, enum page_state state)
{
	struct page *before = page_desc(first - 1);
	struct page *after = page_desc(first + n);

	if (page_state(before) == state) {
		uint32_t pages = before->pages;

		first -= pages;
		run_remove(first);
		n += pages;
	}
	if (page_state(after) == state) {
		uint32_t pages = after->pages;

		run_remove(first + n);
		n += pages;
	}
	run_insert(first, n, state);
}

/* The first run of a kind that has n pages; not removed. 0 if none. */
static uint32_t run_find(unsigned kind, uint32_t n)
{
	unsigned list = list_of(n);
	uint32_t run = g.lists[kind][list];

	for (int i = 0; run && i < SCAN_MAX; i++) {
		if (page_desc(run)->pages >= n) {
			return run;
		}
		run = page_desc(run)->next;
	}
	list++;
	for (unsigned word = list / 64; word < LIST_WORDS; word++) {
		uint64_t bits = g.bits[kind][word];

		if (word == list / 64) {
			bits &= ~UINT64_C(0) << (list % 64);
		}
		if (bits) {
			list = word * 64 + (unsigned)__builtin_ctzll(bits);
			return g.lists[kind][list];
		}
	}
	return 0;
}

/* Make the tables usable for pages below `limit` and the one after. */
static bool tables_commit(uint32_t limit)
{
	size_t map = (size_t)limit + 2;
	size_t desc = map * sizeof(struct page);
	const size_t map_step = (size_t)1 << 16;
	const size_t desc_step = (size_t)1 << 18;

	if (map > g.map_ready) {
		size_t want = round_up(map, map_step);

		if (os_commit(
			    percpu_hot.map + g.map_ready, want - g.map_ready)) {
			return false;
		}
		g.map_ready = want;
	}
	if (desc > g.desc_ready) {
		size_t want = round_up(desc, desc_step);

		if (os_commit((char *)percpu_pages.desc + g.desc_ready,
			    want - g.desc_ready)) {
			return false;
		}
		g.desc_ready = want;
	}
	return true;
}

/* Make pages below `limit` of the newest range usable, and some more. */
static bool commit(uint32_t limit)
{
	size_t need = limit - g.committed;
	size_t step = g.committed / 8;

	if (step < STEP_MIN >> PAGE_SHIFT) {
		step = STEP_MIN >> PAGE_SHIFT;
	}
	if (step > STEP_MAX >> PAGE_SHIFT) {
		step = STEP_MAX >> PAGE_SHIFT;
	}
	if (step < need) {
		step = need;
	}
	step = round_up(step, STEP_MIN >> PAGE_SHIFT);
	if (step > g.end - g.committed) {
		step = g.end - g.committed;
	}
	if (!tables_commit(g.committed + (uint32_t)step)) {
		return false;
	}

	char *addr = page_addr(g.committed);

	if (os_commit(addr, step << PAGE_SHIFT)) {
		/* Strict accounting: perhaps just what is needed. */
		step = round_up(need, g.kernel_page >> PAGE_SHIFT);
		if (os_commit(addr, step << PAGE_SHIFT)) {
			return false;
		}
	}
	g.committed += (uint32_t)step;
	return true;
}

/* Another range, for at least n pages; the old one's rest becomes free. */
static bool range_add(uint32_t n)
{
	uint32_t count = load_relaxed(&percpu_pages.range_count);
	size_t least = round_up((size_t)n << PAGE_SHIFT, RANGE_UNIT);
	size_t size = g.next_range > least ? g.next_range : least;
	/* One number is left out between ranges: they never coalesce. */
	uint32_t first = g.end + 1;
	void *base;

	if (count == PAGE_RANGES || !g.next_range) {
		return false;
	}
	for (;;) {
		base = first + (size >> PAGE_SHIFT) < percpu_pages.max_pages
			       ? g.host->reserve(g.host, size, RANGE_UNIT)
			       : NULL;
		if (base || size == least) {
			break;
		}
		size = size / 2 > least ? round_up(size / 2, RANGE_UNIT)
					: least;
	}
	if (!base) {
		return false;
	}
	if (g.committed > g.top) {
		run_release(g.top, g.committed - g.top, PAGE_CLEAN);
	}
	percpu_pages.ranges[count] = (struct page_range){
		.base = base,
		.first = first,
		.pages = (uint32_t)(size >> PAGE_SHIFT),
	};
	g.top = first;
	g.committed = first;
	g.end = first + (uint32_t)(size >> PAGE_SHIFT);
	/* release: pairs with the acquire in page_find(). */
	store_release(&percpu_pages.range_count, count + 1);
	return true;
}

/* n pages from the top. */
static uint32_t top_take(uint32_t n)
{
	if (n > g.end - g.top && !range_add(n)) {
		return 0;
	}
	if (n > g.committed - g.top && !commit(g.top + n)) {
		return 0;
	}

	uint32_t first = g.top;

	g.top += n;
	return first;
}

/* Take n pages off the front of a free run. */
static void run_cut(uint32_t run, uint32_t n)
{
	struct page *page = page_desc(run);
	enum page_state state = page_state(page);
	uint32_t rest = page->pages - n;

	run_remove(run);
	if (rest) {
		run_insert(run + n, rest, state);
	}
}

static void watch_idle(void)
{
	if (g.free_pages[0] < g.idle) {
		g.idle = g.free_pages[0];
	}
}

static uint32_t alloc_locked(uint32_t n, bool *zero)
{
	uint32_t run = run_find(0, n);

	*zero = !run;
	if (!run) {
		run = run_find(1, n);
	}
	if (run) {
		run_cut(run, n);
		watch_idle();
	} else {
		run = top_take(n);
	}
	if (run) {
		g.used += n;
	}
	return run;
}

uint32_t pages_alloc(uint32_t n, uint32_t align, bool *zero)
{
	uint32_t slack = align - 1;
	uint32_t run;

	lock_acquire(&g.lock);
	run = alloc_locked(n + slack, zero);
	if (run && slack) {
		enum page_state state = *zero ? PAGE_CLEAN : PAGE_DIRTY;
		size_t addr = (size_t)page_addr(run) >> PAGE_SHIFT;
		uint32_t head = (uint32_t)(round_up(addr, align) - addr);

		if (head) {
			run_release(run, head, state);
		}
		run += head;
		if (slack > head) {
			run_release(run + n, slack - head, state);
		}
		g.used -= slack;
	}
	lock_release(&g.lock);
	return run;
}

bool pages_resident(uint32_t n)
{
	bool resident;

	lock_acquire(&g.lock);
	resident = run_find(0, n) != 0;
	lock_release(&g.lock);
	return resident;
}

uint32_t pages_alloc_roomy(uint32_t n, bool resident)
{
	uint32_t roomy = n;
	uint32_t run = 0;

	if (__builtin_add_overflow(n, n, &roomy)) {
		return 0;
	}
	lock_acquire(&g.lock);
	if (resident) {
		run = run_find(0, roomy);
	}
	if (!run) {
		run = run_find(1, roomy);
	}
	if (run) {
		run_cut(run, n);
		watch_idle();
	} else {
		run = top_take(roomy);
		if (run) {
			run_release(run + n, n, PAGE_CLEAN);
		}
	}
	if (run) {
		g.used += n;
	}
	lock_release(&g.lock);
	return run;
}

bool pages_extend(uint32_t first, uint32_t n, uint32_t new_n)
{
	uint32_t at = first + n;
	uint32_t end = first + new_n;
	bool done = false;

	lock_acquire(&g.lock);
	while (at < end && (page_state(page_desc(at)) == PAGE_DIRTY ||
				   page_state(page_desc(at)) == PAGE_CLEAN)) {
		at += page_desc(at)->pages;
	}
	if (at < end && at == g.top && end <= g.end &&
		(end <= g.committed || commit(end))) {
		g.top = end;
		run_release(at, end - at, PAGE_CLEAN);
		at = end;
	}
	if (at >= end) {
		for (at = first + n; at < end;) {
			uint32_t pages = page_desc(at)->pages;
			uint32_t take = pages < end - at ? pages : end - at;

			run_cut(at, take);
			at += take;
		}
		g.used += new_n - n;
		watch_idle();
		done = true;
	}
	lock_release(&g.lock);
	return done;
}

/* Give back the pages of one dirty run; false if the kernel refuses. */
static bool run_purge(uint32_t run)
{
	uint32_t n = page_desc(run)->pages;
	char *addr = page_addr(run);
	char *start = (char *)round_up((size_t)addr, g.kernel_page);
	char *end = (char *)round_down(
		(size_t)addr + ((size_t)n << PAGE_SHIFT), g.kernel_page);

	if (start >= end || os_purge(start, (size_t)(end - start))) {
		return false; /* too short, or locked in memory */
	}

	uint32_t head = (uint32_t)((size_t)(start - addr) >> PAGE_SHIFT);
	uint32_t pages = (uint32_t)((size_t)(end - start) >> PAGE_SHIFT);

	run_remove(run);
	if (head) {
		run_insert(run, head, PAGE_DIRTY);
	}
	if (n > head + pages) {
		run_insert(run + head + pages, n - head - pages, PAGE_DIRTY);
	}
	run_release(run + head, pages, PAGE_CLEAN);
	g.returned += pages;
	return true;
}

static size_t purge_locked(size_t keep, size_t limit)
{
	size_t purged = 0;

	for (unsigned list = LISTS; list-- > 0;) {
		uint32_t run = g.lists[0][list];

		while (run && g.free_pages[0] > keep && purged < limit) {
			uint32_t next = page_desc(run)->next;
			uint32_t pages = page_desc(run)->pages;

			if (run_purge(run)) {
				purged += pages;
			}
			run = next;
		}
	}
	watch_idle();
	return purged;
}

void pages_free(uint32_t first, uint32_t n, bool clean)
{
	lock_acquire(&g.lock);
	g.used -= n;
	page_set_state(page_desc(first), PAGE_NONE);
	run_release(first, n, clean ? PAGE_CLEAN : PAGE_DIRTY);
	if (!clean && n >= KEEP_MAX) {
		purge_locked(0, 1);
	}
	lock_release(&g.lock);
}

size_t pages_purge(size_t keep, size_t limit)
{
	size_t purged;

	lock_acquire(&g.lock);
	purged = purge_locked(keep, limit);
	lock_release(&g.lock);
	return purged;
}

/*
 * The least number of free dirty pages over a watch of AGE_MS was needed by
 * nobody in that time: that many are given back, down to a floor that is not
 * worth the faults when it is needed again. If nothing came here for as
 * long as a watch, all of them were idle.
 */
void pages_age(uint64_t now)
{
	if (!lock_try_acquire(&g.lock)) {
		return;
	}
	if (now - g.touched >= AGE_MS) {
		g.idle = g.free_pages[0];
	}
	g.touched = now;

	size_t floor = g.used / 8 + KEEP_MIN;

	if (now - g.aged >= AGE_MS && g.idle) {
		size_t keep = g.free_pages[0] - g.idle;
		size_t purged =
			purge_locked(keep > floor ? keep : floor, AGE_LIMIT);

		g.idle = purged < g.idle ? g.idle - purged : 0;
		if (!purged) {
			g.idle = 0;
		}
	}
	if (now - g.aged >= AGE_MS && !g.idle) {
		g.aged = now;
		g.idle = g.free_pages[0];
	}
	store_relaxed(&percpu_pages.armed, g.free_pages[0] > floor + ARM_PAGES);
	lock_release(&g.lock);
}

void pages_count(struct page_counts *counts)
{
	uint32_t ranges = load_acquire(&percpu_pages.range_count);

	lock_acquire(&g.lock);
	*counts = (struct page_counts){
		.used = g.used,
		.dirty = g.free_pages[0],
		.clean = g.free_pages[1],
		.returned = g.returned,
		.tables = (size_t)g.top * (sizeof(struct page) + 1),
	};
	for (uint32_t i = 0; i < ranges; i++) {
		counts->reserved += percpu_pages.ranges[i].pages;
	}
	lock_release(&g.lock);
}

/* The run after the one at `page`; what is not a run counts as one page. */
static uint32_t run_length(const struct page *page)
{
	return page_state(page) == PAGE_NONE ? 1 : page->pages;
}

int pages_each(
	int (*visit)(uint32_t first, struct page *page, void *arg), void *arg)
{
	for (uint32_t at = 1; at < g.top;) {
		struct page *page = page_desc(at);
		int stop = 0;

		if (page_state(page) == PAGE_SPAN ||
			page_state(page) == PAGE_LARGE) {
			stop = visit(at, page, arg);
		}
		if (stop) {
			return stop;
		}
		at += run_length(page);
	}
	return 0;
}

const char *pages_check(void)
{
	size_t found[KINDS] = {0, 0};
	enum page_state before = PAGE_NONE;
	const char *broken = NULL;

	lock_acquire(&g.lock);
	for (uint32_t at = 1; at < g.top && !broken;) {
		const struct page *page = page_desc(at);
		enum page_state state = page_state(page);

		if (state == PAGE_DIRTY || state == PAGE_CLEAN) {
			const struct page *last =
				page_desc(at + page->pages - 1);

			found[kind_of(state)] += page->pages;
			if (page_state(last) != state ||
				last->pages != page->pages) {
				broken = "a free run's ends disagree";
			} else if (before == state) {
				broken = "two free runs touch";
			}
		} else if (state == PAGE_TAIL) {
			broken = "a span's tail without its head";
		}
		before = state;
		at += run_length(page);
	}
	if (!broken &&
		(found[0] != g.free_pages[0] || found[1] != g.free_pages[1])) {
		broken = "free pages are miscounted";
	}
	lock_release(&g.lock);
	return broken;
}

/* Bytes of address space to try first, and the tables' size in pages. */
static size_t first_size(void)
{
	size_t limit = os_address_limit();

	size_t memory = os_memory_size();

	/*
	 * Sixteen times what the machine has is more than a heap can use, and
	 * spares emulators that keep books on reserved pages (qemu-user).
	 */
	if (limit > memory * 16) {
		limit = memory * 16;
	}
	if (limit > RANGE_MAX) {
		limit = RANGE_MAX;
	}
	/*
	 * A quarter now and an eighth at a time later leaves the rest to
	 * stacks and libraries.
	 */
	percpu_pages.max_pages =
		(uint32_t)(limit >> PAGE_SHIFT) + 4 * PAGE_RANGES;
	g.next_range = round_up(limit / 8, RANGE_UNIT);
	return round_up(limit / 4, RANGE_UNIT);
}

int pages_init(const struct amux_host *host, uint32_t first)
{
	size_t size = first_size();
	size_t map_size, tables_size;
	void *base = NULL, *tables;

	lock_init(&g.lock, LOCK_RANK_PAGES);
	g.host = host;
	g.kernel_page = os_page_size();
	for (; size >= RANGE_MIN && !base; size /= 2) {
		base = host->reserve(host, size, RANGE_UNIT);
		if (base) {
			break;
		}
		g.next_range = size / 2;
	}
	if (!base) {
		return ENOMEM;
	}
	map_size =
		round_up((size_t)percpu_pages.max_pages + 2, (size_t)1 << 16);
	tables_size = map_size + round_up((map_size + 2) * sizeof(struct page),
					 (size_t)1 << 18);
	if (os_reserve(NULL, tables_size, &tables)) {
		host->release(host, base, size);
		return ENOMEM;
	}
	percpu_hot.base = base;
	percpu_hot.pages = size >> PAGE_SHIFT;
	percpu_hot.map = tables;
	percpu_pages.desc = (struct page *)((char *)tables + map_size);
	percpu_pages.ranges[0] = (struct page_range){.base = base,
		.first = 0,
		.pages = (uint32_t)(size >> PAGE_SHIFT)};
	g.end = (uint32_t)(size >> PAGE_SHIFT);
	g.top = first;
	if (!commit(first)) {
		return ENOMEM;
	}
	/* release: pairs with the acquire in page_find(). */
	store_release(&percpu_pages.range_count, 1);
	return 0;
}

void pages_prefork(void)
{
	lock_prefork(&g.lock);
}

void pages_postfork(void)
{
	lock_postfork(&g.lock);
}
