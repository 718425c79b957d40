/* SPDX-License-Identifier: MIT */
/* test_percpu_classes.c - the tables of backends/percpu/classes.c. */
#include "unit.h"

#include "percpu/classes.h"

static void test_class_is_the_smallest_that_fits(void **state)
{
	(void)state;
	for (size_t size = 0; size <= SMALL_MAX; size++) {
		unsigned class = class_of_size(size);

		assert_true(class < CLASS_COUNT);
		assert_true(class_size(class) >= size);
		assert_true(class == 0 || class_size(class - 1) < size);
	}
}

static void test_index_of_every_offset_is_exact(void **state)
{
	(void)state;
	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		size_t span = percpu_class_info[class].pages * 4096u;

		for (size_t offset = 0; offset < span; offset += 16) {
			assert_int_equal(class_index_of(class, offset),
				offset / class_size(class));
		}
	}
}

static void test_span_alignment_keeps_powers_of_two_natural(void **state)
{
	(void)state;
	for (size_t size = 16; size <= SMALL_MAX; size *= 2) {
		const struct class_info *info =
			&percpu_class_info[class_of_size(size)];

		assert_int_equal((size_t)info->size * 16, size);
		assert_int_equal(info->align * 4096u % size % 4096, 0);
		assert_true(info->align * 4096u >= size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class_is_the_smallest_that_fits),
		cmocka_unit_test(test_index_of_every_offset_is_exact),
		cmocka_unit_test(
			test_span_alignment_keeps_powers_of_two_natural),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
