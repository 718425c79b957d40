/* SPDX-License-Identifier: MIT */
/* test_percpu.c - backends/percpu/ by its table, on a fake host. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/host.h"
#include "base/lock.h"
#include "percpu/percpu.h"

#define B amux_percpu_backend

static int init_once(void **state)
{
	(void)state;
	return B.init(test_host("percpu"));
}

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 8;
}

static void fill(unsigned char *block, size_t size, unsigned tag)
{
	memset(block, (int)(tag & 0xff), size);
}

static int holds(const unsigned char *block, size_t size, unsigned tag)
{
	for (size_t i = 0; i < size; i++) {
		if (block[i] != (tag & 0xff)) {
			return 0;
		}
	}
	return 1;
}

/* Random allocation over a table of blocks, each checked before its free. */
static int churn(unsigned seed, int steps, size_t max)
{
	enum { LIVE = 500 };
	static __thread struct {
		unsigned char *block;
		size_t size;
		unsigned tag;
	} live[LIVE];
	int good = 1;

	for (int i = 0; i < steps && good; i++) {
		unsigned at = next_random(&seed) % LIVE;

		if (live[at].block) {
			good = holds(
				live[at].block, live[at].size, live[at].tag);
			B.free(live[at].block);
		}
		live[at].size = next_random(&seed) % max;
		live[at].tag = next_random(&seed);
		live[at].block = B.malloc(live[at].size);
		good = good && live[at].block &&
		       (uintptr_t)live[at].block % 16 == 0;
		if (good) {
			fill(live[at].block, live[at].size, live[at].tag);
		}
	}
	for (unsigned at = 0; at < LIVE; at++) {
		B.free(live[at].block);
		live[at].block = NULL;
	}
	return good;
}

static void test_small_blocks_never_overlap(void **state)
{
	(void)state;
	assert_true(churn(1, 100000, 2000));
	assert_int_equal(B.check(), 0);
}

static void test_blocks_of_all_sizes_never_overlap(void **state)
{
	(void)state;
	assert_true(churn(2, 20000, 100000));
	assert_int_equal(B.check(), 0);
}

static void *churn_thread(void *arg)
{
	return (void *)(intptr_t)churn((unsigned)(uintptr_t)arg, 20000, 1500);
}

static void test_threads_never_share_a_block(void **state)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, churn_thread,
					 (void *)(i + 10)),
			0);
	}
	for (int i = 0; i < THREADS; i++) {
		void *good;

		pthread_join(threads[i], &good);
		assert_non_null(good);
	}
	assert_int_equal(B.check(), 0);
}

static void test_usable_size_covers_the_request(void **state)
{
	(void)state;
	for (size_t size = 1; size < 200000; size += size / 7 + 1) {
		unsigned char *block = B.malloc(size);

		assert_true(B.usable_size(block) >= size);
		memset(block, 1, B.usable_size(block));
		B.free(block);
	}
}

static void test_memalign_aligns(void **state)
{
	(void)state;
	for (size_t align = 16; align <= 1 << 22; align *= 2) {
		for (size_t size = 0; size < 100000; size += size * 2 + 1) {
			char *block = B.memalign(align, size);

			assert_non_null(block);
			assert_int_equal((uintptr_t)block % align, 0);
			assert_true(B.usable_size(block) >= size);
			B.free(block);
		}
	}
	assert_int_equal(B.check(), 0);
}

static void test_calloc_is_zero_on_used_memory(void **state)
{
	(void)state;
	for (size_t size = 1; size < 4000000; size *= 3) {
		unsigned char *block = B.malloc(size);

		memset(block, 0xaa, size);
		B.free(block);
		block = B.calloc(1, size);
		assert_true(holds(block, size, 0));
		B.free(block);
	}
}

static void test_realloc_keeps_content(void **state)
{
	unsigned char *block = B.malloc(1);
	size_t size = 1;

	(void)state;
	block[0] = 7;
	while (size < 3000000) {
		size_t grown = size + size / 3 + 1;

		block = B.realloc(block, grown);
		assert_true(holds(block, size, 7));
		fill(block, grown, 7);
		size = grown;
	}
	while (size > 10) {
		size /= 2;
		block = B.realloc(block, size);
		assert_true(holds(block, size, 7));
	}
	B.free(block);
	assert_int_equal(B.check(), 0);
}

static void test_growing_past_a_neighbour_moves_the_pages(void **state)
{
	size_t size = 1 << 20;
	unsigned char *block = B.malloc(size);

	(void)state;
	fill(block, size, 9);
	for (int i = 0; i < 6; i++) {
		unsigned char *wall = B.malloc(100000);

		block = B.realloc(block, size * 3);
		assert_non_null(block);
		assert_true(holds(block, size, 9));
		size *= 3;
		fill(block, size, 9);
		B.free(wall);
	}
	B.free(block);
	assert_int_equal(B.check(), 0);
}

static void test_too_large_fails_with_enomem(void **state)
{
	(void)state;
	errno = 0;
	assert_null(B.malloc(SIZE_MAX));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(B.malloc((size_t)1 << 46));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(B.memalign((size_t)1 << 45, 100));
	assert_int_equal(errno, ENOMEM);
}

static void test_free_keeps_errno(void **state)
{
	(void)state;
	for (size_t size = 1; size < 100000000; size *= 2) {
		void *block = B.malloc(size);

		errno = 77;
		B.free(block);
		assert_int_equal(errno, 77);
	}
}

static void test_foreign_pointers_go_to_the_host(void **state)
{
	int before = test_host_foreign_calls();

	(void)state;
	B.free(B.realloc(malloc(100), 200));
	assert_int_equal(test_host_foreign_calls(), before + 2);
}

static void test_every_block_is_in_a_reserved_range(void **state)
{
	(void)state;
	for (size_t size = 1; size < 10000000; size *= 3) {
		void *block = B.malloc(size);

		assert_true(test_host_covers(block));
		B.free(block);
	}
}

static void test_freeing_a_large_block_twice_is_reported(void **state)
{
	int before = test_host_bad_pointers();
	void *block = B.malloc(100000);

	(void)state;
	B.free(block);
	B.free(block);
	assert_int_equal(test_host_bad_pointers(), before + 1);
}

static void test_freeing_the_middle_of_a_large_block_is_reported(void **state)
{
	int before = test_host_bad_pointers();
	char *block = B.malloc(100000);

	(void)state;
	B.free(block + 16);
	B.free(block + 8192);
	assert_int_equal(test_host_bad_pointers(), before + 2);
	B.free(block);
}

static void test_stats_count_live_bytes(void **state)
{
	struct amux_stats before, after;
	void *blocks[1000];

	(void)state;
	B.stats(&before);
	for (int i = 0; i < 1000; i++) {
		blocks[i] = B.malloc(1000);
	}
	B.stats(&after);
	assert_int_equal(after.live_blocks - before.live_blocks, 1000);
	assert_true(after.live_bytes - before.live_bytes >= 1000000);
	assert_true(after.mapped_bytes >= after.active_bytes);
	for (int i = 0; i < 1000; i++) {
		B.free(blocks[i]);
	}
	B.stats(&after);
	assert_int_equal(after.live_blocks, before.live_blocks);
}

struct seen {
	void *first, *second;
	int firsts, seconds, others;
};

static int look(void *block, size_t usable, void *arg)
{
	struct seen *seen = arg;

	(void)usable;
	if (block == seen->first) {
		seen->firsts++;
	} else if (block == seen->second) {
		seen->seconds++;
	} else {
		seen->others++;
	}
	return 0;
}

static void test_walk_visits_live_blocks_once(void **state)
{
	struct seen seen = {B.malloc(3000), B.malloc(300000), 0, 0, 0};
	int others;

	(void)state;
	B.walk(look, &seen);
	assert_int_equal(seen.firsts, 1);
	assert_int_equal(seen.seconds, 1);
	others = seen.others;
	B.free(seen.first);
	B.free(seen.second);
	seen.others = 0;
	B.walk(look, &seen);
	assert_int_equal(seen.firsts, 1);
	assert_int_equal(seen.seconds, 1);
	assert_int_equal(seen.others, others);
}

static void test_trim_returns_what_was_freed(void **state)
{
	enum { COUNT = 20000 };
	static void *blocks[COUNT];
	struct amux_stats full, trimmed;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		blocks[i] = B.malloc(1000);
		memset(blocks[i], 1, 1000);
	}
	B.stats(&full);
	for (int i = 0; i < COUNT; i++) {
		B.free(blocks[i]);
	}
	assert_int_equal(B.trim(0), 1);
	B.stats(&trimmed);
	assert_true(trimmed.mapped_bytes + 15000000 < full.mapped_bytes);
	assert_int_equal(B.check(), 0);
}

static void test_holes_of_sparse_spans_serve_other_sizes(void **state)
{
	enum { SMALL = 100000, LARGER = 40000 };
	static unsigned char *small[SMALL], *larger[LARGER];
	struct amux_stats sparse, refilled;

	(void)state;
	for (int i = 0; i < SMALL; i++) {
		small[i] = B.malloc(64);
		fill(small[i], 64, (unsigned)i);
	}
	for (int i = 0; i < SMALL; i++) {
		if (i % 10) {
			B.free(small[i]);
		}
	}
	B.trim(0);
	B.stats(&sparse);
	for (int i = 0; i < LARGER; i++) {
		larger[i] = B.malloc(112);
		fill(larger[i], 112, (unsigned)i);
	}
	B.stats(&refilled);
	/* 4.5 MB in blocks; fresh spans would map as much again. */
	assert_true(refilled.mapped_bytes < sparse.mapped_bytes + 1500000);
	assert_int_equal(B.check(), 0);
	for (int i = 0; i < LARGER; i++) {
		assert_true(holds(larger[i], 112, (unsigned)i));
		larger[i] = B.realloc(larger[i], 100 + i % 300);
		assert_true(holds(larger[i], 100, (unsigned)i));
		B.free(larger[i]);
	}
	for (int i = 0; i < SMALL; i += 10) {
		assert_true(holds(small[i], 64, (unsigned)i));
		B.free(small[i]);
	}
	B.trim(0);
	B.stats(&refilled);
	assert_true(refilled.mapped_bytes < sparse.mapped_bytes / 2);
	assert_int_equal(B.check(), 0);
}

static size_t resident_kib(void)
{
	unsigned long total = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu %lu", &total, &resident), 2);
	fclose(file);
	return resident * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

static void test_trim_returns_pages_inside_sparse_spans(void **state)
{
	enum { COUNT = 200000 };
	static unsigned char *blocks[COUNT];
	size_t full;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		blocks[i] = B.malloc(200);
		fill(blocks[i], 200, (unsigned)i);
	}
	full = resident_kib();
	for (int i = 0; i < COUNT; i++) {
		if (i % 100) {
			B.free(blocks[i]);
		}
	}
	B.trim(0);
	/* 40 MB, of which one block in five pages stays. */
	assert_true(resident_kib() + 25000 < full);
	for (int i = 0; i < COUNT; i += 100) {
		assert_true(holds(blocks[i], 200, (unsigned)i));
		B.free(blocks[i]);
	}
	assert_int_equal(B.check(), 0);
}

static _Atomic int stop_churn;

static void *churn_until_stopped(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	while (!stop_churn) {
		if (!churn(seed++, 1000, 500)) {
			return NULL;
		}
	}
	return arg;
}

static void test_trim_is_safe_beside_running_threads(void **state)
{
	enum { THREADS = 3 };
	pthread_t threads[THREADS];

	(void)state;
	stop_churn = 0;
	for (uintptr_t i = 0; i < THREADS; i++) {
		pthread_create(&threads[i], NULL, churn_until_stopped,
			(void *)(i + 1));
	}
	for (int i = 0; i < 300; i++) {
		B.trim(0);
	}
	stop_churn = 1;
	for (int i = 0; i < THREADS; i++) {
		void *good;

		pthread_join(threads[i], &good);
		assert_non_null(good);
	}
	assert_int_equal(B.check(), 0);
}

static void *free_all(void *arg)
{
	void **blocks = arg;

	for (int i = 0; i < 1000; i++) {
		B.free(blocks[i]);
	}
	return NULL;
}

static void test_blocks_freed_by_other_threads_come_back(void **state)
{
	struct amux_stats before, after;
	void *blocks[1000];

	(void)state;
	B.trim(0);
	B.stats(&before);
	for (int round = 0; round < 50; round++) {
		pthread_t thread;

		for (int i = 0; i < 1000; i++) {
			blocks[i] = B.malloc(2000);
		}
		pthread_create(&thread, NULL, free_all, blocks);
		pthread_join(thread, NULL);
	}
	B.stats(&after);
	assert_int_equal(after.live_blocks, before.live_blocks);
	assert_true(after.mapped_bytes < before.mapped_bytes + 8000000);
}

static void test_child_of_fork_can_allocate(void **state)
{
	pthread_t thread;
	int status;
	pid_t pid;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* its run-time does not survive such a fork */
#endif
	stop_churn = 0;
	pthread_create(&thread, NULL, churn_until_stopped, (void *)5);
	for (int i = 0; i < 20; i++) {
		lock_fork_begin(); /* as the host does */
		B.prefork();
		pid = fork();
		if (pid == 0) {
			B.postfork_child();
			lock_fork_end();
			_exit(churn(3, 5000, 3000) ? 0 : 1);
		}
		B.postfork_parent();
		lock_fork_end();
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	stop_churn = 1;
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_blocks_never_overlap),
		cmocka_unit_test(test_blocks_of_all_sizes_never_overlap),
		cmocka_unit_test(test_threads_never_share_a_block),
		cmocka_unit_test(test_usable_size_covers_the_request),
		cmocka_unit_test(test_memalign_aligns),
		cmocka_unit_test(test_calloc_is_zero_on_used_memory),
		cmocka_unit_test(test_realloc_keeps_content),
		cmocka_unit_test(test_growing_past_a_neighbour_moves_the_pages),
		cmocka_unit_test(test_too_large_fails_with_enomem),
		cmocka_unit_test(test_free_keeps_errno),
		cmocka_unit_test(test_foreign_pointers_go_to_the_host),
		cmocka_unit_test(test_every_block_is_in_a_reserved_range),
		cmocka_unit_test(test_freeing_a_large_block_twice_is_reported),
		cmocka_unit_test(
			test_freeing_the_middle_of_a_large_block_is_reported),
		cmocka_unit_test(test_stats_count_live_bytes),
		cmocka_unit_test(test_walk_visits_live_blocks_once),
		cmocka_unit_test(test_trim_returns_what_was_freed),
		cmocka_unit_test(test_holes_of_sparse_spans_serve_other_sizes),
		cmocka_unit_test(test_trim_returns_pages_inside_sparse_spans),
		cmocka_unit_test(test_trim_is_safe_beside_running_threads),
		cmocka_unit_test(test_blocks_freed_by_other_threads_come_back),
		cmocka_unit_test(test_child_of_fork_can_allocate),
	};

	return cmocka_run_group_tests(tests, init_once, NULL);
}
