/* SPDX-License-Identifier: MIT */
/*
 * test_dl.c - dl's promises one by one: blocks, options, figures, mistakes,
 * threads, fork.
 */
#include "unit.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../backends/dl/dl.h"
#include "../support/host.h"
#include "lock.h"
#include "os.h"

static const struct amux_backend *const dl = &amux_dl_backend;
static const struct amux_backend *const checked = &amux_dl_checked_backend;

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static int setup(void **state)
{
	if (dl->init(test_host("dl"))) {
		return 1;
	}
	return checked->init(test_host("dl-checked"));
}

/* Run body in a child that has its own, fresh copy of everything. */
static void in_child(void (*body)(void))
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* For bodies of in_child(): cmocka's assertions do not work there. */
#define EXPECT(x)                                                              \
	do {                                                                   \
		if (!(x)) {                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,     \
				#x);                                           \
			_exit(1);                                              \
		}                                                              \
	} while (0)

static void test_dl_costs_eight_bytes_a_block(void **state)
{
	struct amux_stats before, after;
	void *blocks[1000];

	dl->stats(&before);
	for (int i = 0; i < 1000; i++) {
		blocks[i] = dl->malloc(40);
		assert_int_equal(dl->usable_size(blocks[i]), 40);
	}
	dl->stats(&after);
	assert_int_equal(after.live_bytes - before.live_bytes, 40000);
	assert_int_equal(after.live_blocks - before.live_blocks, 1000);
	for (int i = 0; i < 1000; i++) {
		dl->free(blocks[i]);
	}
	dl->stats(&after);
	assert_int_equal(after.live_blocks, before.live_blocks);
}

static void test_dl_fails_with_enomem_for_impossible_sizes(void **state)
{
	void *block = dl->malloc(100);
	const size_t sizes[] = {
		SIZE_MAX, SIZE_MAX - 100, PTRDIFF_MAX, (size_t)1 << 62};

	for (int i = 0; i < 4; i++) {
		errno = 0;
		assert_null(dl->malloc(sizes[i]));
		assert_int_equal(errno, ENOMEM);
		errno = 0;
		assert_null(dl->memalign(64, sizes[i]));
		assert_int_equal(errno, ENOMEM);
		errno = 0;
		assert_null(dl->realloc(block, sizes[i]));
		assert_int_equal(errno, ENOMEM);
	}
	dl->free(block);
}

static void test_dl_aligns_up_to_a_gibibyte(void **state)
{
	for (size_t align = 16; align <= GIB; align *= 2) {
		char *small = dl->memalign(align, 100);
		char *large = dl->memalign(align, 3 * MIB);

		assert_non_null(small);
		assert_non_null(large);
		assert_int_equal((uintptr_t)small % align, 0);
		assert_int_equal((uintptr_t)large % align, 0);
		memset(small, 1, 100);
		memset(large, 2, 3 * MIB);
		assert_int_equal(small[99], 1);
		dl->free(small);
		dl->free(large);
	}
	assert_int_equal(dl->check(), 0);
}

static void test_dl_gives_zeroed_memory_again_after_a_trim(void **state)
{
	/* In the heap, dirtied, freed, purged in part, and used again. */
	for (int round = 0; round < 20; round++) {
		size_t size = 30000 + (size_t)round * 9000;
		char *fence = dl->malloc(1000);
		char *a = dl->malloc(size);
		char *b = dl->malloc(1000);

		memset(a, 0xa5, size);
		dl->free(a);
		if (round % 3) {
			dl->trim(0);
		}
		a = dl->calloc(1, size - 5000);
		for (size_t i = 0; i < size - 5000; i++) {
			assert_int_equal(a[i], 0);
		}
		memset(a, 0x5a, size - 5000);
		dl->free(a);
		dl->free(b);
		dl->free(fence);
	}
}

static void test_dl_merges_neighbours_at_once(void **state)
{
	/* Above the caches' sizes; the middle one joins both others. */
	char *a = dl->malloc(5000);
	char *b = dl->malloc(5000);
	char *c = dl->malloc(5000);
	char *end = dl->malloc(5000);

	dl->free(a);
	dl->free(c);
	dl->free(b);
	assert_ptr_equal(dl->malloc(15000), a);
	dl->free(a);
	dl->free(end);
}

static void test_dl_takes_the_best_fit(void **state)
{
	char *large = dl->malloc(20000);
	char *fence = dl->malloc(2000);
	char *fitting = dl->malloc(6000);
	char *end = dl->malloc(2000);

	dl->free(large);
	dl->free(fitting);
	assert_ptr_equal(dl->malloc(5990), fitting);
	dl->free(fitting);
	dl->free(fence);
	dl->free(end);
}

static void test_dl_grows_a_direct_block_without_losing_bytes(void **state)
{
	size_t size = 1 * MIB;
	char *block = dl->malloc(size);

	block[0] = 1;
	for (; size < 200 * MIB; size += size / 2) {
		block[size - 1] = 7;
		block = dl->realloc(block, size + size / 2);
		assert_non_null(block);
		assert_int_equal(block[0], 1);
		assert_int_equal(block[size - 1], 7);
	}
	block = dl->realloc(block, 2 * MIB);
	assert_int_equal(block[0], 1);
	block = dl->realloc(block, 10);
	assert_int_equal(block[0], 1);
	dl->free(block);
}

static size_t resident(void)
{
	char line[128];

	assert_true(os_read_file("/proc/self/statm", line, sizeof(line)) > 0);
	return (size_t)atol(strchr(line, ' ')) * os_page_size();
}

static void test_dl_trim_gives_back_what_is_free(void **state)
{
	enum { COUNT = 200000 };
	char **blocks = dl->malloc(COUNT * sizeof(*blocks));

	for (int i = 0; i < COUNT; i++) {
		blocks[i] = dl->malloc(500);
		memset(blocks[i], 1, 500);
	}
	size_t full = resident();

	for (int i = 0; i < COUNT; i++) {
		if (i % 1000) {
			dl->free(blocks[i]);
		}
	}
	assert_int_equal(dl->trim(0), 1);
	assert_true(resident() < full - 80 * MIB);
	for (int i = 0; i < COUNT; i += 1000) {
		assert_int_equal(blocks[i][499], 1);
		dl->free(blocks[i]);
	}
	dl->free(blocks);
	assert_int_equal(dl->check(), 0);
}

static void trim_threshold_is_honoured(void)
{
	EXPECT(dl->init(test_host("dl")) == 0);
	EXPECT(dl->option(M_TRIM_THRESHOLD, (int)MIB) == 1);
	EXPECT(dl->option(M_MMAP_MAX, 0) == 1);

	char *block = dl->malloc(20 * MIB);
	memset(block, 1, 20 * MIB);
	size_t full = resident();

	dl->free(block);
	EXPECT(resident() < full - 15 * MIB);
}

static void test_dl_trims_at_once_above_a_set_threshold(void **state)
{
	in_child(trim_threshold_is_honoured);
}

static void mmap_threshold_is_honoured(void)
{
	struct amux_stats stats;

	EXPECT(dl->option(M_MMAP_THRESHOLD, 65536) == 1);
	dl->stats(&stats);
	uint64_t before = stats.large_blocks;

	dl->free(dl->malloc(70000)); /* would raise a dynamic threshold */
	char *block = dl->malloc(65536);

	dl->stats(&stats);
	EXPECT(stats.large_blocks == before + 1);
	dl->free(block);
	block = dl->malloc(65535);
	dl->stats(&stats);
	EXPECT(stats.large_blocks == before);
	dl->free(block);
	EXPECT(dl->option(-12345, 1) == 0);
}

static void test_dl_maps_directly_from_a_set_threshold_on(void **state)
{
	in_child(mmap_threshold_is_honoured);
}

static void threshold_follows(void)
{
	struct amux_stats stats;

	dl->free(dl->malloc(3 * MIB));
	char *block = dl->malloc(2 * MIB);

	dl->stats(&stats);
	EXPECT(stats.large_blocks == 0);
	dl->free(block);
}

static void test_dl_raises_the_threshold_to_what_is_freed(void **state)
{
	in_child(threshold_follows);
}

static void bad_option_is_refused(void)
{
	close(2);
	setenv("ALLOC_DL_HEAPS", "many", 1);
	EXPECT(dl->init(test_host("dl")) == EINVAL);
	setenv("ALLOC_DL_HEAPS", "9", 1);
	EXPECT(dl->init(test_host("dl")) == EINVAL);
	setenv("ALLOC_DL_HEAPS", "4", 1);
	setenv("ALLOC_DL_TOP_PAD", "1M", 1);
	EXPECT(dl->init(test_host("dl")) == 0);
}

static void test_dl_refuses_an_option_that_is_no_number(void **state)
{
	in_child(bad_option_is_refused);
}

/* Offsets of the same calls from the first block. */
static void deterministic_run(ptrdiff_t *offsets, int count)
{
	char *blocks[200];
	char *base;
	unsigned random = 7;

	setenv("ALLOC_DL_DETERMINISTIC", "1", 1);
	EXPECT(dl->init(test_host("dl")) == 0);
	base = dl->malloc(1);
	memset(blocks, 0, sizeof(blocks));
	for (int i = 0; i < count; i++) {
		char **block = &blocks[(random = random * 69069 + 1) % 200];

		if (*block) {
			dl->free(*block);
		}
		*block = dl->malloc((random >> 8) % 5000);
		offsets[i] = *block - base;
	}
}

static void test_dl_deterministic_repeats_relative_addresses(void **state)
{
	enum { COUNT = 20000 };
	static ptrdiff_t first[COUNT], second[COUNT];
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	for (int run = 0; run < 2; run++) {
		pid_t child = fork();

		if (child == 0) {
			/* Other addresses: another range is taken first. */
			void *shift;

			os_reserve(NULL, MIB * (size_t)(1 + run * 77), &shift);
			deterministic_run(first, COUNT);
			os_write_all(pipes[1], (char *)first, sizeof(first));
			_exit(0);
		}

		char *to = (char *)(run ? second : first);
		size_t have = 0;

		while (have < sizeof(first)) {
			ssize_t n =
				read(pipes[0], to + have, sizeof(first) - have);

			assert_true(n > 0);
			have += (size_t)n;
		}
		waitpid(child, NULL, 0);
	}
	close(pipes[0]);
	close(pipes[1]);
	assert_memory_equal(first, second, sizeof(first));
	assert_int_not_equal(first[10], 0);
}

static void little_address_space(void)
{
	struct rlimit limit = {300 * MIB, 300 * MIB};
	enum { COUNT = 100000 };
	static char *blocks[COUNT];
	int count = 0;

	EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
	EXPECT(dl->init(test_host("dl")) == 0);
	while (count < COUNT) {
		blocks[count] = dl->malloc(4000);
		if (!blocks[count]) {
			break;
		}
		memset(blocks[count], count, 4000);
		count++;
	}
	EXPECT(errno == ENOMEM);
	EXPECT(count > 30000); /* more than 120 MB of the 300 */
	for (int i = 0; i < count; i++) {
		EXPECT(blocks[i][3999] == (char)i);
		dl->free(blocks[i]);
	}
	EXPECT(dl->check() == 0);
	dl->trim(0);
	EXPECT(dl->check() == 0);
	EXPECT(dl->malloc(50 * MIB));
	EXPECT(test_host_bad_pointers() == 0);
}

static void test_dl_lives_with_little_address_space(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* the sanitizer itself takes terabytes of it */
#endif
	in_child(little_address_space);
}

/* Mistakes: each is reported, once, and the allocator goes on. */

static void expect_report(const char *reason, int before)
{
	assert_int_equal(test_host_bad_pointers(), before + 1);
	assert_string_equal(test_host_last_reason(), reason);
	assert_int_equal(dl->check(), 0);
	assert_int_equal(checked->check(), 0);
}

static void test_dl_reports_a_double_free_of_a_cached_block(void **state)
{
	int before = test_host_bad_pointers();
	void *block = dl->malloc(100);

	dl->free(block);
	dl->free(block);
	expect_report("double free", before);
}

static void test_dl_reports_a_double_free_of_a_heap_block(void **state)
{
	int before = test_host_bad_pointers();
	char *block = dl->malloc(5000);
	char *fence = dl->malloc(5000);

	dl->free(block);
	dl->free(block);
	expect_report("double free or not a block", before);
	dl->free(fence);
}

static void test_dl_reports_a_double_free_of_a_merged_block(void **state)
{
	int before = test_host_bad_pointers();
	char *a = dl->malloc(5000);
	char *b = dl->malloc(5000);
	char *fence = dl->malloc(5000);

	dl->free(a);
	dl->free(b);
	dl->free(b);
	expect_report("double free or not a block", before);
	dl->free(fence);
}

static void test_dl_reports_a_double_free_of_a_direct_block(void **state)
{
	int before = test_host_bad_pointers();
	char *block = dl->malloc(64 * MIB);

	dl->free(block);
	dl->free(block);
	expect_report("double free or not a block", before);
}

static void test_dl_reports_a_realloc_of_a_freed_block(void **state)
{
	int before = test_host_bad_pointers();
	void *block = dl->malloc(200);

	dl->free(block);
	assert_null(dl->realloc(block, 300));
	expect_report("double free", before);
}

static void test_dl_reports_a_misaligned_pointer(void **state)
{
	int before = test_host_bad_pointers();
	char *block = dl->malloc(5000);

	dl->free(block + 8);
	expect_report("misaligned pointer", before);
	dl->free(block);
}

static void test_dl_reports_a_corrupted_header(void **state)
{
	int before = test_host_bad_pointers();
	size_t *block = dl->malloc(5000);
	size_t head = block[-1];

	block[-1] = 0x4141414141414141u;
	dl->free(block);
	block[-1] = head + 64;
	dl->free(block);
	block[-1] = head;
	assert_int_equal(test_host_bad_pointers(), before + 2);
	assert_string_equal(test_host_last_reason(), "corrupted block header");
	dl->free(block);
	assert_int_equal(dl->check(), 0);
}

static void test_dl_reports_a_wrong_size_in_free_sized(void **state)
{
	int before = test_host_bad_pointers();
	void *block = dl->malloc(100);

	dl->free_sized(block, 500);
	expect_report("size does not match", before);
	dl->free_sized(block, 100);
	assert_int_equal(test_host_bad_pointers(), before + 1);
}

static void test_dl_checked_reports_a_byte_past_the_end(void **state)
{
	int before = test_host_bad_pointers();
	char *block = checked->malloc(40);
	size_t usable = checked->usable_size(block);
	char saved = block[usable];

	block[usable] = (char)~saved;
	checked->free(block);
	assert_int_equal(test_host_bad_pointers(), before + 1);
	assert_string_equal(
		test_host_last_reason(), "written past the end of the block");
	assert_int_equal(checked->check(), 1);
	block[usable] = saved;
	checked->free(block);
	assert_int_equal(checked->check(), 0);
}

static void test_dl_checked_reports_the_first_double_free(void **state)
{
	int before = test_host_bad_pointers();
	void *block = checked->malloc(40);
	void *fence = checked->malloc(40);

	checked->free(block);
	checked->free(block);
	expect_report("double free or not a block", before);
	checked->free(fence);
}

static void overwritten_links_abort(void)
{
	static void *decoy[8]; /* looks like a chunk that links elsewhere */
	void **block = dl->malloc(5000);

	dl->malloc(5000);
	close(2);
	dl->free(block);
	block[0] = block[1] = decoy;
	dl->malloc(5000);
}

static void test_dl_aborts_on_overwritten_links(void **state)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		overwritten_links_abort();
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status));
}

static void test_dl_hands_foreign_blocks_to_the_host(void **state)
{
	int before = test_host_foreign_calls();
	void *block = malloc(100);

	assert_true(dl->usable_size(block) >= 100);
	block = dl->realloc(block, 1000);
	dl->free(block);
	assert_int_equal(test_host_foreign_calls(), before + 3);
}

static void test_dl_keeps_errno(void **state)
{
	errno = 99;
	dl->free(dl->malloc(10));
	dl->free(dl->malloc(10 * MIB));
	dl->free(NULL);
	dl->trim(0);
	assert_int_equal(errno, 99);
}

/* Threads pass blocks around a table: most are freed by another thread. */

enum { THREADS = 6, ROUNDS = 60000, TABLE = 512 };

static char *_Atomic table[TABLE];

static void *pass_blocks(void *arg)
{
	const struct amux_backend *backend = arg;
	unsigned random = (unsigned)(uintptr_t)&random;

	for (int i = 0; i < ROUNDS; i++) {
		random = random * 1103515245 + 12345;

		size_t size = random >> 16 & (i % 64 ? 1023 : 65535);
		char *block = backend->malloc(size + 1);

		block[0] = block[size] = (char)size;
		block = atomic_exchange(&table[random % TABLE], block);
		if (block && random & 0x8000) {
			block = backend->realloc(block, size + 100);
		}
		backend->free(block);
	}
	return NULL;
}

static void pass_blocks_in_threads(const struct amux_backend *backend)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, pass_blocks,
					 (void *)(uintptr_t)backend),
			0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < TABLE; i++) {
		backend->free(atomic_exchange(&table[i], NULL));
	}
	assert_int_equal(backend->check(), 0);
}

static void test_dl_stays_whole_under_threads(void **state)
{
	pass_blocks_in_threads(dl);
}

static void test_dl_checked_stays_whole_under_threads(void **state)
{
	pass_blocks_in_threads(checked);
}

static void *leave_cached_blocks(void *arg)
{
	for (int i = 0; i < 50; i++) {
		dl->free(dl->malloc(100 + (size_t)i * 8));
	}
	return arg;
}

static int count_blocks(void *block, size_t usable, void *arg)
{
	++*(size_t *)arg;
	return 0;
}

static void test_dl_takes_back_the_cache_of_a_dead_thread(void **state)
{
	struct amux_stats before, after;
	size_t count = 0;

	dl->stats(&before);
	for (int i = 0; i < 20; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, leave_cached_blocks, NULL);
		pthread_join(thread, NULL);
	}
	dl->stats(&after);
	assert_int_equal(after.live_blocks, before.live_blocks);
	dl->walk(count_blocks, &count);
	assert_int_equal(count, after.live_blocks);
	assert_int_equal(dl->check(), 0);
}

static atomic_bool stop;

static void *churn(void *arg)
{
	while (!atomic_load(&stop)) {
		dl->free(dl->malloc(2000));
		dl->free(dl->malloc(100));
		dl->free(dl->malloc(300000));
	}
	return arg;
}

static pid_t fork_with_locks(void)
{
	lock_fork_begin();
	dl->prefork();
	dl->free(dl->malloc(3000)); /* as a handler of the program may */

	pid_t child = fork();

	if (child == 0) {
		dl->postfork_child();
	} else {
		dl->postfork_parent();
	}
	lock_fork_end();
	return child;
}

static void test_dl_works_in_the_child_of_a_threaded_fork(void **state)
{
	pthread_t threads[3];

	atomic_store(&stop, false);
	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, churn, NULL);
	}
	for (int i = 0; i < 40; i++) {
		int status;
		pid_t child = fork_with_locks();

		if (child == 0) {
			alarm(20);
			for (int k = 0; k < 1000; k++) {
				dl->free(dl->malloc((size_t)k * 7));
			}
			_exit(dl->check());
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
	}
	assert_int_equal(dl->check(), 0);
}

int main(void)
{
	/* These start the allocator in children, each in its own way. */
	const struct CMUnitTest starts[] = {
		cmocka_unit_test(test_dl_refuses_an_option_that_is_no_number),
		cmocka_unit_test(
			test_dl_deterministic_repeats_relative_addresses),
		cmocka_unit_test(test_dl_lives_with_little_address_space),
		cmocka_unit_test(test_dl_trims_at_once_above_a_set_threshold),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dl_costs_eight_bytes_a_block),
		cmocka_unit_test(
			test_dl_fails_with_enomem_for_impossible_sizes),
		cmocka_unit_test(test_dl_aligns_up_to_a_gibibyte),
		cmocka_unit_test(
			test_dl_gives_zeroed_memory_again_after_a_trim),
		cmocka_unit_test(test_dl_merges_neighbours_at_once),
		cmocka_unit_test(test_dl_takes_the_best_fit),
		cmocka_unit_test(
			test_dl_grows_a_direct_block_without_losing_bytes),
		cmocka_unit_test(test_dl_trim_gives_back_what_is_free),
		cmocka_unit_test(test_dl_maps_directly_from_a_set_threshold_on),
		cmocka_unit_test(test_dl_raises_the_threshold_to_what_is_freed),
		cmocka_unit_test(
			test_dl_reports_a_double_free_of_a_cached_block),
		cmocka_unit_test(test_dl_reports_a_double_free_of_a_heap_block),
		cmocka_unit_test(
			test_dl_reports_a_double_free_of_a_merged_block),
		cmocka_unit_test(
			test_dl_reports_a_double_free_of_a_direct_block),
		cmocka_unit_test(test_dl_reports_a_realloc_of_a_freed_block),
		cmocka_unit_test(test_dl_reports_a_misaligned_pointer),
		cmocka_unit_test(test_dl_reports_a_corrupted_header),
		cmocka_unit_test(test_dl_reports_a_wrong_size_in_free_sized),
		cmocka_unit_test(test_dl_checked_reports_a_byte_past_the_end),
		cmocka_unit_test(test_dl_checked_reports_the_first_double_free),
		cmocka_unit_test(test_dl_aborts_on_overwritten_links),
		cmocka_unit_test(test_dl_hands_foreign_blocks_to_the_host),
		cmocka_unit_test(test_dl_keeps_errno),
		cmocka_unit_test(test_dl_stays_whole_under_threads),
		cmocka_unit_test(test_dl_checked_stays_whole_under_threads),
		cmocka_unit_test(test_dl_takes_back_the_cache_of_a_dead_thread),
		cmocka_unit_test(test_dl_works_in_the_child_of_a_threaded_fork),
	};

	return cmocka_run_group_tests(starts, NULL, NULL) +
	       cmocka_run_group_tests(tests, setup, NULL);
}
