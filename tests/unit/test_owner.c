/* SPDX-License-Identifier: MIT */
/* test_owner.c - the owner map against a model, and at its edges. */
#include "unit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <pthread.h>

#include "owner.h"
#include "owner_model.h"

#define BASE ((char *)(90 * OWNER_GRANULE))

/* Not inline: gcc warns of constant addresses where nothing can live. */
static AMUX_NOINLINE unsigned ask(const void *ptr)
{
	return owner_of(ptr);
}

static void test_owner_agrees_with_a_model(void **state)
{
	enum { RUNS = 300, BYTES = 3 * 120 };
	uint8_t bytes[BYTES];

	srandom(20261130);
	for (int run = 0; run < RUNS; run++) {
		for (int i = 0; i < BYTES; i++) {
			bytes[i] = (uint8_t)random();
		}
		assert_int_equal(owner_model_run(bytes, BYTES), 0);
	}
}

static void test_owner_is_libc_for_what_nobody_registered(void **state)
{
	assert_int_equal(ask(BASE), OWNER_LIBC);
	assert_int_equal(ask(state), OWNER_LIBC);
}

static void test_owner_takes_any_bit_pattern(void **state)
{
	for (int bit = 0; bit < 64; bit++) {
		uintptr_t addr = (uintptr_t)1 << bit;

		assert_int_equal(ask((void *)addr), OWNER_LIBC);
		assert_int_equal(ask((void *)~addr), OWNER_LIBC);
		assert_int_equal(ask((void *)(0 - addr)), OWNER_LIBC);
	}
}

static void test_owner_rejects_overlap(void **state)
{
	assert_int_equal(owner_register(BASE, 2 * OWNER_GRANULE, 3), 0);
	assert_int_equal(
		owner_register(BASE + OWNER_GRANULE, 4096, 4), -EINVAL);
	assert_int_equal(owner_register(BASE - 4096, 8192, 4), -EINVAL);
	assert_int_equal(ask(BASE + OWNER_GRANULE), 3);
	assert_int_equal(ask(BASE - 4096), OWNER_LIBC);
	assert_int_equal(owner_unregister(BASE, 2 * OWNER_GRANULE), 0);
}

static void test_owner_rejects_bad_ranges_and_ids(void **state)
{
	char *end = (char *)((uintptr_t)1 << ADDR_BITS);

	assert_int_equal(owner_register(BASE, 0, 3), -EINVAL);
	assert_int_equal(owner_register(end - 4096, 8192, 3), -EINVAL);
	assert_int_equal(owner_register(BASE, SIZE_MAX, 3), -EINVAL);
	assert_int_equal(owner_register(BASE, 4096, OWNER_LIBC), -EINVAL);
	assert_int_equal(owner_register(BASE, 4096, OWNER_LIMIT), -EINVAL);
}

static void test_owner_reaches_the_last_byte_below_47_bits(void **state)
{
	char *last = (char *)((uintptr_t)1 << ADDR_BITS) - 4096;

	assert_int_equal(owner_register(last, 4096, 5), 0);
	assert_int_equal(ask(last + 4095), 5);
	assert_int_equal(ask(last + 4096), OWNER_LIBC);
	assert_int_equal(ask(last - 1), OWNER_LIBC);
	assert_int_equal(owner_unregister(last, 4096), 0);
	assert_int_equal(ask(last), OWNER_LIBC);
}

static void test_owner_splits_a_range_from_within(void **state)
{
	struct owner_range ranges[4];
	size_t before = owner_ranges(ranges, 0);

	assert_int_equal(owner_register(BASE, 3 * 4096, 6), 0);
	assert_int_equal(owner_unregister(BASE + 4096, 4096), 0);
	assert_int_equal(ask(BASE), 6);
	assert_int_equal(ask(BASE + 4096), OWNER_LIBC);
	assert_int_equal(ask(BASE + 2 * 4096), 6);
	assert_int_equal(owner_ranges(ranges, 0), before + 2);
	assert_int_equal(owner_unregister(BASE, 3 * 4096), 0);
	assert_int_equal(owner_ranges(ranges, 0), before);
}

/* A reader that never stops, while neighbours come and go. */

static struct {
	atomic_bool stop;
	atomic_int wrong;
} g;

static void *read_steadily(void *arg)
{
	while (!g.stop) {
		if (ask(BASE) != 7 || ask(BASE + 4095) != 7) {
			g.wrong++;
		}
	}
	return arg;
}

static void test_owner_is_steady_while_neighbours_change(void **state)
{
	pthread_t readers[2];

	assert_int_equal(owner_register(BASE, 4096, 7), 0);
	for (int i = 0; i < 2; i++) {
		pthread_create(&readers[i], NULL, read_steadily, NULL);
	}
	for (int i = 0; i < 3000; i++) {
		char *below = BASE - 4096 * (1 + i % 50);
		char *above = BASE + 4096 * (1 + i % 70);

		assert_int_equal(owner_register(below, 4096, 8), 0);
		assert_int_equal(owner_register(above, 4096, 9), 0);
		assert_int_equal(owner_unregister(below, 4096), 0);
		assert_int_equal(owner_unregister(above, 4096), 0);
	}
	g.stop = true;
	for (int i = 0; i < 2; i++) {
		pthread_join(readers[i], NULL);
	}
	assert_int_equal(g.wrong, 0);
	assert_int_equal(owner_unregister(BASE, 4096), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner_agrees_with_a_model),
		cmocka_unit_test(test_owner_is_libc_for_what_nobody_registered),
		cmocka_unit_test(test_owner_takes_any_bit_pattern),
		cmocka_unit_test(test_owner_rejects_overlap),
		cmocka_unit_test(test_owner_rejects_bad_ranges_and_ids),
		cmocka_unit_test(
			test_owner_reaches_the_last_byte_below_47_bits),
		cmocka_unit_test(test_owner_splits_a_range_from_within),
		cmocka_unit_test(test_owner_is_steady_while_neighbours_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
