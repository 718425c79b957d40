/* SPDX-License-Identifier: MIT */
/*
 * test_dl_heaps.c - heaps of one's own: growing ones, ones over a caller's
 * memory, and memory shared with a child.
 */
#include "unit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../backends/dl/dl.h"
#include "../support/host.h"

#define MIB ((size_t)1 << 20)

static const struct amux_backend *const dl = &amux_dl_backend;
static const struct amux_backend *const checked = &amux_dl_checked_backend;

static int setup(void **state)
{
	if (dl->init(test_host("dl"))) {
		return 1;
	}
	return checked->init(test_host("dl-checked"));
}

static void test_heap_grows_and_vanishes_whole(void **state)
{
	void *heap = dl->heap_create(NULL, 0);
	char *block = NULL;

	assert_non_null(heap);
	for (int i = 0; i < 100000; i++) {
		block = dl->heap_malloc(heap, 1000);
		assert_non_null(block);
		block[999] = 1;
	}
	assert_true(test_host_covers(block));
	assert_int_equal(dl->check(), 0);
	dl->heap_destroy(heap);
	assert_false(test_host_covers(block));
	assert_false(test_host_covers(heap));
}

static void test_heap_larger_than_an_extent_spans_segments(void **state)
{
	void *heap = dl->heap_create(NULL, 0);
	char *blocks[10];

	for (int i = 0; i < 10; i++) {
		blocks[i] = dl->heap_malloc(heap, 40 * MIB);
		assert_non_null(blocks[i]);
		blocks[i][40 * MIB - 1] = (char)i;
	}
	assert_int_equal(dl->check(), 0);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(blocks[i][40 * MIB - 1], i);
		dl->heap_free(heap, blocks[i]);
	}
	assert_int_equal(dl->check(), 0);
	/* Segments that are empty go back without the heap. */
	assert_int_equal(dl->trim(0), 1);
	assert_false(test_host_covers(blocks[0] + 20 * MIB) &&
		     test_host_covers(blocks[1] + 20 * MIB) &&
		     test_host_covers(blocks[2] + 20 * MIB));
	assert_int_equal(dl->check(), 0);
	dl->heap_destroy(heap);
}

static void test_heap_takes_the_smallest_chunk_that_fits(void **state)
{
	enum { COUNT = 400, QUERIES = 4000, LEAST = 1200 };
	void *heap = dl->heap_create(NULL, 0);
	char *blocks[COUNT];
	size_t usable[COUNT];
	unsigned random = 5;

	for (int i = 0; i < COUNT; i++) {
		random = random * 1103515245 + 12345;

		/* Sizes that crowd into few trees, all different. */
		size_t size = LEAST + (size_t)i * 48 +
			      (i % 7 ? 0 : (random >> 16) * 16);

		blocks[i] = dl->heap_malloc(heap, size);
		usable[i] = dl->usable_size(blocks[i]);
		assert_non_null(dl->heap_malloc(heap, 100)); /* a fence */
	}
	for (int i = 0; i < COUNT; i++) {
		dl->heap_free(heap, blocks[i]);
	}
	for (int n = 0; n < QUERIES; n++) {
		int best = -1;

		random = random * 1103515245 + 12345;

		size_t need = LEAST + (random >> 8) % 20000;

		for (int i = 0; i < COUNT; i++) {
			if (usable[i] >= need &&
				(best < 0 || usable[i] < usable[best])) {
				best = i;
			}
		}
		char *block = dl->heap_malloc(heap, need);

		assert_non_null(block);
		if (best >= 0) {
			assert_ptr_equal(block, blocks[best]);
		}
		dl->heap_free(heap, block);
	}
	dl->heap_destroy(heap);
}

static void test_heap_blocks_may_be_freed_by_free(void **state)
{
	void *heap = dl->heap_create(NULL, 0);
	char *block = dl->heap_malloc(heap, 100);

	block = dl->realloc(block, 5000);
	assert_true(dl->usable_size(block) >= 5000);
	dl->free(block);
	dl->heap_free(heap, dl->heap_malloc(heap, 100));
	assert_int_equal(test_host_bad_pointers(), 0);
	dl->heap_destroy(heap);
	/* Nothing of it lingers in a thread's cache. */
	block = dl->malloc(100);
	assert_true(test_host_covers(block));
	memset(block, 1, 100);
	dl->free(block);
}

static void use_until_full(
	const struct amux_backend *backend, char *memory, size_t size)
{
	void *heap = backend->heap_create(memory, size);
	size_t bytes = 0;
	char *last = NULL;

	assert_non_null(heap);
	for (;;) {
		char *block = backend->heap_malloc(heap, 100);

		if (!block) {
			break;
		}
		assert_in_range((uintptr_t)block, (uintptr_t)memory,
			(uintptr_t)memory + size - 100);
		memset(block, 0xee, 100);
		bytes += 100;
		last = block;
	}
	assert_int_equal(errno, ENOMEM);
	assert_true(bytes > size / 2);
	assert_null(backend->heap_realloc(heap, last, size));
	assert_int_equal((unsigned char)last[99], 0xee);
	backend->heap_free(heap, last);
	assert_non_null(backend->heap_malloc(heap, 60));
	backend->heap_destroy(heap);
}

static void test_heap_never_leaves_the_callers_memory(void **state)
{
	enum { SIZE = 65536 + 48 };
	static _Alignas(16) char memory[SIZE + 64];

	memset(memory, 0x77, sizeof(memory));
	use_until_full(dl, memory, SIZE);
	use_until_full(checked, memory, SIZE);
	for (int i = SIZE; i < SIZE + 64; i++) {
		assert_int_equal(memory[i], 0x77);
	}
}

static void test_heap_refuses_memory_that_is_too_small(void **state)
{
	static _Alignas(16) char memory[4096];

	errno = 0;
	assert_null(dl->heap_create(memory, 100));
	assert_int_equal(errno, EINVAL);
	assert_null(dl->heap_create(memory + 8, 4000));
	assert_int_equal(errno, EINVAL);
}

static void test_heap_aligns_inside_the_callers_memory(void **state)
{
	static _Alignas(16) char memory[65536];
	void *heap = dl->heap_create(memory, sizeof(memory));
	char *block = dl->heap_memalign(heap, 4096, 5000);

	assert_int_equal((uintptr_t)block % 4096, 0);
	assert_in_range((uintptr_t)block, (uintptr_t)memory,
		(uintptr_t)memory + sizeof(memory) - 5000);
	dl->heap_free(heap, block);
	assert_null(dl->heap_memalign(heap, 65536, 65536));
}

static void test_heap_reports_a_double_free(void **state)
{
	static _Alignas(16) char memory[16384];
	void *heap = dl->heap_create(memory, sizeof(memory));
	char *block = dl->heap_malloc(heap, 100);
	char *fence = dl->heap_malloc(heap, 100);
	int before = test_host_bad_pointers();

	dl->heap_free(heap, block);
	dl->heap_free(heap, block);
	assert_int_equal(test_host_bad_pointers(), before + 1);
	dl->heap_free(heap, fence);
}

/* Both processes allocate, each frees what the other made. */
static void test_heap_in_shared_memory_serves_parent_and_child(void **state)
{
	enum { SIZE = 4 << 20, ROUNDS = 20000, SLOTS = 64 };
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *_Atomic *slots = mmap(NULL, SLOTS * sizeof(*slots),
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int before = test_host_bad_pointers();
	void *heap;
	int status;
	pid_t child;

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_ptr_not_equal((void *)slots, MAP_FAILED);
	heap = dl->heap_create(memory, SIZE);
	child = fork();
	for (unsigned i = 0, random = 1; i < ROUNDS; i++) {
		random = random * 1103515245 + 12345;

		size_t size = random >> 16 & 2047;
		char *block = dl->heap_malloc(heap, size + 1);

		if (!block) {
			_exit(2);
		}
		block[size] = 1;
		block = atomic_exchange(&slots[random >> 8 & 63], block);
		if (block) {
			dl->heap_free(heap, block);
		}
	}
	if (child == 0) {
		_exit(test_host_bad_pointers() != before);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(test_host_bad_pointers(), before);
	for (int i = 0; i < SLOTS; i++) {
		if (slots[i]) {
			dl->heap_free(heap, slots[i]);
		}
	}
	/* All is one piece again. */
	assert_non_null(dl->heap_malloc(heap, SIZE - 65536));
	munmap(memory, SIZE);
	munmap(slots, SLOTS * sizeof(*slots));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap_grows_and_vanishes_whole),
		cmocka_unit_test(
			test_heap_larger_than_an_extent_spans_segments),
		cmocka_unit_test(test_heap_takes_the_smallest_chunk_that_fits),
		cmocka_unit_test(test_heap_blocks_may_be_freed_by_free),
		cmocka_unit_test(test_heap_never_leaves_the_callers_memory),
		cmocka_unit_test(test_heap_refuses_memory_that_is_too_small),
		cmocka_unit_test(test_heap_aligns_inside_the_callers_memory),
		cmocka_unit_test(test_heap_reports_a_double_free),
		cmocka_unit_test(
			test_heap_in_shared_memory_serves_parent_and_child),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
