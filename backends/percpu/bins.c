/* SPDX-License-Identifier: MIT */
/*
 * bins.c - the slow side of the bins.
 *
 * Overflow: a full bin's chain moves to the CPU's spare, the spare's old chain
 * to the central lists. Refill: the other way round. A chain is exchanged with
 * a spare by one atomic instruction, so it does not matter if the thread has
 * meanwhile moved to another CPU.
 *
 * Without rseq - valgrind, gVisor, an old kernel, GLIBC_TUNABLES - and for a
 * single thread whose registration failed, blocks go through shards: the same
 * bins, each set under one lock, picked by the thread's address. Nothing is
 * kept per thread, so a thread's end costs and strands nothing.
 *
 * Drain. The bin of another CPU cannot be taken by compare-and-swap, since its
 * owner commits by a plain store. Instead: stop the slow paths from filling
 * bins (percpu_hot.draining, which percpu_bin_store() reads in its section);
 * fence, so that no earlier one is still at it; exchange the word with zero;
 * fence again. A zero word sends both fast paths to the slow one, so whoever
 * ran on that CPU either committed on top of the old word before the second
 * fence - then the bin is not zero now, what we took is void, the bin owns the
 * blocks - or has restarted and seen zero: then the chain is ours.
 *
 * Fork. A section's stores reach memory in program order, and fork(2) copies
 * while every writer that hits a write-protected page waits for it to end; so
 * the child sees either the link and the committed word, or not the word. A
 * bin is whole at every instant. What a slow path of another thread had in
 * hand is lost to the child: at most a chain per thread.
 *
 * Armed. A loop that frees what it has just allocated never leaves the fast
 * paths, so nobody would notice that freed memory has aged. While much of it
 * waits, a lone block is put into a bin with a link of zero, so that popping it
 * leaves the zero word that sends the next free here; refills go to the spare.
 *
 * Locks: one per shard, rank LOCK_RANK_HEAP, and the drain lock above them.
 */
#include "bins.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/auxv.h>
#include <sys/rseq.h>
#include <sys/syscall.h>

#include "bits.h"
#include "central.h"
#include "compiler.h"
#include "lock.h"
#include "os.h"
#include "syscall.h"

enum {
	STATIC_CPUS = 256, /* rows in .bss; more CPUs get a mapping */
	SHARDS = 8,
	TRIES = 4,
	ROW_WORDS = BIN_ROW / 8,
	HALF_WORDS = ROW_WORDS / 2,
	LINE = 64,
	/* struct rseq is the end of struct pthread, which ends its mapping
	 * (glibc, nptl/allocatestack.c): rseq_cs of every thread but main. */
	THREAD_RSEQ_CS = 4096 - 24
};

/* <linux/auxvec.h>, 6.3; older headers lack it. */
#ifndef AT_RSEQ_FEATURE_SIZE
	#define AT_RSEQ_FEATURE_SIZE 27
#endif

/* Offset of mm_cid in struct rseq, since 6.3. */
enum { RSEQ_MM_CID = 24 };

/* ThreadSanitizer does not see what the assembly does: shards under locks. */
#ifdef __SANITIZE_THREAD__
enum { RSEQ_VISIBLE = 0 };
#else
enum { RSEQ_VISIBLE = 1 };
#endif

/* Bins and spares of one CPU, each at bin_shift words into its half. */
struct row {
	uint64_t words[ROW_WORDS];
};

struct shard {
	struct lock lock;
	uint64_t words[CLASS_COUNT];
};

struct percpu_hot percpu_hot;

/* What a thread looks like that has no rseq: cpu_id is -1. */
static AMUX_THREAD struct {
	uint32_t cpu_id_start;
	int32_t cpu_id;
	uint64_t rseq_cs;
} no_rseq = {0, -1, 0};

static struct row static_rows[STATIC_CPUS] __attribute__((aligned(4096)));

static struct {
	struct row *rows;      /* sync: set in init, then constant */
	uint32_t cpus;         /* sync: set in init, then constant */
	_Atomic uint32_t seen; /* sync: atomic; rows from here on are unused */
	unsigned shift;        /* words before the bins; constant after init */
	bool rseq;             /* sync: set in init, then constant */
	bool fence;            /* sync: set in init, then constant */
	struct lock drain;     /* sync: itself; guards hot.draining */
	struct shard shards[SHARDS]; /* sync: each by its lock */
} g;

/* glibc 2.35 and later; absent before. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* Ids are below this; sched_getaffinity(2) tells the mask's bytes. */
static uint32_t cpu_limit(void)
{
	unsigned long mask[65536 / (8 * sizeof(unsigned long))];
	long bytes = sys3(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	return bytes > 0 ? (uint32_t)bytes * 8 : 65536;
}

/* Is byte `offset` (modulo the row) in the line of a word of the bins? */
static bool shift_collides(unsigned shift, size_t offset)
{
	size_t line = offset % BIN_ROW / LINE;

	return line >= shift * 8 / LINE &&
	       line <= (shift + WORD_CLASS + CLASS_COUNT - 1) * 8 / LINE;
}

/* Off the page offsets of rseq_cs: hot.h, "Page-offset aliasing". */
static unsigned bin_shift(void)
{
	size_t main_cs = (size_t)__builtin_thread_pointer() +
			 (size_t)percpu_hot.rseq + 8;

	if (!shift_collides(LINE / 8, main_cs) &&
		!shift_collides(LINE / 8, THREAD_RSEQ_CS)) {
		return LINE / 8;
	}
	return HALF_WORDS + LINE / 8;
}

static void find_rseq(void)
{
	const char *self = __builtin_thread_pointer();

	percpu_hot.rseq = (const char *)&no_rseq - self;
	percpu_hot.cid = percpu_hot.rseq + 4;
	if (!RSEQ_VISIBLE || !&__rseq_offset || !&__rseq_size || !__rseq_size ||
		*(const int32_t *)(self + __rseq_offset + 4) < 0) {
		return;
	}
	g.rseq = true;
	percpu_hot.rseq = __rseq_offset;
	percpu_hot.cid = percpu_hot.rseq + 4;
	/*
	 * glibc registers 32 bytes, and a kernel that knows mm_cid fills it in
	 * there: numbers as low as there are threads, so few rows are in use.
	 */
	if (getauxval(AT_RSEQ_FEATURE_SIZE) >= RSEQ_MM_CID + 4) {
		percpu_hot.cid = percpu_hot.rseq + RSEQ_MM_CID;
	}
	/* Registered now, while it is cheap: one thread, no grace period. */
	g.fence = sys3(SYS_membarrier,
			  MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0,
			  0) == 0;
}

int percpu_bins_init(void)
{
	void *rows = static_rows;

	lock_init(&g.drain, LOCK_RANK_TRACE);
	find_rseq();
	g.cpus = g.rseq ? cpu_limit() : 0;
	if (g.cpus > STATIC_CPUS &&
		os_map((size_t)g.cpus * sizeof(struct row), &rows)) {
		return ENOMEM;
	}
	g.rows = rows;
	g.shift = bin_shift();
	percpu_hot.bins = (char *)&g.rows[0].words[g.shift];
	return 0;
}

bool percpu_bins_have_rseq(void)
{
	return g.rseq;
}

static uint64_t *bin_of(int cpu, unsigned class)
{
	return &g.rows[cpu].words[g.shift + WORD_CLASS + class];
}

static _Atomic uint64_t *spare_of(int cpu, unsigned class)
{
	unsigned word = (g.shift + HALF_WORDS) % ROW_WORDS;

	return (_Atomic uint64_t *)&g.rows[cpu]
		.words[word + WORD_CLASS + class];
}

static void spare_put(int cpu, unsigned class, uint64_t chain)
{
	/* acq_rel: the chain's links go with it, to and from other CPUs. */
	chain = xchg_acq_rel(spare_of(cpu, class), chain);
	if (chain) {
		central_put(class, chain);
	}
}

static uint64_t spare_take(int cpu, unsigned class)
{
	_Atomic uint64_t *spare = spare_of(cpu, class);

	if (!load_relaxed(spare)) {
		return 0;
	}
	/* acquire: pairs with the release in spare_put(). */
	return xchg_acquire(spare, 0);
}

static AMUX_RACY uint64_t word_read(const uint64_t *word)
{
	return *(const volatile uint64_t *)word;
}

/* Shards ---------------------------------------------------------------- */

static struct shard *shard_lock(void)
{
	uintptr_t self = (uintptr_t)__builtin_thread_pointer();
	/* Thread descriptors lie whole mappings apart; mix the high bits in. */
	struct shard *shard =
		&g.shards[(self * UINT64_C(0x9e3779b97f4a7c15)) >> 61];

	lock_acquire(&shard->lock);
	return shard;
}

static void *shard_malloc(unsigned class)
{
	struct shard *shard = shard_lock();
	uint64_t *word = &shard->words[class];
	void *block;

	if (!chain_top(*word)) {
		*word = central_take(class);
	}
	block = chain_top(*word);
	if (block) {
		*word = *block_link(block);
	}
	lock_release(&shard->lock);
	return block;
}

static void shard_free(unsigned class, void *block)
{
	struct shard *shard = shard_lock();
	uint64_t *word = &shard->words[class];
	uint64_t old = *word;

	if (!chain_room(old)) {
		*word = chain_push(chain_empty(class), block);
	} else {
		*word = chain_push(old, block);
		old = 0;
	}
	lock_release(&shard->lock);
	if (chain_top(old)) {
		central_put(class, old);
	}
}

static_assert(SHARDS == 8, "shard_lock() takes three bits");

/* CPUs ------------------------------------------------------------------- */

/* cpu_number(), and remember that its row is in use from now on. */
static int cpu_enter(void)
{
	int cpu = cpu_number();
	uint32_t seen = load_relaxed(&g.seen);

	while (unlikely(cpu >= (int)seen) &&
		!cas_acq_rel(&g.seen, &seen, (uint32_t)cpu + 1)) {
	}
	return cpu;
}

/* Put a chain where the next malloc finds it. */
static void bin_install(unsigned class, uint64_t chain)
{
	int cpu = cpu_enter();

	if (cpu < 0 || load_relaxed(&percpu_hot.draining)) {
		central_put(class, chain);
		return;
	}

	uint64_t *word = bin_of(cpu, class);
	uint64_t old = word_read(word);

	if (chain_top(old) ||
		!percpu_bin_store(word, old, chain, (uint32_t)cpu)) {
		spare_put(cpu, class, chain);
	}
}

void *percpu_bins_malloc(unsigned class)
{
	int cpu = cpu_enter();
	uint64_t chain, rest;
	void *block;

	if (cpu < 0) {
		return shard_malloc(class);
	}
	chain = spare_take(cpu, class);
	if (!chain) {
		chain = central_take(class);
	}
	if (!chain) {
		return NULL;
	}
	block = chain_top(chain);
	rest = *block_link(block);
	if (chain_top(rest)) {
		if (unlikely(load_relaxed(&percpu_pages.armed))) {
			spare_put(cpu, class, rest);
		} else {
			bin_install(class, rest);
		}
	}
	return block;
}

void percpu_bins_free(unsigned class, void *block)
{
	int cpu = cpu_enter();

	if (cpu < 0) {
		shard_free(class, block);
		return;
	}
	for (int i = 0; i < TRIES; i++, cpu = cpu_enter()) {
		uint64_t *word = bin_of(cpu, class);
		uint64_t old = word_read(word);
		bool full = !chain_room(old);
		uint64_t below = full ? chain_empty(class) : old;
		uint64_t value = chain_push(below, block);

		if (full && load_relaxed(&percpu_pages.armed)) {
			*block_link(block) = 0;
		}
		if (!percpu_bin_store(word, old, value, (uint32_t)cpu)) {
			continue;
		}
		if (full && chain_top(old)) {
			spare_put(cpu, class, old);
		}
		return;
	}
	/* A drain, or no luck: past the bins. */
	central_put(class, chain_push(chain_empty(class), block));
}

/* Drain ------------------------------------------------------------------ */

static void fence(void)
{
	sys3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0);
}

static bool row_in_use(const struct row *row)
{
	for (unsigned i = 0; i < CLASS_COUNT; i++) {
		if (chain_top(
			    word_read(&row->words[g.shift + WORD_CLASS + i]))) {
			return true;
		}
	}
	return false;
}

static void row_drain(int cpu, bool fenced)
{
	uint64_t taken[CLASS_COUNT] = {0};

	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		uint64_t *word = bin_of(cpu, class);

		if (chain_top(word_read(word))) {
			taken[class] =
				xchg_acq_rel((_Atomic uint64_t *)word, 0);
		}
	}
	if (fenced) {
		fence();
	}
	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		if (chain_top(taken[class]) &&
			word_read(bin_of(cpu, class)) == 0) {
			central_put(class, taken[class]);
		}
	}
}

static void shards_drain(void)
{
	for (unsigned i = 0; i < SHARDS; i++) {
		struct shard *shard = &g.shards[i];

		lock_acquire(&shard->lock);
		for (unsigned class = 0; class < CLASS_COUNT; class ++) {
			uint64_t chain = shard->words[class];

			shard->words[class] = 0;
			if (chain_top(chain)) {
				central_put(class, chain);
			}
		}
		lock_release(&shard->lock);
	}
}

void percpu_bins_drain_own(void)
{
	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		int cpu = cpu_number();
		uint64_t chain;

		if (cpu < 0) {
			return;
		}
		chain = word_read(bin_of(cpu, class));
		if (chain_top(chain) && percpu_bin_store(bin_of(cpu, class),
						chain, 0, (uint32_t)cpu)) {
			central_put(class, chain);
		}
	}
}

void percpu_bins_drain(bool fenced)
{
	uint32_t seen = load_relaxed(&g.seen);

	lock_acquire(&g.drain);
	if (!fenced || g.fence) {
		store_relaxed(&percpu_hot.draining, 1);
		if (fenced) {
			fence();
		}
		for (uint32_t cpu = 0; cpu < seen; cpu++) {
			if (row_in_use(&g.rows[cpu])) {
				row_drain((int)cpu, fenced);
			}
		}
		store_relaxed(&percpu_hot.draining, 0);
	} else {
		percpu_bins_drain_own();
	}
	for (uint32_t cpu = 0; cpu < seen; cpu++) {
		for (unsigned class = 0; class < CLASS_COUNT; class ++) {
			uint64_t chain = spare_take((int)cpu, class);

			if (chain) {
				central_put(class, chain);
			}
		}
	}
	shards_drain();
	lock_release(&g.drain);
}

static size_t word_count(unsigned class, uint64_t word)
{
	return chain_top(word) ? chain_count(class, word) : 0;
}

size_t percpu_bins_count(unsigned class)
{
	size_t count = 0;

	for (uint32_t cpu = 0; cpu < load_relaxed(&g.seen); cpu++) {
		count += word_count(class, word_read(bin_of((int)cpu, class)));
		count += word_count(
			class, load_relaxed(spare_of((int)cpu, class)));
	}
	for (unsigned i = 0; i < SHARDS; i++) {
		count +=
			word_count(class, word_read(&g.shards[i].words[class]));
	}
	return count;
}

/* Fork ------------------------------------------------------------------- */

void percpu_bins_prefork(void)
{
	lock_prefork(&g.drain);
	for (unsigned i = 0; i < SHARDS; i++) {
		lock_prefork(&g.shards[i].lock);
	}
}

void percpu_bins_postfork(void)
{
	for (unsigned i = 0; i < SHARDS; i++) {
		lock_postfork(&g.shards[i].lock);
	}
	lock_postfork(&g.drain);
}
