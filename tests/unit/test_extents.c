/* SPDX-License-Identifier: MIT */
/* test_extents.c - free address ranges: first fit, alignment, merging. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "extents.h"

enum { PAGE = 4096, PAGES = 256 };
#define START ((uintptr_t)PAGE * 1024)

static void test_extents_take_the_lowest_place(void **state)
{
	struct extents e = {0};

	assert_true(extents_add(&e, START, START + 8 * PAGE));
	assert_int_equal(extents_take(&e, PAGE, PAGE, 0), START);
	assert_int_equal(extents_take(&e, 2 * PAGE, PAGE, 0), START + PAGE);
	assert_true(extents_add(&e, START, START + PAGE));
	assert_int_equal(extents_take(&e, PAGE, PAGE, 0), START);
}

static void test_extents_honour_alignment(void **state)
{
	struct extents e = {0};
	uintptr_t odd = START + PAGE;

	assert_true(extents_add(&e, odd, odd + 64 * PAGE));
	assert_int_equal(
		extents_take(&e, PAGE, 16 * PAGE, 0), START + 16 * PAGE);
	assert_true(extents_is_valid(&e));
	assert_int_equal(extents_take(&e, PAGE, PAGE, 0), odd);
}

static void test_extents_take_a_hint_if_it_is_free(void **state)
{
	struct extents e = {0};

	assert_true(extents_add(&e, START, START + 8 * PAGE));
	assert_int_equal(extents_take(&e, PAGE, PAGE, START + 3 * PAGE),
		START + 3 * PAGE);
	assert_int_equal(extents_take(&e, PAGE, PAGE, START + 3 * PAGE), START);
}

static void test_extents_say_when_there_is_no_room(void **state)
{
	struct extents e = {0};

	assert_int_equal(extents_take(&e, PAGE, PAGE, 0), 0);
	assert_true(extents_add(&e, START, START + 2 * PAGE));
	assert_int_equal(extents_take(&e, 3 * PAGE, PAGE, 0), 0);
	assert_int_equal(extents_take(&e, 2 * PAGE, PAGE, 0), START);
	assert_int_equal(e.count, 0);
}

static void test_extents_merge_both_neighbours(void **state)
{
	struct extents e = {0};

	assert_true(extents_add(&e, START, START + PAGE));
	assert_true(extents_add(&e, START + 2 * PAGE, START + 3 * PAGE));
	assert_int_equal(e.count, 2);
	assert_true(extents_add(&e, START + PAGE, START + 2 * PAGE));
	assert_int_equal(e.count, 1);
	assert_int_equal(extents_take(&e, 3 * PAGE, PAGE, 0), START);
}

/* Each page is free or taken, in a plain array as in the set. */
static void test_extents_agree_with_a_model(void **state)
{
	struct extents e = {0};
	bool taken[PAGES] = {false};

	srandom(7);
	assert_true(extents_add(&e, START, START + PAGES * PAGE));
	for (int i = 0; i < 20000; i++) {
		size_t pages = 1 + (size_t)random() % 8;
		size_t first = (size_t)random() % PAGES;

		if (random() % 2) {
			uintptr_t at = extents_take(&e, pages * PAGE, PAGE, 0);

			for (size_t p = 0; at && p < pages; p++) {
				size_t page = (at - START) / PAGE + p;

				assert_false(taken[page]);
				taken[page] = true;
			}
		} else if (taken[first]) {
			size_t end = first;

			while (end < PAGES && taken[end] &&
				end < first + pages) {
				taken[end++] = false;
			}
			assert_true(extents_add(
				&e, START + first * PAGE, START + end * PAGE));
		}
		assert_true(extents_is_valid(&e));
	}

	size_t free_pages = 0, model_pages = 0;

	for (size_t i = 0; i < e.count; i++) {
		free_pages += (e.list[i].end - e.list[i].start) / PAGE;
	}
	for (size_t i = 0; i < PAGES; i++) {
		model_pages += !taken[i];
	}
	assert_int_equal(free_pages, model_pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extents_take_the_lowest_place),
		cmocka_unit_test(test_extents_honour_alignment),
		cmocka_unit_test(test_extents_take_a_hint_if_it_is_free),
		cmocka_unit_test(test_extents_say_when_there_is_no_room),
		cmocka_unit_test(test_extents_merge_both_neighbours),
		cmocka_unit_test(test_extents_agree_with_a_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
