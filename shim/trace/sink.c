/* SPDX-License-Identifier: MIT */
/*
 * sink.c - see sink.h and docs/trace-format.md.
 *
 * The file grows by segments. Disk is allocated (fallocate(2)) before a
 * segment is mapped, so a write to it cannot fail: a full disk shows as a
 * refused segment, and events are counted as lost.
 *
 * A consumer, `allocmux trace`, may copy closed blocks out of the file and
 * return their numbers through a ring in the file header's block; they are
 * used again before the file grows. Blocks that were given back stay mapped for
 * a while, so that the usual round needs no system call and no page fault.
 *
 * The mappings are not inherited by fork (MADV_DONTFORK): a child cannot write
 * into its parent's file.
 */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/bits.h"
#include "base/compiler.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/os.h"
#include "base/syscall.h"
#include "encode.h"
#include "walk.h"

#define FIRST_SEGMENT  4u
#define SEGMENT_BLOCKS 16u
#define FEW_BYTES      1048576u /* below it, grow by first segments */
#define PATH_SIZE      4096u
#define MOST_IMAGES    10000u

/* Blocks given back and still mapped, waiting for the consumer. */
#define RETIRED 64u

/* How long a full file is left alone before another attempt, ns. */
#define RETRY_NS 100000000u

/* One record of INFO or STACKS must fit into an empty block. */
#define MOST_FRAMES 2112u

struct retired {
	struct amux_trace_block *block;
	uint32_t index;
};

/* A block that the whole process fills, under the lock. */
struct stream {
	struct amux_trace_block *block;
	uint8_t *next;
	uint32_t sequence;
};

static struct {
	struct lock lock;
	struct sink_options options;    /* sync: set at open */
	char pattern[PATH_SIZE];        /* absolute; sync: set at open */
	char path[PATH_SIZE];           /* sync: set at open */
	uint64_t device, inode;         /* of the file; sync: set at open */
	struct amux_trace_file *header; /* sync: set at open */
	struct timespec zero;           /* CLOCK_MONOTONIC; sync: set at open */

	_Atomic bool full; /* sync: atomic; the file could not grow */
	uint64_t retry_ns; /* when to try again */

	/* sync: lock, all below */
	uint64_t order;
	_Atomic uint32_t growths;
	uint8_t *segment;        /* rest of the mapped, unused blocks */
	uint32_t segment_blocks; /* how many are left there */
	struct retired retired[RETIRED];
	uint32_t retired_head, retired_tail;
	uint32_t *closed; /* ring mode: EVENTS blocks, oldest first */
	uint32_t closed_size, closed_head, closed_tail;
	struct stream stacks, info;
	uint64_t previous[MOST_FRAMES]; /* frames of the last definition */
	size_t previous_count;
} g = {.lock = LOCK_INIT(LOCK_RANK_TRACE)};

void sink_lock(void)
{
	lock_acquire(&g.lock);
}

void sink_unlock(void)
{
	lock_release(&g.lock);
}

void sink_prefork(void)
{
	lock_prefork(&g.lock);
}

void sink_postfork(void)
{
	lock_postfork(&g.lock);
}

bool sink_is_open(void)
{
	return g.header != NULL;
}

uint32_t sink_growths(void)
{
	return load_relaxed(&g.growths);
}

size_t sink_block_size(void)
{
	return g.options.block_size;
}

struct amux_trace_file *sink_header(void)
{
	return g.header;
}

const char *sink_path(void)
{
	return g.path;
}

/* ---- time ---- */

static uint64_t since_zero(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)(now.tv_sec - g.zero.tv_sec) * 1000000000u +
	       (uint64_t)now.tv_nsec - (uint64_t)g.zero.tv_nsec;
}

uint64_t sink_now(void)
{
	return since_zero(CLOCK_MONOTONIC);
}

uint64_t sink_tick(void)
{
	return since_zero(CLOCK_MONOTONIC_COARSE);
}

/* ---- the file ---- */

static size_t append_number(char *out, size_t at, uint64_t number)
{
	return at + log_format(out + at, PATH_SIZE - at, "%lu",
			    (unsigned long)number);
}

/* Expand the pattern; *numbered: it contains %n. */
static void expand(uint64_t image, bool *numbered)
{
	size_t at = 0;

	*numbered = false;
	for (const char *p = g.pattern; *p && at < PATH_SIZE - 24; p++) {
		if (*p != '%') {
			g.path[at++] = *p;
		} else if (*++p == 'p') {
			at = append_number(g.path, at, (uint64_t)os_getpid());
		} else if (*p == 'n') {
			at = append_number(g.path, at, image);
			*numbered = true;
		} else if (*p) {
			g.path[at++] = *p;
		} else {
			break;
		}
	}
	if (!*numbered && image) {
		g.path[at++] = '.';
		at = append_number(g.path, at, image);
	}
	g.path[at] = '\0';
}

static int make_absolute(const char *pattern)
{
	size_t length = 0;

	if (pattern[0] != '/') {
		long ret = sys2(SYS_getcwd, g.pattern, PATH_SIZE);

		if (sys_failed(ret)) {
			return (int)ret;
		}
		length = strlen(g.pattern);
		g.pattern[length++] = '/';
	}
	if (length + strlen(pattern) >= PATH_SIZE - 32) {
		return -ENAMETOOLONG;
	}
	strcpy(g.pattern + length, pattern);
	return 0;
}

static long open_again(void)
{
	long fd = sys4(SYS_openat, AT_FDCWD, g.path,
		O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
	struct stat st;

	if (sys_failed(fd)) {
		return fd;
	}
	if (fstat((int)fd, &st) != 0 || st.st_dev != g.device ||
		st.st_ino != g.inode) {
		sys1(SYS_close, fd);
		return -ESTALE;
	}
	return fd;
}

/*
 * Disk for [from, from + size), as posix_fallocate(3) does it. The limit on
 * file sizes is looked at first: going over it is a signal that kills.
 */
static long allocate(long fd, uint64_t from, uint64_t size)
{
	struct rlimit limit;
	long ret;

	ret = sys4(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit);
	if (ret == 0 && from + size > limit.rlim_cur) {
		return -EFBIG;
	}
	ret = sys4(SYS_fallocate, fd, 0, from, size);
	if (ret != -EOPNOTSUPP && ret != -ENOSYS) {
		return ret;
	}
	for (uint64_t at = from; at < from + size; at += 4096) {
		char zero = 0;

		ret = sys4(SYS_pwrite64, fd, &zero, 1, at + 4095);
		if (ret != 1) {
			return sys_failed(ret) ? ret : -EIO;
		}
	}
	return 0;
}

static int map_file(long fd, uint64_t offset, size_t size, void **addr)
{
	long ret = sys6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED, fd, offset);

	if (sys_failed(ret)) {
		return (int)ret;
	}
	*addr = (void *)ret;
	os_advise(*addr, size, MADV_DONTFORK);
	return 0;
}

static void fill_header(struct amux_trace_file *header, uint64_t image)
{
	struct timespec real, tick;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &g.zero);
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	*header = (struct amux_trace_file)
	{
		.major = AMUX_TRACE_VERSION_MAJOR,
		.minor = AMUX_TRACE_VERSION_MINOR,
		.header_size = sizeof(*header),
		.block_size = g.options.block_size, .mode = g.options.mode,
#if defined(__x86_64__)
		.machine = 62,
#elif defined(__aarch64__)
		.machine = 183,
#endif
		.page_size = (uint32_t)os_page_size(),
		.pid = (uint32_t)os_getpid(),
		.ppid = (uint32_t)sys0(SYS_getppid), .image = (uint32_t)image,
		.site_size = sizeof(struct amux_trace_site),
		.features = g.options.features,
		.real_ns = (uint64_t)real.tv_sec * 1000000000u +
			   (uint64_t)real.tv_nsec,
		.mono_ns = (uint64_t)g.zero.tv_sec * 1000000000u +
			   (uint64_t)g.zero.tv_nsec,
		.tick_ns = (uint64_t)tick.tv_nsec,
		.interval = g.options.interval, .blocks = 1,
	};
	/* Last, so that nobody reads half a header. */
	atomic_thread_fence(memory_order_release);
	memcpy(header->magic, AMUX_TRACE_MAGIC, sizeof(header->magic));
}

/* A new file that nobody has: names that are taken count images. */
static long create(uint64_t *image)
{
	bool numbered;
	long fd = -EEXIST;

	for (*image = 0; *image < MOST_IMAGES && fd == -EEXIST; ++*image) {
		expand(*image, &numbered);
		fd = sys4(SYS_openat, AT_FDCWD, g.path,
			O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			0600);
	}
	--*image;
	return fd;
}

static int open_new(void)
{
	uint64_t image;
	long fd = create(&image);
	struct stat st;
	void *addr;
	long err;

	if (sys_failed(fd)) {
		return (int)fd;
	}
	err = allocate(fd, 0, g.options.block_size);
	if (!err && fstat((int)fd, &st) != 0) {
		err = -EIO;
	}
	if (!err) {
		err = map_file(fd, 0, g.options.block_size, &addr);
	}
	sys1(SYS_close, fd);
	if (err) {
		sys4(SYS_unlinkat, AT_FDCWD, g.path, 0, 0);
		return (int)err;
	}
	g.device = st.st_dev;
	g.inode = st.st_ino;
	fill_header(addr, image);
	g.header = addr;
	return 0;
}

/* Ring mode: room for the numbers of all blocks there can be. */
static int open_ring(void)
{
	uint64_t most = g.options.size_limit / g.options.block_size;
	void *addr;
	int err;

	if (!g.options.ring || most == 0) {
		return 0;
	}
	err = os_map(round_up(most * sizeof(*g.closed), os_page_size()), &addr);
	if (!err) {
		g.closed = addr;
		g.closed_size = (uint32_t)most;
	}
	return err;
}

int sink_open(const struct sink_options *options)
{
	int err;

	g.options = *options;
	err = make_absolute(options->pattern);
	if (!err) {
		err = open_ring();
	}
	return err ? err : open_new();
}

int sink_reopen_in_child(void)
{
	lock_init(&g.lock, LOCK_RANK_TRACE);
	g.header = NULL;
	g.order = 0;
	g.segment_blocks = 0;
	g.retired_head = g.retired_tail = 0;
	g.closed_head = g.closed_tail = 0;
	store_relaxed(&g.full, false);
	memset(&g.stacks, 0, sizeof(g.stacks));
	memset(&g.info, 0, sizeof(g.info));
	g.previous_count = 0;
	g.options.features |= AMUX_TRACE_F_FORKED;
	g.options.features &= ~AMUX_TRACE_F_STARTUP;
	return open_new();
}

/* ---- blocks ---- */

static void stop_growing(long err)
{
	g.retry_ns = sink_tick() + RETRY_NS;
	if (!load_relaxed(&g.full)) {
		store_relaxed(&g.full, true);
		store_relaxed(
			(_Atomic uint32_t *)&g.header->error, (uint32_t)-err);
		store_relaxed((_Atomic uint32_t *)&g.header->state,
			err == -EFBIG ? AMUX_TRACE_LIMIT : AMUX_TRACE_ERROR);
	}
}

/*
 * Keep the mapping for a while: the consumer may return the block soon, and
 * unmapping with the next growth leaves the time between without system calls
 * (a program may have forbidden them to itself, seccomp(2)).
 */
static void retire(struct amux_trace_block *block, uint32_t index)
{
	if (g.retired_head - g.retired_tail == RETIRED) {
		struct retired *oldest = &g.retired[g.retired_tail++ % RETIRED];

		os_unmap(oldest->block, g.options.block_size);
	}
	g.retired[g.retired_head++ % RETIRED] =
		(struct retired){.block = block, .index = index};
}

/* Without a consumer nothing comes back. */
static void unmap_retired(void)
{
	while (g.header->consumer == 0 && g.retired_tail != g.retired_head) {
		struct retired *r = &g.retired[g.retired_tail++ % RETIRED];

		os_unmap(r->block, g.options.block_size);
	}
}

static bool grow_locked(void)
{
	uint64_t from = g.header->blocks * g.options.block_size;
	uint32_t blocks = from < FEW_BYTES ? FIRST_SEGMENT : SEGMENT_BLOCKS;
	uint64_t size = blocks * (uint64_t)g.options.block_size;
	void *addr;
	long err;
	long fd;

	if (g.options.size_limit && from + size > g.options.size_limit) {
		if (!g.closed || g.closed_head == g.closed_tail) {
			stop_growing(-EFBIG);
		}
		return false;
	}
	fd = open_again();
	if (sys_failed(fd)) {
		stop_growing(fd);
		return false;
	}
	err = allocate(fd, from, size);
	if (!err) {
		err = map_file(fd, from, size, &addr);
	}
	sys1(SYS_close, fd);
	if (err) {
		stop_growing(err);
		return false;
	}
	g.segment = addr;
	g.segment_blocks = blocks;
	unmap_retired();
	store_relaxed(&g.growths, g.growths + 1);
	return true;
}

/* The mapping of a block that comes back; NULL if it cannot be mapped. */
static struct amux_trace_block *map_again(uint32_t index)
{
	void *addr;
	long fd;
	int err;

	for (uint32_t i = g.retired_tail; i != g.retired_head; i++) {
		struct retired *r = &g.retired[i % RETIRED];

		if (r->index == index) {
			struct amux_trace_block *block = r->block;

			*r = g.retired[g.retired_tail++ % RETIRED];
			return block;
		}
	}
	fd = open_again();
	if (sys_failed(fd)) {
		return NULL;
	}
	err = map_file(fd, (uint64_t)index * g.options.block_size,
		g.options.block_size, &addr);
	sys1(SYS_close, fd);
	return err ? NULL : addr;
}

/* A block that the consumer returned. */
static struct amux_trace_block *take_returned(void)
{
	struct amux_trace_file *h = g.header;
	/* acquire: pairs with the consumer's release after it copied. */
	uint32_t head = load_acquire((_Atomic uint32_t *)&h->returned_head);
	uint32_t tail = h->returned_tail;
	uint32_t index;

	if (head == tail) {
		return NULL;
	}
	index = h->returned[tail % AMUX_TRACE_RETURNED];
	store_release((_Atomic uint32_t *)&h->returned_tail, tail + 1);
	if (index == 0 || index >= h->blocks) {
		return NULL;
	}
	return map_again(index);
}

/* Ring mode at the limit: the EVENTS block that was closed first. */
static struct amux_trace_block *take_oldest(void)
{
	if (!g.closed || g.closed_head == g.closed_tail) {
		return NULL;
	}
	return map_again(g.closed[g.closed_tail++ % g.closed_size]);
}

static struct amux_trace_block *take_locked(
	unsigned kind, uint32_t lane, uint32_t sequence, uint32_t thread)
{
	struct amux_trace_block *block = take_returned();
	uint32_t index;

	if (block) {
		index = block->index;
	} else if (g.segment_blocks || grow_locked()) {
		block = (struct amux_trace_block *)(void *)g.segment;
		g.segment += g.options.block_size;
		g.segment_blocks--;
		index = (uint32_t)g.header->blocks;
		store_release((_Atomic uint64_t *)&g.header->blocks, index + 1);
	} else if ((block = take_oldest()) != NULL) {
		index = block->index;
	} else {
		return NULL;
	}
	/* A reader must not take the old header with the new payload. */
	store_release((_Atomic uint64_t *)&block->committed, 0);
	*block = (struct amux_trace_block){
		.magic = AMUX_TRACE_BLOCK_MAGIC,
		.kind = (uint8_t)kind,
		.header_size = sizeof(*block),
		.lane = lane,
		.sequence = sequence,
		.thread = thread,
		.start_ns = sink_now(),
		.order = ++g.order,
		.index = index,
	};
	return block;
}

struct amux_trace_block *sink_take_block(
	uint32_t lane, uint32_t sequence, uint32_t thread)
{
	struct amux_trace_block *block;

	if (unlikely(load_relaxed(&g.full)) && sink_tick() < g.retry_ns &&
		load_relaxed((_Atomic uint32_t *)&g.header->returned_head) ==
			g.header->returned_tail) {
		return NULL;
	}
	sink_lock();
	block = take_locked(AMUX_TRACE_EVENTS, lane, sequence, thread);
	sink_unlock();
	return block;
}

struct amux_trace_block *sink_take_sites_locked(
	uint32_t lane, uint32_t sequence)
{
	return take_locked(AMUX_TRACE_SITES, lane, sequence, 0);
}

static void give_locked(struct amux_trace_block *block, uint64_t events)
{
	uint32_t index = block->index;
	bool is_events = block->kind == AMUX_TRACE_EVENTS;

	block->end_ns = sink_now();
	block->events = events;
	/* release: a consumer that sees it sees the whole block. */
	store_release((_Atomic uint8_t *)&block->flags, AMUX_TRACE_CLOSED);
	retire(block, index);
	if (is_events && g.closed) {
		g.closed[g.closed_head++ % g.closed_size] = index;
	}
}

void sink_give_block(struct amux_trace_block *block, uint64_t events)
{
	sink_lock();
	give_locked(block, events);
	sink_unlock();
}

void sink_count_lost(uint64_t size)
{
	add_relaxed((_Atomic uint64_t *)&g.header->lost_events, 1);
	add_relaxed((_Atomic uint64_t *)&g.header->lost_bytes, size);
}

/* ---- streams ---- */

/* At least `room` bytes to write at; NULL if there is no block. */
static uint8_t *stream_room(struct stream *s, unsigned kind, size_t room)
{
	if (s->block && (uint8_t *)s->block + g.options.block_size - s->next >=
				(ptrdiff_t)room) {
		return s->next;
	}
	if (s->block) {
		give_locked(s->block, 0);
	}
	s->block = take_locked(kind, 0, s->sequence, 0);
	if (!s->block) {
		return NULL;
	}
	s->sequence++;
	s->next = (uint8_t *)(s->block + 1);
	return s->next;
}

static void stream_commit(struct stream *s, uint8_t *end)
{
	s->next = end;
	/* release: pairs with the reader's load. */
	store_release((_Atomic uint64_t *)&s->block->committed,
		(uint64_t)(end - (uint8_t *)(s->block + 1)));
}

_Static_assert(WALK_FRAMES + 64 <= MOST_FRAMES, "previous[] holds a stack");
_Static_assert(10 * MOST_FRAMES + 64 <= 65536, "a definition fits in a block");

void sink_define_stack(
	uint32_t id, uint32_t epoch, const uint64_t *frames, size_t count)
{
	struct amux_trace_block *before = g.stacks.block;
	uint8_t *p;

	p = stream_room(&g.stacks, AMUX_TRACE_STACKS, 10 * count + 32);
	if (!p) {
		sink_count_lost(0);
		return;
	}
	if (g.stacks.block != before || g.stacks.block->committed == 0) {
		g.previous_count = 0;
	}
	p = encode_stack(
		p, id, epoch, frames, count, g.previous, g.previous_count);
	stream_commit(&g.stacks, p);
	memcpy(g.previous, frames, count * sizeof(frames[0]));
	g.previous_count = count;
}

void sink_info_locked(struct sink_piece *pieces, size_t count)
{
	struct amux_trace_info info;
	size_t length = 0;
	uint8_t *start, *p;

	for (size_t i = 0; i < count; i++) {
		length += pieces[i].size;
	}
	start = p = stream_room(&g.info, AMUX_TRACE_INFO, length + 8);
	if (!p || length + 8 > g.options.block_size - 64) {
		return;
	}
	for (size_t i = 0; i < count; i++) {
		memcpy(p, pieces[i].data, pieces[i].size);
		p += pieces[i].size;
	}
	memcpy(&info, start, sizeof(info));
	info.length = (uint32_t)length;
	info.ns = sink_now();
	memcpy(start, &info, sizeof(info));
	length = round_up(length, 8);
	memset(p, 0, length - (size_t)(p - start));
	stream_commit(&g.info, start + length);
}

void sink_text(uint32_t key, const char *text, size_t length)
{
	struct amux_trace_info_text record = {
		.info = {.type = AMUX_TRACE_INFO_TEXT},
		.key = key,
	};
	size_t most = g.options.block_size / 4;

	record.length = (uint32_t)(length < most ? length : most);

	struct sink_piece pieces[] = {
		{&record, sizeof(record)}, {text, record.length}};

	sink_lock();
	sink_info_locked(pieces, 2);
	sink_unlock();
}

/* ---- the end ---- */

void sink_finish(uint32_t state)
{
	uint32_t running = AMUX_TRACE_RUNNING;
	long fd;

	sink_lock();
	store_relaxed((_Atomic uint64_t *)&g.header->end_ns, sink_now());
	cas_release((_Atomic uint32_t *)&g.header->state, &running, state);
	fd = open_again();
	if (!sys_failed(fd)) {
		if (g.segment_blocks) {
			os_unmap(g.segment,
				g.segment_blocks * g.options.block_size);
			g.segment_blocks = 0;
		}
		sys2(SYS_ftruncate, fd,
			g.header->blocks * g.options.block_size);
		sys1(SYS_close, fd);
	}
	sink_unlock();
}

void sink_resume(void)
{
	sink_lock();
	store_relaxed(&g.full, false);
	store_relaxed((_Atomic uint64_t *)&g.header->end_ns, 0);
	store_relaxed((_Atomic uint32_t *)&g.header->state, AMUX_TRACE_RUNNING);
	sink_unlock();
}
