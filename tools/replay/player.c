/* SPDX-License-Identifier: MIT */
/*
 * player.c - the program allocmux-replay: makes the calls of an ops file, under
 * whatever malloc it was started with.
 *
 *     allocmux-replay FILE none|pages|all
 *
 * Each thread of the trace is a thread here, from its first call to its last.
 * Only one of them runs at a time, the one whose call is next, so that the
 * order is the trace's: the replay is deterministic, and does not show
 * contention. The clock runs while calls are made and blocks are touched, not
 * while the turn passes to another thread or memory is read.
 *
 * Memory that is not malloc's is kept out of the figures: they are of anonymous
 * private pages, and what the player itself needs is in shared ones.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ops.h"

enum { SAMPLES = 200, SPINS = 200, PAGE = 4096, STACK = 128 << 10 };

enum touch { TOUCH_NONE, TOUCH_PAGES, TOUCH_ALL };

struct block {
	unsigned char *ptr;
	uint64_t size;
};

struct reading {
	double part;        /* of all calls */
	uint64_t anonymous; /* KiB */
	uint64_t live;      /* bytes */
};

static struct {
	const struct ops_header *header;
	const struct op *ops;
	enum touch touch;
	int statm;

	/* Whoever has the turn owns the rest. */
	struct block *blocks;
	atomic_uint *gates; /* [thread]: 1: it is your turn */
	bool *started;      /* [thread] */
	atomic_uint over;
	uint64_t next;
	uint64_t live;
	uint64_t peak_live;
	uint64_t sampled_live; /* greatest live bytes that memory was read at */
	uint64_t ns;
	uint64_t peak_anonymous;
	struct reading readings[SAMPLES + 1];
	size_t reading_count;
} g;

static _Noreturn void fail(const char *what)
{
	dprintf(STDERR_FILENO, "allocmux-replay: %s\n", what);
	_exit(1);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		fail("no memory for the player's own tables");
	}
	return memory;
}

static uint64_t anonymous_kib(void)
{
	char text[128];
	ssize_t n = pread(g.statm, text, sizeof(text) - 1, 0);
	unsigned long resident;
	unsigned long not_ours;
	char *rest;

	if (n <= 0) {
		fail("cannot read /proc/self/statm");
	}
	text[n] = '\0';
	strtoul(text, &rest, 10); /* size */
	resident = strtoul(rest, &rest, 10);
	not_ours = strtoul(rest, &rest, 10); /* of files, and shared */
	return (resident - not_ours) * (PAGE / 1024);
}

static void memory_read(bool keep)
{
	uint64_t anonymous = anonymous_kib();

	if (anonymous > g.peak_anonymous) {
		g.peak_anonymous = anonymous;
	}
	if (keep && g.reading_count <= SAMPLES) {
		g.readings[g.reading_count++] = (struct reading){
			(double)g.next / (double)g.header->count, anonymous,
			g.live};
	}
}

static void block_touch(const struct block *block, uint64_t from)
{
	if (g.touch == TOUCH_ALL && block->size > from) {
		memset(block->ptr + from, 0x5a, block->size - from);
	} else if (g.touch == TOUCH_PAGES) {
		for (uint64_t at = from; at < block->size; at += PAGE) {
			*(volatile unsigned char *)(block->ptr + at) = 0x5a;
		}
	}
}

static void call(const struct op *op)
{
	struct block *block = &g.blocks[op->slot];
	uint64_t before = 0;

	switch (op->kind & ~OP_LAST) {
	case OP_FREE:
		free(block->ptr);
		g.live -= block->size;
		return;
	case OP_MALLOC:
		block->ptr = malloc(op->size);
		break;
	case OP_CALLOC:
		block->ptr = calloc(1, op->size);
		break;
	case OP_ALIGNED:
		block->ptr = memalign((size_t)1 << op->align, op->size);
		break;
	case OP_REALLOC:
		before = block->size;
		g.live -= before;
		block->ptr = realloc(block->ptr, op->size ? op->size : 1);
		break;
	}
	if (block->ptr == NULL) {
		fail("an allocation failed that did not in the trace");
	}
	block->size = op->size;
	g.live += op->size;
	block_touch(block, before);
}

/* Should memory be read after this call? */
static bool is_time_to_read(bool *keep)
{
	*keep = g.next * SAMPLES / g.header->count !=
		(g.next - 1) * SAMPLES / g.header->count;
	if (g.live > g.peak_live) {
		g.peak_live = g.live;
	}
	if (g.live > g.sampled_live + g.sampled_live / 100) {
		g.sampled_live = g.live;
		return true;
	}
	return *keep;
}

/* The calls of one thread until another's turn; true after its last. */
static bool burst(unsigned self)
{
	uint64_t begin = now();
	bool last = false;

	while (!last && g.next < g.header->count &&
		g.ops[g.next].thread == self) {
		const struct op *op = &g.ops[g.next++];
		bool keep;

		call(op);
		last = (op->kind & OP_LAST) != 0;
		if (is_time_to_read(&keep)) {
			g.ns += now() - begin;
			memory_read(keep);
			begin = now();
		}
	}
	g.ns += now() - begin;
	return last;
}

static void word_wait(atomic_uint *word)
{
	for (int i = 0; i < SPINS; i++) {
		/* acquire: pairs with word_post(); all of g is then ours. */
		if (atomic_load_explicit(word, memory_order_acquire) != 0) {
			return;
		}
	}
	while (atomic_load_explicit(word, memory_order_acquire) == 0) {
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	}
}

static void word_post(atomic_uint *word)
{
	/* release: pairs with word_wait(). */
	atomic_store_explicit(word, 1, memory_order_release);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *thread_main(void *number);

static void thread_start(unsigned number)
{
	pthread_attr_t attributes;
	pthread_t thread;

	g.started[number] = true;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(&thread, &attributes, thread_main,
		    (void *)(uintptr_t)number) != 0) {
		fail("cannot create a thread");
	}
	pthread_attr_destroy(&attributes);
}

/* All turns of one thread. */
static void thread_play(unsigned self)
{
	bool last;

	do {
		word_wait(&g.gates[self]);
		atomic_store_explicit(&g.gates[self], 0, memory_order_relaxed);
		last = burst(self);
		if (g.next == g.header->count) {
			word_post(&g.over);
		} else {
			unsigned other = g.ops[g.next].thread;

			if (!g.started[other]) {
				thread_start(other);
			}
			word_post(&g.gates[other]);
		}
	} while (!last);
}

static void *thread_main(void *number)
{
	thread_play((unsigned)(uintptr_t)number);
	return NULL;
}

static void report(void)
{
	double sum = 0;
	double live = 0;

	for (size_t i = 0; i < g.reading_count; i++) {
		const struct reading *reading = &g.readings[i];

		sum += (double)reading->anonymous;
		live += (double)reading->live / 1024;
		dprintf(STDOUT_FILENO, "sample %.4f %llu %llu\n", reading->part,
			(unsigned long long)reading->anonymous,
			(unsigned long long)reading->live);
	}
	dprintf(STDOUT_FILENO,
		"seconds %.9f\npeak_live_bytes %llu\npeak_kib %llu\n"
		"mean_kib %.1f\nend_kib %llu\nover_live %.4f\n",
		(double)g.ns / 1e9, (unsigned long long)g.peak_live,
		(unsigned long long)g.peak_anonymous,
		sum / (double)g.reading_count,
		(unsigned long long)anonymous_kib(), sum / live);
}

static void ops_map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	void *file;

	if (fd < 0 || fstat(fd, &info) != 0 ||
		(size_t)info.st_size < sizeof(*g.header)) {
		fail("cannot read the file of calls");
	}
	file = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED) {
		fail("cannot map the file of calls");
	}
	close(fd);
	g.header = file;
	g.ops = (const struct op *)(g.header + 1);
	if (g.header->magic != OPS_MAGIC || g.header->count == 0 ||
		(size_t)info.st_size !=
			sizeof(*g.header) + g.header->count * sizeof(*g.ops)) {
		fail("not a file of calls");
	}
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fail("usage: allocmux-replay FILE none|pages|all");
	}
	g.touch = strcmp(argv[2], "all") == 0    ? TOUCH_ALL
		  : strcmp(argv[2], "none") == 0 ? TOUCH_NONE
						 : TOUCH_PAGES;
	ops_map(argv[1]);
	g.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	g.blocks = shared(((size_t)g.header->slots + 1) * sizeof(*g.blocks));
	g.gates = shared(((size_t)g.header->threads + 1) * sizeof(*g.gates));
	g.started = shared((size_t)g.header->threads + 1);
	/* The first thread is the main one. */
	g.started[g.ops[0].thread] = true;
	word_post(&g.gates[g.ops[0].thread]);
	thread_play(g.ops[0].thread);
	word_wait(&g.over);
	report();
	/* Threads that are still leaving must not find things taken down. */
	_exit(0);
}
