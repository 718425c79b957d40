/* SPDX-License-Identifier: MIT */
/* test_blocktable.c - owners by block, against a model and across threads. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include "blocktable.h"
#include "owner.h"

/* Addresses crowd together, so that runs collide, wrap and are closed. */
static void *block(size_t i)
{
	return (void *)(0x7f0000000000 + i * 16);
}

static void test_blocktable_agrees_with_a_model(void **state)
{
	enum { BLOCKS = 20000, STEPS = 400000 };
	static uint8_t model[BLOCKS];

	srandom(1);
	for (int step = 0; step < STEPS; step++) {
		size_t i = (size_t)random() % BLOCKS;
		unsigned id = 1 + (unsigned)random() % 60;

		switch (random() % 3) {
		case 0:
			assert_true(blocktable_insert(block(i), id));
			model[i] = (uint8_t)id;
			break;
		case 1:
			assert_int_equal(blocktable_remove(block(i)), model[i]);
			model[i] = OWNER_LIBC;
			break;
		default:
			assert_int_equal(blocktable_find(block(i)), model[i]);
		}
	}
	for (size_t i = 0; i < BLOCKS; i++) {
		assert_int_equal(blocktable_remove(block(i)), model[i]);
	}
}

static void test_blocktable_takes_any_bit_pattern(void **state)
{
	assert_int_equal(blocktable_find(NULL), OWNER_LIBC);
	assert_int_equal(blocktable_find((void *)8), OWNER_LIBC);
	assert_int_equal(blocktable_find((void *)UINTPTR_MAX), OWNER_LIBC);
	assert_int_equal(
		blocktable_find((void *)((uintptr_t)1 << 60)), OWNER_LIBC);
}

static void *insert_and_remove(void *arg)
{
	size_t first = (size_t)(uintptr_t)arg * 1000000;
	uintptr_t wrong = 0;

	for (size_t round = 0; round < 20; round++) {
		for (size_t i = 0; i < 1000; i++) {
			wrong += !blocktable_insert(block(first + i), 5);
		}
		for (size_t i = 0; i < 1000; i++) {
			wrong += blocktable_remove(block(first + i)) != 5;
		}
	}
	return (void *)wrong;
}

static void test_blocktable_serves_threads(void **state)
{
	pthread_t threads[4];

	for (uintptr_t i = 0; i < 4; i++) {
		pthread_create(
			&threads[i], NULL, insert_and_remove, (void *)(i + 1));
	}
	for (int i = 0; i < 4; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocktable_agrees_with_a_model),
		cmocka_unit_test(test_blocktable_takes_any_bit_pattern),
		cmocka_unit_test(test_blocktable_serves_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
